/* reduce.cu: reductions over a dimension, over all elements, and over pairs of elements.
 *
 * Invariant: values accumulate wide (integers modulo 2^64, reals in double). How elements are
 * divided, and the order in which parts are joined, depend on sizes and strides alone, so the same
 * call has the same bits; the number of slices per block does not affect them. The first of equal
 * extremes wins, and NaN wins over every number.
 */
#include "cuda/element.h"
#include "cuda/pack.h"
extern "C" {
#include "base/number.h"
#include "ops/reduce.h"
}

#include <type_traits>

namespace {

enum { THREADS = 256, EACH = 32, SIDE = 32, MOST_BLOCKS = 4096, END_THREADS = 1024 };

/* The kind of accumulation is a template constant of a kernel and of the functions it calls.
 * Compilers would need minutes for all those kernels in the emulation, so there it is a run-time
 * argument: ANY. */
enum { ANY = -1 };
#ifdef DPT_EMULATED
#define KERNELS_OF(kind) ANY
#else
#define KERNELS_OF(kind) kind
#endif

/* The partial result of some elements: value; m2 or the value's position; their number. */
template <typename A> struct part {
  A value;
  union {
    double m2;
    int64_t at;
  };
  int64_t n;
};

/* A function that is called, not a copy of pow in each kernel, which would take nvcc long. */
__device__ __attribute__((noinline)) double power(double x, double p) {
  return dpt__term_real(DPT__POWER, x, p);
}
__device__ double term(int kind, double x, double p) {
  return kind == DPT__POWER ? power(x, p) : dpt__term_real(kind, x, p);
}
__device__ uint64_t term(int kind, uint64_t x, double) { return dpt__term_whole(kind, x); }
__device__ double pair_of(int pairing, double x, double y) { return dpt__pair_real(pairing, x, y); }
__device__ uint64_t pair_of(int pairing, uint64_t x, uint64_t y) {
  return dpt__pair_whole(pairing, x, y);
}

template <typename A> __device__ __forceinline__ part<A> nothing(int kind) {
  part<A> v;
  v.value = kind == DPT__PRODUCT ? A(1) : A(0);
  v.m2 = 0;
  v.n = 0;
  return v;
}

/* Returns true if x, which comes after y, is a better extreme than y; NaN is the best. */
__device__ __forceinline__ bool beats(int kind, double x, double y) {
  return (y == y) & !(kind == DPT__MAX ? x <= y : x >= y);
}
__device__ __forceinline__ bool beats(int kind, uint64_t x, uint64_t y) {
  return kind == DPT__MAX ? (int64_t)x > (int64_t)y : (int64_t)x < (int64_t)y;
}
/* Returns true if b is a better extreme than a. */
template <typename A>
__device__ __forceinline__ bool better(int kind, const part<A> &a, const part<A> &b) {
  if (!a.n || !b.n) return b.n;
  if (a.at < b.at) return beats(kind, b.value, a.value);
  return !beats(kind, a.value, b.value);
}

/* Variance is defined for reals only; the overloads for integers do nothing. */
__device__ __forceinline__ void join_variance(part<double> *to, const part<double> &from) {
  if (from.n)
    dpt__join_variance(&to->value, &to->m2, (double)to->n, from.value, from.m2, (double)from.n);
}
__device__ __forceinline__ void join_variance(part<uint64_t> *, const part<uint64_t> &) {}
__device__ __forceinline__ void add_variance(part<double> *v, double x) {
  double d = x - v->value;
  v->value += d / (double)v->n;
  v->m2 += d * (x - v->value);
}
__device__ __forceinline__ void add_variance(part<uint64_t> *, uint64_t) {}

template <typename A>
__device__ __forceinline__ void join(int kind, part<A> *to, const part<A> &from) {
  if (kind == DPT__MAX || kind == DPT__MIN) {
    if (better(kind, *to, from)) *to = from;
    return;
  }
  if (kind == DPT__PRODUCT)
    to->value *= from.value;
  else if (kind == DPT__VARIANCE)
    join_variance(to, from);
  else
    to->value += from.value;
  to->n += from.n;
}

/* Adds element i, which comes after all elements of v. */
template <typename A>
__device__ __forceinline__ void add(int kind, part<A> *v, A x, int64_t i, double p) {
  if (kind == DPT__MAX || kind == DPT__MIN) {
    const bool best = (v->n == 0) | beats(kind, x, v->value); /* without a branch */
    v->value = best ? x : v->value;
    v->at = best ? i : v->at;
    v->n = 1;
    return;
  }
  v->n++;
  if (kind == DPT__PRODUCT)
    v->value *= x;
  else if (kind == DPT__VARIANCE)
    add_variance(v, x);
  else
    v->value += term(kind, x, p);
}

/* ---- sources of numbers: read in units of EACH adjacent elements; a thread loads BATCH units
 * before it adds any ---- */

/* Slices of a tensor. */
template <typename T> struct slices_source {
  typedef T unit;
  enum { EACH = 1, BATCH = sizeof(T) == 8 ? 8 : 16 };
  const T *a;
  int64_t stride;
  __device__ T load(int64_t slice, int64_t i, int) const { return a[slice + i * stride]; }
  static __device__ dpt__sum_of<T> number(const T &x, int) { return dpt__widen(x); }
};

/* Contiguous elements: those of slices, or all elements of an operand or of a pair of operands.
 * packs: every unit of four elements is aligned for a pack. */
template <typename T, int pairing> struct dense_source {
  struct unit {
    dpt__pack<T> a, b;
  };
  enum { EACH = DPT__PACK, BATCH = 4 };
  const T *a, *b;
  bool packs;
  __device__ unit load(int64_t slice, int64_t i, int n) const {
    unit u;
    u.a = dpt__pack_load(a + slice + i, n, packs && n == DPT__PACK);
    if (pairing != DPT__PAIR_first) u.b = dpt__pack_load(b + i, n, packs && n == DPT__PACK);
    return u;
  }
  static __device__ dpt__sum_of<T> number(const unit &u, int k) {
    if constexpr (pairing == DPT__PAIR_first) return dpt__widen(u.a.v[k]);
    return pair_of(pairing, dpt__widen(u.a.v[k]), dpt__widen(u.b.v[k]));
  }
};

/* All elements of an operand, or of a pair of them, as one slice. */
template <typename T, int pairing> struct walk_source {
  typedef dpt__sum_of<T> unit;
  enum { EACH = 1, BATCH = 1 };
  dpt__walk walk;
  __device__ unit load(int64_t, int64_t i, int) const {
    int64_t offset[2];
    dpt__offsets<uint64_t, pairing == DPT__PAIR_first ? 1 : 2>(walk, (uint64_t)i, offset);
    auto x = dpt__widen(((const T *)walk.data[0])[offset[0]]);
    if constexpr (pairing == DPT__PAIR_first) return x;
    return pair_of(pairing, x, dpt__widen(((const T *)walk.data[1])[offset[1]]));
  }
  static __device__ unit number(unit x, int) { return x; }
};

/* ---- kernels ---- */

template <typename A> struct result {
  void *r;
  int64_t *idx; /* positions, or NULL */
  dpt__slices slices;
  int op, kind, dtype; /* kind: the accumulation */
  double p;
};

/* Store a result; called, as power is. */
__device__ __attribute__((noinline)) void put(int dtype, void *to, int op, double p,
                                              part<double> v) {
  dpt__put_element(dtype, to, dpt__finish_real(op, p, v.value, v.m2, (double)v.n));
}
__device__ __attribute__((noinline)) void put(int dtype, void *to, int op, double,
                                              part<uint64_t> v) {
  dpt__put_whole(dtype, to, dpt__finish_whole(op, (int64_t)v.value, v.n));
}

/* The threads of a block: `side` slices with `deep` threads each. Adjacent threads belong to the
 * same slice if `along`, otherwise to adjacent slices. */
struct shape {
  int side, deep, along;
  __device__ int slice() const { return along ? threadIdx.y : threadIdx.x; }
  __device__ int depth() const { return along ? threadIdx.x : threadIdx.y; }
};

/* Joins the parts of a slice's threads; the thread of depth 0 returns the result. */
template <typename A>
__device__ __forceinline__ part<A> join_block(int kind, const shape &s, const part<A> &v,
                                              part<A> *shared) {
  int self = s.depth() * s.side + s.slice();
  shared[self] = v;
  for (int half = s.deep / 2; half; half /= 2) {
    __syncthreads();
    if (s.depth() < half) join(kind, &shared[self], shared[self + half * s.side]);
  }
  return shared[self];
}

template <typename A>
__device__ void finish(const result<A> &r, const int64_t *at, const part<A> &v) {
  if (r.idx) r.idx[at[2]] = v.at + 1;
  put(r.dtype, (char *)r.r + at[1] * (int)dpt__dtype_size(r.dtype), r.op, r.p, v);
}

/* Adds to v the units first, first + step ... whose elements are below `end`. */
template <int constant, typename Source, typename A>
__device__ __forceinline__ void add_units(int kind, const Source &source, int64_t slice,
                                          int64_t first, int64_t end, int64_t step, double p,
                                          part<A> *v) {
  /* batching loads is not worth its code for these */
  constexpr bool heavy = constant == DPT__POWER || constant == DPT__VARIANCE;
  constexpr int EACH = Source::EACH, BATCH = heavy ? 1 : Source::BATCH;
  int64_t i = first;
  for (; i + (BATCH - 1) * step + EACH <= end; i += BATCH * step) {
    typename Source::unit u[BATCH];
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++) u[b] = source.load(slice, i + b * step, EACH);
    DPT_UNROLL
    for (int b = 0; b < BATCH; b++)
      for (int k = 0; k < EACH; k++) add(kind, v, source.number(u[b], k), i + b * step + k, p);
  }
  for (; i < end; i += step) {
    const int n = end - i < EACH ? (int)(end - i) : EACH;
    const typename Source::unit u = source.load(slice, i, n);
    for (int k = 0; k < EACH; k++)
      if (k < n) add(kind, v, source.number(u, k), i + k, p);
  }
}

/* Reduces in block (x, y) `chunk` elements, from y * chunk on, of the slices from x * side on.
 * Writes to parts[slice * gridDim.y + y], or the results if each slice has one block. */
template <typename T, typename A, int constant, typename Source>
__global__ void __launch_bounds__(THREADS, 4) /* keeps a batch of loads in flight */
    reduce_parts(shape s, Source source, result<A> r, int64_t n, int64_t chunk, part<A> *parts) {
  DPT_SHARED(part<A>, shared);
  const int kind = constant == ANY ? r.kind : constant;
  int64_t slice = (int64_t)blockIdx.x * s.side + s.slice(), at[DPT__SLICE_OPERANDS];
  int64_t first = (int64_t)blockIdx.y * chunk, end = first + chunk < n ? first + chunk : n;
  part<A> v = nothing<A>(kind);
  if (slice < r.slices.count) {
    dpt__offsets<int64_t, DPT__SLICE_OPERANDS>(r.slices, slice, at);
    add_units<constant>(kind, source, at[0], first + s.depth() * Source::EACH, end,
                        (int64_t)s.deep * Source::EACH, r.p, &v);
  }
  v = join_block(kind, s, v, shared);
  if (s.depth() || slice >= r.slices.count) return;
  if (gridDim.y == 1)
    finish(r, at, v);
  else
    parts[slice * gridDim.y + blockIdx.y] = v;
}

/* Joins the parts of each slice and writes the results. */
template <typename A, int constant>
__global__ void __launch_bounds__(END_THREADS)
    reduce_end(shape s, result<A> r, const part<A> *parts, int64_t blocks) {
  DPT_SHARED(part<A>, shared);
  const int kind = constant == ANY ? r.kind : constant;
  int64_t slice = (int64_t)blockIdx.x * s.side + s.slice(), at[DPT__SLICE_OPERANDS];
  bool here = slice < r.slices.count;
  part<A> v = nothing<A>(kind);
  /* a thread joins adjacent parts, which keeps the order of elements */
  int64_t each = (blocks + s.deep - 1) / s.deep, first = s.depth() * each;
  for (int64_t b = first; here && b < first + each && b < blocks; b++)
    join(kind, &v, parts[slice * blocks + b]);
  v = join_block(kind, s, v, shared);
  if (s.depth() || !here) return;
  dpt__offsets<int64_t, DPT__SLICE_OPERANDS>(r.slices, slice, at);
  finish(r, at, v);
}

/* ---- launches ---- */

/* Returns a block with at most `deep` threads for each slice of n units. */
shape shape_of(int side, int deep, bool along, int64_t n, int64_t slices) {
  const int threads = side * deep;
  while (deep > 1 && deep / 2 >= n) deep /= 2;
  if (along) side = threads / deep;
  while (along && side > 1 && side / 2 >= slices) side /= 2;
  return {side, deep, along};
}
dim3 threads_of(const shape &s) {
  return s.along ? dim3((unsigned)s.deep, (unsigned)s.side)
                 : dim3((unsigned)s.side, (unsigned)s.deep);
}

/* along: the elements of a slice are closer together in memory than adjacent slices. */
template <typename T, int constant, typename Source>
int launch_kind(dpt__context *context, const Source &source, int64_t n, bool along,
                const result<dpt__sum_of<T>> &r) {
  typedef dpt__sum_of<T> A;
  int64_t count = r.slices.count;
  const int side = along ? 1 : SIDE;
  shape s = shape_of(side, THREADS / side, along, dpt__ceil_div(n, Source::EACH), count);
  int64_t tile = (int64_t)s.deep * EACH, groups = dpt__ceil_div(count, s.side);
  int64_t chunk = tile * dpt__ceil_div(n, tile * MOST_BLOCKS);
  unsigned blocks = (unsigned)dpt__ceil_div(n, chunk);
  if (groups > INT32_MAX) return dpt__cuda_fail("%lld slices are too many", (long long)count);
  part<A> *parts = NULL;
  if (blocks > 1) {
    parts = (part<A> *)dpt__scratch(context, (size_t)count * blocks * sizeof *parts);
  }
  constexpr int own = Source::BATCH > 1 ? constant : ANY; /* walks are slow, anyway */
  auto first = reduce_parts<T, A, own, Source>;
  if (DPT_LAUNCH_COOPERATIVE(first, dim3((unsigned)groups, blocks), threads_of(s),
                             s.side * s.deep * sizeof *parts, context, s, source, r, n, chunk,
                             parts))
    return 1;
  if (blocks == 1) return 0;
  shape e = shape_of(1, END_THREADS, true, blocks, count);
  auto end = reduce_end<A, constant>;
  return DPT_LAUNCH_COOPERATIVE(end, dim3((unsigned)dpt__ceil_div(count, e.side)), threads_of(e),
                                e.side * e.deep * sizeof *parts, context, e, r, parts,
                                (int64_t)blocks);
}

#define CASE(kind)                                                                                 \
  case kind:                                                                                       \
    return launch_kind<T, KERNELS_OF(kind)>(context, source, n, along, r);
template <typename T, typename Source, typename A>
int launch(dpt__context *context, const Source &source, int64_t n, bool along, const result<A> &r) {
  if constexpr (std::is_same<A, double>::value) {
    switch (r.kind) { DPT__REAL_ACCUMULATIONS(CASE) }
  } else {
    switch (r.kind) { DPT__WHOLE_ACCUMULATIONS(CASE) }
  }
  return dpt__cuda_fail("no accumulator type for element type %d", r.dtype);
}
#undef CASE

template <typename T> int reduce(dpt__context *context, const dpt__reduce_args *g) {
  result<dpt__sum_of<T>> r = {g->r,     g->idx, g->slices, g->op, dpt__accumulation(g->op, g->p),
                              g->dtype, g->p};
  int64_t stride = g->stride < 0 ? -g->stride : g->stride;
  int last = g->slices.ndim - 1;
  bool along = last < 0 || g->slices.size[last] == 1 || g->slices.stride[0][last] >= stride;
  if (!along || g->stride != 1)
    return launch<T>(context, slices_source<T>{(const T *)g->a, g->stride}, g->n, along, r);
  bool packs = dpt__packs_at<T>(g->a);
  for (int d = 0; d <= last; d++) packs = packs && g->slices.stride[0][d] % DPT__PACK == 0;
  dense_source<T, DPT__PAIR_first> source = {(const T *)g->a, NULL, packs};
  return launch<T>(context, source, g->n, along, r);
}

/* Returns the result struct of a reduction to one number. */
template <typename A> result<A> one_number(double *out, int op, double p) {
  result<A> r = {};
  r.r = out;
  r.slices.count = 1;
  r.op = op;
  r.kind = dpt__accumulation(op, p);
  r.dtype = DPT_F64;
  r.p = p;
  return r;
}

/* Calls f with the source of a walk's numbers. */
template <typename T, int pairing, typename F> int with_source(const dpt__walk &walk, F f) {
  const T *a = (const T *)walk.data[0],
          *b = pairing == DPT__PAIR_first ? a : (const T *)walk.data[1];
  if (dpt__walk_is_dense(&walk))
    return f(dense_source<T, pairing>{a, b, dpt__packs_at<T>(a) && dpt__packs_at<T>(b)});
  return f(walk_source<T, pairing>{walk});
}

template <typename T> int reduce_all(dpt__context *context, const dpt__reduce_all_args *g) {
  result<dpt__sum_of<T>> r = one_number<dpt__sum_of<T>>(g->out, g->op, g->p);
  return with_source<T, DPT__PAIR_first>(g->walk, [&](auto source) {
    return launch<T>(context, source, dpt__walk_count(&g->walk), true, r);
  });
}

/* Dot products and equality are sums; distances need every accumulation of reals. */
template <typename T> int pair(dpt__context *context, const dpt__pair_args *g) {
  int64_t n = dpt__walk_count(&g->walk);
  result<dpt__sum_of<T>> r = one_number<dpt__sum_of<T>>(g->out, dpt__pair_reduction(g->op), g->p);
  if (g->op == DPT__PAIR_dot)
    return with_source<T, DPT__PAIR_dot>(g->walk, [&](auto source) {
      return launch_kind<T, KERNELS_OF(DPT__SUM)>(context, source, n, true, r);
    });
  if (g->op == DPT__PAIR_equal)
    return with_source<T, DPT__PAIR_equal>(g->walk, [&](auto source) {
      return launch_kind<T, KERNELS_OF(DPT__SUM)>(context, source, n, true, r);
    });
  if constexpr (std::is_same<dpt__sum_of<T>, double>::value)
    return with_source<T, DPT__PAIR_dist>(g->walk, [&](auto source) {
      switch (r.kind) {
#define CASE(kind)                                                                                 \
  case kind:                                                                                       \
    return launch_kind<T, KERNELS_OF(kind)>(context, source, n, true, r);
        DPT__REAL_SUMS(CASE)
#undef CASE
      }
      return 1;
    });
  return dpt__cuda_fail("no distance for element type %d", g->op);
}

} // namespace

int dpt__cuda_reduce(dpt__context *context, const void *args) {
  const dpt__reduce_args *g = (const dpt__reduce_args *)args;
  return dpt__of_type(g->dtype, [&](auto zero) { return reduce<decltype(zero)>(context, g); });
}

int dpt__cuda_reduce_all(dpt__context *context, const void *args) {
  const dpt__reduce_all_args *g = (const dpt__reduce_all_args *)args;
  return dpt__of_type(g->walk.dtype[0],
                      [&](auto zero) { return reduce_all<decltype(zero)>(context, g); });
}

int dpt__cuda_pair(dpt__context *context, const void *args) {
  const dpt__pair_args *g = (const dpt__pair_args *)args;
  return dpt__of_type(g->walk.dtype[0],
                      [&](auto zero) { return pair<decltype(zero)>(context, g); });
}
