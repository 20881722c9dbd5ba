/* scaler.h: the numbers of a loss scaler and of steps that have one, as all backends compute them.
 */
#ifndef DPT_NN_SCALER_H
#define DPT_NN_SCALER_H
#include "nn/kernels.h"

#include <float.h>

/* Updates a scaler by the norm of a gradient, as PyTorch's GradScaler does, but its scale remains a
 * normal float. */
DPT__EVERYWHERE static inline void dpt__scaler_step(const struct dpt__scaler_step_args *a) {
  double *s = a->scaler, scale = s[DPT_SCALER_SCALE];
  int finite = fabs(dpt__get_element(a->type, a->norm)) < (double)INFINITY;
  s[DPT_SCALER_FINITE] = finite;
  s[DPT_SCALER_FACTOR] = finite ? 1 / scale : 1;
  s[DPT_SCALER_STREAK] = finite ? s[DPT_SCALER_STREAK] + 1 : 0;
  s[DPT_SCALER_SKIPS] += !finite;
  if (a->type == DPT_F32)
    *(float *)a->norm *= (float)s[DPT_SCALER_FACTOR];
  else
    *(double *)a->norm *= s[DPT_SCALER_FACTOR];
  if (finite && s[DPT_SCALER_STREAK] < a->every) return;
  s[DPT_SCALER_STREAK] = 0;
  double next = (float)(scale * (finite ? a->growth : a->backoff));
  s[DPT_SCALER_SCALE] = next > FLT_MAX ? scale : next < FLT_MIN ? FLT_MIN : next;
}

/* Entries of the counts of steps: steps taken, those that have changed v, and numbers of the last
 * step. */
enum { DPT__STEP_COUNT, DPT__STEP_AGE, DPT__STEP_RATE, DPT__STEP_EPS, DPT__STEP_BASE };

/* Counts a step unless it is skipped, and computes its numbers. */
DPT__EVERYWHERE static inline void dpt__step_count(const struct dpt__step_count_args *a) {
  double *count = a->count;
  if (a->scaler[DPT_SCALER_FINITE] == 0) return;
  double t = ++count[DPT__STEP_COUNT];
  count[DPT__STEP_AGE] += a->has_velocity;
  double rate = a->rate / (1 + (t - 1) * a->rate_decay);
  double root = a->adam ? sqrt(1 - pow(a->beta2, t)) : 1;
  count[DPT__STEP_BASE] = rate;
  count[DPT__STEP_RATE] = a->adam ? rate * root / (1 - pow(a->beta1, t)) : rate;
  count[DPT__STEP_EPS] = a->decoupled ? a->eps * root : a->eps;
}

/* Sets the numbers of a step that dpt__step_count has computed. */
DPT__EVERYWHERE static inline void dpt__sgd_numbers(struct dpt__sgd_args *a, const double *count) {
  a->rate = count[DPT__STEP_RATE];
  a->first = count[DPT__STEP_AGE] == 1;
}
DPT__EVERYWHERE static inline void dpt__adam_numbers(struct dpt__adam_args *a,
                                                     const double *count) {
  a->rate = count[DPT__STEP_RATE];
  a->eps = count[DPT__STEP_EPS];
  a->base = count[DPT__STEP_BASE];
}

#endif
