/* unpool.cu: moves elements of planes to and from positions given by indices: max unpooling, and
 * the gradient of max pooling.
 *
 * Invariant: elements for one position arrive in order, so sums have the host's bits. A block
 * processes a plane, THREADS elements at a time; of several elements for one position the first is
 * written first, then the next. A bad index is reported as a fault, and nothing is written for it.
 */
#include "cuda/nn/nn.h"

namespace {

enum { SLOTS = 2048, LEAST_THREADS = 32, MOST_THREADS = 512 };
enum { FREE = INT32_MAX };

/* A slot serves all positions with the same remainder modulo SLOTS. Of the threads that wait for
 * it, the one with the lowest number proceeds, even if their positions differ. */
template <typename T>
__global__ void scatter(dpt__unpool_args a, dpt__kernel_fault fault, const char *name) {
  DPT_SHARED(int, slots);
  int self = (int)threadIdx.x, threads = (int)blockDim.x;
  for (int i = self; i < SLOTS; i += threads) slots[i] = FREE;
  for (int64_t plane = blockIdx.x; plane < a.planes; plane += gridDim.x) {
    const int64_t *idx = a.idx + plane * a.small;
    const T *from = (const T *)a.from + plane * a.small;
    T *to = (T *)a.to + plane * a.large;
    for (int64_t i = self; i < a.large; i += threads) to[i] = T(0);
    for (int64_t first = 0; first < a.small; first += threads) {
      int64_t i = first + self, index = 0;
      T value = 0;
      if (i < a.small) {
        index = idx[i];
        value = from[i];
        if (index < 1 || index > a.large)
          dpt__fault_set(fault, DPT__KERNEL_FAULT_ROW, name, index, plane * a.small + i + 1,
                         a.large);
      }
      int waits = index >= 1 && index <= a.large;
      int64_t position = waits ? index - 1 : 0;
      int *slot = slots + position % SLOTS;
      while (__syncthreads_or(waits)) { /* earlier writes are visible after it */
        if (waits) atomicMin(slot, self);
        __syncthreads();
        int goes = waits && *slot == self;
        __syncthreads();
        if (goes) {
          to[position] = a.adds ? to[position] + value : value;
          *slot = FREE;
          waits = 0;
        }
      }
    }
  }
}

template <typename T>
__global__ void gather(dpt__unpool_args a, dpt__kernel_fault fault, const char *name) {
  int64_t i = dpt__thread<int64_t>();
  if (i >= a.planes * a.small) return;
  int64_t index = a.idx[i];
  bool good = index >= 1 && index <= a.large;
  if (!good) dpt__fault_set(fault, DPT__KERNEL_FAULT_ROW, name, index, i + 1, a.large);
  ((T *)a.to)[i] = good ? ((const T *)a.from)[i / a.small * a.large + index - 1] : T(0);
}

} // namespace

int dpt__cuda_unpool(dpt__context *context, const void *args) {
  const struct dpt__unpool_args *a = (const struct dpt__unpool_args *)args;
  int64_t count = a->planes * (a->scatters ? a->large : a->small);
  if (!count) return 0;
  unsigned threads = LEAST_THREADS;
  while (threads < MOST_THREADS && (threads < a->small || threads * 4 < a->large)) threads *= 2;
  const int64_t most = 1 << 30;
  unsigned blocks = (unsigned)(a->planes < most ? a->planes : most);
  dpt__kernel_fault fault = dpt__fault_of(context);
  return dpt__of_real(a->type, [&](auto zero) {
    auto scatters = scatter<decltype(zero)>, gathers = gather<decltype(zero)>;
    if (!a->scatters)
      return DPT_LAUNCH(gathers, dpt__blocks(count), DPT__BLOCK, 0, context, *a, fault,
                        context->name);
    return DPT_LAUNCH_COOPERATIVE(scatters, blocks, threads, SLOTS * sizeof(int), context, *a,
                                  fault, context->name);
  });
}
