/* dropout.cu: dropout's mask by Philox 4x32-10.
 *
 * Invariant: the element with index `at` in the draw uses word (at % 4) of Philox block (at / 4),
 * as on the host, so n devices drop the same elements as one would. A thread computes one block.
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

/* skew: the number of words in the first block that belong to elements before this tensor's. */
template <typename T>
__global__ void mask_kernel(dpt__dropout_mask_args a, uint64_t keep, int64_t blocks, int skew,
                            bool packs) {
  const T kept = dpt__store<T>::from(a.value);
  uint64_t seed = dpt__draw_seed(&a.draw), offset = dpt__draw_offset(&a.draw);
  for (int64_t t = dpt__thread<int64_t>(); t < blocks; t += dpt__grid_threads<int64_t>()) {
    uint32_t words[WORDS];
    dpt__philox_at(seed, offset, (uint64_t)(a.first / WORDS + t), words);
    dpt__pack<T> mask;
    for (int i = 0; i < WORDS; i++) mask.v[i] = words[i] < keep ? kept : T();
    int64_t position = t * WORDS - skew;
    if (packs && position + WORDS <= a.n) {
      dpt__pack_store((T *)a.mask + position, mask, WORDS, true);
      continue;
    }
    for (int i = 0; i < WORDS; i++)
      if (position + i >= 0 && position + i < a.n) ((T *)a.mask)[position + i] = mask.v[i];
  }
}

} // namespace

int dpt__cuda_dropout_mask(dpt__context *context, const void *args) {
  const dpt__dropout_mask_args &a = *(const dpt__dropout_mask_args *)args;
  uint64_t keep = (uint64_t)((1 - a.p) * 4294967296.0);
  int skew = (int)(a.first % WORDS);
  int64_t blocks = (skew + a.n + WORDS - 1) / WORDS;
  if (!a.n) return 0;
  return dpt__of_stored_real(a.type, [&](auto zero) {
    typedef decltype(zero) T;
    bool packs = !skew && dpt__packs_at<T>(a.mask);
    auto kernel = mask_kernel<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(blocks), DPT__BLOCK, 0, context, a, keep, blocks, skew,
                      packs);
  });
}
