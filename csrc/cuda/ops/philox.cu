/* philox.cu: random numbers (ops/random.h has the formulas).
 *
 * Invariant: element i depends on its position in row-major order alone. Integers and uniforms,
 * including those of half type, equal the host's bit for bit (compiled with -fmad=false). Each
 * element has its own block of words; computing them takes about as long as the memory accesses.
 * Normal floats are computed in single precision, within a few ulp of the larger of mean and
 * deviation.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/random.h"
}

namespace {

/* Returns a normal number in single precision. v = 1 - w is an integer multiple of 2^-53; its
 * logarithm is computed from whichever of the two is below a half, which a float represents to all
 * its digits. */
__device__ float single_normal(const dpt__philox_args &g, const uint32_t words[4]) {
  const uint64_t w = (uint64_t)words[2] << 21 | words[3] >> 11, one = (uint64_t)1 << 53;
  const float log_v =
      w < one / 2 ? log1pf((float)w * -0x1p-53f) : logf((float)(one - w) * 0x1p-53f);
  const float turns = (float)(words[0] >> 8) * 0x1p-24f;
  return sqrtf(-2 * log_v) * cospif(2 * turns) * (float)g.b + (float)g.a;
}

/* Returns element i from uniforms of that many bits. */
template <int distribution>
__device__ __forceinline__ double drawn(const dpt__philox_args &g, uint64_t seed, uint64_t offset,
                                        int64_t i, int bits, double a) {
  uint32_t words[4];
  dpt__philox_at(seed, offset, (uint64_t)(g.first + i), words);
  if (distribution == DPT__RANDOM_normal && bits < 53) return single_normal(g, words);
  return dpt__from_words(&g, distribution, bits, words, a);
}

/* Fills by one distribution; each has its own kernel, so that the cheap ones need few registers. */
template <int distribution> __global__ void draw(dpt__philox_args g, int64_t count) {
  const uint64_t seed = dpt__draw_seed(&g.draw), counter = dpt__draw_offset(&g.draw);
  const int dtype = g.walk.dtype[0], given = g.walk.noperand > 1;
  const int bits = dpt__uniform_bits(distribution, dtype);
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += dpt__grid_threads<int64_t>()) {
    int64_t offset[2] = {0, 0};
    double a = g.a;
    if (given) {
      dpt__offsets<uint64_t, 2>(g.walk, (uint64_t)i, offset);
      a = dpt__get_element(g.walk.dtype[1],
                           g.walk.data[1] + offset[1] * (int)dpt__dtype_size(g.walk.dtype[1]));
    } else {
      dpt__offsets<uint64_t, 1>(g.walk, (uint64_t)i, offset);
    }
    dpt__put_element(dtype, g.walk.data[0] + offset[0] * (int)dpt__dtype_size(dtype),
                     drawn<distribution>(g, seed, counter, i, bits, a));
  }
}

/* Fills contiguous floats, the most common case, with four per thread. */
template <int distribution>
__global__ void draw_floats(dpt__philox_args g, int64_t count, bool packs) {
  const uint64_t seed = dpt__draw_seed(&g.draw), offset = dpt__draw_offset(&g.draw);
  dpt__each_pack(count, packs, [&](dpt__pack_at at) {
    dpt__pack<float> r;
    DPT_UNROLL
    for (int i = 0; i < DPT__PACK; i++)
      r.v[i] = (float)drawn<distribution>(g, seed, offset, at.first + i, 24, g.a);
    at.store(g.walk.data[0], r);
  });
}

} // namespace

int dpt__cuda_philox(dpt__context *context, const void *args) {
  const dpt__philox_args *g = (const dpt__philox_args *)args;
  int64_t count = dpt__walk_count(&g->walk);
  if (!count) return 0;
  static const struct {
    void (*any)(dpt__philox_args, int64_t);
    void (*floats)(dpt__philox_args, int64_t, bool);
  } kernels[] = {
#define X(name, types) {draw<DPT__RANDOM_##name>, draw_floats<DPT__RANDOM_##name>},
#include "ops/random.def"
#undef X
  };
  if (g->walk.noperand == 1 && g->walk.dtype[0] == DPT_F32 && dpt__walk_is_dense(&g->walk)) {
    auto kernel = kernels[g->distribution].floats;
    return DPT_LAUNCH(kernel, dpt__blocks(dpt__packs_of(count)), DPT__BLOCK, 0, context, *g, count,
                      dpt__packs_at<float>(g->walk.data[0]));
  }
  auto kernel = kernels[g->distribution].any;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&g->walk, count), dpt__walk_threads(&g->walk), 0,
                    context, *g, count);
}
