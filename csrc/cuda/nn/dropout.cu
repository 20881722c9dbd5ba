/* dropout.cu: dropout's mask by Philox 4x32-10.
 *
 * What must stay true: element `place` of row `row` takes word place % 4 of the block whose counter
 * is (place / 4, row, module, step) under the key seed, as on the host, so that n devices drop what
 * one would. A thread has one block of words.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/walk.h"
extern "C" {
#include "base/philox.h"
#include "nn/kernels.h"
}

namespace {

enum { WORDS = 4 };
static_assert(WORDS == (int)DPT__PACK, "a block of words is a pack of elements");

template <typename T>
__global__ void mask_kernel(dpt__dropout_mask_args a, uint64_t keep, int64_t each, bool packs) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x, count = a.rows * each;
  for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += threads) {
    int64_t row = t / each, block = t - row * each, first = block * WORDS;
    uint64_t global = (uint64_t)(a.first_row + row);
    uint32_t words[WORDS];
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)global, a.module, a.step};
    dpt__philox(a.seed, counter, words);
    dpt__pack<T> mask;
    for (int i = 0; i < WORDS; i++) mask.v[i] = words[i] < keep ? (T)a.value : T(0);
    int n = a.row - first < WORDS ? (int)(a.row - first) : WORDS;
    dpt__pack_store((T *)a.mask + row * a.row + first, mask, n, packs);
  }
}

} // namespace

int dpt__cuda_dropout_mask(dpt__context *context, const void *args) {
  const dpt__dropout_mask_args &a = *(const dpt__dropout_mask_args *)args;
  uint64_t keep = (uint64_t)((1 - a.p) * 4294967296.0);
  int64_t each = (a.row + WORDS - 1) / WORDS;
  if (!each || !a.rows) return 0;
  return dpt__of_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    bool packs = a.row % WORDS == 0 && dpt__packs_at<T>(a.mask);
    auto kernel = mask_kernel<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(a.rows * each), DPT__BLOCK, 0, context, a, keep, each,
                      packs);
  });
}
