/* index.cu: reads and writes along a dimension by index (ops/index.h).
 *
 * Invariant: one launch checks all indices before a later one writes anything. If several indices
 * of a slice refer to one element, the writes happen in the order of the indices: the slice is
 * sorted by index, stably, and one thread does all writes to an element. An index vector is a slice
 * shared by all other slices.
 */
#include "cuda/ops/sort.h"
extern "C" {
#include "ops/index.h"
}

namespace {

constexpr unsigned CHECK_THREADS = 1024;
constexpr int64_t CHECK_ALONE = 16 * CHECK_THREADS; /* indices that one block checks */
constexpr int BATCH = 8; /* indices that a thread loads before it checks any */

/* Each slice of g.slices has `order_stride` indices in sorted and order; 0: all share the same. */
struct job {
  dpt__index_args g;
  int across;            /* adjacent threads process adjacent slices, not indices */
  const int64_t *sorted; /* sorted indices; NULL: unsorted, in g.idx */
  const int64_t *order;  /* their original positions, from 1 */
  int64_t order_stride;
};

/* Sets *rejected to 1 if an index is out of range; several blocks require it to be 0 before. */
__global__ void __launch_bounds__(CHECK_THREADS)
    check_indices(dpt__index_args g, int64_t count, int *rejected, dpt__kernel_fault fault,
                  const char *name) {
  const int64_t step = dpt__grid_threads<int64_t>();
  int bad = 0;
  for (int64_t first = dpt__thread<int64_t>(); first < count; first += BATCH * step) {
    int64_t index[BATCH];
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++) {
      int64_t t = first + b * step, slice = g.slices.count == 1 ? 0 : t / g.n, at[1];
      dpt__offsets<uint64_t, 1>(g.slices, (uint64_t)slice, at);
      index[b] = t < count ? g.idx[at[0] + (t - slice * g.n) * g.idx_stride] : 1;
    }
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++) {
      if (first + b * step >= count || (index[b] >= 1 && index[b] <= g.limit)) continue;
      bad = 1;
      dpt__fault_set(fault, DPT__KERNEL_FAULT_INDEX, name, index[b], g.dim, g.limit);
    }
  }
  bad = __syncthreads_or(bad);
  if (threadIdx.x == 0 && (bad || gridDim.x == 1)) *rejected = bad;
}

int check(dpt__context *context, const dpt__index_args &g, int *rejected) {
  int64_t count = g.slices.count * g.n;
  constexpr int64_t EACH = CHECK_THREADS / DPT__BLOCK * BATCH;
  unsigned blocks = count <= CHECK_ALONE ? 1 : dpt__blocks(count / EACH);
  if (blocks > 1 && dpt__cuda_clear(context, rejected, sizeof *rejected)) return 1;
  unsigned threads = count < CHECK_THREADS ? (unsigned)(count + 31) / 32 * 32 : CHECK_THREADS;
  return DPT_LAUNCH_COOPERATIVE(check_indices, blocks, threads, 0, context, g, count, rejected,
                                dpt__fault_of(context), context->name);
}

template <typename Index> struct slot { /* a thread's work */
  Index slice, j;
  __device__ slot(const job &w, Index t) {
    Index inner = (Index)(w.across ? w.g.slices.count : w.g.n), outer = t / inner;
    slice = w.across ? t - outer * inner : outer;
    j = w.across ? outer : t - outer * inner;
  }
};

/* Implements read, fill and write: moves between big[index j] and small[j] of each slice. */
template <typename U, typename Index>
__global__ void move_slices(job w, int64_t count, U fill, const int *rejected) {
  const dpt__index_args &g = w.g;
  if (*rejected) return;
  for (int64_t t = dpt__thread<int64_t>(); t < count; t += dpt__grid_threads<int64_t>()) {
    slot<Index> s(w, (Index)t);
    int64_t at[3], from = s.j, index;
    dpt__offsets<Index, 3>(g.slices, s.slice, at);
    if (w.sorted) {
      const int64_t *sorted = w.sorted + (int64_t)s.slice * w.order_stride;
      index = sorted[s.j];
      if ((int64_t)s.j + 1 < g.n && sorted[s.j + 1] == index) continue; /* a later one writes */
      from = w.order[(int64_t)s.slice * w.order_stride + s.j] - 1;
    } else {
      index = g.idx[at[0] + from * g.idx_stride];
    }
    U *big = (U *)g.big + at[1] + (index - 1) * g.big_stride;
    U *small = (U *)g.small + at[2] + from * g.small_stride;
    if (g.mode == DPT__INDEX_read)
      *small = *big;
    else
      *big = g.mode == DPT__INDEX_fill ? fill : *small;
  }
}

/* Implements add; rounds after each addition, as the host does. */
template <typename T, typename Index>
__global__ void add_slices(job w, int64_t count, const int *rejected) {
  const dpt__index_args &g = w.g;
  if (*rejected) return;
  for (int64_t t = dpt__thread<int64_t>(); t < count; t += dpt__grid_threads<int64_t>()) {
    slot<Index> s(w, (Index)t);
    int64_t at[3], row = (int64_t)s.slice * w.order_stride, end = (int64_t)s.j + 1;
    dpt__offsets<Index, 3>(g.slices, s.slice, at);
    int64_t index = w.sorted ? w.sorted[row + s.j] : g.idx[at[0] + (int64_t)s.j * g.idx_stride];
    if (w.sorted && s.j && w.sorted[row + s.j - 1] == index) continue; /* an earlier one adds */
    while (w.sorted && end < g.n && w.sorted[row + end] == index) end++;
    T *big = (T *)g.big + at[1] + (index - 1) * g.big_stride;
    const T *small = (const T *)g.small + at[2];
    T sum = *big;
    for (int64_t j = s.j; j < end; j++) {
      int64_t from = w.sorted ? w.order[row + j] - 1 : j;
      sum = dpt__narrow<T>(dpt__widen(sum) + dpt__widen(small[from * g.small_stride]));
    }
    *big = sum;
  }
}

/* Sorts the indices of `slices`; a slice's order is stored in row `slice` of w->sorted and
 * w->order. */
int sort_indices(dpt__context *context, const dpt__slices &slices, job *w) {
  const dpt__index_args &g = w->g;
  int64_t count = slices.count * g.n, row = g.n;
  int64_t *memory = (int64_t *)dpt__scratch(context, 2 * (size_t)count * sizeof *memory);
  dpt__sort_args s = {};
  s.mode = DPT__SORT_all;
  s.dtype = DPT_I64;
  s.n = g.n;
  s.a_stride = g.idx_stride;
  s.r_stride = s.idx_stride = 1;
  s.slices = slices;
  for (int d = slices.ndim - 1; d >= 0; d--) {
    s.slices.stride[1][d] = s.slices.stride[2][d] = row;
    row *= slices.size[d];
  }
  s.a = g.idx;
  s.r = memory;
  s.idx = memory + count;
  w->sorted = memory;
  w->order = memory + count;
  int bits = 1;
  while (bits < 63 && g.limit >> bits) bits++;
  return dpt__sort_slices(context, &s, bits);
}

template <typename U> int move(dpt__context *context, const job &w, U fill, const int *rejected) {
  int64_t count = w.g.slices.count * w.g.n;
  auto kernel = count <= UINT32_MAX ? move_slices<U, uint32_t> : move_slices<U, uint64_t>;
  return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, w, count, fill, rejected);
}

/* Converts to units of 16 bytes, if both operands have dense rows with suitable sizes and
 * alignment. Returns true if it did. */
bool widened(dpt__index_args *g, int width) {
  int64_t units = 16 / width;
  dpt__slices *l = &g->slices;
  if (l->ndim != 1 || l->stride[0][0] != 0 || l->stride[1][0] != 1 || l->stride[2][0] != 1 ||
      l->count % units || g->big_stride % units || g->small_stride % units ||
      (uintptr_t)g->big % 16 || (uintptr_t)g->small % 16)
    return false;
  l->count /= units;
  l->size[0] /= units;
  g->big_stride /= units;
  g->small_stride /= units;
  return true;
}

/* slices: those of the indices only. */
int run(dpt__context *context, job *w, const dpt__slices &slices) {
  dpt__index_args *g = &w->g;
  int width = dpt__dtype_size(g->dtype);
  dpt__index_args looked = *g;
  looked.slices = slices;
  int *rejected = (int *)dpt__scratch(context, sizeof *rejected);
  if (check(context, looked, rejected)) return 1;
  bool ordered = g->mode == DPT__INDEX_write || g->mode == DPT__INDEX_add;
  if (ordered && g->n > 1 && sort_indices(context, slices, w)) return 1;
  if (g->mode == DPT__INDEX_add)
    return dpt__of_type(g->dtype, [&](auto zero) {
      typedef decltype(zero) T;
      int64_t count = g->slices.count * g->n;
      auto kernel = count <= UINT32_MAX ? add_slices<T, uint32_t> : add_slices<T, uint64_t>;
      return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *w, count, rejected);
    });
  if (g->mode != DPT__INDEX_fill && widened(g, width))
    return move<uint4>(context, *w, uint4(), rejected);
  return dpt__of_width(width, [&](auto zero) {
    typedef decltype(zero) U;
    return move<U>(context, *w, dpt__bits_of_number<U>(g->dtype, g->value), rejected);
  });
}

/* Returns true if adjacent slices are closer together than the elements of a slice, which are
 * `stride` apart. */
bool lies_across(const dpt__slices &slices, int operand, int64_t stride) {
  int last = slices.ndim - 1;
  return last >= 0 && slices.stride[operand][last] < stride;
}

} // namespace

int dpt__cuda_index(dpt__context *context, const void *args) {
  job w = {};
  w.g = *(const dpt__index_args *)args;
  w.across = w.g.shared ? lies_across(w.g.slices, 1, w.g.big_stride)
                        : lies_across(w.g.slices, 0, w.g.idx_stride);
  w.order_stride = w.g.shared ? 0 : w.g.n;
  dpt__slices one = {};
  one.count = 1;
  return run(context, &w, w.g.shared ? one : w.g.slices);
}
