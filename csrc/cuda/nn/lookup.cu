/* lookup.cu: rows of a table by index, and their gradients.
 *
 * Invariant: all indices are checked before anything is written. A row's gradients are summed in
 * double in the order of idx, in parts of CHUNK indices that are adjacent after sorting, and added
 * to the row once, so the same call has the same bits.
 */
#include "cuda/nn/classes.h"
#include "cuda/nn/nn.h"
#include "cuda/ops/sort.h"
#include "cuda/sums.h"

namespace {

constexpr int CHECKERS = 16, CHECK_THREADS = 512, CHUNK = 32, WARP = 32, MOST_Y = 65535;

struct indices {
  const void *idx;
  int type;
  int64_t n, rows;
  __device__ int64_t operator[](int64_t i) const { return dpt__index_at(idx, type, i); }
};

/* ---- checking ---- */

/* A byte for each checking block, set if it found a bad index. */
struct alignas(CHECKERS) verdict {
  uint8_t bad[CHECKERS];
};

__device__ __forceinline__ bool rejected(const verdict *v) {
  uint4 bits = *(const uint4 *)v;
  return bits.x | bits.y | bits.z | bits.w;
}

/* Checks the indices. Also sets `nmark` words of marks to 0. */
__global__ void check(indices at, verdict *v, uint32_t *marks, int64_t nmark,
                      dpt__kernel_fault fault, const char *name) {
  __shared__ int bad;
  if (threadIdx.x == 0) bad = 0;
  __syncthreads();
  int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t i = thread; i < at.n; i += dpt__grid_threads<int64_t>()) {
    int64_t row = at[i];
    if (row >= 1 && row <= at.rows) continue;
    bad = 1; /* a benign race: all threads write 1 */
    dpt__fault_set(fault, DPT__KERNEL_FAULT_ROW, name, row, i + 1, at.rows,
                   dpt__index_number(at.idx, at.type, i));
  }
  for (int64_t i = thread; i < nmark; i += dpt__grid_threads<int64_t>()) marks[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) v->bad[blockIdx.x] = (uint8_t)bad;
  if (blockIdx.x == 0 && threadIdx.x >= gridDim.x && threadIdx.x < CHECKERS)
    v->bad[threadIdx.x] = 0;
}

int launch_check(dpt__context *context, const indices &at, const verdict **out, uint32_t *marks,
                 int64_t nmark) {
  verdict *v = (verdict *)dpt__scratch(context, sizeof *v);
  *out = v;
  int64_t blocks = (at.n + CHECK_THREADS - 1) / CHECK_THREADS;
  if (blocks > CHECKERS) blocks = CHECKERS;
  return DPT_LAUNCH_COOPERATIVE(check, (unsigned)blocks, (unsigned)CHECK_THREADS, 0, context, at, v,
                                marks, nmark, dpt__fault_of(context), context->name);
}

/* ---- rows by index ---- */

/* Copies rows of `each` units. */
template <typename Unit>
__global__ void pick_rows(indices at, const Unit *weight, Unit *out, int64_t each,
                          const verdict *v) {
  if (rejected(v)) return;
  int64_t count = at.n * each, threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += threads) {
    int64_t i = t / each;
    out[t] = weight[(at[i] - 1) * each + (t - i * each)];
  }
}

template <typename Unit>
int launch_pick(dpt__context *context, const dpt__lookup_args &a, const indices &at, int64_t bytes,
                const verdict *v) {
  int64_t each = bytes / (int64_t)sizeof(Unit);
  auto kernel = pick_rows<Unit>;
  return DPT_LAUNCH(kernel, dpt__blocks(a.n * each), DPT__BLOCK, 0, context, at,
                    (const Unit *)a.weight, (Unit *)a.out, each, v);
}

/* ---- gradients ---- */

/* The indices, sorted stably: those of a row are in the order of idx. */
struct order {
  const void *rows;
  const int64_t *positions; /* of each in idx, from 1 */
  int64_t n;
  int type;
  __device__ int64_t row(int64_t p) const { return dpt__index_at(rows, type, p); }
  /* Returns true if p and the index before it refer to one row. */
  __device__ bool continues(int64_t p) const { return p > 0 && p < n && row(p - 1) == row(p); }
  /* Returns the number of indices that refer to rows below `wanted`. */
  __device__ int64_t before(int64_t wanted) const {
    int64_t low = 0, high = n;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (row(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

int sort_indices(dpt__context *context, const indices &at, order *by) {
  int64_t width = dpt__of_type(at.type, [](auto zero) { return (int)sizeof zero; });
  void *rows = dpt__scratch(context, (size_t)(at.n * width));
  int64_t *positions = (int64_t *)dpt__scratch(context, (size_t)at.n * sizeof *positions);
  int bits = 1; /* of the rows' numbers; for reals all bits may differ */
  while (bits < 63 && (int64_t)1 << bits <= at.rows) bits++;
  if (bits > 8 * width || dpt__is_real(at.type)) bits = (int)(8 * width);
  dpt__sort_args g = {};
  g.mode = DPT__SORT_all;
  g.dtype = at.type;
  g.n = at.n;
  g.a_stride = g.r_stride = g.idx_stride = 1;
  g.slices.count = 1;
  g.a = at.idx;
  g.r = rows;
  g.idx = positions;
  *by = {rows, positions, at.n, at.type};
  return dpt__sort_slices(context, &g, bits);
}

/* Sums chunk x for the columns of y in block (x, y). Sums of a row that began before the chunk are
 * stored in heads, those of a row that begins in it and continues after it in tails. */
template <typename T, typename P>
__global__ void add_chunks(order by, dpt__lookup_backward_args a, double *heads, double *tails,
                           const verdict *v) {
  __shared__ int64_t rows[CHUNK + 1], positions[CHUNK];
  typedef typename dpt__wide<T>::type V;
  __shared__ V scales[CHUNK];
  if (rejected(v)) return; /* the whole block returns */
  int64_t first = (int64_t)blockIdx.x * CHUNK;
  int m = by.n - first < CHUNK ? (int)(by.n - first) : CHUNK, t = (int)threadIdx.x;
  if (t < m) {
    int64_t row = by.row(first + t);
    rows[t] = row;
    positions[t] = by.positions[first + t] - 1;
    int64_t count = a.by_frequency ? by.before(row + 1) - by.before(row) : 1;
    scales[t] = (V)(a.by_frequency ? a.scale / (double)count : a.scale);
  }
  if (t == m - 1) rows[m] = 0;
  __syncthreads();
  bool began = by.continues(first), goes = by.continues(first + m);
  int64_t columns = (int64_t)gridDim.y * blockDim.x;
  for (int64_t d = (int64_t)blockIdx.y * blockDim.x + t; d < a.D; d += columns) {
    const T *gout = (const T *)a.gout + d;
    double sum = 0;
    bool head = began;
    for (int p = 0; p < m; p += 8) {
      T x[8]; /* all loads in flight at once */
      for (int i = 0; i < 8; i++) x[i] = p + i < m ? gout[positions[p + i] * a.D] : T();
      for (int i = 0; i < 8; i++) {
        int q = p + i;
        if (q >= m) break;
        V term = scales[q] * dpt__load(x[i]);
        sum += (double)term;
        if (rows[q + 1] == rows[q]) continue;
        if (head) {
          heads[(int64_t)blockIdx.x * a.D + d] = sum;
        } else if (q == m - 1 && goes) {
          tails[(int64_t)blockIdx.x * a.D + d] = sum;
        } else if (rows[q] != a.padding) {
          P *to = (P *)a.gw + (rows[q] - 1) * a.D + d;
          *to = dpt__store_wide<P>((double)dpt__load(*to) + sum);
        }
        head = false;
        sum = 0;
      }
    }
  }
}

/* Sums rows that span several chunks, on the threads of their first chunk. */
template <typename P>
__global__ void join_chunks(order by, dpt__lookup_backward_args a, const double *heads,
                            const double *tails, const verdict *v) {
  if (rejected(v)) return;
  int64_t chunk = blockIdx.x, end = (chunk + 1) * CHUNK;
  if (!by.continues(end)) return;
  int64_t row = by.row(end);
  if (row == a.padding || (chunk > 0 && by.row(chunk * CHUNK - 1) == row)) return;
  int64_t columns = (int64_t)gridDim.y * blockDim.x;
  for (int64_t d = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; d < a.D; d += columns) {
    double sum = tails[chunk * a.D + d];
    for (int64_t c = chunk + 1; c * CHUNK < by.n && by.row(c * CHUNK) == row; c++)
      sum += heads[c * a.D + d];
    P *to = (P *)a.gw + (row - 1) * a.D + d;
    *to = dpt__store_wide<P>((double)dpt__load(*to) + sum);
  }
}

template <typename T, typename P>
int launch_add(dpt__context *context, const dpt__lookup_backward_args &a, const order &by,
               const verdict *v) {
  int64_t chunks = (a.n + CHUNK - 1) / CHUNK;
  unsigned threads = a.D > 96 ? 128 : (unsigned)((a.D + WARP - 1) / WARP * WARP);
  int64_t columns = (a.D + threads - 1) / threads;
  dim3 grid((unsigned)chunks, (unsigned)(columns < MOST_Y ? columns : MOST_Y));
  double *parts = NULL, *tails = NULL;
  if (chunks > 1) {
    size_t bytes = 2 * (size_t)chunks * (size_t)a.D * sizeof *parts;
    parts = (double *)dpt__scratch(context, bytes);
    tails = parts + chunks * a.D;
  }
  auto add = add_chunks<T, P>;
  auto join = join_chunks<P>;
  if (DPT_LAUNCH_COOPERATIVE(add, grid, threads, 0, context, by, a, parts, tails, v)) return 1;
  if (chunks == 1) return 0;
  return DPT_LAUNCH(join, grid, threads, 0, context, by, a, parts, tails, v);
}

/* ---- renorm ---- */

/* Renormalizes rows, with a warp per index; the warp that marks a row first processes it. */
template <typename T>
__global__ void renorm_rows(indices at, dpt__lookup_renorm_args a, uint32_t *marks,
                            const verdict *v) {
  if (rejected(v)) return;
  int lane = (int)threadIdx.x % WARP;
  int64_t warps = (int64_t)gridDim.x * (blockDim.x / WARP);
  int64_t i = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
  for (; i < a.n; i += warps) {
    int64_t row = at[i] - 1;
    uint32_t bit = (uint32_t)1 << row % 32, before = 0;
    if (lane == 0) before = atomicOr(&marks[row / 32], bit);
    if (__shfl_sync(0xffffffffu, before, 0) & bit) continue;
    T *w = (T *)a.weight + row * a.D;
    double sum = 0;
    for (int64_t d = lane; d < a.D; d += WARP) {
      double x = fabs((double)dpt__load(w[d]));
      sum += a.p == 1 ? x : a.p == 2 ? x * x : pow(x, a.p);
    }
    sum = __shfl_sync(0xffffffffu, dpt__warp_sum(sum), 0);
    double norm = pow(sum, 1 / a.p);
    if (norm > a.max_norm)
      for (int64_t d = lane; d < a.D; d += WARP)
        w[d] = dpt__store_wide<T>((double)dpt__load(w[d]) * (a.max_norm / (norm + 1e-7)));
  }
}

} // namespace

int dpt__cuda_lookup(dpt__context *context, const void *args) {
  const dpt__lookup_args &a = *(const dpt__lookup_args *)args;
  indices at = {a.idx, a.index_type, a.n, a.V};
  const verdict *v;
  if (!a.n) return 0;
  if (launch_check(context, at, &v, NULL, 0)) return 1;
  int64_t width = (int64_t)dpt__dtype_size(a.type), bytes = a.D * width;
  if (bytes % 16 == 0 && (uintptr_t)a.weight % 16 == 0 && (uintptr_t)a.out % 16 == 0)
    return launch_pick<uint4>(context, a, at, bytes, v);
  return width == 2   ? launch_pick<uint16_t>(context, a, at, bytes, v)
         : width == 4 ? launch_pick<uint32_t>(context, a, at, bytes, v)
                      : launch_pick<uint64_t>(context, a, at, bytes, v);
}

int dpt__cuda_lookup_backward(dpt__context *context, const void *args) {
  const dpt__lookup_backward_args &a = *(const dpt__lookup_backward_args *)args;
  indices at = {a.idx, a.index_type, a.n, a.V};
  const verdict *v;
  if (!a.n) return 0;
  order by;
  if (launch_check(context, at, &v, NULL, 0) || sort_indices(context, at, &by)) return 1;
  return dpt__of_types(a.type, a.param_type, [&](auto zero, auto param) {
    return launch_add<decltype(zero), decltype(param)>(context, a, by, v);
  });
}

int dpt__cuda_lookup_renorm(dpt__context *context, const void *args) {
  const dpt__lookup_renorm_args &a = *(const dpt__lookup_renorm_args *)args;
  indices at = {a.idx, a.index_type, a.n, a.V};
  const verdict *v;
  if (!a.n) return 0;
  int64_t words = (a.V + 31) / 32;
  uint32_t *marks = (uint32_t *)dpt__scratch(context, (size_t)words * sizeof *marks);
  if (launch_check(context, at, &v, marks, words)) return 1;
  return dpt__of_stored_real(a.type, [&](auto zero) {
    auto kernel = renorm_rows<decltype(zero)>;
    return DPT_LAUNCH_COOPERATIVE(kernel, dpt__blocks(a.n * WARP), DPT__BLOCK, 0, context, at, a,
                                  marks, v);
  });
}
