/* lookup.c: rows of a table by index, and their gradients.
 *
 * Invariant: all indices are checked before anything is written.
 */
#include "host/nn/real.h"

static int check(const void *idx, int type, int64_t n, int64_t V) {
  for (int64_t i = 0; i < n; i++) {
    int64_t row = dpt__index_at(idx, type, i);
    if (row < 1 || row > V)
      return dpt__fail("argument 'indices' has %lld at element %lld, wanted 1 to %lld",
                       (long long)row, (long long)i + 1, (long long)V);
  }
  return 0;
}

#define DPT_ROWS "host/nn/lookup.inc.c"
#include "host/each_real.h"

int dpt__host_lookup(dpt__context *context, const void *p) {
  const struct dpt__lookup_args *a = p;
  DPT__TRY(check(a->idx, a->index_type, a->n, a->V));
  (a->type == DPT_F32 ? lookup_f32 : lookup_f64)(context, a);
  return 0;
}

int dpt__host_lookup_backward(dpt__context *context, const void *p) {
  const struct dpt__lookup_backward_args *a = p;
  int64_t *count = NULL;
  DPT__TRY(check(a->idx, a->index_type, a->n, a->V));
  if (a->by_frequency) {
    count = dpt__scratch(context, (size_t)a->V * sizeof *count);
    if (!count) return 1;
    memset(count, 0, (size_t)a->V * sizeof *count);
    for (int64_t i = 0; i < a->n; i++) count[dpt__index_at(a->idx, a->index_type, i) - 1]++;
  }
  (a->type == DPT_F32 ? lookup_backward_f32 : lookup_backward_f64)(context, a, count);
  return 0;
}

int dpt__host_lookup_renorm(dpt__context *context, const void *p) {
  const struct dpt__lookup_renorm_args *a = p;
  DPT__TRY(check(a->idx, a->index_type, a->n, a->V));
  uint8_t *seen = dpt__scratch(context, (size_t)a->V);
  if (!seen) return 1;
  memset(seen, 0, (size_t)a->V);
  (a->type == DPT_F32 ? lookup_renorm_f32 : lookup_renorm_f64)(a, seen);
  return 0;
}
