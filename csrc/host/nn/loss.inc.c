/* loss.inc.c: rows of loss.c: a loss's sum over n elements, and its gradient times factor. */

static DPT__INLINE double FN(sum_of)(int loss, int has_target, int64_t n, const T *in,
                                     const T *target, const T *weight, double p) {
  double sum[SPREAD] = {0};
  int64_t whole = n - n % SPREAD;
  for (int64_t i = 0; i < whole; i += SPREAD)
    for (int j = 0; j < SPREAD; j++) {
      double v = formula(loss, 0, in[i + j], has_target ? target[i + j] : 0, p);
      sum[j] += weight ? v * weight[i + j] : v;
    }
  for (int64_t i = whole; i < n; i++) {
    double v = formula(loss, 0, in[i], has_target ? target[i] : 0, p);
    sum[i - whole] += weight ? v * weight[i] : v;
  }
  for (int j = 1; j < SPREAD; j++) sum[0] += sum[j];
  return sum[0];
}

static DPT__INLINE void FN(gradient)(int loss, int has_target, int64_t n, const T *in,
                                     const T *target, const T *weight, double p, double factor,
                                     T *gin) {
  for (int64_t i = 0; i < n; i++) {
    double g = formula(loss, 1, in[i], has_target ? target[i] : 0, p) * factor;
    gin[i] = (T)(weight ? g * weight[i] : g);
  }
}

/* In each case, the loss is a constant, and so is whether there are weights and targets, so that
 * each compiles to a separate loop. */
DPT__CLONES
static double FN(block_sum)(const struct dpt__loss_args *a, int64_t first, int64_t n) {
  const T *in = (const T *)a->in + first, *target = a->target, *weight = a->weight;
  if (target) target += first;
  if (weight) weight += first;
  switch (a->loss) {
#define DPT_LOSS(name, has_target, value, gradient)                                                \
  case DPT__LOSS_##name:                                                                           \
    return weight ? FN(sum_of)(DPT__LOSS_##name, has_target, n, in, target, weight, a->p)          \
                  : FN(sum_of)(DPT__LOSS_##name, has_target, n, in, target, NULL, a->p);
#include "nn/loss.def"
#undef DPT_LOSS
  default:
    return 0;
  }
}

DPT__CLONES
static void FN(block_gradient)(const struct dpt__loss_args *a, double factor, int64_t first,
                               int64_t n) {
  const T *in = (const T *)a->in + first, *target = a->target, *weight = a->weight;
  T *gin = (T *)a->gin + first;
  if (target) target += first;
  if (weight) weight += first;
  switch (a->loss) {
#define DPT_LOSS(name, has_target, value, slope)                                                   \
  case DPT__LOSS_##name:                                                                           \
    if (weight)                                                                                    \
      FN(gradient)(DPT__LOSS_##name, has_target, n, in, target, weight, a->p, factor, gin);        \
    else                                                                                           \
      FN(gradient)(DPT__LOSS_##name, has_target, n, in, target, NULL, a->p, factor, gin);          \
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
