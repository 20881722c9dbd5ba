/* lapack.c: operands and results of LAPACK routines (see lapack.h). */
#include "ops/lapack.h"

#include "base/assert.h"
#include "base/element.h"

#include <stdarg.h>
#include <stdio.h>

void dpt__lapack_begin(dpt__lapack_call *call, const char *fn, int n,
                       const dpt_tensor *const *list) {
  *call = (dpt__lapack_call){.fn = fn, .type = dpt__type(list[0])};
  call->device = dpt_tensor_device(list[0]);
  for (int i = 1; i < n && !call->status; i++)
    if (list[i]->kind_ != list[0]->kind_)
      call->status = dpt__fail("%s: got a %s and a %s, wanted tensors of one type", fn,
                               dpt__kind_name(list[0]->kind_), dpt__kind_name(list[i]->kind_));
  if (!call->status) call->status = dpt__lapack_open(fn);
}

int dpt__lapack_end(dpt__lapack_call *call) {
  for (int i = 0; i < call->n; i++) dpt_tensor_free(&call->columns[i].t);
  return call->status;
}

static dpt__columns *lapack_fresh(dpt__lapack_call *call, int type, int rows, int cols) {
  const int64_t size[] = {cols, rows};
  dpt__assert(call->n < DPT__LAPACK_COLUMNS);
  dpt__columns *c = &call->columns[call->n++];
  if (!call->status) call->status = dpt_tensor_new(&c->t, type, 2, size) || dpt_fill(&c->t, 0);
  if (call->status) return c;
  c->rows = rows;
  c->cols = cols;
  c->data = dpt__at(&c->t);
  return c;
}

dpt__columns *dpt__lapack_new(dpt__lapack_call *call, int rows, int cols) {
  return lapack_fresh(call, call->type, rows, cols);
}
dpt__columns *dpt__lapack_new_ints(dpt__lapack_call *call, int n) {
  return lapack_fresh(call, DPT_I32, n, 1);
}

/* Returns a view of c as a row-major rows x cols matrix; it owns nothing. */
static dpt_tensor lapack_matrix(const dpt__columns *c, int64_t rows, int64_t cols) {
  dpt_tensor view = c->t;
  view.size_[0] = rows;
  view.size_[1] = cols;
  view.stride_[0] = 1;
  view.stride_[1] = c->rows;
  return view;
}

dpt__columns *dpt__lapack_in(dpt__lapack_call *call, const char *name, const dpt_tensor *a,
                             int rows) {
  if (!call->status &&
      ((call->type != DPT_F32 && call->type != DPT_F64) || a->ndim_ < 1 || a->ndim_ > 2 ||
       dpt__count(a) == 0 || a->size_[0] > INT32_MAX || (a->ndim_ == 2 && a->size_[1] > INT32_MAX)))
    call->status = dpt__fail_argument(call->fn, name, a, "a matrix of floats or doubles");
  int n = (int)a->size_[0], m = a->ndim_ == 2 ? (int)a->size_[1] : 1;
  dpt__columns *c = dpt__lapack_new(call, n > rows ? n : rows, m);
  dpt_tensor view = lapack_matrix(c, n, m);
  if (!call->status) call->status = dpt_copy(&view, a);
  return c;
}

dpt__columns *dpt__lapack_in_square(dpt__lapack_call *call, const char *name, const dpt_tensor *a) {
  if (!call->status && (a->ndim_ != 2 || a->size_[0] != a->size_[1]))
    call->status = dpt__fail_argument(call->fn, name, a, "a square matrix");
  return dpt__lapack_in(call, name, a, 0);
}

char dpt__lapack_letter(dpt__lapack_call *call, const char *name, const char *text,
                        const char *letters) {
  if (!call->status && (!text[0] || text[1] || !strchr(letters, text[0])))
    call->status = dpt__fail("%s: argument '%s' is '%s', wanted one of the letters %s", call->fn,
                             name, text, letters);
  return text[0];
}

void dpt__lapack_finite(dpt__lapack_call *call, const dpt__columns *c, char triangle) {
  size_t n = (size_t)c->rows * (size_t)c->cols, width = dpt__dtype_size(call->type);
  for (size_t i = 0; i < n && !call->status; i++) {
    size_t row = i % (size_t)c->rows, col = i / (size_t)c->rows;
    if (triangle == 'U' ? row > col : triangle == 'L' && row < col) continue;
    double x = dpt__get_element(call->type, (const char *)c->data + i * width);
    if (!isfinite(x))
      call->status = dpt__fail("%s: argument 'a' has %s at (%zu, %zu), wanted finite numbers",
                               call->fn, isnan(x) ? "nan" : "inf", row + 1, col + 1);
  }
}

int dpt__lapack_work(dpt__lapack_call *call, dpt__work *work) {
  if (call->status || call->info || work->calls == 2) return 0;
  if (work->calls++) {
    double size = dpt__get_element(call->type, &work->queried_size);
    work->n = size < 1 ? 1 : (int)size;
    work->data = dpt__lapack_new(call, work->n, 1)->data;
  } else {
    work->n = -1;
    work->data = &work->queried_size;
  }
  return !call->status;
}

void dpt__lapack_check(dpt__lapack_call *call, const char *format, ...) {
  char text[160];
  va_list list;
  if (call->status || !call->info) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  call->status = call->info > 0
                     ? dpt__fail("%s: %s", call->fn, text)
                     : dpt__fail("%s: LAPACK rejects its argument %d", call->fn, -call->info);
}

void dpt__columns_triangle(dpt__lapack_call *call, dpt__columns *c, char uplo, int mirror) {
  size_t width = dpt__dtype_size(call->type);
  char *data = c->data;
  for (int j = 0; j < c->cols && !call->status; j++)
    for (int i = 0; i < c->rows; i++) {
      if (uplo == 'U' ? i <= j : i >= j) continue;
      char *at = data + ((size_t)j * (size_t)c->rows + (size_t)i) * width;
      if (mirror)
        memcpy(at, data + ((size_t)i * (size_t)c->rows + (size_t)j) * width, width);
      else
        memset(at, 0, width);
    }
}

static void lapack_out(dpt__lapack_call *call, dpt_tensor *r, int ndim, const dpt_tensor *view) {
  if (!call->status)
    call->status = dpt__result(r, ndim, view->size_, call->device) || dpt_copy(r, view);
}

void dpt__lapack_out(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c, int rows,
                     int cols) {
  dpt_tensor view = lapack_matrix(c, rows, cols);
  lapack_out(call, r, 2, &view);
}

void dpt__lapack_out_vector(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c) {
  dpt_tensor view = lapack_matrix(c, c->rows, 1);
  lapack_out(call, r, 1, &view);
}

void dpt__lapack_out_transposed(dpt__lapack_call *call, dpt_tensor *r, const dpt__columns *c) {
  lapack_out(call, r, 2, &c->t);
}
