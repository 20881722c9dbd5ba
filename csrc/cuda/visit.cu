/* visit.cu: the device of each thread.
 *
 * Invariant: a stream's thread issues work to one device only. No context is made on a device that
 * the process does not use, so every call that may make one is made on a device that it uses.
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

/* A thread is on a device other than 0 only if somebody has put it there. */
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
