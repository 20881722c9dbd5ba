/* each_real.h: includes DPT_ROWS twice, for float and for double.
 *
 * Invariant: there is no guard, because every kernel file includes this file with its own DPT_ROWS.
 * The rows see three macros: T (element), FN(name) (name_f32, name_f64) and REAL(f) (f's float or
 * double form in math.h). Everything in them is static.
 */
#define T float
#define FN(name) name##_f32
#define REAL(name) name##f
#include DPT_ROWS
#undef T
#undef FN
#undef REAL
#define T double
#define FN(name) name##_f64
#define REAL(name) name
#include DPT_ROWS
#undef T
#undef FN
#undef REAL
#undef DPT_ROWS
