/* number.h: integer arithmetic for host code and kernels. */
#ifndef DPT_BASE_NUMBER_H
#define DPT_BASE_NUMBER_H
#include "base/dtype.h"

static DPT__EVERYWHERE inline int64_t dpt__min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns n / each, rounded up; n is not negative. */
static DPT__EVERYWHERE inline int64_t dpt__ceil_div(int64_t n, int64_t each) {
  return (n + each - 1) / each;
}

#endif
