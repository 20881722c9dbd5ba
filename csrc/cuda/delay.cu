/* delay.cu: queues kernels that spin before others (delay.h). */
#include "cuda/delay.h"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

enum { LONGEST = 300000 }; /* ns */

uint64_t seed;
dpt__kernel_fn *plain[DPT__NKERNEL];

__global__ void spin(uint64_t nanoseconds) {
#ifdef __CUDA_ARCH__
  uint64_t now, begin;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
#elif defined(DPT_EMULATED)
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
#endif
}

/* splitmix64's output function. */
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <int kernel> int delayed(dpt__context *context, const void *args) {
  uint64_t x = mixed(mixed(seed + (uint64_t)context->device) + context->number);
  if (x % 2 == 0 && DPT_LAUNCH(spin, 1, 1, 0, context, x / 2 % LONGEST)) return 1;
  return plain[kernel](context, args);
}

} // namespace

void dpt__cuda_delays(dpt__backend *backend) {
  const char *text = getenv("DPT_DELAY");
  seed = text ? strtoull(text, NULL, 10) : 0;
  if (!seed) return;
  for (int i = 0; i < DPT__NKERNEL; i++) plain[i] = backend->kernels[i];
#define DPT_KERNEL(kernel, why)                                                                    \
  backend->kernels[DPT__KERNEL_##kernel] = delayed<DPT__KERNEL_##kernel>;
#include "device/kernels.def"
#undef DPT_KERNEL
}
