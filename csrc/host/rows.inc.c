/* rows.inc.c: all rows of one instruction set, and their tables; rows.h has the contract.
 *
 * Invariant: included by rows_base.c and its like with ISA (a word), BYTES (of a vector) and
 * SLEEF(function, type, lanes, accuracy) defined, with FLOAT_EXP and FLOAT_TANH if the instruction
 * set has separate functions for them, and with STRIDED if dpt__rows_strided is to be defined.
 * Compiled with that instruction set's flags and with -fwrapv. Everything is static except the
 * tables.
 */
#include "host/rows.h"
#include "base/element.h"
#include <math.h>
#include <sleef.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Formulas test the signs of unsigned types too. */
#pragma GCC diagnostic ignored "-Wtype-limits"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define FN(name) PASTE(PASTE(name, _), SUFFIX)
#define SIMD _Pragma("omp simd")
#define ROW(name)                                                                                  \
  static void FN(row_##name)(int64_t n, void *r, const void *a, const void *b, const void *c,      \
                             double p, double q)

/* Defines a row of strided elements, or nothing, by the trait of an operation. */
#ifdef STRIDED
#define STRIDED_plain(name, operands)                                                              \
  static void FN(row_apart_##name)(int64_t n, void *r, const void *a, const void *b,               \
                                   const void *c, const int64_t *stride, double p, double q) {     \
    FN(apart)(FN(f_##name), operands, n, r, a, b, c, stride, p, q);                                \
  }
#else
#define STRIDED_plain(name, operands)
#endif
#define STRIDED_divides(name, operands) STRIDED_plain(name, operands)
#define STRIDED_calls(name, operands)
#define STRIDED_calls_divides(name, operands)

/* Stores a vector with a non-temporal store (an ordinary one on ARM64, which has no intrinsic for
 * that). */
#ifndef __x86_64__
#define STREAM(to, v) (*(bytes *)(to) = (bytes)(v))
#elif BYTES == 64
#define STREAM(to, v) _mm512_stream_si512((__m512i *)(to), (__m512i)(v))
#elif BYTES == 32
#define STREAM(to, v) _mm256_stream_si256((__m256i *)(to), (__m256i)(v))
#else
#define STREAM(to, v) _mm_stream_si128((__m128i *)(to), (__m128i)(v))
#endif

/* Rounds x by one instruction: 1 down, 2 up, 3 toward 0. */
#if !defined __x86_64__ || BYTES == 16
#define ROUND(x, how, name) CALL(name, )(x)
#elif BYTES == 64
#define ROUND(x, how, name)                                                                        \
  _Generic((x)[0], float                                                                           \
           : (V)_mm512_roundscale_ps((__m512)(x), how), default                                    \
           : (V)_mm512_roundscale_pd((__m512d)(x), how))
#else
#define ROUND(x, how, name)                                                                        \
  _Generic((x)[0], float                                                                           \
           : (V)_mm256_round_ps((__m256)(x), how), default                                         \
           : (V)_mm256_round_pd((__m256d)(x), how))
#endif

typedef int64_t bytes __attribute__((vector_size(BYTES), aligned(1), may_alias));

static void copy_past(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; i += BYTES)
    STREAM((char *)to + i, *(const bytes *)((const char *)from + i));
}

#define T uint8_t
#define U uint8_t
#define SUFFIX u8
#define NUMBER(x) ((T)dpt__narrow_number(x))
#include "host/rows_integer.inc.c"

#define T int8_t
#define U uint8_t
#define SUFFIX i8
#include "host/rows_integer.inc.c"

#define T int16_t
#define U uint16_t
#define SUFFIX i16
#include "host/rows_integer.inc.c"

#define T int32_t
#define U uint32_t
#define SUFFIX i32
#include "host/rows_integer.inc.c"
#undef NUMBER

#define T int64_t
#define U uint64_t
#define SUFFIX i64
#define NUMBER(x) dpt__long_number(x)
#include "host/rows_integer.inc.c"

#undef NUMBER
#define NUMBER(x) ((T)(x))
#define T float
#define W (BYTES / 4)
#define SUFFIX f32
#define CALL(function, accuracy) SLEEF(function, f, F32_LANES, accuracy)
#ifdef FLOAT_EXP
#define EXP(x) FLOAT_EXP(x)
#else
#define EXP(x) CALL(exp, u10)(x)
#endif
#ifdef FLOAT_TANH
#define TANH(x) FLOAT_TANH(x)
#else
#define TANH(x) FN(tanh)(x)
#endif
#define ERF(x) FN(erf)(x)
#define TRIG_LIMIT 100
#define EXP_LIMIT 87
#define LARGE 1e37
#include "host/rows_real.inc.c"

#define T double
#define W (BYTES / 8)
#define SUFFIX f64
#define CALL(function, accuracy) SLEEF(function, d, F64_LANES, accuracy)
#define EXP(x) CALL(exp, u10)(x)
#define TANH(x) CALL(tanh, u10)(x)
#define ERF(x) CALL(erf, u10)(x)
#define TRIG_LIMIT 14
#define EXP_LIMIT 708
#define LARGE 1e300
#include "host/rows_real.inc.c"
#undef NUMBER

/* Convert elements to integers: reals as dpt__narrow_number and dpt__long_number do. x86's
 * instructions do the same, so that these loops vectorize. */
#ifdef __x86_64__
#define NARROW(x) ((int32_t)(x))
#define LONG(x) ((int64_t)(x))
#else
static inline int32_t narrow_whole(int64_t x) { return (int32_t)x; }
static inline int64_t long_whole(int64_t x) { return x; }
#define NARROW(x)                                                                                  \
  _Generic((x), float : dpt__narrow_number, double : dpt__narrow_number, default : narrow_whole)(x)
#define LONG(x)                                                                                    \
  _Generic((x), float : dpt__long_number, double : dpt__long_number, default : long_whole)(x)
#endif

/* Rows of reduced types, where vectors hold 8 elements or more; with intrinsics, because gcc 12
 * converts vectors of integers in two halves. Conversions return the number of elements done. */
static inline int64_t reduced_none(void *to, const void *from, int64_t n) {
  (void)to, (void)from, (void)n;
  return 0;
}
#if defined __x86_64__ && BYTES > 16
#define W (BYTES / 4)
enum { SUMS = DPT__ROW_SUMS, AHEAD = 1024 }; /* elements that are prefetched */
typedef uint16_t shorts __attribute__((vector_size(BYTES / 2), aligned(2), may_alias));
typedef uint32_t ints __attribute__((vector_size(BYTES)));
typedef struct pair {
  V_f32 a, b;
} pair;
#if BYTES == 64
#define MM(op) _mm512_##op
typedef __m512i whole;
#define F16_LOAD(from) ((V_f32)_mm512_cvtph_ps((__m256i) * (const shorts *)(from)))
#define F16_STORE(x) ((shorts)_mm512_cvtps_ph((__m512)(x), 0))
#define WIDER(v) _mm512_cvtepu16_epi32((__m256i)(v))
#define LOWER(v) _mm512_cvtepi32_epi16((__m512i)(v))
#define JOIN(a, b) _mm512_inserti64x4(_mm512_castsi256_si512((__m256i)(a)), (__m256i)(b), 1)
#define ANY_UNORDERED(x, y) _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_UNORD_Q)
#else
#define MM(op) _mm256_##op
typedef __m256i whole;
#define F16_LOAD(from) ((V_f32)_mm256_cvtph_ps((__m128i) * (const shorts *)(from)))
#define F16_STORE(x) ((shorts)_mm256_cvtps_ph((__m256)(x), 0))
#define WIDER(v) _mm256_cvtepu16_epi32((__m128i)(v))
#define LOWER(v)                                                                                   \
  _mm_packus_epi32(_mm256_castsi256_si128((__m256i)(v)), _mm256_extracti128_si256((__m256i)(v), 1))
#define JOIN(a, b) _mm256_set_m128i((__m128i)(b), (__m128i)(a))
#define ANY_UNORDERED(x, y)                                                                        \
  _mm256_movemask_ps(_mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_UNORD_Q))
#endif
/* Returns true if x or y has a NaN, which is rare: a branch is cheaper than one_nan. */
#define UNORDERED(x, y) __builtin_expect(ANY_UNORDERED(x, y), 0)

/* Keeps only the sign of a NaN, as base/reduced.h does. */
static inline V_f32 one_nan(V_f32 x) {
  ints sign = (ints)(-(V_f32){0}), number = (ints)(x == x);
  return (V_f32)(((ints)x & (number | sign)) | (0x7fc00000 & ~number));
}
static inline ints bf16_round(V_f32 x) {
  ints bits = (ints)x;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#define T dpt__half
#define SUFFIX f16
#define LOAD(from) F16_LOAD(from)
#define STORE(x) F16_STORE(x)
#define LOADS(from) ((pair){LOAD(from), LOAD((from) + W)})
#define STORES(x) JOIN(STORE((x).a), STORE((x).b))
#include "host/rows_reduced.inc.c"

/* Unpack and pack within each 128 bits, which takes one instruction; the order of elements in
 * between does not matter. */
static inline pair bf16_loads(const void *from) {
  whole zero = {0}, v = (whole) * (const bytes *)from;
  return (pair){(V_f32)MM(unpacklo_epi16)(zero, v), (V_f32)MM(unpackhi_epi16)(zero, v)};
}
#define T dpt__bfloat16
#define SUFFIX bf16
#define LOAD(from) ((V_f32)((ints)WIDER(*(const shorts *)(from)) << 16))
#define STORE(x) ((shorts)LOWER(bf16_round(x)))
#define LOADS(from) bf16_loads(from)
#define STORES(x) MM(packus_epi32)((whole)bf16_round((x).a), (whole)bf16_round((x).b))
#include "host/rows_reduced.inc.c"
#undef W

#define WIDENS(x)                                                                                  \
  _Generic((x), const dpt__half * : widen_f16, const dpt__bfloat16 * : widen_bf16, default         \
           : reduced_none)
#define NARROWS(x, f) _Generic((x), const float * : f, default : reduced_none)
#define REDUCED(to, x)                                                                             \
  _Generic((to), float * : WIDENS(x), dpt__half * : NARROWS(x, narrow_f16),                        \
           dpt__bfloat16 * : NARROWS(x, narrow_bf16), default : reduced_none)
#define REDUCED_plain(f) DPT__REDUCED(DPT__ENTRY, f)
#else
#define REDUCED(to, x) reduced_none
#define REDUCED_plain(f)
#endif
/* Entries of tables: reduced types have separate rows of cheap operations. */
#define REDUCED_divides(f) REDUCED_plain(f)
#define REDUCED_calls(f)
#define REDUCED_calls_divides(f)

#define STORE(x) ((TO)NARROW(x))
#define TO uint8_t
#define SUFFIX u8
#include "host/rows_convert.inc.c"
#define TO int8_t
#define SUFFIX i8
#include "host/rows_convert.inc.c"
#define TO int16_t
#define SUFFIX i16
#include "host/rows_convert.inc.c"
#define TO int32_t
#define SUFFIX i32
#include "host/rows_convert.inc.c"
#undef STORE
#define STORE(x) LONG(x)
#define TO int64_t
#define SUFFIX i64
#include "host/rows_convert.inc.c"
#undef STORE
#define STORE(x) ((TO)(x))
#define TO float
#define SUFFIX f32
#include "host/rows_convert.inc.c"
#define TO double
#define SUFFIX f64
#include "host/rows_convert.inc.c"
#undef STORE
/* Converts to a reduced type; of integers, floats hold those of up to 16 bits. */
#define REDUCE(suffix, x)                                                                          \
  _Generic((x), double                                                                             \
           : dpt__##suffix##_from_double, int32_t                                                  \
           : dpt__##suffix##_from_double, int64_t                                                  \
           : dpt__##suffix##_from_whole, default                                                   \
           : dpt__##suffix##_from_float)(x)
#define STORE(x) REDUCE(f16, x)
#define TO dpt__half
#define SUFFIX f16
#include "host/rows_convert.inc.c"
#undef STORE
#define STORE(x) REDUCE(bf16, x)
#define TO dpt__bfloat16
#define SUFFIX bf16
#include "host/rows_convert.inc.c"
#undef STORE

#define ALL(f) DPT__BY_INTEGER(f) DPT__BY_REAL(f)

const dpt__rows PASTE(dpt__rows_, ISA) = {
    .name = ISA_NAME,
    .map =
        {
#define DPT_REAL(name, known, operands, trait, formula)                                            \
  [DPT__MAP_##name] = {DPT__BY_REAL(row_##name) REDUCED_##trait(row_##name)},
#define DPT_MAP(name, known, operands, trait, real, integer)                                       \
  [DPT__MAP_##name] = {ALL(row_##name) REDUCED_##trait(row_##name)},
#define DPT_INTEGER(name, known, operands, trait, formula)                                         \
  [DPT__MAP_##name] = {DPT__BY_INTEGER(row_##name)},
#define DPT_OP(name, known, operands, trait) [DPT__MAP_##name] = {ALL(row_##name)},
#include "ops/map.def"
        },
    .compare =
        {
#define DPT_COMPARE(name, known, operands, trait, condition)                                       \
  [DPT__MAP_##name] = {ALL(row_byte_##name)},
#include "ops/map.def"
        },
    .convert = {DPT__BY_DTYPE(convert)},
    .fill = {ALL(row_fill)},
    .past =
        {
#define DPT_REAL(name, known, operands, trait, formula)                                            \
  [DPT__MAP_##name] = {DPT__BY_REAL(row_past_##name) REDUCED_##trait(row_past_##name)},
#define DPT_MAP(name, known, operands, trait, real, integer)                                       \
  [DPT__MAP_##name] = {DPT__BY_REAL(row_past_##name) REDUCED_##trait(row_past_##name)},
#include "ops/map.def"
        },
    .copy_past = copy_past,
    .dot = {[DPT_F32] = NULL, REDUCED_plain(dot)},
    .add_rows = {[DPT_F32] = NULL, REDUCED_plain(add_rows)},
};

#ifdef STRIDED
#undef STRIDED_plain
#define STRIDED_plain(name, operands) [DPT__MAP_##name] = {DPT__BY_REAL(row_apart_##name)},
dpt__strided_fn *const dpt__rows_strided[DPT__NMAP][DPT_NDTYPE] = {
#define DPT_REAL(name, known, operands, trait, formula) STRIDED_##trait(name, operands)
#define DPT_MAP(name, known, operands, trait, real, integer) STRIDED_##trait(name, operands)
#include "ops/map.def"
};
#endif
