/* reduce.cu: reductions over a dimension, over everything, and of pairs of elements.
 *
 * What must stay true: values accumulate wide (integers modulo 2^64, reals in double). How the
 * elements are cut and in which order parts are joined depends on sizes and steps alone, so the
 * same call gives the same bits. Of equal extremes the first counts, and a NaN before all.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/reduce.h"
}

namespace {

/* The kinds of pairs follow those of dpt__accumulation. */
enum { DOT = DPT__NACCUMULATION, DIFFERENT, APART, DISTANCE, SQUARE_APART, POWER_APART };
enum { THREADS = 256, EACH = 32, SIDE = 32, MOST_BLOCKS = 65535 };

/* What some elements contribute: value; m2 or the place of the value; how many they were. */
template <typename A> struct part {
  A value;
  union {
    double m2;
    int64_t at;
  };
  int64_t n;
};

template <typename A> __device__ bool is_nan(A x) { return x != x; }
__device__ bool less(double a, double b) { return a < b; }
__device__ bool less(uint64_t a, uint64_t b) { return (int64_t)a < (int64_t)b; }
__device__ double magnitude(double x) { return fabs(x); }
__device__ uint64_t magnitude(uint64_t x) { return (int64_t)x < 0 ? 0 - x : x; }
__device__ double to_double(double x) { return x; }
__device__ double to_double(uint64_t x) { return (double)(int64_t)x; }
__device__ double power(double x, double p) { return pow(x, p); }
__device__ uint64_t power(uint64_t x, double p) {
  return (uint64_t)(int64_t)pow((double)(int64_t)x, p);
}

template <int kind, typename A> __device__ part<A> nothing() {
  part<A> v;
  v.value = kind == DPT__PRODUCT ? A(1) : A(0);
  v.m2 = 0;
  v.n = 0;
  return v;
}

/* b is a better extreme than a. */
template <int kind, typename A> __device__ bool better(const part<A> &a, const part<A> &b) {
  if (!b.n) return false;
  if (!a.n) return true;
  if (is_nan(a.value) || is_nan(b.value))
    return is_nan(b.value) && (!is_nan(a.value) || b.at < a.at);
  if (a.value == b.value) return b.at < a.at;
  return kind == DPT__MOST ? less(a.value, b.value) : less(b.value, a.value);
}

template <int kind, typename A> __device__ void add(part<A> *v, A x, A y, int64_t i, double p) {
  switch (kind) {
  case DPT__SUM:
    v->value += x;
    break;
  case DPT__COUNT:
    v->value += x != A(0);
    break;
  case DPT__MAGNITUDE:
    v->value += magnitude(x);
    break;
  case DPT__SQUARE:
    v->value += x * x;
    break;
  case DPT__POWER:
    v->value += power(magnitude(x), p);
    break;
  case DPT__PRODUCT:
    v->value *= x;
    break;
  case DPT__SPREADOUT: {
    A d = x - v->value;
    v->value += d / A(v->n + 1);
    v->m2 += to_double(d) * to_double(x - v->value);
    break;
  }
  case DOT:
    v->value += x * y;
    break;
  case DIFFERENT:
  case APART:
    v->value += x != y;
    break;
  case DISTANCE:
    v->value += magnitude(x - y);
    break;
  case SQUARE_APART:
    v->value += (x - y) * (x - y);
    break;
  case POWER_APART:
    v->value += power(magnitude(x - y), p);
    break;
  default: {
    part<A> other = {x, {0}, 1};
    other.at = i;
    if (better<kind>(*v, other)) *v = other;
    return;
  }
  }
  v->n++;
}

template <int kind, typename A> __device__ void join(part<A> *to, const part<A> &from) {
  if (kind == DPT__MOST || kind == DPT__LEAST) {
    if (better<kind>(*to, from)) *to = from;
    return;
  }
  if (kind == DPT__PRODUCT) {
    to->value *= from.value;
  } else if (kind == DPT__SPREADOUT) {
    if (from.n) {
      double d = to_double(from.value) - to_double(to->value), n = (double)(to->n + from.n);
      to->value += A(d * ((double)from.n / n));
      to->m2 += from.m2 + d * d * ((double)to->n * (double)from.n / n);
    }
  } else {
    to->value += from.value;
  }
  to->n += from.n;
}

/* The parts of the threads along y become one, in part[threadIdx.x]. */
template <int kind, typename A> __device__ void join_block(part<A> *parts) {
  int self = (int)(threadIdx.y * blockDim.x + threadIdx.x);
  for (int half = (int)blockDim.y / 2; half; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.y < half) join<kind>(&parts[self], parts[self + half * (int)blockDim.x]);
  }
  __syncthreads();
}

/* ---- where elements come from ---- */

/* Lanes of a tensor; lane and element are counted. */
template <typename T> struct lanes_source {
  const T *a;
  int64_t step;
  dpt__lanes lanes;
  __device__ const T *start(int64_t lane) const {
    int64_t at[1];
    dpt__places<int64_t, 1>(lanes, lane, at);
    return a + at[0];
  }
  __device__ T first(const T *start, int64_t i) const { return start[i * step]; }
  __device__ T second(const T *start, int64_t i) const { return start[i * step]; }
};

/* All elements of one or two operands, as one lane. */
template <typename T> struct walk_source {
  dpt__walk walk;
  __device__ const T *start(int64_t) const { return 0; }
  __device__ T at(int k, int64_t i) const {
    int64_t place[2];
    dpt__places<uint64_t, 2>(walk, (uint64_t)i, place);
    return ((const T *)walk.data[k])[place[k]];
  }
  __device__ T first(const T *, int64_t i) const { return at(0, i); }
  __device__ T second(const T *, int64_t i) const { return at(1, i); }
};

/* The same where elements follow each other. */
template <typename T> struct dense_source {
  const T *a, *b;
  __device__ const T *start(int64_t) const { return 0; }
  __device__ T first(const T *, int64_t i) const { return a[i]; }
  __device__ T second(const T *, int64_t i) const { return b[i]; }
};

/* ---- kernels ---- */

/* Block (x, y) has blockDim.x lanes side by side and `chunk` elements of them from y * chunk on;
 * its parts go to parts[lane * gridDim.y + y]. */
template <typename T, typename A, int kind, typename Source>
__global__ void reduce_parts(Source source, int64_t lanes, int64_t n, int64_t chunk, double p,
                             part<A> *parts) {
  DPT_SHARED(part<A>, shared);
  int64_t lane = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t first = (int64_t)blockIdx.y * chunk, end = first + chunk < n ? first + chunk : n;
  part<A> v = nothing<kind, A>();
  if (lane < lanes) {
    const T *start = source.start(lane);
    for (int64_t i = first + threadIdx.y; i < end; i += blockDim.y) {
      A x = dpt__widen(source.first(start, i)), y = x;
      if (kind >= DOT) y = dpt__widen(source.second(start, i));
      add<kind>(&v, x, y, i, p);
    }
  }
  shared[threadIdx.y * blockDim.x + threadIdx.x] = v;
  join_block<kind>(shared);
  if (threadIdx.y == 0 && lane < lanes) parts[lane * gridDim.y + blockIdx.y] = shared[threadIdx.x];
}

template <typename A> struct result {
  void *r;
  int64_t *idx; /* NULL, or places */
  dpt__lanes lanes;
  int op, dtype;
  double p;
};

/* A pair's number is finished as a norm is; equal: whether nothing was different. */
enum { EQUAL = DPT__NREDUCE };

template <typename A> __device__ double finished(int op, double p, const part<A> &v) {
  double x = to_double(v.value), n = (double)v.n;
  switch (op) {
  case DPT__REDUCE_mean:
    return x / n;
  case DPT__REDUCE_var:
    return v.m2 / (p != 0 ? n : n - 1);
  case DPT__REDUCE_std:
    return sqrt(v.m2 / (p != 0 ? n : n - 1));
  case DPT__REDUCE_norm:
    return p == 2 ? sqrt(x) : p != 0 && p != 1 ? pow(x, 1 / p) : x;
  case EQUAL:
    return x == 0;
  default:
    return x;
  }
}

template <typename To, typename A> __device__ void put(void *to, int64_t at, A value) {
  ((To *)to)[at] = dpt__store<To>::from(value);
}

/* An element of any type; integers go through integers. */
template <typename A> __device__ void put_any(int dtype, void *to, int64_t at, A value) {
  switch (dtype) {
#define X(id, type)                                                                                \
  case id:                                                                                         \
    put<type>(to, at, value);                                                                      \
    break;
    DPT__CUDA_TYPES(X)
#undef X
  }
}

__device__ void put_part(const result<double> &r, int64_t at, const part<double> &v) {
  put_any(r.dtype, r.r, at, finished(r.op, r.p, v));
}
__device__ void put_part(const result<uint64_t> &r, int64_t at, const part<uint64_t> &v) {
  int64_t x = (int64_t)v.value;
  if (r.op == DPT__REDUCE_all) x = x == v.n;
  if (r.op == DPT__REDUCE_any) x = x != 0;
  if (r.op == EQUAL) x = x == 0;
  if (r.op == DPT__REDUCE_norm && r.p != 0 && r.p != 1) x = (int64_t)finished(r.op, r.p, v);
  put_any(r.dtype, r.r, at, x);
}

/* One block for each lane joins its parts and writes the result. */
template <typename A, int kind>
__global__ void reduce_end(result<A> r, const part<A> *parts, int64_t blocks) {
  DPT_SHARED(part<A>, shared);
  int64_t lane = (int64_t)blockIdx.x + (int64_t)blockIdx.y * gridDim.x;
  bool here = lane < r.lanes.count;
  part<A> v = nothing<kind, A>();
  /* a thread's parts are neighbours: the order of elements is kept */
  int64_t each = (blocks + blockDim.y - 1) / blockDim.y, first = threadIdx.y * each;
  for (int64_t b = first; here && b < first + each && b < blocks; b++)
    join<kind>(&v, parts[lane * blocks + b]);
  shared[threadIdx.y] = v;
  join_block<kind>(shared);
  if (threadIdx.y || !here) return;
  int64_t at[DPT__LANE_OPERANDS];
  dpt__places<int64_t, DPT__LANE_OPERANDS>(r.lanes, lane, at);
  if (r.idx) r.idx[at[2]] = shared[0].at + 1;
  put_part(r, at[1], shared[0]);
}

/* ---- launches ---- */

/* along: elements of a lane are closer together than lanes. */
template <typename T, int kind, typename Source>
int launch_kind(dpt__context *context, const Source &source, int64_t n, bool along,
                const result<dpt__sum_of<T>> &r) {
  typedef dpt__sum_of<T> A;
  unsigned side = along ? 1 : SIDE, deep = THREADS / side;
  while (deep > 1 && (int64_t)deep / 2 >= n) deep /= 2;
  int64_t chunk = (int64_t)deep * EACH;
  if ((n + chunk - 1) / chunk > MOST_BLOCKS) chunk = (n + MOST_BLOCKS - 1) / MOST_BLOCKS;
  unsigned blocks = (unsigned)((n + chunk - 1) / chunk);
  int64_t count = r.lanes.count, groups = (count + side - 1) / side;
  if (groups > INT32_MAX)
    return dpt__cuda_fail("%s: %lld lanes are too many", context->name, (long long)count);
  part<A> *parts =
      (part<A> *)dpt__cuda_services->scratch(context, (size_t)count * blocks * sizeof *parts);
  if (!parts) return 1;
  auto first = reduce_parts<T, A, kind, Source>;
  if (DPT_LAUNCH_TEAM(first, dim3((unsigned)groups, blocks), dim3(side, deep),
                      side * deep * sizeof(part<A>), context, source, count, n, chunk, r.p, parts))
    return 1;
  unsigned last = 1;
  while (last < THREADS && last < blocks) last *= 2;
  unsigned wide_grid = (unsigned)(count < 1 << 30 ? count : 1 << 30);
  auto end = reduce_end<A, kind>;
  return DPT_LAUNCH_TEAM(end, dim3(wide_grid, (unsigned)((count + wide_grid - 1) / wide_grid)),
                         dim3(1, last), last * sizeof(part<A>), context, r, parts, (int64_t)blocks);
}

int pair_kind(int op, double p) {
  if (op == DPT__PAIR_dot) return DOT;
  if (op == DPT__PAIR_equal) return DIFFERENT;
  return p == 0 ? APART : p == 1 ? DISTANCE : p == 2 ? SQUARE_APART : POWER_APART;
}

template <typename T, typename Source, typename A>
int launch(dpt__context *context, int kind, const Source &source, int64_t n, bool along,
           const result<A> &r) {
  switch (kind) {
#define CASE(k)                                                                                    \
  case k:                                                                                          \
    return launch_kind<T, k>(context, source, n, along, r)
    CASE(DPT__SUM);
    CASE(DPT__COUNT);
    CASE(DPT__MAGNITUDE);
    CASE(DPT__SQUARE);
    CASE(DPT__POWER);
    CASE(DPT__PRODUCT);
    CASE(DPT__SPREADOUT);
    CASE(DPT__MOST);
    CASE(DPT__LEAST);
  }
  return 1;
}
#undef CASE

template <typename T, typename Source, typename A>
int launch_pair(dpt__context *context, int kind, const Source &source, int64_t n,
                const result<A> &r) {
  switch (kind) {
#define CASE(k)                                                                                    \
  case k:                                                                                          \
    return launch_kind<T, k>(context, source, n, true, r)
    CASE(DOT);
    CASE(DIFFERENT);
    CASE(APART);
    CASE(DISTANCE);
    CASE(SQUARE_APART);
    CASE(POWER_APART);
  }
  return 1;
}
#undef CASE

template <typename T> int reduce(dpt__context *context, const dpt__reduce_args *g) {
  lanes_source<T> source = {(const T *)g->a, g->step, g->lanes};
  result<dpt__sum_of<T>> r = {g->r, g->idx, g->lanes, g->op, g->dtype, g->p};
  int64_t step = g->step < 0 ? -g->step : g->step;
  int last = g->lanes.ndim - 1;
  bool along = last < 0 || g->lanes.size[last] == 1 || g->lanes.step[0][last] >= step;
  return launch<T>(context, dpt__accumulation(g->op, g->p), source, g->n, along, r);
}

/* One number of everything. */
template <typename A> result<A> one_number(void *out, int op, int dtype, double p) {
  result<A> r = {};
  r.r = out;
  r.lanes.count = 1;
  r.op = op;
  r.dtype = dtype;
  r.p = p;
  return r;
}

template <typename T> int reduce_all(dpt__context *context, const dpt__reduce_all_args *g) {
  result<dpt__sum_of<T>> r = one_number<dpt__sum_of<T>>(g->out, g->op, g->out_dtype, g->p);
  int64_t n = dpt__walk_count(&g->walk);
  int kind = dpt__accumulation(g->op, g->p);
  if (dpt__walk_is_dense(&g->walk)) {
    dense_source<T> source = {(const T *)g->walk.data[0], NULL};
    return launch<T>(context, kind, source, n, true, r);
  }
  walk_source<T> source = {g->walk};
  return launch<T>(context, kind, source, n, true, r);
}

template <typename T> int pair(dpt__context *context, const dpt__pair_args *g) {
  int op = g->op == DPT__PAIR_equal ? (int)EQUAL
           : g->op == DPT__PAIR_dot ? (int)DPT__REDUCE_sum
                                    : (int)DPT__REDUCE_norm;
  result<dpt__sum_of<T>> r = one_number<dpt__sum_of<T>>(g->out, op, g->out_dtype, g->p);
  int64_t n = dpt__walk_count(&g->walk);
  int kind = pair_kind(g->op, g->p);
  if (dpt__walk_is_dense(&g->walk)) {
    dense_source<T> source = {(const T *)g->walk.data[0], (const T *)g->walk.data[1]};
    return launch_pair<T>(context, kind, source, n, r);
  }
  walk_source<T> source = {g->walk};
  return launch_pair<T>(context, kind, source, n, r);
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
