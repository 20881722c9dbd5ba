/* visit.cu: the current device of each thread.
 *
 * Invariant: a stream's thread issues work to one device only. No context is created on a device
 * that the process does not use, so every call that may create one is made on a device in use.
 */
#include "cuda/cuda.h"

#include <atomic>

static std::atomic<bool> used[DPT__MOST_GPUS];
static std::atomic<int> last_used(-1);

int dpt__cuda_enter(int index) {
  DPT__CUDA(cudaSetDevice(index));
  used[index] = true;
  last_used = index;
  return 0;
}

/* Returns true if a thread is on device 0 only by default: another device must have been set. */
static bool device_is_default(int index) { return !index && !used[0]; }

int dpt__cuda_settle(void) {
  static thread_local bool settled;
  int index;
  if (settled || last_used < 0) return 0;
  DPT__CUDA(cudaGetDevice(&index));
  if (device_is_default(index)) DPT__CUDA(cudaSetDevice(last_used));
  settled = true;
  return 0;
}

dpt__visit::dpt__visit(int index) : before(index), returns(false), failed(true) {
  if (dpt__cuda_status(cudaGetDevice(&before), "cudaGetDevice")) return;
  if ((before != index || !used[index]) && dpt__cuda_enter(index)) return;
  returns = before != index && !device_is_default(before);
  failed = false;
}
