/* memory.cpp: memory of devices, and pages that a kernel must not read (see memory.h). */
#include "memory.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace emulation {
namespace {

#if defined(__SANITIZE_ADDRESS__)
enum { PAGE = 256, CAN_PROTECT = 0 };
#else
enum { PAGE = 4096, CAN_PROTECT = 1 };
#endif

struct region {
  size_t bytes;
  int owner;
};
struct memory {
  std::shared_mutex lock;
  std::map<uintptr_t, region> regions;
  std::atomic<uintptr_t> lowest{UINTPTR_MAX}, highest{0};
  std::mutex protecting; /* held while some memory is unreadable; locked before `lock` */
};
memory &all() { /* never freed */
  static memory *m = new memory();
  return *m;
}

/* Returns the region that contains the address, or NULL. */
const region *find(const void *p) {
  auto next = all().regions.upper_bound((uintptr_t)p);
  if (next == all().regions.begin()) return nullptr;
  --next;
  return (uintptr_t)p < next->first + next->second.bytes ? &next->second : nullptr;
}

/* ---- unreadable pages ---- */

/* The running kernel while memory of other devices is unreadable. `kernel` and `device` are written
 * before `thread`, and read by that thread only. */
struct {
  const char *kernel;
  int device;
  std::atomic<pthread_t> thread{0}; /* 0: no such kernel */
} confined;
struct sigaction before;

/* A thread that is allowed to read the memory retries until the kernel has ended. */
void on_fault(int signal, siginfo_t *info, void *) {
  std::shared_lock<std::shared_mutex> guard(all().lock);
  const region *at = find(info->si_addr);
  guard.unlock();
  if (!at || at->owner == PINNED) {
    sigaction(signal, &before, nullptr); /* the instruction faults again */
    return;
  }
  if (confined.thread == pthread_self()) {
    fprintf(stderr,
            "emulation: kernel %s of device %d uses memory of device %d, which is no peer: an "
            "illegal address\n",
            confined.kernel, confined.device, at->owner);
    abort();
  }
  usleep(50);
}

void watch_faults() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &before);
}

void protect(const emulated_devices &owners, int access) {
  std::shared_lock<std::shared_mutex> guard(all().lock);
  for (const auto &r : all().regions)
    if (r.second.owner != PINNED && owners[(size_t)r.second.owner] &&
        mprotect((void *)r.first, r.second.bytes, access))
      abort();
}

} // namespace

void *take_memory(size_t bytes, int owner) {
  void *p;
  if (CAN_PROTECT) bytes = (bytes + PAGE - 1) / PAGE * PAGE;
  if (posix_memalign(&p, PAGE, bytes)) return nullptr;
  std::lock_guard<std::shared_mutex> guard(all().lock);
  all().regions[(uintptr_t)p] = {bytes, owner};
  if ((uintptr_t)p < all().lowest) all().lowest = (uintptr_t)p;
  if ((uintptr_t)p + bytes > all().highest) all().highest = (uintptr_t)p + bytes;
  return p;
}

void give_memory(void *p) {
  std::lock_guard<std::mutex> readable(all().protecting);
  {
    std::lock_guard<std::shared_mutex> guard(all().lock);
    all().regions.erase((uintptr_t)p);
  }
  free(p);
}

bool has_owner(const void *p) {
  std::shared_lock<std::shared_mutex> guard(all().lock);
  return find(p) != nullptr;
}

int owner_of(const void *p) {
  std::shared_lock<std::shared_mutex> guard(all().lock);
  const region *at = find(p);
  return at ? at->owner : PINNED;
}

void run_without(const emulated_devices &others, int device, const char *kernel,
                 const std::function<void()> &work) {
  static std::once_flag once;
  std::call_once(once, watch_faults);
  std::lock_guard<std::mutex> guard(all().protecting);
  protect(others, PROT_NONE);
  confined.kernel = kernel;
  confined.device = device;
  confined.thread = pthread_self();
  work();
  confined.thread = 0;
  protect(others, PROT_READ | PROT_WRITE);
}

} // namespace emulation

emulated_devices emulated_owners(const void *values, size_t bytes) {
  emulated_devices owners;
  uintptr_t lowest = emulation::all().lowest, highest = emulation::all().highest;
  for (size_t at = 0; emulation::CAN_PROTECT && at + sizeof(uintptr_t) <= bytes;
       at += sizeof(uintptr_t)) {
    uintptr_t word;
    memcpy(&word, (const char *)values + at, sizeof word);
    if (word < lowest || word >= highest) continue;
    int owner = emulation::owner_of((const void *)word);
    if (owner != emulation::PINNED) owners.set((size_t)owner);
  }
  return owners;
}
