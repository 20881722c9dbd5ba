/* conv_dnnl.h: plans of oneDNN's convolutions (host/dnnl.h). */
#ifndef DPT_HOST_NN_CONV_DNNL_H
#define DPT_HOST_NN_CONV_DNNL_H
#include "host/dnnl.h"
#include "host/nn/conv.h"

typedef struct dpt__conv_key {
  int64_t type, pass, ndim, threads, bias, N, I, O, groups; /* type: of images */
  struct dpt__slide slide;
} dpt__conv_key;

/* One tensor of a convolution: Torch7's layout, and the primitive's. */
typedef struct dpt__conv_side {
  dnnl_memory_desc_t plain, inner;
  dnnl_primitive_t reorder; /* plain to inner, or back for the result; NULL: not needed */
  size_t bytes;             /* bytes of inner; 0 without reorder */
  int arg;                  /* DNNL_ARG_... */
} dpt__conv_side;

typedef struct dpt__conv_plan {
  dpt__dnnl_plan plan;
  dpt__conv_key key;
  dnnl_primitive_t primitive;
  dpt__conv_side in, weight, out;
  dnnl_memory_desc_t bias, scratch;
  size_t scratch_bytes;
} dpt__conv_plan;

extern const dpt__dnnl_kind dpt__conv_plans;

#endif
