/* dpt.h: the public C interface of libdpt.
 *
 * What must stay true: the text between the two marks is plain C declarations, no macros, since
 * LuaJIT's FFI reads this very text (the build compiles it into the library, dpt_cdef() gives it).
 * Every function that can fail returns 0, or nonzero and leaves one sentence in dpt_message() of
 * the calling thread: the sentence names the function, the argument, what it got and what it
 * wanted. Dimensions and indices are counted from 0 here; Lua's 1-based numbers are translated in
 * lua/dpt. Tensor arguments named r, out, gin, gw ... are results; `const` ones are only read.
 */
#ifndef DPT_H
#define DPT_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* ---- base ---------------------------------------------------------------------------------- */

/* The sentence of the last failure on this thread; "" if there was none. */
const char *dpt_message(void);
/* "0.1.0", and the text between the marks of this header. */
const char *dpt_version(void);
const char *dpt_cdef(void);

/* Element types, in the order of the one list in base/dtype.h. */
enum { DPT_U8, DPT_I8, DPT_I16, DPT_I32, DPT_I64, DPT_F16, DPT_F32, DPT_F64, DPT_NDTYPE };

/* ---- tensor -------------------------------------------------------------------------------- */

enum { DPT_MAXDIM = 12, DPT_ON_DEVICE = 8 };

/* Counted memory of one element type on the host or on one device; device/storage.h has its rules.
 */
typedef struct dpt_storage dpt_storage;

/* A view of a storage, by value: whoever made it owns one reference to store_ (dpt_tensor_free
 * gives it back). Field names end in _ so that none hides a Lua method. kind_ is the element type,
 * plus DPT_ON_DEVICE for device memory; it never changes after birth. ndim_ 0 means no elements
 * (Torch7's empty tensor), whatever store_ is. Strides count elements. */
typedef struct dpt_tensor {
  dpt_storage *store_;
  int64_t first_; /* offset of the first element in the storage, from 0 */
  int32_t kind_;
  int32_t ndim_;
  int64_t size_[12];
  int64_t step_[12];
} dpt_tensor;

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
