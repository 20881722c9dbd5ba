/* plan.c: the order of rows, and work on all of them (see plan.h). */
#include "host/rnn/plan.h"
#include "host/nn/real.h"
#include "rnn/dropout.h"

enum { READ = 1, WRITTEN = 2, OPERANDS = 14 };

/* An operand whose type may be reduced: its address among the arguments, its elements. */
typedef struct plan_operand {
  size_t field;
  int64_t count;
  int use;
} plan_operand;

static void plan_list(const dpt__rnn_plan *p, plan_operand list[OPERANDS]) {
  const dpt_rnn *r = &p->given->rnn;
  int64_t rows = p->steps * p->B, in = rows * r->input, out = rows * p->columns;
  int64_t states = r->layers * r->directions * p->B, h = states * p->O, c = states * p->H;
  int64_t weight = dpt__rnn_layer_at(r, 0).end;
  int backward = p->given->gy || p->given->gw, own = p->given->param_type == p->given->type;
#define OPERAND(name, count, use)                                                                  \
  { offsetof(struct dpt__rnn_args, name), count, use }
  const plan_operand all[OPERANDS] = {
      OPERAND(x, in, READ),     OPERAND(h0, h, READ),
      OPERAND(c0, c, READ),     OPERAND(weight, weight, READ),
      OPERAND(gy, out, READ),   OPERAND(ghn, h, READ),
      OPERAND(gcn, c, READ),    OPERAND(y, out, backward ? READ : WRITTEN),
      OPERAND(hn, h, WRITTEN),  OPERAND(cn, c, WRITTEN),
      OPERAND(gx, in, WRITTEN), OPERAND(gh0, h, WRITTEN),
      OPERAND(gc0, c, WRITTEN), OPERAND(gw, weight, own ? READ | WRITTEN : 0),
  };
#undef OPERAND
  memcpy(list, all, sizeof all);
}

/* Returns an operand of the arguments; NULL if there is none. */
static void **plan_at(const struct dpt__rnn_args *a, const plan_operand *o) {
  return (void **)((char *)a + o->field);
}

/* Sets a to arguments of floats. */
static void plan_convert(dpt__rnn_plan *p) {
  plan_operand list[OPERANDS];
  int type = p->given->type;
  p->floats = *p->given;
  p->floats.type = p->floats.param_type = dpt__compute_dtype(type);
  p->a = &p->floats;
  if (!dpt__is_reduced(type)) return;
  plan_list(p, list);
  for (const plan_operand *o = list; o < list + OPERANDS; o++) {
    void *from = *plan_at(p->given, o);
    if (!from || !o->use) continue;
    void *to = dpt__scratch(p->context, (size_t)o->count * sizeof(float));
    *plan_at(&p->floats, o) = to;
    if (o->use & READ && !p->context->measures)
      dpt__host_copy(p->context, 1, o->count, (dpt__matrix){DPT_F32, to, o->count, 1},
                     (dpt__matrix){type, from, o->count, 1});
  }
}

void dpt__rnn_plan_finish(const dpt__rnn_plan *p) {
  plan_operand list[OPERANDS];
  int type = p->given->type;
  if (!dpt__is_reduced(type) || p->context->measures) return;
  plan_list(p, list);
  for (const plan_operand *o = list; o < list + OPERANDS; o++) {
    void *to = *plan_at(p->given, o), *from = *plan_at(&p->floats, o);
    if (to && o->use & WRITTEN)
      dpt__host_copy(p->context, 1, o->count, (dpt__matrix){type, to, o->count, 1},
                     (dpt__matrix){DPT_F32, from, o->count, 1});
  }
}

/* Sorts sequences by decreasing length, equal ones in the users' order. */
static void plan_sort(const dpt__rnn_plan *p, int64_t *begins) {
  const struct dpt__rnn_args *a = p->given;
  memset(begins, 0, (size_t)(p->steps + 2) * sizeof *begins);
  for (int64_t b = 0; b < p->B; b++) begins[p->steps - a->lengths[b] + 1]++;
  for (int64_t n = 0; n <= p->steps; n++) begins[n + 1] += begins[n];
  for (int64_t b = 0; b < p->B; b++) p->order[begins[p->steps - a->lengths[b]]++] = (int32_t)b;
  int64_t active = p->B;
  for (int64_t t = 0; t < p->steps; t++) {
    while (active && a->lengths[p->order[active - 1]] <= t) active--;
    p->active[t] = (int32_t)active;
  }
}

void dpt__rnn_plan_make(dpt__rnn_plan *p, dpt__context *context,
                        const struct dpt__rnn_args *given) {
  const struct dpt__rnn_args *a = &p->floats;
  const dpt_rnn *r = &given->rnn;
  memset(p, 0, sizeof *p);
  p->given = given, p->context = context;
  p->width = dpt__dtype_size(dpt__compute_dtype(given->type));
  p->steps = given->T, p->B = given->B, p->H = r->hidden, p->O = dpt__rnn_width(r);
  p->columns = r->directions * p->O;
  plan_convert(p);
  p->gates = dpt__rnn_gates(r) * p->H;
  p->row = dpt__rnn_row(r);
  p->shift = r->cell == DPT_RNN_GRU ? p->H : 0;
  p->slice[0] = (dpt__rnn_slice){0, p->shift, p->gates - p->shift};
  p->slice[1] = (dpt__rnn_slice){p->gates - p->shift, 0, p->shift};
  p->plain = !a->ragged && (!r->batch_first || p->B == 1 || p->steps == 1);
  p->order = dpt__scratch(context, (size_t)p->B * sizeof *p->order);
  p->first = dpt__scratch(context, (size_t)p->steps * sizeof *p->first);
  p->active = dpt__scratch(context, (size_t)(p->steps + 2) * sizeof *p->active);
  int64_t *begins = dpt__scratch(context, (size_t)(p->steps + 2) * sizeof *begins);
  for (int64_t b = 0; b < p->B; b++) p->N += a->ragged ? given->lengths[b] : a->T;
  p->at = dpt__rnn_block_of(r, p->N);
  p->block_step = a->reserve ? p->at.end : 0;
  p->blocks = a->reserve;
  if (!a->reserve) {
    int64_t inputs = (r->layers - 1) * p->N * p->columns;
    p->blocks = dpt__scratch(context, (size_t)(p->at.end + inputs) * p->width);
  }
  int64_t blocks = a->reserve ? r->layers * r->directions : 1;
  p->inputs = dpt__rnn_at(p, p->blocks, blocks * p->at.end);
  if (context->measures) return;
  *p->active++ = 0;
  p->active[p->steps] = 0;
  for (int64_t b = 0; b < p->B; b++) p->order[b] = (int32_t)b;
  for (int64_t t = 0; t < p->steps; t++) p->active[t] = a->B;
  if (a->ragged) plan_sort(p, begins);
  for (int64_t t = 0, first = 0; t < p->steps; first += p->active[t++]) p->first[t] = first;
}

/* Returns the users' row of step t of sorted sequence i. */
static int64_t plan_users_row(const dpt__rnn_plan *p, int64_t t, int64_t i) {
  return p->a->rnn.batch_first ? p->order[i] * p->steps + t : t * p->B + p->order[i];
}

void dpt__rnn_pack(const dpt__rnn_plan *p, void *packed, const void *users, int64_t columns) {
  size_t bytes = (size_t)columns * p->width;
#pragma omp parallel for num_threads(dpt__threads(p->context, p->N *columns)) schedule(static)
  for (int64_t t = 0; t < p->steps; t++)
    for (int64_t i = 0; i < p->active[t]; i++)
      memcpy((char *)packed + (size_t)(p->first[t] + i) * bytes,
             (const char *)users + (size_t)plan_users_row(p, t, i) * bytes, bytes);
}

void dpt__rnn_unpack(const dpt__rnn_plan *p, void *users, const void *packed, int64_t columns) {
  size_t bytes = (size_t)columns * p->width;
#pragma omp parallel for num_threads(dpt__threads(p->context, p->steps * p->B * columns))          \
    schedule(static)
  for (int64_t t = 0; t < p->steps; t++)
    for (int64_t i = 0; i < p->B; i++) {
      char *to = (char *)users + (size_t)plan_users_row(p, t, i) * bytes;
      if (i < p->active[t])
        memcpy(to, (const char *)packed + (size_t)(p->first[t] + i) * bytes, bytes);
      else
        memset(to, 0, bytes);
    }
}

/* Applies dropout to one row, whose first element is at `position`. */
static void plan_drop_row(const dpt__rnn_plan *p, int64_t sequence, int64_t position, void *at) {
  const dpt_rnn *r = &p->a->rnn;
  uint64_t keep = dpt__rnn_keep(r);
  double kept = 1 / (1 - r->dropout);
  uint32_t words[4] = {0};
  for (int64_t i = 0; i < p->columns; i++, position++) {
    if (i == 0 || position % 4 == 0) dpt__rnn_words(r, sequence, position / 4, words);
    double factor = words[position % 4] < keep ? kept : 0;
    if (p->a->type == DPT_F32)
      ((float *)at)[i] *= (float)factor;
    else
      ((double *)at)[i] *= factor;
  }
}

void dpt__rnn_dropout(const dpt__rnn_plan *p, int layer, void *packed) {
  if (p->a->rnn.dropout == 0 || !p->a->reserve) return;
#pragma omp parallel for num_threads(dpt__threads(p->context, p->N * p->columns * 4))              \
    schedule(static)
  for (int64_t t = 0; t < p->steps; t++)
    for (int64_t i = 0; i < p->active[t]; i++)
      plan_drop_row(p, p->order[i], dpt__rnn_position(layer, p->steps, t, p->columns),
                    dpt__rnn_at(p, packed, (p->first[t] + i) * p->columns));
}

void dpt__rnn_cut(const dpt__rnn_plan *p, int parts, int64_t *cuts) {
  int64_t rows = 0, part = 0;
  cuts[0] = 0;
  for (int64_t i = 0; i < p->B && part < parts - 1; i++) {
    rows += p->a->ragged ? p->given->lengths[p->order[i]] : p->steps;
    if (rows * parts >= p->N * (part + 1)) cuts[++part] = i + 1;
  }
  while (part < parts) cuts[++part] = p->B;
}
