/* dtype.c: tables of element types, filled from the one list. */
#include "base/dtype.h"

const uint8_t dpt__dtype_sizes[] = {
#define X(id, type, acc, suffix, name) [id] = sizeof(type),
    DPT_DTYPES(X)
#undef X
};
static const char *const names[] = {
#define X(id, type, acc, suffix, name) [id] = #name,
    DPT_DTYPES(X)
#undef X
};
static const char *const kinds[] = {
#define X(id, type, acc, suffix, name)                                                             \
  [id] = "torch." #name "Tensor", [id + DPT_ON_DEVICE] = "torch.Cuda" #name "Tensor",
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof dpt__dtype_sizes == DPT_NDTYPE, "one size for each element type");
_Static_assert(sizeof names / sizeof *names == DPT_NDTYPE, "one name for each element type");
_Static_assert(sizeof kinds / sizeof *kinds == DPT_ON_DEVICE + DPT_NDTYPE, "two kinds each");

const char *dpt__dtype_name(int dtype) { return names[dtype]; }
/* Torch7 calls the device's float tensor CudaTensor; the other names contain the type. */
const char *dpt__kind_name(int kind) {
  return kind == DPT_F32 + DPT_ON_DEVICE ? "torch.CudaTensor" : kinds[kind];
}
