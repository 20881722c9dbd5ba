/* dtype.h: the one list of element types.
 *
 * Invariant: this list is the only text that names the C type, the accumulator and the Torch7 name
 * of an element type; its order is that of the enum in dpt.h. Tables indexed by an element type are
 * filled from it and followed by a static assert on DPT_NDTYPE. f16 is storage only: kernels that
 * compute on it go through float.
 */
#ifndef DPT_BASE_DTYPE_H
#define DPT_BASE_DTYPE_H
#include "dpt.h"

#ifdef __CUDACC__
#define DPT__EVERYWHERE __host__ __device__ /* a function that kernels also call */
#else
#define DPT__EVERYWHERE
#endif

typedef uint16_t dpt__half; /* the bits of an IEEE binary16 */

/* X(id, C type, accumulator, suffix, Torch7's name) */
/* clang-format off */
#define DPT_INTEGER_DTYPES(X) \
  X(DPT_U8, uint8_t, int64_t, u8, Byte) X(DPT_I8, int8_t, int64_t, i8, Char) \
  X(DPT_I16, int16_t, int64_t, i16, Short) X(DPT_I32, int32_t, int64_t, i32, Int) \
  X(DPT_I64, int64_t, int64_t, i64, Long)
/* clang-format on */
#define DPT_REAL_DTYPES(X)                                                                         \
  X(DPT_F32, float, double, f32, Float) X(DPT_F64, double, double, f64, Double)
#define DPT_DTYPES(X)                                                                              \
  DPT_INTEGER_DTYPES(X) X(DPT_F16, dpt__half, double, f16, Half) DPT_REAL_DTYPES(X)

/* Entries of a table by element type: f_u8, f_i8 ... */
#define DPT__BY_INTEGER(f)                                                                         \
  [DPT_U8] = f##_u8, [DPT_I8] = f##_i8, [DPT_I16] = f##_i16, [DPT_I32] = f##_i32,                  \
  [DPT_I64] = f##_i64
#define DPT__BY_REAL(f) [DPT_F32] = f##_f32, [DPT_F64] = f##_f64
#define DPT__BY_DTYPE(f) DPT__BY_INTEGER(f), [DPT_F16] = f##_f16, DPT__BY_REAL(f)

/* Return the size of an element in bytes, the name of an element type ("Float"), and the name of a
 * tensor's kind_ ("torch.CudaLongTensor"). */
extern const uint8_t dpt__dtype_sizes[];
static inline size_t dpt__dtype_size(int dtype) { return dpt__dtype_sizes[dtype]; }
const char *dpt__dtype_name(int dtype);
const char *dpt__kind_name(int kind);

static inline int dpt__dtype(int kind) { return kind & 7; }
static inline int dpt__is_device(int kind) { return (kind & DPT_ON_DEVICE) != 0; }
static inline int dpt__is_real(int dtype) { return dtype >= DPT_F16; }

#endif
