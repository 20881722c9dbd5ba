/* dtype.c: tables of element types, filled from the one list. */
#include "base/dtype.h"

const dpt_dtype dpt__dtypes[] = {
#define X(id, type, suffix, name, compute, bits, file, ...)                                        \
  [id] = {#name, file, sizeof(type), (id) >= DPT_F16, compute},
    DPT_DTYPES(X)
#undef X
};
static const char *const kinds[] = {
#define X(id, type, suffix, name, ...)                                                             \
  [id] = "torch." #name "Tensor", [id + DPT_ON_DEVICE] = "torch.Cuda" #name "Tensor",
    DPT_DTYPES(X)
#undef X
};
_Static_assert(sizeof dpt__dtypes / sizeof *dpt__dtypes == DPT_NDTYPE, "all element types");
_Static_assert(sizeof kinds / sizeof *kinds == DPT_ON_DEVICE + DPT_NDTYPE, "two kinds each");
_Static_assert((int)DPT_NDTYPE <= (int)DPT_ON_DEVICE, "an element type fits in its bits of a kind");

/* The list has the order of the enum. */
enum {
#define X(id, type, suffix, ...) place_##suffix,
  DPT_DTYPES(X)
#undef X
};
#define X(id, type, suffix, ...)                                                                   \
  _Static_assert((int)place_##suffix == (int)(id), "the list has the order of the enum");
DPT_DTYPES(X)
#undef X

const dpt_dtype *dpt_dtype_get(int dtype) { return &dpt__dtypes[dtype]; }
/* Torch7 calls the device's float tensor CudaTensor; the other names contain the type. */
const char *dpt__kind_name(int kind) {
  return kind == DPT_F32 + DPT_ON_DEVICE ? "torch.CudaTensor" : kinds[kind];
}
