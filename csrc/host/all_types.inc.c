/* all_types.inc.c: includes BODY once for every element type.
 *
 * Invariant: BODY sees T (the C type), ACC (the type that values are summed in), WRAP (ACC for
 * arithmetic that may wrap), WIDE (the type that values are compared in: float for reduced types,
 * otherwise T), WIDEN(T) -> WIDE, LOAD(T) -> ACC, STORE(ACC or WRAP) -> T, FN(name) (the name with
 * the type's suffix), REAL (1 for real types) and REDUCED (defined for reduced types). All of
 * these, and BODY, are undefined at the end. Define ONLY_INTEGERS or ONLY_REALS to leave the other
 * types out.
 */
#include "base/dtype.h"
#include "base/reduced.h"

#define FN_PASTE(name, suffix) name##_##suffix
#define FN_EXPAND(name, suffix) FN_PASTE(name, suffix)
#define FN(name) FN_EXPAND(name, SUFFIX)

#define LOAD(x) ((ACC)WIDEN(x))
#define WIDE T
#define WIDEN(x) (x)
#define STORE(x) ((T)(x))

#ifndef ONLY_REALS
#define REAL 0
#define ACC int64_t
#define WRAP uint64_t
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
#undef ACC
#undef WRAP
#endif

#ifndef ONLY_INTEGERS
#define REAL 1
#define ACC double
#define WRAP double
#define T float
#define SUFFIX f32
#include "host/one_type.inc.c"
#define T double
#define SUFFIX f64
#include "host/one_type.inc.c"
#undef WIDE
#undef WIDEN
#undef STORE

#define REDUCED
#define WIDE float
#define T dpt__half
#define SUFFIX f16
#define WIDEN(x) dpt__f16_to_float(x)
#define STORE(x) dpt__f16_from_double(x)
#include "host/one_type.inc.c"
#undef WIDEN
#undef STORE
#define T dpt__bfloat16
#define SUFFIX bf16
#define WIDEN(x) dpt__bf16_to_float(x)
#define STORE(x) dpt__bf16_from_double(x)
#include "host/one_type.inc.c"
#undef REDUCED
#undef REAL
#undef ACC
#undef WRAP
#endif

#undef LOAD
#undef WIDE
#undef WIDEN
#undef STORE
#undef FN
#undef FN_EXPAND
#undef FN_PASTE
#undef ONLY_INTEGERS
#undef ONLY_REALS
#undef BODY
