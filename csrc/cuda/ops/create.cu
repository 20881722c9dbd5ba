/* create.cu: ramps, triangles, histograms and renorm (ops/create.h).
 *
 * What must stay true: ramps and bins have the host's bits (compiled with -fmad=false). Counts are
 * integers until the end, so that their order does not matter.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/create.h"
}

namespace {

template <typename Index> __global__ void ramp_kernel(dpt__ramp_args g, int64_t count) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    int64_t place[1];
    dpt__places<Index, 1>(g.walk, (Index)i, place);
    double value = g.from + (double)i * g.step;
    dpt__put_number(g.walk.dtype[0], g.walk.data[0], place[0], g.power ? pow(10.0, value) : value);
  }
}

/* Neighbouring threads go along the smaller step. */
template <typename T> __global__ void triangle_kernel(dpt__triangle_args g, int down) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x, count = g.rows * g.cols;
  int64_t inner = down ? g.rows : g.cols;
  for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += threads) {
    int64_t outer = t / inner, rest = t - outer * inner;
    int64_t i = down ? rest : outer, j = down ? outer : rest;
    if (g.upper ? j - i < g.k : j - i > g.k) ((T *)g.data)[i * g.row_step + j * g.col_step] = 0;
  }
}

template <typename T> int triangle(dpt__context *context, const dpt__triangle_args *g) {
  auto kernel = triangle_kernel<T>;
  return DPT_LAUNCH(kernel, dpt__blocks(g->rows * g->cols), DPT__BLOCK, 0, context, *g,
                    g->row_step < g->col_step);
}

} // namespace

int dpt__cuda_ramp(dpt__context *context, const void *args) {
  const dpt__ramp_args *g = (const dpt__ramp_args *)args;
  int64_t count = dpt__walk_count(&g->walk);
  if (!count) return 0;
  auto kernel = count <= UINT32_MAX ? ramp_kernel<uint32_t> : ramp_kernel<uint64_t>;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&g->walk, count), dpt__walk_threads(&g->walk), 0,
                    context, *g, count);
}

int dpt__cuda_triangle(dpt__context *context, const void *args) {
  const dpt__triangle_args *g = (const dpt__triangle_args *)args;
  if (g->rows == 0 || g->cols == 0) return 0;
  switch (g->width) {
  case 1:
    return triangle<uint8_t>(context, g);
  case 2:
    return triangle<uint16_t>(context, g);
  case 4:
    return triangle<uint32_t>(context, g);
  default:
    return triangle<uint64_t>(context, g);
  }
}
