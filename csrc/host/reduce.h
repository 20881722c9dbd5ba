/* reduce.h: what the reduction kernels share. */
#ifndef DPT_HOST_REDUCE_H
#define DPT_HOST_REDUCE_H
#include "base/element.h"
#include "host/kernels.h"

enum { DPT__REDUCE_BLOCK = 16384 };

/* What a block of elements contributes: `whole` for integers, `real` for the others. */
typedef struct part {
  union {
    double real;
    int64_t whole;
  };
  union {
    double m2;  /* var, std: the sum of squared deviations; real is the mean */
    int64_t at; /* max, min: the place of the value */
  };
} part;

/* Writes a finished value as an element of out_dtype. */
static inline void dpt__put_part(int out_dtype, void *out, int real, const part *v) {
  if (real)
    dpt__put_element(out_dtype, out, v->real);
  else
    dpt__put_whole(out_dtype, out, v->whole);
}

#endif
