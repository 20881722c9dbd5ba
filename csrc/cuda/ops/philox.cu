/* philox.cu: random numbers (ops/random.h has the formulas).
 *
 * Invariant: element i depends on its place in row-major order alone; whole numbers and uniforms
 * are the host's bit for bit (compiled with -fmad=false), also in halves. Each element has a block
 * of words of its own, so that computing them takes about as long as memory does.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/random.h"
}

namespace {

/* A kernel for each distribution, so that the cheap ones need few registers. */
template <int distribution> __global__ void draw(dpt__philox_args g, int64_t count) {
  const int dtype = g.walk.dtype[0], given = g.walk.noperand > 1;
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += dpt__grid_threads<int64_t>()) {
    int64_t offset[2] = {0, 0};
    double a = g.a;
    if (given) {
      dpt__offsets<uint64_t, 2>(g.walk, (uint64_t)i, offset);
      a = g.walk.dtype[1] == DPT_F32 ? (double)((const float *)g.walk.data[1])[offset[1]]
                                     : ((const double *)g.walk.data[1])[offset[1]];
    } else {
      dpt__offsets<uint64_t, 1>(g.walk, (uint64_t)i, offset);
    }
    dpt__put_element(dtype, g.walk.data[0] + offset[0] * dpt__width_of(dtype),
                     dpt__philox_drawn(&g, distribution, dtype != DPT_F64, i, a));
  }
}

/* Floats side by side, as most are drawn: a thread has four. */
template <int distribution>
__global__ void draw_floats(dpt__philox_args g, int64_t count, bool packs) {
  const uint64_t seed = dpt__draw_seed(&g.draw), offset = dpt__draw_offset(&g.draw);
  dpt__each_pack(count, packs, [&](dpt__pack_at at) {
    dpt__pack<float> r;
    DPT_UNROLL
    for (int i = 0; i < DPT__PACK; i++) {
      uint32_t words[4];
      dpt__philox_at(seed, offset, (uint64_t)(g.first + at.first + i), words);
      r.v[i] = (float)dpt__from_words(&g, distribution, 1, words, g.a);
    }
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
