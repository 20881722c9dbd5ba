/* random.c: tensors and numbers from distributions.
 *
 * Invariant: host tensors are filled immediately, in row-major order, from the given generator. If
 * they are part of a batch (dpt_rows_set), the numbers of the batch's other rows are drawn and
 * dropped. Device tensors are filled by a kernel, each call with one draw of their device
 * (device/draws.h).
 */
#include "ops/random.h"
#include "base/element.h"
#include "device/draws.h"
#include "device/launch.h"
#include "ops/map.h"
#include "tensor/tensor.h"

static const struct {
  const char *name;
  char types;
} table[] = {
#define X(name, types) {#name, types},
#include "ops/random.def"
#undef X
};
_Static_assert(sizeof table / sizeof *table == DPT__NRANDOM, "one line for each distribution");

int dpt_distribution(const char *name) {
  for (int i = 0; i < DPT__NRANDOM; i++)
    if (strcmp(table[i].name, name) == 0) return i;
  return -1;
}

uint64_t dpt__random_range(int dtype) {
  int bits = dpt__dtype_bits(dtype);
  if (bits > 31) return (uint64_t)1 << 32; /* a draw */
  return ((uint64_t)1 << bits) + (uint64_t)dpt__is_real(dtype);
}

/* A distribution and its parameters; `random` has `range` numbers starting at a. */
typedef struct source {
  int distribution;
  uint64_t range;
  double a, b;
} source;

static int random_check(source *s, int distribution, int dtype, double a, double b) {
  if (distribution < 0 || distribution >= DPT__NRANDOM)
    return dpt__fail("random: no distribution has the number %d", distribution);
  const char *fn = table[distribution].name;
  if (table[distribution].types == 'r' && !dpt__is_real(dtype))
    return dpt__fail("%s: got a %s tensor, wanted a tensor of reals", fn, dpt__dtype_name(dtype));
  *s = (source){distribution, 1, a, b};
  switch (distribution) {
  case DPT__RANDOM_random:
    if (a > b) {
      s->range = dpt__random_range(dtype);
      s->a = 0;
    } else {
      if (!(b - a < 0x1p53))
        return dpt__fail("random: the bounds %g and %g are too far apart", a, b);
      s->a = floor(a);
      s->range = (uint64_t)(floor(b) - s->a) + 1;
    }
    return 0;
  case DPT__RANDOM_uniform:
    if (dtype == DPT_F32) { /* Torch7 converted the bounds to the tensor's type */
      /* volatile: gcc 12 at -O3 vectorises the two conversions and drops them */
      volatile float low = (float)a, high = (float)b;
      s->a = low;
      s->b = high;
    }
    return 0;
  case DPT__RANDOM_normal:
  case DPT__RANDOM_logNormal:
    if (b > 0 || (b == 0 && distribution == DPT__RANDOM_normal)) return 0;
    return dpt__fail("%s: the standard deviation is %g, wanted a positive number", fn, b);
  case DPT__RANDOM_exponential:
    if (a > 0) return 0;
    return dpt__fail("exponential: the rate is %g, wanted a positive number", a);
  case DPT__RANDOM_geometric:
    if (a > 0 && a < 1) return 0;
    return dpt__fail("geometric: p is %g, wanted a number between 0 and 1", a);
  case DPT__RANDOM_bernoulli:
    if (a >= 0 && a <= 1) return 0;
    return dpt__fail("bernoulli: p is %g, wanted a number from 0 to 1", a);
  default:
    return 0;
  }
}

/* Draws one number by Torch7's formulas, in Torch7's order of draws. */
static double random_draw(const source *s, dpt__drawer g) {
  switch (s->distribution) {
  case DPT__RANDOM_random:
    return (double)(dpt__draw(g) % s->range) + s->a;
  case DPT__RANDOM_normal:
    return dpt__draw_normal(g) * s->b + s->a;
  case DPT__RANDOM_logNormal:
    return exp(dpt__draw_normal(g) * s->b + s->a);
  case DPT__RANDOM_bernoulli:
    return dpt__draw_uniform(g) <= s->a;
  default:
    return dpt__from_uniform(s->distribution, dpt__draw_uniform(g), 1, s->a, s->b);
  }
}

double dpt_random_number(int distribution, dpt_generator *g, double a, double b) {
  source s;
  return random_check(&s, distribution, DPT_F64, a, b) ? NAN : random_draw(&s, dpt__draw_from(g));
}

/* Fills a tensor on a device, keyed by the device's state; walk has r and perhaps probabilities. */
static int random_fill_device(const char *fn, const dpt_tensor *r, const source *s,
                              const dpt__walk *walk, const dpt_tensor *p) {
  dpt__launch l;
  dpt__philox_args g = {
      .distribution = s->distribution, .range = s->range, .a = s->a, .b = s->b, .walk = *walk};
  dpt__launch_begin(&l, fn);
  dpt__launch_out(&l, r, NULL);
  dpt__launch_in_place(&l, p, NULL);
  DPT__TRY(dpt__launch_check(&l, DPT__KERNEL_philox));
  DPT__TRY(dpt__draws_next(fn, dpt_tensor_device(r), r->size_[0], &g.draw));
  g.first = g.draw.first_row * (dpt__count(r) / r->size_[0]);
  dpt__walk_check_serial(&g.walk);
  return dpt__launch_run(&l, philox, &g);
}

/* This thread's rows within a batch (dpt_rows_set). */
static _Thread_local struct { int64_t first, rows, total; } random_rows;

void dpt_rows_set(int64_t first, int64_t rows, int64_t total) {
  random_rows.first = first;
  random_rows.rows = rows;
  random_rows.total = total;
}

/* Computes how many numbers of the whole batch come before and after those of a tensor. If its
 * first dimension is not the rows, the counts are right, but one process might draw other numbers
 * for it. */
static void random_count_around(const dpt_tensor *r, int64_t *before, int64_t *after) {
  int64_t each = 1, rows = random_rows.rows, own = dpt__count(r);
  *before = *after = 0;
  if (!random_rows.total || (rows ? !own || own % rows : own)) return;
  for (int d = 0; d < r->ndim_; d++) each *= r->size_[d] ? r->size_[d] : 1;
  if (rows) each = own / rows;
  *before = each * random_rows.first;
  *after = each * (random_rows.total - random_rows.first - rows);
}

enum { PIECE = DPT__MT_NORMALS };

/* Draws the next n <= PIECE numbers of an element type. All distributions but the normals use one
 * word for each number. */
static void random_draw_piece(const source *s, dpt__drawer from, int dtype, double *numbers,
                              int64_t n) {
  uint32_t words[PIECE];
  if (s->distribution == DPT__RANDOM_normal && dtype == DPT_F32) {
    dpt__draw_normals(from, numbers, n);
    for (int64_t i = 0; i < n; i++) numbers[i] = numbers[i] * s->b + s->a;
    return;
  }
  if (s->distribution == DPT__RANDOM_normal || s->distribution == DPT__RANDOM_logNormal) {
    for (int64_t i = 0; i < n; i++) numbers[i] = random_draw(s, from);
    return;
  }
  dpt__draw_words(from, words, n);
  if (s->distribution == DPT__RANDOM_random) {
    for (int64_t i = 0; i < n; i++) numbers[i] = (double)(words[i] % s->range) + s->a;
    return;
  }
  if (s->distribution == DPT__RANDOM_uniform && dpt__is_reduced(dtype)) {
    uint32_t unused = ~(uint32_t)0 >> dpt__dtype_bits(dtype); /* rounding must not reach 1 */
    for (int64_t i = 0; i < n; i++) words[i] &= ~unused;
  }
  for (int64_t i = 0; i < n; i++) numbers[i] = words[i] * (1.0 / 4294967296.0);
  if (s->distribution == DPT__RANDOM_bernoulli)
    for (int64_t i = 0; i < n; i++) numbers[i] = numbers[i] <= s->a;
  else if (s->distribution == DPT__RANDOM_uniform)
    for (int64_t i = 0; i < n; i++)
      numbers[i] = dpt__from_uniform(DPT__RANDOM_uniform, numbers[i], 1, s->a, s->b);
  else
    for (int64_t i = 0; i < n; i++)
      numbers[i] = dpt__from_uniform(s->distribution, numbers[i], 1, s->a, s->b);
}

static void random_skip(const source *s, dpt__drawer from, int64_t count) {
  double numbers[PIECE];
  for (; count > 0; count -= PIECE)
    random_draw_piece(s, from, DPT_F64, numbers, count < PIECE ? count : PIECE);
}

/* Fills a row of n elements; stride in bytes. */
static void random_fill_row(const source *s, dpt__drawer from, int dtype, char *to, int64_t stride,
                            int64_t n) {
  double numbers[PIECE];
  for (int64_t m; n > 0; n -= m, to += m * stride) {
    m = n < PIECE ? n : PIECE;
    random_draw_piece(s, from, dtype, numbers, m);
    if (dtype == DPT_F32)
      for (int64_t i = 0; i < m; i++) *(float *)(to + i * stride) = (float)numbers[i];
    else
      for (int64_t i = 0; i < m; i++) dpt__put_element(dtype, to + i * stride, numbers[i]);
  }
}

/* Fills a host tensor; the walk has r and perhaps bernoulli's probabilities. */
static int random_fill_host(const dpt_tensor *r, source s, const dpt__walk *walk,
                            dpt_generator *g) {
  int last = walk->ndim - 1, chances = walk->noperand > 1;
  int64_t stride = walk->stride[0][last] * (int64_t)dpt__dtype_size(walk->dtype[0]);
  int64_t p_stride = chances ? walk->stride[1][last] * (int64_t)dpt__dtype_size(walk->dtype[1]) : 0;
  dpt__written(r);
  dpt__drawer from = dpt__draw_from(g);
  dpt__cursor c;
  int64_t before, after;
  random_count_around(r, &before, &after);
  random_skip(&s, from, before);
  dpt__walk_at(walk, &c, 0, dpt__walk_count(walk));
  while (dpt__walk_row(walk, &c)) {
    if (!chances) random_fill_row(&s, from, walk->dtype[0], c.data[0], stride, c.n);
    for (int64_t i = 0; i < c.n && chances; i++) {
      s.a = dpt__get_element(walk->dtype[1], c.data[1] + i * p_stride);
      if (!(s.a >= 0 && s.a <= 1))
        return dpt__fail("bernoulli: a probability is %g, wanted 0 to 1", s.a);
      dpt__put_element(walk->dtype[0], c.data[0] + i * stride, random_draw(&s, from));
    }
  }
  random_skip(&s, from, after);
  return 0;
}

/* Fills an empty tensor: only draws and drops the numbers of the batch's other rows. */
static int random_fill_nothing(const dpt_tensor *r, const source *s, dpt_generator *g) {
  int64_t before, after;
  if (dpt__is_device(r->kind_) || !random_rows.total) return 0;
  random_count_around(r, &before, &after);
  random_skip(s, dpt__draw_from(g), before + after);
  return 0;
}

static int random_fill(const dpt_tensor *r, const source *s, const dpt__walk *walk,
                       const dpt_tensor *p, dpt_generator *g) {
  return dpt__is_device(r->kind_) ? random_fill_device(table[s->distribution].name, r, s, walk, p)
                                  : random_fill_host(r, *s, walk, g);
}

int64_t dpt__rows_offset(int64_t rows) {
  int64_t own = random_rows.rows;
  return random_rows.total && own && rows % own == 0 ? random_rows.first * (rows / own) : 0;
}

int dpt__rows_drawn(void) { return random_rows.total > 0; }

int dpt_random(int distribution, dpt_tensor *r, dpt_generator *g, double a, double b) {
  source s;
  dpt__walk walk;
  DPT__TRY(random_check(&s, distribution, dpt__type(r), a, b));
  if (dpt__count(r) == 0) return random_fill_nothing(r, &s, g);
  DPT__TRY(dpt__walk_start(&walk, 1, (const dpt_tensor *const[]){r}));
  return random_fill(r, &s, &walk, NULL, g);
}

int dpt_bernoulli(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p) {
  dpt__walk walk;
  int dtype = dpt__type(p);
  if ((dtype != DPT_F32 && dtype != DPT_F64) ||
      dpt__is_device(p->kind_) != dpt__is_device(r->kind_) || dpt__count(p) != dpt__count(r))
    return dpt__fail_argument(
        "bernoulli", "p", p,
        "as many floats or doubles as the result has elements, in the same memory");
  source s = {.distribution = DPT__RANDOM_bernoulli, .range = 1};
  if (dpt__count(r) == 0) return random_fill_nothing(r, &s, g);
  const dpt_tensor *operands[] = {r, p};
  dpt_tensor copies[2] = {{0}, {0}};
  int failed =
      dpt__walk_over(&walk, 2, operands, copies, 0) || random_fill(r, &s, &walk, operands[1], g);
  dpt_tensor_free(&copies[1]);
  return failed;
}
