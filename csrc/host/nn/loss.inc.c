/* loss.inc.c: rows of loss.c: a loss's sum over n elements, and its gradient times factor. */

static inline __attribute__((always_inline)) double
FN(sum_of)(int loss, int64_t n, const T *in, const T *target, const T *weight, double p) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double v = formula(loss, 0, in[i], target ? target[i] : 0, p);
    sum += weight ? v * weight[i] : v;
  }
  return sum;
}

static inline __attribute__((always_inline)) void FN(gradient)(int loss, int64_t n, const T *in,
                                                               const T *target, const T *weight,
                                                               double p, double factor, T *gin) {
  for (int64_t i = 0; i < n; i++) {
    double g = formula(loss, 1, in[i], target ? target[i] : 0, p) * factor;
    gin[i] = (T)(weight ? g * weight[i] : g);
  }
}

/* The loss is a constant in every line, so that each has a loop of its own. */
static double FN(block_sum)(const struct dpt__loss_args *a, int64_t first, int64_t n) {
  const T *in = (const T *)a->in + first, *target = a->target, *weight = a->weight;
  if (target) target += first;
  if (weight) weight += first;
  switch (a->loss) {
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return FN(sum_of)(DPT__LOSS_##name, n, in, target, weight, a->p);
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    return 0;
  }
}

static void FN(block_gradient)(const struct dpt__loss_args *a, double factor, int64_t first,
                               int64_t n) {
  const T *in = (const T *)a->in + first, *target = a->target, *weight = a->weight;
  T *gin = (T *)a->gin + first;
  if (target) target += first;
  if (weight) weight += first;
  switch (a->loss) {
#define DPT_LOSS(name, has_target, value, slope)                                                   \
  case DPT__LOSS_##name:                                                                           \
    FN(gradient)(DPT__LOSS_##name, n, in, target, weight, a->p, factor, gin);                      \
    break;
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    break;
  }
}

static int FN(loss)(dpt__context *context, const struct dpt__loss_args *a) {
  int64_t blocks = (a->n + BLOCK - 1) / BLOCK;
  double factor = a->average && a->n ? 1 / (double)a->n : 1, sum = 0;
  double *part = a->gin ? NULL : dpt__scratch(context, (size_t)(blocks + 1) * sizeof *part);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(dpt__threads(context, a->n)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * BLOCK, n = BLOCK < a->n - first ? BLOCK : a->n - first;
    if (a->gin)
      FN(block_gradient)(a, factor, first, n);
    else
      part[b] = FN(block_sum)(a, first, n);
  }
  if (a->gin) return 0;
  for (int64_t b = 0; b < blocks; b++) sum += part[b];
  *(T *)a->out = (T)(a->average && a->n ? sum / (double)a->n : sum);
  return 0;
}
