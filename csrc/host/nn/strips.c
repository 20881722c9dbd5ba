/* strips.c: converts strips of operands to floats, runs kernels on them, and converts results back
 * (see strips.h). */
#include "host/nn/strips.h"
#include "base/number.h"
#include "host/nn/real.h"

enum {
  STACK = 1 << 16,    /* bytes of a thread's strip on its stack */
  FLOATS = 15 << 10,  /* of such a strip */
  TOGETHER = 1 << 20, /* of a strip of all threads: 4 MiB, in L3 */
  ALIGN = 16,         /* floats */
  MOST_OPERANDS = 8,
  MOST_WORDS = 64 /* of arguments */
};

static char *strips_pointer(const dpt__strips *s, const dpt__strip_operand *o) {
  return *(char *const *)((const char *)s->args + o->field);
}

/* Returns the floats of an operand in a strip of n units. */
static int64_t strips_floats(const dpt__strip_operand *o, int64_t n) {
  return (o->outer * n * o->inner + ALIGN - 1) / ALIGN * ALIGN;
}

/* Returns the floats of a strip of n units. */
static int64_t strips_total(const dpt__strips *s, int64_t n) {
  int64_t total = 0;
  for (int i = 0; i < s->n; i++) {
    const dpt__strip_operand *o = &s->operands[i];
    if (strips_pointer(s, o) && dpt__is_reduced(o->dtype)) total += strips_floats(o, n);
  }
  return total;
}

/* Copies an operand's elements in `n` units from unit `first` on to floats, or back. */
static void strips_move(dpt__context *context, const dpt__strips *s, const dpt__strip_operand *o,
                        void *floats, int64_t first, int64_t n, int back) {
  int64_t cols = n * o->inner;
  char *at = strips_pointer(s, o) + first * o->inner * (int64_t)dpt__dtype_size(o->dtype);
  dpt__matrix whole = {o->dtype, at, *s->units * o->inner, 1}, strip = {DPT_F32, floats, cols, 1};
  dpt__host_copy(context, o->outer, cols, back ? whole : strip, back ? strip : whole);
}

/* Computes n units from unit `first` on. own: memory for a strip's floats. */
static int strips_run(dpt__context *context, const dpt__strips *s, int64_t first, int64_t n,
                      float *own) {
  uint64_t words[MOST_WORDS];
  char *args = (char *)words, *at[MOST_OPERANDS] = {NULL};
  memcpy(args, s->args, s->size);
  *(int32_t *)args = DPT_F32;
  memcpy(args + ((const char *)s->units - (const char *)s->args), &n, sizeof n);
  if (context->measures) return s->kernel(context, args);
  for (int i = 0; i < s->n; i++) {
    const dpt__strip_operand *o = &s->operands[i];
    char *whole = strips_pointer(s, o);
    if (!whole) continue;
    if (!dpt__is_reduced(o->dtype)) {
      at[i] = whole + first * o->inner * (int64_t)dpt__dtype_size(o->dtype);
    } else {
      at[i] = (char *)own;
      own += strips_floats(o, n);
      if (o->use != DPT__STRIP_OUT) strips_move(context, s, o, at[i], first, n, 0);
    }
    memcpy(args + o->field, &at[i], sizeof at[i]);
  }
  DPT__TRY(s->kernel(context, args));
  for (int i = 0; i < s->n; i++) {
    const dpt__strip_operand *o = &s->operands[i];
    if (at[i] && dpt__is_reduced(o->dtype) && o->use != DPT__STRIP_IN)
      strips_move(context, s, o, at[i], first, n, 1);
  }
  return 0;
}

int dpt__host_in_strips(dpt__context *context, const dpt__strips *s) {
  int64_t units = *s->units, each = strips_total(s, ALIGN) / ALIGN + 1;
  int64_t most = dpt__threads(context, each * units);
  int64_t n = s->in_turn ? TOGETHER / each : dpt__min(FLOATS / each, (units + most - 1) / most);
  n = dpt__min(n > 1 ? n : 1, units);
  int64_t strips = (units + n - 1) / n;
  int threads = s->in_turn ? 1 : (int)dpt__min(most, strips), failed = 0;
  dpt__assert(s->n <= MOST_OPERANDS && s->size <= MOST_WORDS * sizeof(uint64_t));
  dpt__context one = *context;
  one.measures = 1, one.capacity = one.used = 0;
  if (threads > 1) one.threads = 1;
  DPT__TRY(strips_run(&one, s, 0, n, NULL));
  one.used = 0; /* the last strip may be computed by another algorithm */
  if (units % n) DPT__TRY(strips_run(&one, s, 0, units % n, NULL));
  size_t floats = (size_t)strips_total(s, n) * sizeof(float);
  size_t own = ((floats + one.capacity) / DPT__SCRATCH_ALIGN + 1) * DPT__SCRATCH_ALIGN;
  char *memory = own > STACK ? dpt__scratch(context, own * (size_t)threads) : NULL;
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
  for (int64_t i = 0; i < strips; i++) {
    dpt__context alone = one;
    _Alignas(DPT__SCRATCH_ALIGN) char stack[STACK];
    char *mine = memory ? memory + own * (size_t)dpt__thread_number() : stack;
    alone.measures = 0, alone.used = 0, alone.scratch = mine + floats;
    failed |= strips_run(&alone, s, i * n, dpt__min(n, units - i * n), (float *)mine);
  }
  return failed && threads > 1 ? dpt__fail("a strip of a reduced type failed") : failed;
}
