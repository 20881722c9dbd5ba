/* draw.c: permutations and draws from given probabilities, by Torch7's algorithms.
 *
 * Invariant: the host makes all draws, one after another. Those for device tensors use Philox words
 * of the device's state, so that they are the same on every kind of device.
 */
#include "base/element.h"
#include "device/capture.h"
#include "device/draws.h"
#include "ops/random.h"
#include "tensor/tensor.h"

#include <stdlib.h>

/* A sequence of 32-bit words: from a generator, or of one call on a device. */
typedef struct words {
  int host; /* 1 if from a generator */
  dpt__drawer g;
  dpt_draw draw;
  uint64_t count;
} words;

/* Rejects a call on a device that is being captured in a graph. Must precede all changes. */
static int draw_check_capture(const char *fn, const dpt_tensor *on) {
  return dpt__is_device(on->kind_) ? dpt__capture_rejects(fn, "it draws on the host") : 0;
}

static int draw_words_start(const char *fn, words *w, dpt_generator *g, const dpt_tensor *on) {
  *w = (words){.host = !dpt__is_device(on->kind_)};
  if (w->host) {
    w->g = dpt__draw_from(g);
    return 0;
  }
  int device = dpt_tensor_device(on);
  if (!device) DPT__TRY(dpt_device_get(&device));
  return dpt__draws_next(fn, device, 0, &w->draw);
}

static uint32_t draw_next(words *w) {
  if (w->host) return dpt__draw(w->g);
  uint32_t out[4];
  dpt__philox_at(w->draw.seed, w->draw.offset, w->count++, out);
  return out[0];
}

static double draw_uniform(words *w) { return draw_next(w) * (1.0 / 4294967296.0); }

/* Resizes r to the size of `list`, a host tensor that is copied there later. Precedes all draws, so
 * that a call that fails for lack of memory has drawn nothing. */
static int draw_resize_as(dpt_tensor *r, const dpt_tensor *list) {
  return dpt__result(r, list->ndim_, list->size_, dpt_tensor_device(r));
}

static int draw_convert(dpt_tensor *r, const dpt_tensor *list) {
  return draw_resize_as(r, list) || dpt_copy(r, list);
}

int dpt_randperm(dpt_tensor *r, dpt_generator *g, int64_t n) {
  words w;
  if (n <= 0) return dpt__fail("randperm: argument 'n' is %lld, wanted 1 or more", (long long)n);
  DPT__TRY(draw_check_capture("randperm", r));
  dpt_tensor list;
  DPT__TRY(dpt_tensor_new(&list, DPT_I64, 1, &n));
  int failed = draw_resize_as(r, &list) || draw_words_start("randperm", &w, g, r);
  int64_t *x = dpt__at(&list);
  for (int64_t i = 0; i < n; i++) x[i] = i + 1;
  for (int64_t i = 0; i < n - 1 && !failed; i++) {
    int64_t other = i + draw_next(&w) % (n - i), swap = x[i];
    x[i] = x[other];
    x[other] = swap;
  }
  failed = failed || dpt_copy(r, &list);
  dpt_tensor_free(&list);
  return failed;
}

/* Draws n times from one row of c cumulative sums, which it may change. */
static void draw_row(words *w, double *sums, int64_t c, int64_t n, int replacement, int64_t *out) {
  for (int64_t i = 0; i < n; i++) {
    double u = draw_uniform(w);
    int64_t low = 0, high = c;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (sums[middle] < u)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == c) low = c - 1; /* rounding left the last sum below u */
    out[i] = low + 1;
    if (replacement) continue;
    /* The drawn element has no share any more; scale up the others. */
    double share = sums[low] - (low ? sums[low - 1] : 0), rest = 1 - share;
    for (int64_t k = 0; k < c; k++) sums[k] = (sums[k] - (k >= low ? share : 0)) / rest;
  }
}

static int draw_rows_of_sums(double *p, int64_t rows, int64_t c, int64_t n, int replacement) {
  for (int64_t i = 0; i < rows; i++, p += c) {
    double sum = 0;
    int64_t possible = 0;
    for (int64_t k = 0; k < c; k++) {
      if (!(p[k] >= 0) || p[k] == INFINITY)
        return dpt__fail("multinomial: a probability is %g, wanted a number of 0 or more", p[k]);
      possible += p[k] > 0;
      sum += p[k];
      p[k] = sum;
    }
    if (!(sum > 0)) return dpt__fail("multinomial: the probabilities of a row sum up to 0");
    if (!replacement && possible < n)
      return dpt__fail("multinomial: %lld draws without replacement, but only %lld probabilities "
                       "of a row are not 0",
                       (long long)n, (long long)possible);
    for (int64_t k = 0; k < c; k++) p[k] /= sum;
  }
  return 0;
}

int dpt_multinomial(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p, int64_t n,
                    int replacement) {
  words w;
  if (p->ndim_ < 1 || p->ndim_ > 2 || !dpt__is_real(dpt__type(p)))
    return dpt__fail_argument("multinomial", "p", p, "a vector or matrix of real numbers");
  if (dpt__type(r) != DPT_I64)
    return dpt__fail("multinomial: the result is a %s, wanted a torch.LongTensor",
                     dpt__kind_name(r->kind_));
  if (n <= 0) return dpt__fail("multinomial: got %lld draws, wanted 1 or more", (long long)n);
  int64_t c = p->size_[p->ndim_ - 1], rows = p->ndim_ == 2 ? p->size_[0] : 1;
  const int64_t size[] = {rows, n};
  if (!c)
    return dpt__fail("multinomial: argument 'p' is a %s, wanted at least 1 probability in a row",
                     dpt__describe(p));
  if (!rows) return dpt_resize(r, 2, size);
  DPT__TRY(draw_check_capture("multinomial", p));
  dpt_tensor sums = {0}, list = {0};
  int failed = dpt_tensor_new(&sums, DPT_F64, p->ndim_, p->size_) ||
               dpt_tensor_new(&list, DPT_I64, p->ndim_, p->ndim_ == 2 ? size : size + 1) ||
               draw_resize_as(r, &list) || dpt_copy(&sums, p) ||
               draw_rows_of_sums(dpt__at(&sums), rows, c, n, replacement) ||
               draw_words_start("multinomial", &w, g, p);
  for (int64_t i = 0; i < rows && !failed; i++)
    draw_row(&w, (double *)dpt__at(&sums) + i * c, c, n, replacement,
             (int64_t *)dpt__at(&list) + i * n);
  failed = failed || dpt_copy(r, &list);
  dpt_tensor_free(&sums);
  dpt_tensor_free(&list);
  return failed;
}

/* Builds Walker's alias tables in Torch7's order. q is the share of an entry in its slot; J is the
 * other entry of the slot, or the entry itself if there is none. Both count from 0; stacks holds 2n
 * numbers. */
static void draw_alias(const double *p, double sum, int64_t n, double *q, int64_t *J,
                       int64_t *stacks) {
  int64_t *small = stacks, *large = stacks + n, smalls = 0, larges = 0;
  for (int64_t i = 0; i < n; i++) {
    J[i] = i;
    q[i] = (double)n * (p[i] / sum);
    if (q[i] < 1)
      small[smalls++] = i;
    else
      large[larges++] = i;
  }
  while (smalls > 0 && larges > 0) {
    int64_t s = small[smalls - 1], l = large[larges - 1];
    J[s] = l;
    q[l] = q[l] + q[s] - 1;
    if (q[l] < 1) {
      small[smalls - 1] = l;
      larges--;
    } else {
      smalls--;
    }
  }
  for (int64_t i = 0; i < n; i++)
    if (J[i] == i) q[i] = 1; /* left over by rounding */
}

/* Returns the base of J's indices: 1 for host tensors, as in Torch7, and 0 on devices, as in
 * cutorch. */
static int64_t alias_base(const dpt_tensor *J) { return dpt__is_device(J->kind_) ? 0 : 1; }

static int alias_sum(const double *p, int64_t n, double *sum) {
  *sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!(p[i] >= 0) || p[i] == INFINITY)
      return dpt__fail("multinomialAliasSetup: a probability is %g, wanted a number of 0 or more",
                       p[i]);
    *sum += p[i];
  }
  if (*sum > 0) return 0;
  return dpt__fail("multinomialAliasSetup: the probabilities sum up to 0");
}

int dpt_multinomial_alias_setup(dpt_tensor *J, dpt_tensor *q, const dpt_tensor *p) {
  static const char fn[] = "multinomialAliasSetup";
  if (p->ndim_ != 1 || !dpt__is_real(dpt__type(p)))
    return dpt__fail_argument(fn, "p", p, "a vector of real numbers");
  if (dpt__type(J) != DPT_I64 || q->kind_ != p->kind_)
    return dpt__fail("%s: the tables are a %s and a %s, wanted a torch.LongTensor and a %s", fn,
                     dpt__kind_name(J->kind_), dpt__kind_name(q->kind_), dpt__kind_name(p->kind_));
  int64_t n = p->size_[0];
  double sum;
  dpt_tensor from = {0}, share = {0}, other = {0}, stacks = {0};
  const int64_t twice = 2 * n;
  int failed = dpt_tensor_new(&from, DPT_F64, p->ndim_, p->size_) ||
               dpt_tensor_new(&share, DPT_F64, 1, &n) || dpt_tensor_new(&other, DPT_I64, 1, &n) ||
               dpt_tensor_new(&stacks, DPT_I64, 1, &twice) || dpt_copy(&from, p) ||
               alias_sum(dpt__at(&from), n, &sum);
  if (!failed)
    draw_alias(dpt__at(&from), sum, n, dpt__at(&share), dpt__at(&other), dpt__at(&stacks));
  for (int64_t i = 0; i < n && !failed; i++) ((int64_t *)dpt__at(&other))[i] += alias_base(J);
  failed = failed || draw_convert(J, &other) || draw_convert(q, &share);
  dpt_tensor_free(&from);
  dpt_tensor_free(&share);
  dpt_tensor_free(&other);
  dpt_tensor_free(&stacks);
  return failed;
}

static int alias_draws(words *w, const double *share, const int64_t *other, int64_t base, int64_t n,
                       int64_t *out, int64_t many) {
  for (int64_t i = 0; i < n; i++)
    if (other[i] < base || other[i] >= base + n)
      return dpt__fail("multinomialAlias: J[%lld] is %lld, wanted %lld to %lld", (long long)i + 1,
                       (long long)other[i], (long long)base, (long long)(base + n - 1));
  for (int64_t i = 0; i < many; i++) {
    int64_t at = (int64_t)(draw_uniform(w) * (double)n);
    out[i] = draw_uniform(w) <= share[at] ? at + 1 : other[at] - base + 1;
  }
  return 0;
}

int dpt_multinomial_alias(dpt_tensor *r, dpt_generator *g, const dpt_tensor *J,
                          const dpt_tensor *q) {
  static const char fn[] = "multinomialAlias";
  words w;
  if (dpt__type(r) != DPT_I64 || dpt__type(J) != DPT_I64 || !dpt__is_real(dpt__type(q)) ||
      J->ndim_ != 1 || q->ndim_ != 1 || J->size_[0] != q->size_[0])
    return dpt__fail("%s: wanted a torch.LongTensor and the tables of multinomialAliasSetup", fn);
  int64_t n = J->size_[0], many = dpt__count(r);
  if (many == 0) return 0;
  DPT__TRY(draw_check_capture(fn, r));
  dpt_tensor share = {0}, other = {0}, list = {0};
  int failed =
      dpt_tensor_new(&share, DPT_F64, q->ndim_, q->size_) ||
      dpt_tensor_new(&other, DPT_I64, 1, &n) ||
      dpt_tensor_new(&list, DPT_I64, r->ndim_, r->size_) || dpt_copy(&share, q) ||
      dpt_copy(&other, J) || draw_words_start(fn, &w, g, r) ||
      alias_draws(&w, dpt__at(&share), dpt__at(&other), alias_base(J), n, dpt__at(&list), many) ||
      dpt_copy(r, &list);
  dpt_tensor_free(&share);
  dpt_tensor_free(&other);
  dpt_tensor_free(&list);
  return failed;
}
