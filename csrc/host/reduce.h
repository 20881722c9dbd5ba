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
    int64_t at; /* max, min: the position of the value */
  };
} part;

#endif
