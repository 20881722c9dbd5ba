/* map.cu: pointwise operations, the formulas of ops/map.def for one element at a time.
 *
 * Invariant: arithmetic has the host's bits (compiled with -fmad=false); functions (exp, tanh
 * ...) agree with the host's to a few ulp. A formula is chosen once for a thread's PER elements,
 * not once for each: an operation is a number, not a kernel of its own, which keeps kernels few.
 * Operations that call functions are kernels of their own, so that others need few registers.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/map.h"
}

#include <type_traits>

namespace {

enum { PER = 4 };

/* ---- the words of map.def ---- */

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

/* r[i] = the formula of the operation, for PER elements. */
template <typename V, int operands, bool calls, bool real> struct formulas;

#define EACH(formula)                                                                              \
  for (int i = 0; i < PER; i++) {                                                                  \
    const V a = x[i], b = y[i], c = z[i];                                                          \
    (void)a, (void)b, (void)c, r[i] = (V)(formula);                                                \
  }
#define CASE(name, n, trait, formula)                                                              \
  if constexpr ((n) == operands && !!(DPT__TRAIT_##trait & DPT__CALLS) == calls)                   \
    if (op == DPT__MAP_##name) {                                                                   \
      EACH(formula)                                                                                \
      return;                                                                                      \
    }

template <typename V, int operands, bool calls> struct formulas<V, operands, calls, true> {
  static __device__ __forceinline__ void run(int op, V *r, const V *x, const V *y, const V *z, V p,
                                             V q) {
#define DPT_REAL(name, known, n, trait, formula) CASE(name, n, trait, formula)
#define DPT_MAP(name, known, n, trait, real, integer) CASE(name, n, trait, real)
#define DPT_COMPARE(name, known, n, trait, condition) CASE(name, n, trait, condition)
#include "ops/map.def"
  }
};
template <typename V, int operands, bool calls> struct formulas<V, operands, calls, false> {
  static __device__ __forceinline__ void run(int op, V *r, const V *x, const V *y, const V *z, V p,
                                             V q) {
#define DPT_INTEGER(name, known, n, trait, formula) CASE(name, n, trait, formula)
#define DPT_MAP(name, known, n, trait, real, integer) CASE(name, n, trait, integer)
#define DPT_COMPARE(name, known, n, trait, condition) CASE(name, n, trait, condition)
#include "ops/map.def"
  }
};

enum { MOST_OPERANDS = 3 }; /* that map_kernel reads */
#define DPT_OP(name, known, n, trait) static_assert((n) >= 1 && (n) <= MOST_OPERANDS, #name);
#include "ops/map.def"

/* Whether there are such operations at all. */
template <int operands, bool calls>
constexpr bool some_op = false
#define DPT_OP(name, known, n, trait)                                                              \
  || ((n) == operands && !!(DPT__TRAIT_##trait & DPT__CALLS) == calls)
#include "ops/map.def"
    ;

/* ---- the kernels ---- */

/* T: in memory; R: of the result (bytes for a comparison). Thread t has the elements t * PER to
 * t * PER + PER - 1 of a dense walk, which it moves in one piece where `aligned`; else the elements
 * t, t + threads ... */
template <typename T, typename R, int operands, bool calls, typename Index>
__global__ void map_kernel(int op, double p_, double q_, dpt__walk walk, int64_t count, int dense,
                           int aligned, const int *rejected) {
  typedef typename dpt__wide<T>::type V;
  if (rejected && *rejected) return;
  const V p = dpt__store<V>::from(p_), q = dpt__store<V>::from(q_);
  V x[PER], y[PER], z[PER], w[PER];
  int64_t offset[PER][operands + 1];
  int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t first = 0; first < count; first += threads * PER) {
    int n = 0;
    if (dense) {
      int64_t from = first + thread * PER;
      if (from >= count) return;
      n = count - from < PER ? (int)(count - from) : PER;
      if (aligned && n == PER) {
        struct alignas(PER * sizeof(T)) pack {
          T v[PER];
        };
        struct alignas(PER * sizeof(R)) result {
          R v[PER];
        };
        pack a = *(const pack *)((const T *)walk.data[1] + from), b = a, c = a;
        if (operands > 1) b = *(const pack *)((const T *)walk.data[2] + from);
        if (operands > 2) c = *(const pack *)((const T *)walk.data[3] + from);
        for (int i = 0; i < PER; i++) {
          x[i] = dpt__load(a.v[i]);
          y[i] = dpt__load(b.v[i]);
          z[i] = dpt__load(c.v[i]);
        }
        formulas<V, operands, calls, dpt__is_real_type<V>::value>::run(op, w, x, y, z, p, q);
        result r;
        for (int i = 0; i < PER; i++) r.v[i] = dpt__store<R>::from(w[i]);
        *(result *)((R *)walk.data[0] + from) = r;
        continue;
      }
      for (int i = 0; i < PER; i++)
        for (int k = 0; k <= operands; k++) offset[i][k] = from + i;
    } else {
      for (int i = 0; i < PER; i++) {
        int64_t at = first + i * threads + thread;
        if (at >= count) break;
        dpt__offsets<Index, operands + 1>(walk, (Index)at, offset[i]);
        n = i + 1;
      }
    }
    for (int i = 0; i < PER; i++) {
      x[i] = i < n ? dpt__load(((const T *)walk.data[1])[offset[i][1]]) : V(1);
      y[i] = z[i] = x[i];
      if constexpr (operands > 1)
        if (i < n) y[i] = dpt__load(((const T *)walk.data[2])[offset[i][2]]);
      if constexpr (operands > 2)
        if (i < n) z[i] = dpt__load(((const T *)walk.data[3])[offset[i][3]]);
    }
    formulas<V, operands, calls, dpt__is_real_type<V>::value>::run(op, w, x, y, z, p, q);
    for (int i = 0; i < n; i++) ((R *)walk.data[0])[offset[i][0]] = dpt__store<R>::from(w[i]);
  }
}

/* One thread goes through results that lie on each other, in order. */
template <typename T, typename R, int operands, bool calls>
int launch_map(dpt__context *context, const struct dpt__map_args *a, const int *rejected) {
  const dpt__walk &walk = a->walk;
  int64_t count = dpt__walk_count(&walk);
  int dense = dpt__walk_is_dense(&walk), aligned = 1;
  for (int k = 0; k < walk.noperand; k++)
    aligned &= (uintptr_t)walk.data[k] % (PER * (k ? sizeof(T) : sizeof(R))) == 0;
  auto narrow = map_kernel<T, R, operands, calls, uint32_t>;
  auto wide = map_kernel<T, R, operands, calls, uint64_t>;
  auto kernel = count <= UINT32_MAX ? narrow : wide;
  unsigned blocks = walk.serial ? 1 : dpt__blocks((count + PER - 1) / PER);
  return DPT_LAUNCH(kernel, blocks, walk.serial ? 1 : DPT__BLOCK, 0, context, a->op, a->p, a->q,
                    walk, count, dense, aligned, rejected);
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

/* Notes in *rejected and in the stream's fault whether operand k has an element 0. */
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
