/* queue.cpp: queues and their threads (see queue.h). */
#include "queue.h"

#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

namespace emulation {

thread_local bool skips_waits;

namespace {

bool is_asynchronous() {
  static const bool on = [] {
    const char *text = getenv("DPT_EMULATED_ASYNC");
    return text && atoi(text);
  }();
  return on;
}

long long number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoll(text) : 0;
}

/* Items that run during exit would use destroyed objects: exit waits for items that have begun, and
 * no other item begins. Items that wait for other queues may never end. Objects of the main thread
 * are destroyed before static ones, such as those that oneDNN creates in its first product. */
std::atomic<int> running, ending;
struct process {
  pid_t id = getpid();
  void end() const {
    if (getpid() != id) return; /* a forked child has no queue threads */
    ending = 1;
    for (int patience = 10000; patience && running; patience--) usleep(100);
  }
  ~process() { end(); }
} process;
struct thread {
  bool is_main = gettid() == getpid();
  ~thread() {
    if (is_main) process.end();
  }
};
thread_local thread loader;
const bool is_main_loader = loader.is_main; /* creates the object of the thread that loads this */

void do_item(const std::function<void()> &work) {
  running++;
  if (ending) {
    running--;
    for (;;) pause();
  }
  work();
  running--;
}

struct queue_list {
  std::mutex lock;
  std::vector<queue *> all;
};
queue_list &list() { /* queues are never freed */
  static queue_list *queues = new queue_list();
  return *queues;
}

} // namespace

queue::queue(int device_) {
  device = device_;
  std::lock_guard<std::mutex> guard(list().lock);
  list().all.push_back(this);
  random = (uint64_t)number_of("DPT_SEED") * 1000003u + list().all.size();
  start();
}

uint64_t queue::put(std::function<void()> work, bool waits) {
  if (!waits && begin()) {
    work();
    end();
    return last();
  }
  std::unique_lock<std::mutex> guard(lock);
  items.push_back({std::move(work), waits});
  uint64_t number = ++queued;
  guard.unlock(); /* so that the woken thread can lock it */
  more.notify_one();
  return number;
}

bool queue::begin() {
  if (is_asynchronous()) return false;
  std::lock_guard<std::mutex> guard(lock);
  if (queued > done) return false;
  queued++;
  return true;
}

void queue::end() {
  std::unique_lock<std::mutex> guard(lock);
  done++;
  bool has_more = !items.empty();
  guard.unlock();
  ended.notify_all();
  if (has_more) more.notify_one();
}

uint64_t queue::last() {
  std::lock_guard<std::mutex> guard(lock);
  return queued;
}

bool queue::is_over(uint64_t number) { return done >= number; }

void queue::wait_for(uint64_t number) {
  std::unique_lock<std::mutex> guard(lock);
  ended.wait(guard, [=] { return done >= number; });
}

/* Starts the thread immediately, since specs count threads. Blocks all signals in it except those
 * raised by its own instructions. */
void queue::start() {
  sigset_t all, before;
  sigfillset(&all);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(&queue::run, this).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void queue::delay() {
  static const uint64_t most = (uint64_t)number_of("DPT_EMULATED_DELAY");
  random = random * 6364136223846793005u + 1442695040888963407u;
  if (most && random >> 62 == 0) usleep((unsigned)((random >> 32) % most));
}

void queue::run() {
  enter(device);
  for (;;) {
    item next;
    {
      std::unique_lock<std::mutex> guard(lock);
      more.wait(guard, [=] { return !items.empty() && done + items.size() == queued; });
      next = std::move(items.front());
      items.pop_front();
    }
    delay();
    if (next.waits)
      next.work();
    else
      do_item(next.work);
    next.work = nullptr;
    end();
  }
}

void drain(int device) {
  std::vector<queue *> all;
  {
    std::lock_guard<std::mutex> guard(list().lock);
    all = list().all;
  }
  for (queue *q : all)
    if (q->device == device) q->wait_for(q->last());
}

} // namespace emulation
