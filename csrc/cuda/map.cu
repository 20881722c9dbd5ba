/* map.cu: pointwise operations: applies the formulas of ops/map.def.
 *
 * Invariant: arithmetic has the host's bits (compiled with -fmad=false); functions (exp, tanh ...)
 * agree with the host's to a few ulp. The formula is chosen once per thread, not per element: the
 * operation is an argument, not a kernel each, to keep the number of kernels small. A thread issues
 * all its loads before it computes, to keep enough memory accesses in flight. Operations that call
 * functions have separate kernels, so that the others need few registers.
 */
#include "cuda/cells.h"
extern "C" {
#include "ops/map.h"
}

#include <type_traits>

namespace {

/* ---- macros of map.def ---- */

#define K(x) ((V)(x))
#define SELECT(c, x, y) ((c) ? (V)(x) : (V)(y))
#define AND(x, y) ((x) && (y))
#define OR(x, y) ((x) || (y))
#define ABS(x) fabs((V)(x))
#define SQRT(x) sqrt((V)(x))
#define FLOOR(x) floor((V)(x))
#define CEIL(x) ceil((V)(x))
#define TRUNC(x) trunc((V)(x))
#define EXP(x) exp((V)(x))
#define EXPM1(x) expm1((V)(x))
#define LOG(x) log((V)(x))
#define LOG1P(x) log1p((V)(x))
#define SIN(x) sin((V)(x))
#define COS(x) cos((V)(x))
#define TAN(x) tan((V)(x))
#define ASIN(x) asin((V)(x))
#define ACOS(x) acos((V)(x))
#define ATAN(x) atan((V)(x))
#define SINH(x) sinh((V)(x))
#define COSH(x) cosh((V)(x))
#define TANH(x) tanh((V)(x))
#define ERF(x) erf((V)(x))
#define ATAN2(x, y) atan2((V)(x), (V)(y))
#define POW(x, y) pow((V)(x), (V)(y))
#define SCALE(x, y) exp2((V)(y))
#define FMOD(x, y) fmod((V)(x), (V)(y))

template <typename V> struct integers {
  typedef V T;
  typedef typename std::make_unsigned<V>::type U;
#define FN(name) name
#include "ops/integer.inc.h"
#undef FN
};
#define QUOTIENT(a, b) integers<V>::quotient((a), (b))
#define MODULO(a, b) integers<V>::modulo((a), (b))
#define REMAINDER(a, b) integers<V>::remainder((a), (b))
#define IPOW(a, b) integers<V>::ipow((a), (b))
#define SHL(a, b) integers<V>::shl((a), (b))
#define SHR(a, b) integers<V>::shr((a), (b))

/* Sets r[i] to the operation's formula, for n elements. */
template <typename V, int n, int operands, bool calls, bool real> struct formulas;

#define EACH(formula)                                                                              \
  for (int i = 0; i < n; i++) {                                                                    \
    const V a = x[i], b = y[i], c = z[i];                                                          \
    (void)a, (void)b, (void)c, r[i] = (V)(formula);                                                \
  }
#define CASE(name, takes, trait, formula)                                                          \
  if constexpr ((takes) == operands && !!(DPT__TRAIT_##trait & DPT__CALLS) == calls)               \
    if (op == DPT__MAP_##name) {                                                                   \
      EACH(formula)                                                                                \
      return;                                                                                      \
    }

template <typename V, int n, int operands, bool calls>
struct formulas<V, n, operands, calls, true> {
  static __device__ __forceinline__ void run(int op, V *r, const V *x, const V *y, const V *z, V p,
                                             V q) {
#define DPT_REAL(name, known, takes, trait, formula) CASE(name, takes, trait, formula)
#define DPT_MAP(name, known, takes, trait, real, integer) CASE(name, takes, trait, real)
#define DPT_COMPARE(name, known, takes, trait, condition) CASE(name, takes, trait, condition)
#include "ops/map.def"
  }
};
template <typename V, int n, int operands, bool calls>
struct formulas<V, n, operands, calls, false> {
  static __device__ __forceinline__ void run(int op, V *r, const V *x, const V *y, const V *z, V p,
                                             V q) {
#define DPT_INTEGER(name, known, takes, trait, formula) CASE(name, takes, trait, formula)
#define DPT_MAP(name, known, takes, trait, real, integer) CASE(name, takes, trait, integer)
#define DPT_COMPARE(name, known, takes, trait, condition) CASE(name, takes, trait, condition)
#include "ops/map.def"
  }
};

enum { MOST_OPERANDS = 3 }; /* the most that map_kernel reads */
#define DPT_OP(name, known, n, trait) static_assert((n) >= 1 && (n) <= MOST_OPERANDS, #name);
#include "ops/map.def"

/* True if map.def has any such operations. */
template <int operands, bool calls>
constexpr bool some_op = false
#define DPT_OP(name, known, n, trait)                                                              \
  || ((n) == operands && !!(DPT__TRAIT_##trait & DPT__CALLS) == calls)
#include "ops/map.def"
    ;

/* ---- the kernels ---- */

/* T: the type of the operands in memory; R: the type of the result (bytes for a comparison). */
template <typename T, typename R, int operands, bool calls, int width>
__global__ void map_kernel(int op, double p_, double q_, dpt__cells<operands + 1> cells,
                           const int *rejected) {
  typedef typename dpt__wide<T>::type V;
  enum { N = dpt__per_thread<sizeof(T)>, CELLS = N / width };
  if (rejected && *rejected) return;
  const V p = dpt__store<V>::from(p_), q = dpt__store<V>::from(q_);
  const T none = dpt__store<T>::from(1.0f);
  const uint32_t threads = blockDim.x, step = gridDim.x * threads * CELLS;
  for (uint32_t first = blockIdx.x * threads * CELLS + threadIdx.x; first < cells.count;
       first += step) {
    dpt__cell_at<operands + 1> at[CELLS];
    dpt__cell<T, width> in[operands][CELLS];
    V x[MOST_OPERANDS][N], r[N];
    DPT_UNROLL
    for (int c = 0; c < CELLS; c++) {
      at[c] = cells.template at<width>(first + c * threads);
      DPT_UNROLL
      for (int k = 0; k < operands; k++) in[k][c] = cells.template load<width>(k + 1, at[c], none);
    }
    DPT_UNROLL
    for (int k = 0; k < MOST_OPERANDS; k++) {
      DPT_UNROLL
      for (int i = 0; i < N; i++)
        x[k][i] = dpt__load(in[k < operands ? k : 0][i / width].v[i % width]);
    }
    formulas<V, N, operands, calls, dpt__is_real_type<V>::value>::run(op, r, x[0], x[1], x[2], p,
                                                                      q);
    DPT_UNROLL
    for (int c = 0; c < CELLS; c++) {
      dpt__cell<R, width> out;
      DPT_UNROLL
      for (int i = 0; i < width; i++) out.v[i] = dpt__store<R>::from(r[c * width + i]);
      cells.store(at[c], out);
    }
  }
}

/* Aliased outputs are updated by one thread, in order. */
template <typename T, typename R, int operands, bool calls>
int launch_map(dpt__context *context, const struct dpt__map_args *a, const int *rejected) {
  constexpr int N = dpt__per_thread<sizeof(T)>, WIDTH = dpt__per_cell<sizeof(T)>;
  return dpt__each_part(a->walk, [&](const dpt__walk &walk) {
    int width = dpt__cells_fit(walk, WIDTH) ? WIDTH : 1;
    auto cells = dpt__cells_of<operands + 1>(walk, width);
    auto wide = map_kernel<T, R, operands, calls, WIDTH>;
    auto narrow = map_kernel<T, R, operands, calls, 1>;
    auto kernel = width > 1 ? wide : narrow;
    return DPT_LAUNCH(kernel, dpt__cells_blocks(walk, cells, N / width), dpt__walk_threads(&walk),
                      0, context, a->op, a->p, a->q, cells, rejected);
  });
}

template <typename T, typename R, int operands>
int launch_operands(dpt__context *context, const struct dpt__map_args *a, const int *rejected) {
  if constexpr (operands < MOST_OPERANDS)
    if (a->walk.noperand > operands + 1)
      return launch_operands<T, R, operands + 1>(context, a, rejected);
  if constexpr (some_op<operands, true>)
    if (dpt__map_traits(a->op) & DPT__CALLS)
      return launch_map<T, R, operands, true>(context, a, rejected);
  return launch_map<T, R, operands, false>(context, a, rejected);
}

/* Sets *rejected and records a fault in the stream if operand k has an element 0. */
template <typename T>
__global__ void find_zero(dpt__walk walk, int k, int64_t count, int *rejected,
                          dpt__kernel_fault fault, const char *name) {
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += dpt__grid_threads<int64_t>()) {
    int64_t offset[DPT__OPERANDS];
    dpt__offsets<uint64_t, DPT__OPERANDS>(walk, (uint64_t)i, offset);
    if (dpt__load(((const T *)walk.data[k])[offset[k]]) != 0) continue;
    *rejected = 1;
    dpt__fault_set(fault, DPT__KERNEL_FAULT_DIVISOR, name, 0, 0, 0);
  }
}

template <typename T>
int reject_zeros(dpt__context *context, const struct dpt__map_args *a, int *rejected) {
  int64_t count = dpt__walk_count(&a->walk);
  if (dpt__cuda_clear(context, rejected, sizeof *rejected)) return 1;
  auto kernel = find_zero<T>;
  return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, a->walk,
                    dpt__map_divisor(a), count, rejected, dpt__fault_of(context), context->name);
}

template <typename T> int launch_type(dpt__context *context, const struct dpt__map_args *a) {
  int *rejected = NULL;
  if (dpt__map_divisor(a)) {
    rejected = (int *)dpt__scratch(context, sizeof *rejected);
    if (reject_zeros<T>(context, a, rejected)) return 1;
  }
  if (context->measures) return 0;
  if (dpt__map_traits(a->op) & DPT__COMPARES && a->walk.dtype[0] == DPT_U8)
    return launch_operands<T, uint8_t, 1>(context, a, rejected);
  return launch_operands<T, T, 1>(context, a, rejected);
}

} // namespace

int dpt__cuda_map(dpt__context *context, const void *args) {
  const struct dpt__map_args *a = (const struct dpt__map_args *)args;
  if (!dpt__walk_count(&a->walk)) return 0;
  return dpt__of_type(a->dtype, [&](auto zero) { return launch_type<decltype(zero)>(context, a); });
}
