/* columns.c: host matrices in column-major order, as LAPACK wants them (lapack.h). */
#include "ops/lapack.h"

#include <string.h>

int dpt__columns_new(dpt__columns *out, int dtype, int rows, int cols) {
  const int64_t size[] = {cols, rows};
  *out = (dpt__columns){.rows = rows, .cols = cols};
  return dpt_tensor_new(&out->t, dtype, 2, size) || dpt_fill(&out->t, 0);
}

void dpt__columns_free(dpt__columns *c) { dpt_tensor_free(&c->t); }

/* The view of c that a row-major rows x cols matrix has; it owns nothing. */
static dpt_tensor matrix(const dpt__columns *c, int64_t rows, int64_t cols) {
  dpt_tensor view = c->t;
  view.size_[0] = rows;
  view.size_[1] = cols;
  view.step_[0] = 1;
  view.step_[1] = c->rows;
  return view;
}

int dpt__columns_of(dpt__columns *out, const char *fn, const char *name, const dpt_tensor *a,
                    int rows) {
  char text[DPT__TEXT];
  int dtype = dpt__type(a);
  *out = (dpt__columns){0};
  if ((dtype != DPT_F32 && dtype != DPT_F64) || a->ndim_ < 1 || a->ndim_ > 2 ||
      dpt__count(a) == 0 || a->size_[0] > INT32_MAX || (a->ndim_ == 2 && a->size_[1] > INT32_MAX))
    return dpt__fail("%s: argument '%s' is a %s, wanted a matrix of floats or doubles", fn, name,
                     dpt__describe(text, a));
  int64_t n = a->size_[0], m = a->ndim_ == 2 ? a->size_[1] : 1;
  DPT__TRY(dpt__columns_new(out, dtype, n > rows ? (int)n : rows, (int)m));
  dpt_tensor view = matrix(out, n, m);
  return dpt_copy(&view, a);
}

int dpt__columns_give(dpt_tensor *r, const dpt__columns *c, int rows, int cols,
                      const dpt_tensor *like) {
  const int64_t size[] = {rows, cols};
  dpt_tensor view = matrix(c, rows, cols);
  return dpt__result(r, 2, size, dpt_tensor_device(like)) || dpt_copy(r, &view);
}

char dpt__option(const char *fn, const char *name, const char *text, const char *letters) {
  char letter = text[0];
  if (letter && !text[1] && strchr(letters, letter)) return letter;
  dpt__fail("%s: %s is '%s', wanted one of the letters %s", fn, name, text, letters);
  return 0;
}
