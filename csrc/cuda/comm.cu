/* comm.cu: sums over devices.
 *
 * Invariant: every element is summed in the order of its sources, in the wide accumulator of its
 * type, and rounded once, so the bits do not depend on how the work is split. A launch has at most
 * 4 KB of parameters; longer lists of runs need several launches.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "comm/runs.h"
}

namespace {

enum { FEW = 56, MANY = 480, MOST_BLOCKS = 4096 };

template <int words> struct runs {
  int sources;
  dpt__word word[words]; /* (blocks along y, 2 + sources) */
};

/* Sums run y in the blocks of grid row y, with accesses of 16 bytes if all addresses of the run are
 * aligned. */
template <typename T, int words> __global__ void sum_runs(runs<words> g) {
  typedef dpt__sum_of<T> A;
  enum { PER = 16 / sizeof(T) };
  struct alignas(16) pack {
    T v[PER];
  };
  int base = (int)blockIdx.y * (2 + g.sources);
  int64_t n = g.word[base].count;
  int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  T *to = (T *)g.word[base + 1].sum;
  uintptr_t bits = (uintptr_t)to;
  for (int s = 0; s < g.sources; s++) bits |= (uintptr_t)g.word[base + 2 + s].source;
  int64_t packs = bits % 16 ? 0 : n / PER;
  for (int64_t i = thread; i < packs; i += dpt__grid_threads<int64_t>()) {
    A sum[PER];
    pack p = ((const pack *)g.word[base + 2].source)[i];
    for (int k = 0; k < PER; k++) sum[k] = dpt__widen(p.v[k]);
    for (int s = 1; s < g.sources; s++) {
      p = ((const pack *)g.word[base + 2 + s].source)[i];
      for (int k = 0; k < PER; k++) sum[k] += dpt__widen(p.v[k]);
    }
    for (int k = 0; k < PER; k++) p.v[k] = dpt__narrow<T>(sum[k]);
    ((pack *)to)[i] = p;
  }
  for (int64_t i = packs * PER + thread; i < n; i += dpt__grid_threads<int64_t>()) {
    A sum = dpt__widen(((const T *)g.word[base + 2].source)[i]);
    for (int s = 1; s < g.sources; s++)
      sum += dpt__widen(((const T *)g.word[base + 2 + s].source)[i]);
    to[i] = dpt__narrow<T>(sum);
  }
}

/* Launches `count` runs, from word[0] on. */
template <typename T, int words>
int launch(dpt__context *context, int sources, const dpt__word *word, int64_t count) {
  runs<words> g;
  int each = 2 + sources;
  int64_t longest = 0;
  g.sources = sources;
  memcpy(g.word, word, (size_t)(count * each) * sizeof *word);
  for (int64_t r = 0; r < count; r++)
    if (word[r * each].count > longest) longest = word[r * each].count;
  if (!longest) return 0;
  unsigned blocks = dpt__blocks((longest * (int64_t)sizeof(T) + 15) / 16);
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
  auto kernel = sum_runs<T, words>;
  return DPT_LAUNCH(kernel, dim3(blocks, (unsigned)count), DPT__BLOCK, 0, context, g);
}

template <typename T> int sum(dpt__context *context, const struct dpt__comm_sum_args *g) {
  int64_t each = 2 + g->sources, most = MANY / each;
  if (g->runs * each <= FEW) return launch<T, FEW>(context, g->sources, g->word, g->runs);
  for (int64_t r = 0; r < g->runs; r += most) {
    int64_t left = g->runs - r;
    if (launch<T, MANY>(context, g->sources, g->word + r * each, left < most ? left : most))
      return 1;
  }
  return 0;
}

} // namespace

int dpt__cuda_comm_sum(dpt__context *context, const void *args) {
  const struct dpt__comm_sum_args *g = (const struct dpt__comm_sum_args *)args;
  return dpt__of_type(g->dtype, [&](auto zero) { return sum<decltype(zero)>(context, g); });
}
