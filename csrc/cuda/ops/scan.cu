/* scan.cu: running sums and products along a dimension (ops/create.h).
 *
 * Invariant: sums are wide; the order in which terms are joined depends on sizes and strides alone.
 * If there are too few slices, each is divided into parts: a first launch sums the parts, a scan of
 * those sums gives each part's initial value, and a last launch writes. A thread reads its elements
 * before it writes them, so r may be a.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/create.h"
}

namespace {

constexpr int THREADS = 256, WARP = 32, PER = DPT__PACK, MOST_PARTS = 1024;
enum { WHOLE, SUMS, REST }; /* undivided slices; the parts' sums; results that start from those */

template <typename A> struct cut {
  int64_t chunk, parts; /* elements of a part, parts of a slice */
  int what;
  A *sums; /* (slices, parts); for REST running ones */
};

template <typename A> __device__ __forceinline__ A join(int product, A a, A b) {
  return product ? a * b : a + b;
}

/* Returns the initial value of part `part` of a slice. */
template <typename A>
__device__ __forceinline__ A carried(const cut<A> &c, int product, int64_t slice, int64_t part) {
  return c.what == REST && part ? c.sums[slice * c.parts + part - 1] : (A)product;
}

/* Scans adjacent slices, with one thread for each slice, or for part blockIdx.y of each slice. */
template <typename T> __global__ void scan_across(dpt__scan_args g, cut<dpt__sum_of<T>> c) {
  typedef dpt__sum_of<T> A;
  int64_t slice = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, part = blockIdx.y, at[2];
  if (slice >= g.slices.count) return;
  dpt__offsets<uint64_t, 2>(g.slices, (uint64_t)slice, at);
  int64_t end = (part + 1) * c.chunk < g.n ? (part + 1) * c.chunk : g.n;
  A sum = carried(c, g.product, slice, part);
  for (int64_t i = part * c.chunk; i < end; i++) {
    sum = join(g.product, sum, dpt__widen(((const T *)g.a)[at[0] + i * g.a_stride]));
    if (c.what != SUMS) ((T *)g.r)[at[1] + i * g.r_stride] = dpt__narrow<T>(sum);
  }
  if (c.what == SUMS) c.sums[slice * c.parts + part] = sum;
}

/* Returns *carry joined with the values of the row's threads before this one, and joins the whole
 * row's values to *carry. All threads of a block call it; a row consists of whole warps. */
template <typename A> __device__ A scan_row(int product, A value, A *carry) {
  __shared__ A warps[THREADS / WARP];
  int self = (int)threadIdx.x % WARP, count = (int)blockDim.x / WARP;
  int first = (int)threadIdx.y * count, warp = (int)threadIdx.x / WARP;
  A sum = value;
  for (int apart = 1; apart < WARP; apart *= 2) {
    A other = __shfl_up_sync(0xffffffffu, sum, apart);
    if (self >= apart) sum = join(product, other, sum);
  }
  A before = __shfl_up_sync(0xffffffffu, sum, 1);
  if (self == WARP - 1) warps[first + warp] = sum;
  __syncthreads();
  A start = *carry, all = *carry;
  for (int w = 0; w < count; w++) {
    if (w == warp) start = all;
    all = join(product, all, warps[first + w]);
  }
  __syncthreads();
  *carry = all;
  return self ? join(product, start, before) : start;
}

/* Scans a part of a slice per row of threads, with PER adjacent elements per thread. */
template <typename T> __global__ void scan_along(dpt__scan_args g, cut<dpt__sum_of<T>> c) {
  typedef dpt__sum_of<T> A;
  int64_t unit = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
  int64_t slice = unit / c.parts, part = unit - slice * c.parts, at[2];
  bool here = slice < g.slices.count;
  dpt__offsets<uint64_t, 2>(g.slices, (uint64_t)(here ? slice : 0), at);
  const T *a = (const T *)g.a + at[0];
  T *r = (T *)g.r + at[1];
  int64_t begin = part * c.chunk, end = begin + c.chunk < g.n ? begin + c.chunk : g.n;
  A carry = here ? carried(c, g.product, slice, part) : A(0);
  for (int64_t tile = 0; tile < c.chunk; tile += blockDim.x * PER) {
    int64_t i = begin + tile + threadIdx.x * PER;
    int n = !here || i >= end ? 0 : end - i < PER ? (int)(end - i) : PER;
    dpt__pack<T> x = {};
    if (g.a_stride == 1)
      x = dpt__pack_load(a + i, n, n == PER && (uintptr_t)(a + i) % sizeof x == 0);
    else
      for (int k = 0; k < PER; k++)
        if (k < n) x.v[k] = a[(i + k) * g.a_stride];
    A sum[PER], total = (A)g.product;
    for (int k = 0; k < PER; k++) {
      if (k < n) total = join(g.product, total, dpt__widen(x.v[k]));
      sum[k] = total;
    }
    A before = scan_row(g.product, total, &carry);
    if (c.what == SUMS) continue;
    for (int k = 0; k < PER; k++) x.v[k] = dpt__narrow<T>(join(g.product, before, sum[k]));
    if (g.r_stride == 1)
      dpt__pack_store(r + i, x, n, n == PER && (uintptr_t)(r + i) % sizeof x == 0);
    else
      for (int k = 0; k < PER; k++)
        if (k < n) r[(i + k) * g.r_stride] = x.v[k];
  }
  if (c.what == SUMS && here && threadIdx.x == 0) c.sums[slice * c.parts + part] = carry;
}

template <typename T>
int launch(dpt__context *context, const dpt__scan_args *g, const cut<dpt__sum_of<T>> &c,
           bool across) {
  int64_t slices = g->slices.count, threads = WARP, units = slices * c.parts;
  auto beside = scan_across<T>;
  auto along = scan_along<T>;
  if (across)
    return DPT_LAUNCH(beside, dim3(dpt__blocks(slices), (unsigned)c.parts), DPT__BLOCK, 0, context,
                      *g, c);
  while (threads < THREADS && threads * PER < c.chunk) threads *= 2;
  int64_t rows = THREADS / threads;
  return DPT_LAUNCH_COOPERATIVE(along, (unsigned)((units + rows - 1) / rows),
                                dim3((unsigned)threads, (unsigned)rows), 0, context, *g, c);
}

template <typename T> int scan(dpt__context *context, const dpt__scan_args *g) {
  typedef dpt__sum_of<T> A;
  int last = g->slices.ndim - 1;
  int64_t slices = g->slices.count;
  bool across = g->n < 16 || (last >= 0 && g->slices.stride[0][last] < g->a_stride);
  if (slices > (int64_t)INT32_MAX * (across ? DPT__BLOCK : 1))
    return dpt__cuda_fail("%lld slices are too many", (long long)slices);
  /* Enough parts to fill the device, unless they would be too small to be worthwhile. */
  int64_t least = across ? 64 : 4 * THREADS * PER, wanted = (across ? 65536 : 1024) / slices;
  cut<A> c = {};
  c.parts = (g->n + least - 1) / least;
  if (c.parts > wanted) c.parts = wanted > 1 ? wanted : 1;
  if (c.parts > MOST_PARTS) c.parts = MOST_PARTS;
  c.chunk = (g->n + c.parts - 1) / c.parts;
  c.parts = (g->n + c.chunk - 1) / c.chunk;
  if (c.parts == 1) return launch<T>(context, g, c, across);
  c.sums = (A *)dpt__scratch(context, (size_t)(slices * c.parts) * sizeof *c.sums);
  dpt__scan_args sums = {};
  sums.product = g->product;
  sums.dtype = std::is_same<A, double>::value ? DPT_F64 : DPT_I64;
  sums.n = c.parts;
  sums.a_stride = sums.r_stride = 1;
  sums.slices.ndim = 1;
  sums.slices.count = sums.slices.size[0] = slices;
  sums.slices.stride[0][0] = sums.slices.stride[1][0] = c.parts;
  sums.a = sums.r = c.sums;
  c.what = SUMS;
  if (launch<T>(context, g, c, across) || dpt__cuda_scan(context, &sums)) return 1;
  c.what = REST;
  return launch<T>(context, g, c, across);
}

} // namespace

int dpt__cuda_scan(dpt__context *context, const void *args) {
  const dpt__scan_args *g = (const dpt__scan_args *)args;
  if (!g->n || !g->slices.count) return 0;
  return dpt__of_type(g->dtype, [&](auto zero) { return scan<decltype(zero)>(context, g); });
}
