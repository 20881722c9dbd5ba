/* keys.cu: a bitonic sort.
 *
 * What must stay true: a launch compares keys that no other thread of it compares, but where a
 * block has a tile of keys to itself, in shared memory. Equal keys would be fine too, but bring
 * nothing.
 */
#include "cuda/keys.h"

namespace {

constexpr int64_t TILE = 4096; /* keys: 32 KiB of shared memory */
constexpr int64_t THREADS = 1024;

/* Pair number t of those whose places differ by `apart`, in runs of length `run` that go upwards
 * and downwards by turns. */
__device__ __forceinline__ void put_in_order(uint64_t *keys, int64_t t, int64_t apart,
                                             int64_t first, int64_t run) {
  int64_t low = (t & ~(apart - 1)) * 2 + (t & (apart - 1)), high = low + apart;
  uint64_t a = keys[low], b = keys[high];
  bool upwards = ((first + low) & run) == 0;
  if ((a > b) != upwards) return;
  keys[low] = b;
  keys[high] = a;
}

/* Each block has a tile: from run `first` to run `last` all that happens within it. */
__global__ void sort_tile(uint64_t *keys, int64_t tile, int64_t first_run, int64_t last_run) {
  DPT_SHARED(uint64_t, shared);
  int64_t first = (int64_t)blockIdx.x * tile;
  for (int64_t i = threadIdx.x; i < tile; i += blockDim.x) shared[i] = keys[first + i];
  for (int64_t run = first_run; run <= last_run; run *= 2)
    for (int64_t apart = run / 2 < tile ? run / 2 : tile / 2; apart; apart /= 2) {
      __syncthreads();
      for (int64_t t = threadIdx.x; t < tile / 2; t += blockDim.x)
        put_in_order(shared, t, apart, first, run);
    }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < tile; i += blockDim.x) keys[first + i] = shared[i];
}

__global__ void sort_apart(uint64_t *keys, int64_t pairs, int64_t apart, int64_t run) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < pairs; t += threads)
    put_in_order(keys, t, apart, 0, run);
}

} // namespace

int dpt__sort_keys(dpt__context *context, uint64_t *keys, int64_t count) {
  int64_t tile = count < TILE ? count : TILE, tiles = count / tile, pairs = count / 2;
  unsigned threads = (unsigned)(tile / 2 < THREADS ? tile / 2 : THREADS);
  size_t bytes = (size_t)tile * sizeof *keys;
  if (tiles > INT32_MAX)
    return dpt__cuda_fail("%s: %lld keys are too many", context->name, (long long)count);
  if (DPT_LAUNCH_TEAM(sort_tile, (unsigned)tiles, threads, bytes, context, keys, tile, (int64_t)2,
                      tile))
    return 1;
  unsigned blocks = (unsigned)((pairs + THREADS - 1) / THREADS);
  for (int64_t run = tile * 2; run <= count; run *= 2) {
    for (int64_t apart = run / 2; apart >= tile; apart /= 2)
      if (DPT_LAUNCH(sort_apart, blocks, (unsigned)THREADS, 0, context, keys, pairs, apart, run))
        return 1;
    if (DPT_LAUNCH_TEAM(sort_tile, (unsigned)tiles, threads, bytes, context, keys, tile, run, run))
      return 1;
  }
  return 0;
}
