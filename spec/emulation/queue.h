/* queue.h: queues (cudaStream_t), which run their items in order.
 *
 * Invariant: item n of a queue begins after item n - 1 has ended. With DPT_EMULATED_ASYNC=1 the
 * queue's thread runs every item, and begins a random quarter of them up to DPT_EMULATED_DELAY
 * microseconds late (DPT_SEED is the seed). Otherwise the thread that queues an item runs it,
 * unless the item, or one before it, waits for other queues.
 */
#ifndef DPT_EMULATED_QUEUE_H
#define DPT_EMULATED_QUEUE_H
#include "cuda_runtime.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace emulation {

class queue final : public emulated_queue {
public:
  explicit queue(int device);
  /* Returns the number of the item. waits: the item waits for other queues. */
  uint64_t put(std::function<void()> work, bool waits = false);
  void put_waiting(std::function<void()> work) override { put(std::move(work), true); }
  /* Bracket an item that the caller runs itself; begin returns false if it must be queued. */
  bool begin();
  void end();
  uint64_t last();
  bool is_over(uint64_t number);
  void wait_for(uint64_t number);

private:
  struct item {
    std::function<void()> work;
    bool waits;
  };
  std::mutex lock;
  std::condition_variable more, ended;
  std::deque<item> items; /* for the thread: the most recently queued items */
  uint64_t queued = 0, random;
  std::atomic<uint64_t> done{0};
  void start();
  void run();
  void delay();
};

inline queue *of(cudaStream_t stream) { return static_cast<queue *>(stream); }

/* Sets the device of a queue's thread, without calls that a preloaded library could interpose
 * (emulation.cpp). */
void enter(int device);

/* Waits for all work queued on the device. */
void drain(int device);

/* A planted fault: true if cudaStreamWaitEvent does nothing on this thread. */
extern thread_local bool skips_waits;

} // namespace emulation

#endif
