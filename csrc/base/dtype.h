/* dtype.h: the one list of element types.
 *
 * Invariant: this list is the only text that names the properties of an element type; its order is
 * that of the enum in dpt.h. Tables and switches over all element types are expansions of it, so
 * that a further type is complete or does not compile. The reduced types (PyTorch's term) are
 * storage only: kernels that compute on them convert to float and round once.
 */
#ifndef DPT_BASE_DTYPE_H
#define DPT_BASE_DTYPE_H
#include "dpt.h"

#ifdef __CUDACC__
#define DPT__EVERYWHERE __host__ __device__ /* a function that kernels also call */
#else
#define DPT__EVERYWHERE
#endif

/* The bits of an IEEE binary16, and of a bfloat16: the upper half of a float. Structs, so that no
 * code takes them for integers. */
typedef struct dpt__half {
  uint16_t bits;
} dpt__half;
typedef struct dpt__bfloat16 {
  uint16_t bits;
} dpt__bfloat16;

/* X(id, C type, suffix, Torch7 name, compute type, bits of an integer's magnitude or of a real's
 * significand, names in safetensors, CUDA, NCCL and MPI, f). NONE: the library has no such type.
 * `f` is any name that the user of the list passes. */
/* clang-format off */
#define DPT__INTEGERS(X, f)                                                                        \
  X(DPT_U8, uint8_t, u8, Byte, DPT_U8, 8, "U8", CUDA_R_8U, ncclUint8, MPI_UINT8_T, f) \
  X(DPT_I8, int8_t, i8, Char, DPT_I8, 7, "I8", CUDA_R_8I, ncclInt8, MPI_INT8_T, f) \
  X(DPT_I16, int16_t, i16, Short, DPT_I16, 15, "I16", CUDA_R_16I, NONE, MPI_INT16_T, f) \
  X(DPT_I32, int32_t, i32, Int, DPT_I32, 31, "I32", CUDA_R_32I, ncclInt32, MPI_INT32_T, f) \
  X(DPT_I64, int64_t, i64, Long, DPT_I64, 63, "I64", CUDA_R_64I, ncclInt64, MPI_INT64_T, f)
#define DPT__REDUCED(X, f)                                                                         \
  X(DPT_F16, dpt__half, f16, Half, DPT_F32, 11, "F16", CUDA_R_16F, ncclFloat16, NONE, f) \
  X(DPT_BF16, dpt__bfloat16, bf16, BFloat16, DPT_F32, 8, "BF16", CUDA_R_16BF, ncclBfloat16, NONE, f)
#define DPT__REALS(X, f)                                                                           \
  X(DPT_F32, float, f32, Float, DPT_F32, 24, "F32", CUDA_R_32F, ncclFloat32, MPI_FLOAT, f) \
  X(DPT_F64, double, f64, Double, DPT_F64, 53, "F64", CUDA_R_64F, ncclFloat64, MPI_DOUBLE, f)
/* clang-format on */

#define DPT__ALL(X, f) DPT__INTEGERS(X, f) DPT__REDUCED(X, f) DPT__REALS(X, f)
#define DPT_INTEGER_DTYPES(X) DPT__INTEGERS(X, )
#define DPT_REDUCED_DTYPES(X) DPT__REDUCED(X, )
#define DPT_REAL_DTYPES(X) DPT__REALS(X, )
#define DPT_DTYPES(X) DPT__ALL(X, )

/* Entries of a table by element type: f_u8, f_i8 ..., each followed by a comma. */
#define DPT__ENTRY(id, type, suffix, name, compute, bits, file, cuda, nccl, mpi, f)                \
  [id] = f##_##suffix,
#define DPT__BY_INTEGER(f) DPT__INTEGERS(DPT__ENTRY, f)
#define DPT__BY_REAL(f) DPT__REALS(DPT__ENTRY, f)
#define DPT__BY_STORED_REAL(f) DPT__REDUCED(DPT__ENTRY, f) DPT__REALS(DPT__ENTRY, f)
#define DPT__BY_DTYPE(f) DPT__ALL(DPT__ENTRY, f)

/* Return the name of an element type ("Float") and of a tensor's kind_ ("torch.CudaLongTensor"). */
extern const dpt_dtype dpt__dtypes[];
static inline const char *dpt__dtype_name(int dtype) { return dpt__dtypes[dtype].name; }
const char *dpt__kind_name(int kind);

static inline int dpt__dtype(int kind) { return kind & (DPT_ON_DEVICE - 1); }
static inline int dpt__is_device(int kind) { return (kind & DPT_ON_DEVICE) != 0; }
static inline int dpt__is_real(int dtype) { return dtype >= DPT_F16; }

/* Properties of an element type. size: of an element, in bytes; compute: the type that kernels
 * compute in; bits: of an integer's magnitude or of a real's significand; nccl: true if NCCL has
 * the type. */
typedef struct dpt__dtype_facts {
  size_t size;
  int compute, bits, nccl;
} dpt__dtype_facts;
static DPT__EVERYWHERE inline dpt__dtype_facts dpt__facts_of(int dtype) {
  dpt__dtype_facts facts = {0, 0, 0, 0};
  switch (dtype) {
#define X(id, type, suffix, name, compute_, bits_, file, cuda, nccl_, ...)                         \
  case id:                                                                                         \
    facts.size = sizeof(type), facts.compute = compute_, facts.bits = bits_;                       \
    facts.nccl = sizeof #nccl_ != sizeof "NONE";                                                   \
    break;
    DPT_DTYPES(X)
#undef X
  }
  return facts;
}
static DPT__EVERYWHERE inline size_t dpt__dtype_size(int dtype) {
  return dpt__facts_of(dtype).size;
}
static DPT__EVERYWHERE inline int dpt__compute_dtype(int dtype) {
  return dpt__facts_of(dtype).compute;
}
static DPT__EVERYWHERE inline int dpt__dtype_bits(int dtype) { return dpt__facts_of(dtype).bits; }
static inline int dpt__dtype_in_nccl(int dtype) { return dpt__facts_of(dtype).nccl; }
static DPT__EVERYWHERE inline int dpt__is_reduced(int dtype) {
  return dpt__compute_dtype(dtype) != dtype;
}

#endif
