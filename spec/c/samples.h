/* samples.h: shared by the C tests of operations: odd views with known values, and guards around
 * outputs.
 *
 * Invariant: values are small, integers for integer types and quarters for the others, so that
 * their sums are exact in double and every type represents them. guard_start fills the whole
 * storage with GUARD; guard_end returns true if all elements outside the view still have that
 * value.
 */
#ifndef DPT_SPEC_SAMPLES_H
#define DPT_SPEC_SAMPLES_H
#include "views.h"

#include <math.h>

enum { GUARD = 77 };

typedef struct sample {
  dpt_tensor t;
  int64_t n;
  double *v; /* row-major */
} sample;

static inline int random_kind(uint64_t *seed) {
  return (int)draw(seed, DPT_NDTYPE) | (draw(seed, 3) == 0 ? DPT_ON_DEVICE : 0);
}

/* Returns a contiguous host tensor of doubles with a copy of v, if given. The caller frees it. */
static inline dpt_tensor doubles(int n, const int64_t *size, const double *v) {
  dpt_tensor t = {.kind_ = DPT_F64};
  OK(dpt_tensor_new(&t, DPT_F64, n, size));
  if (v && dpt__count(&t)) memcpy(dpt__at(&t), v, (size_t)dpt__count(&t) * sizeof *v);
  return t;
}

/* Returns t's values; the caller frees them. */
static inline double *numbers(const dpt_tensor *t) {
  int64_t n = dpt__count(t);
  double *v = calloc((size_t)n + 1, sizeof *v);
  if (!n) return v;
  dpt_tensor host = doubles(t->ndim_, t->size_, NULL);
  OK(dpt_copy(&host, t));
  memcpy(v, dpt__at(&host), (size_t)n * sizeof *v);
  dpt_tensor_free(&host);
  return v;
}

static inline void put_numbers(dpt_tensor *t, const double *v) {
  dpt_tensor host = doubles(t->ndim_, t->size_, v);
  OK(dpt_copy(t, &host));
  dpt_tensor_free(&host);
}

/* Returns a view with random values in [low, high], quarters for real types. */
static inline sample sample_new(uint64_t *seed, int kind, int n, const int64_t *size, int low,
                                int high) {
  sample s = {.n = 1};
  int parts = dpt__is_real(dpt__dtype(kind)) ? 4 : 1;
  random_view(seed, &s.t, kind, n, size, 0);
  for (int d = 0; d < n; d++) s.n *= size[d];
  s.v = calloc((size_t)s.n + 1, sizeof *s.v);
  for (int64_t i = 0; i < s.n; i++)
    s.v[i] = low + (double)draw(seed, (uint64_t)(parts * (high - low) + 1)) / parts;
  put_numbers(&s.t, s.v);
  return s;
}

static inline void sample_free(sample *s) {
  dpt_tensor_free(&s->t);
  free(s->v);
}

/* Returns all of t's storage as a 1-D tensor that does not own it. */
static inline dpt_tensor whole_storage(const dpt_tensor *t) {
  dpt_tensor all = *t;
  all.offset_ = 0;
  all.ndim_ = 1;
  all.size_[0] = dpt_storage_size(t->storage_);
  all.stride_[0] = 1;
  return all;
}

/* Allocates an output of that size, an odd view surrounded by guards. */
static inline void guard_start(uint64_t *seed, dpt_tensor *r, int kind, int n,
                               const int64_t *size) {
  random_view(seed, r, kind, n, size, 0);
  dpt_tensor all = whole_storage(r);
  OK(dpt_fill(&all, GUARD));
}

static inline int guard_end(const dpt_tensor *r) {
  dpt_tensor all = whole_storage(r);
  double *v = numbers(&all);
  char *mine = calloc((size_t)all.size_[0] + 1, 1);
  int good = 1;
  for (int64_t i = 0; i < dpt__count(r); i++) mine[r->offset_ + place_of(r, i)] = 1;
  for (int64_t i = 0; i < all.size_[0]; i++) good = good && (mine[i] || v[i] == GUARD);
  free(v);
  free(mine);
  return good;
}

/* Compares t with the wanted values, up to `limit` relative to 1 + |wanted|. Frees nothing. */
static inline int equals(const dpt_tensor *t, const double *wanted, double limit,
                         const char *what) {
  double *v = numbers(t);
  int64_t n = dpt__count(t), bad = -1;
  for (int64_t i = 0; i < n && bad < 0; i++)
    if (v[i] != wanted[i] && !(fabs(v[i] - wanted[i]) <= limit * (1 + fabs(wanted[i]))) &&
        !(isnan(v[i]) && isnan(wanted[i])))
      bad = i;
  if (bad >= 0) {
    check_failures++;
    printf("%s, kind %d: element %lld is %.9g, wanted %.9g\n", what, t->kind_, (long long)bad,
           v[bad], wanted[bad]);
  }
  free(v);
  return bad < 0;
}

/* Returns the integer as the element type wraps it. */
static inline double wrapped(int dtype, int64_t v) {
  switch (dtype) {
  case DPT_U8:
    return (double)(uint8_t)v;
  case DPT_I8:
    return (double)(int8_t)v;
  case DPT_I16:
    return (double)(int16_t)v;
  case DPT_I32:
    return (double)(int32_t)v;
  default:
    return (double)v;
  }
}

/* Returns the offset of slice i along dim of a row-major array; *step is the stride within it. */
static inline int64_t slice_of(int n, const int64_t *size, int dim, int64_t i, int64_t *step) {
  *step = 1;
  for (int d = n - 1; d > dim; d--) *step *= size[d];
  return i / *step * *step * size[dim] + i % *step;
}

#endif
