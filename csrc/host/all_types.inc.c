/* all_types.inc.c: includes BODY once for every element type.
 *
 * Invariant: BODY sees T (the C type), ACC (the type that values are compared and summed in), WRAP
 * (ACC for arithmetic that may wrap), LOAD(T) -> ACC, STORE(ACC or WRAP) -> T, FN(name) (the name
 * with the type's suffix), REAL (1 for half, float, double) and HALF. All of these, and BODY, are
 * undefined at the end. Define ONLY_INTEGERS to leave the real types out.
 */
#include "base/dtype.h"
#include "base/half.h"

#define FN_PASTE(name, suffix) name##_##suffix
#define FN_EXPAND(name, suffix) FN_PASTE(name, suffix)
#define FN(name) FN_EXPAND(name, SUFFIX)

#define REAL 0
#define HALF 0
#define ACC int64_t
#define WRAP uint64_t
#define LOAD(x) ((int64_t)(x))
#define STORE(x) ((T)(x))

#define T uint8_t
#define SUFFIX u8
#include "host/one_type.inc.c"
#define T int8_t
#define SUFFIX i8
#include "host/one_type.inc.c"
#define T int16_t
#define SUFFIX i16
#include "host/one_type.inc.c"
#define T int32_t
#define SUFFIX i32
#include "host/one_type.inc.c"
#define T int64_t
#define SUFFIX i64
#include "host/one_type.inc.c"

#undef REAL
#undef HALF
#undef ACC
#undef WRAP
#undef LOAD
#undef STORE

#ifndef ONLY_INTEGERS
#define REAL 1
#define ACC double
#define WRAP double

#define HALF 1
#define T dpt__half
#define SUFFIX f16
#define LOAD(x) ((double)dpt__half_to_float(x))
#define STORE(x) dpt__half_from_double(x)
#include "host/one_type.inc.c"
#undef HALF
#undef LOAD
#undef STORE

#define HALF 0
#define LOAD(x) ((double)(x))
#define STORE(x) ((T)(x))
#define T float
#define SUFFIX f32
#include "host/one_type.inc.c"
#define T double
#define SUFFIX f64
#include "host/one_type.inc.c"

#undef REAL
#undef HALF
#undef ACC
#undef WRAP
#undef LOAD
#undef STORE
#endif

#undef FN
#undef FN_EXPAND
#undef FN_PASTE
#undef ONLY_INTEGERS
#undef BODY
