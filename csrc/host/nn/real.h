/* real.h: what the layer kernels of the host share.
 *
 * What must stay true: a kernel cuts its work by rows or planes whose results do not depend on the
 * cut, so the number of threads never changes a bit.
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

/* An index or a class of any element type; halves have become floats (nn/call.c). */
static inline int64_t dpt__index_at(const void *p, int type, int64_t i) {
  switch (type) {
  case DPT_U8:
    return ((const uint8_t *)p)[i];
  case DPT_I8:
    return ((const int8_t *)p)[i];
  case DPT_I16:
    return ((const int16_t *)p)[i];
  case DPT_I32:
    return ((const int32_t *)p)[i];
  case DPT_I64:
    return ((const int64_t *)p)[i];
  default:
    break;
  }
  double v = type == DPT_F32 ? (double)((const float *)p)[i] : ((const double *)p)[i];
  return v > -9e15 && v < 9e15 ? (int64_t)v : INT64_MIN;
}

#endif
