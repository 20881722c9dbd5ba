/* layer.h: shared by the C tests of layers: arrays of doubles for naive loops, and tensors of every
 * kind created from them.
 *
 * Invariant: a test compares a layer, for each of `kinds`, with one naive computation in double. A
 * strided tensor is every other element of a larger tensor, whose other elements are 77.
 */
#ifndef DPT_SPEC_LAYER_H
#define DPT_SPEC_LAYER_H
#include "check.h"
#include "tensor/tensor.h"

#include <math.h>

enum { F64 = DPT_F64, F32 = DPT_F32, CUDA = DPT_F32 | DPT_ON_DEVICE };
#define DEVICE_ID(id, ...) id | DPT_ON_DEVICE,
static const int kinds[] = {F64, F32, DPT_F64 | DPT_ON_DEVICE, CUDA, DPT_REDUCED_DTYPES(DEVICE_ID)};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct array {
  int ndim;
  int64_t size[6], n;
  double *v;
} array;

static uint64_t layer_seed;

static inline double uniform(double low, double high) {
  return low + (high - low) * (double)draw(&layer_seed, 1 << 20) / (1 << 20);
}
/* Returns a random integer in [low, high]. */
static inline int64_t whole(int64_t low, int64_t high) {
  return low + (int64_t)draw(&layer_seed, (uint64_t)(high - low + 1));
}

static inline array array_new(int ndim, const int64_t *size) {
  array a = {.ndim = ndim, .n = 1};
  for (int d = 0; d < ndim; d++) a.n *= a.size[d] = size[d];
  a.v = calloc((size_t)a.n + 1, sizeof *a.v);
  return a;
}
#define ARRAY(...)                                                                                 \
  array_new((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static inline array array_like(array a) { return array_new(a.ndim, a.size); }

/* Fills a with multiples of 1/64 in [low, high), which every real type represents exactly. */
static inline array array_fill(array a, double low, double high) {
  for (int64_t i = 0; i < a.n; i++) a.v[i] = floor(uniform(low, high) * 64) / 64;
  return a;
}
static inline array array_whole(array a, int64_t low, int64_t high) {
  for (int64_t i = 0; i < a.n; i++) a.v[i] = (double)whole(low, high);
  return a;
}

/* Returns a tensor of the kind with a's values. strided: every other element of a larger tensor. */
static inline dpt_tensor tensor_of(array a, int kind, int strided) {
  dpt_tensor host = {0}, t = {.kind_ = kind}, wide = {.kind_ = kind};
  int64_t size[7];
  OK(dpt_tensor_new(&host, DPT_F64, a.ndim, a.size));
  if (a.n) memcpy(host.storage_->data, a.v, (size_t)a.n * sizeof *a.v);
  if (strided) {
    memcpy(size, a.size, sizeof a.size);
    size[a.ndim] = 2;
    OK(dpt_tensor_new(&wide, kind, a.ndim + 1, size));
    OK(dpt_fill(&wide, 77));
    OK(dpt_select(&t, &wide, a.ndim, 0));
    dpt_tensor_free(&wide);
  } else
    OK(dpt_tensor_new(&t, kind, a.ndim, a.size));
  OK(dpt_copy(&t, &host));
  dpt_tensor_free(&host);
  return t;
}

static inline dpt_tensor empty(int kind) { return (dpt_tensor){.kind_ = kind}; }
static inline int index_kind(int kind) { return DPT_I64 | (kind & DPT_ON_DEVICE); }

/* Frees t and returns its values. */
static inline array array_of(dpt_tensor *t) {
  dpt_tensor host = {0};
  array a = array_new(t->ndim_, t->size_);
  OK(dpt_tensor_new(&host, DPT_F64, a.ndim, a.size));
  OK(dpt_copy(&host, t));
  if (a.n) memcpy(a.v, host.storage_->data, (size_t)a.n * sizeof *a.v);
  dpt_tensor_free(&host);
  dpt_tensor_free(t);
  return a;
}

/* Frees t. Compares its size and values with `wanted`, up to `tolerance` (relative to 1 + |wanted|)
 * in double, and up to the type's precision in others. */
static inline int same(dpt_tensor *t, array wanted, double tolerance, const char *what) {
  int type = dpt__type(t), good = 1;
  double limit = limit_of(type, 4e-2, 1e-4, tolerance);
  array got = array_of(t);
  good = CHECK(got.ndim == wanted.ndim && got.n == wanted.n);
  for (int d = 0; d < wanted.ndim && good; d++) good = CHECK(got.size[d] == wanted.size[d]);
  for (int64_t i = 0; i < wanted.n && good; i++)
    if (!(fabs(got.v[i] - wanted.v[i]) <= limit * (1 + fabs(wanted.v[i])))) {
      printf("%s, type %d: element %lld is %.9g, wanted %.9g\n", what, type, (long long)i, got.v[i],
             wanted.v[i]);
      good = 0;
      check_failures++;
    }
  free(got.v);
  return good;
}

/* Returns d loss / d x[i], by differences, for loss = sum(f(x) * g). It checks naive gradients;
 * layers are then compared with these. */
typedef array forward_fn(array x, const void *context);
static inline double numeric(forward_fn *f, array x, array g, int64_t i, const void *context) {
  double before = x.v[i], sum[2] = {0}, step = 1e-5;
  for (int side = 0; side < 2; side++) {
    x.v[i] = before + (side ? -step : step);
    array y = f(x, context);
    for (int64_t k = 0; k < y.n; k++) sum[side] += y.v[k] * g.v[k];
    free(y.v);
  }
  x.v[i] = before;
  return (sum[0] - sum[1]) / (2 * step);
}

static inline void layer_start(void) {
  layer_seed = check_seed();
  OK(dpt_devices_set("host:2"));
}

#endif
