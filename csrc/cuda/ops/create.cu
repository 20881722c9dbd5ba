/* create.cu: ramps, triangles, histograms and renorm (ops/create.h).
 *
 * Invariant: ramps and bins have the host's bits (compiled with -fmad=false). Counts are integers
 * until the end, so that their order does not matter.
 */
#include "cuda/element.h"
#include "cuda/sums.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/create.h"
}

namespace {

template <typename Index> __global__ void ramp_kernel(dpt__ramp_args g, int64_t count) {
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += dpt__grid_threads<int64_t>()) {
    int64_t offset[1];
    dpt__offsets<Index, 1>(g.walk, (Index)i, offset);
    double value = g.from + (double)i * g.step;
    char *to = g.walk.data[0] + offset[0] * (int)dpt__dtype_size(g.walk.dtype[0]);
    dpt__put_element(g.walk.dtype[0], to, g.power ? pow(10.0, value) : value);
  }
}

/* Adjacent threads run along the smaller stride. */
template <typename T> __global__ void triangle_kernel(dpt__triangle_args g, int down) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x, count = g.rows * g.cols;
  int64_t inner = down ? g.rows : g.cols;
  for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += threads) {
    int64_t outer = t / inner, rest = t - outer * inner;
    int64_t i = down ? rest : outer, j = down ? outer : rest;
    if (g.upper ? j - i < g.k : j - i > g.k) ((T *)g.data)[i * g.row_stride + j * g.col_stride] = 0;
  }
}

template <typename T> int triangle(dpt__context *context, const dpt__triangle_args *g) {
  auto kernel = triangle_kernel<T>;
  return DPT_LAUNCH(kernel, dpt__blocks(g->rows * g->cols), DPT__BLOCK, 0, context, *g,
                    g->row_stride < g->col_stride);
}

/* ---- histograms ---- */

constexpr int64_t BLOCK_NUMBERS = 16 * DPT__BLOCK; /* counted per block */
constexpr int64_t SHARED_BINS = 8192;

/* Counts the numbers of each row, several blocks per row. A block counts in shared memory first if
 * the bins fit. */
template <typename T>
__global__ void count_numbers(dpt__histogram_args g, int64_t blocks, unsigned long long *counts) {
  DPT_SHARED(unsigned, own);
  int64_t row = (int64_t)blockIdx.x / blocks, first = (blockIdx.x - row * blocks) * BLOCK_NUMBERS;
  int64_t end = first + BLOCK_NUMBERS < g.n ? first + BLOCK_NUMBERS : g.n;
  bool shared = g.bins <= SHARED_BINS;
  if (shared)
    for (int64_t i = threadIdx.x; i < g.bins; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    double x = (double)((const T *)g.a)[row * g.n + i];
    if (!(x >= g.low && x <= g.high)) continue;
    int64_t bin = (int64_t)((x - g.low) / (g.high - g.low) * (double)g.bins);
    if (bin >= g.bins) bin = g.bins - 1;
    if (shared)
      atomicAdd(&own[bin], 1u);
    else
      atomicAdd(&counts[row * g.bins + bin], 1ull);
  }
  __syncthreads();
  if (!shared) return;
  for (int64_t i = threadIdx.x; i < g.bins; i += blockDim.x)
    if (own[i]) atomicAdd(&counts[row * g.bins + i], (unsigned long long)own[i]);
}

template <typename T>
__global__ void write_counts(T *out, const unsigned long long *counts, int64_t n) {
  for (int64_t i = dpt__thread<int64_t>(); i < n; i += dpt__grid_threads<int64_t>())
    out[i] = (T)counts[i];
}

template <typename T> int histogram(dpt__context *context, const dpt__histogram_args *g) {
  int64_t n = g->rows * g->bins, blocks = (g->n + BLOCK_NUMBERS - 1) / BLOCK_NUMBERS;
  size_t bytes = (size_t)n * sizeof(unsigned long long);
  if (g->rows > INT32_MAX / blocks)
    return dpt__cuda_fail("%lld rows of %lld numbers are too many", (long long)g->rows,
                          (long long)g->n);
  unsigned long long *counts = (unsigned long long *)dpt__scratch(context, bytes);
  if (dpt__cuda_clear(context, counts, bytes)) return 1;
  auto count = count_numbers<T>;
  auto end = write_counts<T>;
  size_t shared = g->bins <= SHARED_BINS ? (size_t)g->bins * sizeof(unsigned) : 0;
  if (DPT_LAUNCH_COOPERATIVE(count, (unsigned)(g->rows * blocks), DPT__BLOCK, shared, context, *g,
                             blocks, counts))
    return 1;
  return DPT_LAUNCH(end, dpt__blocks(n), DPT__BLOCK, 0, context, (T *)g->out, counts, n);
}

/* ---- renorm ---- */

/* Renormalizes one row per block. */
template <typename T> __global__ void renorm_rows(dpt__renorm_args g) {
  __shared__ double scale;
  T *row = (T *)g.data + (int64_t)blockIdx.x * g.m;
  double sum[1] = {0};
  for (int64_t j = threadIdx.x; j < g.m; j += blockDim.x) {
    double x = fabs((double)dpt__load(row[j]));
    sum[0] += g.p == 1 ? x : g.p == 2 ? x * x : pow(x, g.p);
  }
  dpt__block_sum<1>(sum);
  if (threadIdx.x == 0) {
    double norm = g.p == 1 ? sum[0] : g.p == 2 ? sqrt(sum[0]) : pow(sum[0], 1 / g.p);
    scale = norm > g.max_norm ? g.max_norm / (norm + 1e-7) : 1;
  }
  __syncthreads();
  if (scale == 1) return;
  for (int64_t j = threadIdx.x; j < g.m; j += blockDim.x)
    row[j] = dpt__narrow<T>((double)dpt__load(row[j]) * scale);
}

template <typename T> int renorm(dpt__context *context, const dpt__renorm_args *g) {
  auto kernel = renorm_rows<T>;
  if (g->rows > INT32_MAX) return dpt__cuda_fail("%lld rows are too many", (long long)g->rows);
  return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)g->rows, DPT__SUM_THREADS, 0, context, *g);
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
  return dpt__of_width(g->width, [&](auto zero) { return triangle<decltype(zero)>(context, g); });
}

int dpt__cuda_histogram(dpt__context *context, const void *args) {
  const dpt__histogram_args *g = (const dpt__histogram_args *)args;
  return dpt__of_real(g->dtype, [&](auto zero) { return histogram<decltype(zero)>(context, g); });
}

int dpt__cuda_renorm(dpt__context *context, const void *args) {
  const dpt__renorm_args *g = (const dpt__renorm_args *)args;
  return dpt__of_stored_real(g->dtype,
                             [&](auto zero) { return renorm<decltype(zero)>(context, g); });
}
