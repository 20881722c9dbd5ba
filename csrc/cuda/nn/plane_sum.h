/* plane_sum.h: adds to one number per plane the sum over the plane's elements.
 *
 * Invariant: sums are double and in a fixed order (cuda/nn/planes.h).
 */
#ifndef DPT_CUDA_NN_PLANE_SUM_H
#define DPT_CUDA_NN_PLANE_SUM_H
#include "cuda/nn/planes.h"

/* Value: a plain struct; value(at) returns the sum of the elements of the unit (planes.h) that
 * begins at element `at`. */

/* Computes r[c] += scale * the sum of plane c; T: the type of r. */
template <typename T, typename Value>
__global__ void dpt__plane_sums(Value value, dpt__cut k, T *r, double scale, int phase,
                                double *sums) {
  DPT_SHARED(double, shared);
  double sum = 0;
  if (phase & DPT__MEASURE)
    dpt__cut_each(k, [&](int64_t at) { sum += value(at); });
  else if (dpt__cut_plane(k) < k.C)
    for (int64_t i = dpt__cut_self(k); i < k.chunks; i += k.deep) sum += *dpt__cut_sums(k, sums, i);
  sum = dpt__cut_sum(k, sum, shared);
  int64_t c = dpt__cut_plane(k);
  if (c >= k.C || dpt__cut_self(k)) return;
  if (phase & DPT__APPLY)
    r[c] = dpt__store_wide<T>(dpt__load(r[c]) + scale * sum);
  else
    *dpt__cut_sums(k, sums, blockIdx.y) = sum;
}

template <typename T, typename Value>
int dpt__plane_sum_launch(dpt__context *context, const dpt__cut &k, const Value &value, T *r,
                          double scale) {
  auto kernel = dpt__plane_sums<T, Value>;
  return dpt__cut_launch(context, k, false, [&](int phase, double *sums, unsigned chunks) {
    return DPT_LAUNCH_COOPERATIVE(kernel, dpt__cut_grid(k, chunks), dpt__cut_block(k),
                                  DPT__CUT_SHARED, context, value, k, r, scale, phase, sums);
  });
}

#endif
