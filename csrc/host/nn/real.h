/* real.h: what the layer kernels of the host share.
 *
 * Invariant: a kernel cuts its work by rows or planes whose results do not depend on the cut, so
 * the number of threads never changes a bit.
 */
#ifndef DPT_HOST_NN_REAL_H
#define DPT_HOST_NN_REAL_H
#include "host/isa.h"
#include "host/kernels.h"
#include "nn/kernels.h"

#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Which thread of a parallel region this is, from 0. */
static inline int dpt__thread_number(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/* How many threads `work` elementary steps are worth. */
static inline int dpt__threads(const dpt__context *context, int64_t work) {
  return work < 32768 ? 1 : context->threads;
}

static inline size_t dpt__width(int type) {
  return type == DPT_F32 ? sizeof(float) : sizeof(double);
}

#endif
