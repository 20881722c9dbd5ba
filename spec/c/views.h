/* views.h: random tensors with odd views of their storage, for the C tests. */
#ifndef DPT_SPEC_VIEWS_H
#define DPT_SPEC_VIEWS_H
#include "check.h"
#include "tensor/tensor.h"
#include "tensor/walk.h"

/* Factors count into up to 4 random sizes; returns their number. */
static inline int random_size(uint64_t *seed, int64_t count, int64_t *size) {
  int n = 0;
  while (n < 3 && count > 1) {
    int64_t s = 1 + (int64_t)draw(seed, 6);
    if (count % s) continue;
    size[n++] = s;
    count /= s;
    if (draw(seed, 4) == 0) break;
  }
  size[n++] = count;
  return n;
}

/* Creates a view of that size: dimensions in a random order in memory, with gaps around each, at an
 * offset; sometimes with a dimension of stride 0 (`folds`), or contiguous. */
static inline void random_view(uint64_t *seed, dpt_tensor *t, int kind, int n, const int64_t *size,
                               int folds) {
  int64_t room[DPT_MAXDIM] = {0}, want[DPT_MAXDIM];
  int32_t order[DPT_MAXDIM], back[DPT_MAXDIM];
  int plain = draw(seed, 3) == 0;
  for (int d = 0; d < n; d++) order[d] = d;
  for (int d = n - 1; d > 0 && !plain; d--) {
    int e = (int)draw(seed, (uint64_t)d + 1);
    int32_t x = order[d];
    order[d] = order[e];
    order[e] = x;
  }
  for (int d = 0; d < n; d++) {
    int fold = folds && !plain && draw(seed, 6) == 0;
    want[d] = fold ? 1 : size[order[d]];
    room[d] = want[d] + (plain || draw(seed, 2) ? 0 : 1 + (int64_t)draw(seed, 2));
    back[order[d]] = d;
  }
  *t = (dpt_tensor){.kind_ = kind};
  OK(dpt_tensor_new(t, kind, n, room));
  for (int d = 0; d < n; d++)
    OK(dpt_narrow(t, t, d, (int64_t)draw(seed, (uint64_t)(room[d] - want[d]) + 1), want[d]));
  OK(dpt_permute(t, t, back));
  OK(dpt_expand(t, t, n, size));
}

/* Returns the offset of element i, in row-major order, from the first one. */
static inline int64_t place_of(const dpt_tensor *t, int64_t i) {
  int64_t place = 0;
  for (int d = t->ndim_ - 1; d >= 0; d--) {
    place += i % t->size_[d] * t->stride_[d];
    i /= t->size_[d];
  }
  return place;
}

#endif
