/* columns.c: host matrices in column-major order, and what all LAPACK operations check. */
#include "ops/lapack.h"

#include <math.h>
#include <string.h>

int dpt__columns_new(dpt__columns *out, int dtype, int rows, int cols) {
  const int64_t size[] = {cols, rows};
  *out = (dpt__columns){.rows = rows, .cols = cols, .dtype = dtype};
  DPT__TRY(dpt_tensor_new(&out->t, dtype, 2, size) || dpt_fill(&out->t, 0));
  out->data = dpt__at(&out->t);
  return 0;
}

void dpt__columns_free(dpt__columns *c) { dpt_tensor_free(&c->t); }

/* The view of c that a row-major rows x cols matrix has; it owns nothing. */
static dpt_tensor matrix(const dpt__columns *c, int64_t rows, int64_t cols) {
  dpt_tensor view = c->t;
  view.size_[0] = rows;
  view.size_[1] = cols;
  view.stride_[0] = 1;
  view.stride_[1] = c->rows;
  return view;
}

int dpt__columns_of(dpt__columns *out, const char *fn, const char *name, const dpt_tensor *a,
                    int rows) {
  char text[DPT__TEXT];
  int dtype = dpt__type(a);
  *out = (dpt__columns){.dtype = dtype};
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

int dpt__columns_give_vector(dpt_tensor *r, const dpt__columns *c, const dpt_tensor *like) {
  const int64_t size = c->rows;
  dpt_tensor view = matrix(c, c->rows, 1);
  return dpt__result(r, 1, &size, dpt_tensor_device(like)) || dpt_copy(r, &view);
}

void dpt__columns_triangle(dpt__columns *c, char uplo, int mirror) {
  size_t width = dpt__dtype_size(c->dtype);
  char *data = c->data;
  for (int j = 0; j < c->cols; j++)
    for (int i = 0; i < c->rows; i++) {
      if (uplo == 'U' ? i <= j : i >= j) continue;
      char *at = data + ((size_t)j * (size_t)c->rows + (size_t)i) * width;
      if (mirror)
        memcpy(at, data + ((size_t)i * (size_t)c->rows + (size_t)j) * width, width);
      else
        memset(at, 0, width);
    }
}

int dpt__work_new(dpt__columns *work, int dtype, const void *asked, int *n) {
  double size = dtype == DPT_F32 ? (double)*(const float *)asked : *(const double *)asked;
  *n = size < 1 ? 1 : (int)size;
  return dpt__columns_new(work, dtype, *n, 1);
}

int dpt__same_kinds(const char *fn, int n, const dpt_tensor *const *list) {
  for (int i = 1; i < n; i++)
    if (list[i]->kind_ != list[0]->kind_)
      return dpt__fail("%s: a %s and a %s, wanted tensors of one type", fn,
                       dpt__kind_name(list[0]->kind_), dpt__kind_name(list[i]->kind_));
  return 0;
}

int dpt__check_square(const char *fn, const dpt_tensor *a) {
  char text[DPT__TEXT];
  if (a->ndim_ == 2 && a->size_[0] == a->size_[1]) return 0;
  return dpt__fail("%s: argument 'a' is a %s, wanted a square matrix", fn, dpt__describe(text, a));
}

int dpt__check_finite(const char *fn, const dpt__columns *c, char triangle) {
  size_t n = (size_t)c->rows * (size_t)c->cols;
  for (size_t i = 0; i < n; i++) {
    size_t row = i % (size_t)c->rows, col = i / (size_t)c->rows;
    if (triangle == 'U' ? row > col : triangle == 'L' && row < col) continue;
    double x = c->dtype == DPT_F32 ? (double)((const float *)c->data)[i] : ((double *)c->data)[i];
    if (!isfinite(x))
      return dpt__fail("%s: argument 'a' has %s at (%zu, %zu), wanted finite numbers", fn,
                       isnan(x) ? "nan" : "inf", row + 1, col + 1);
  }
  return 0;
}

int dpt__lapack_rejects(const char *fn, int info) {
  return dpt__fail("%s: LAPACK rejects its argument %d", fn, -info);
}

int dpt__option(const char *fn, const char *name, const char *text, const char *letters,
                char *out) {
  if (!text[0] || text[1] || !strchr(letters, text[0]))
    return dpt__fail("%s: %s is '%s', wanted one of the letters %s", fn, name, text, letters);
  *out = text[0];
  return 0;
}
