/* rnn.c: recurrent networks: checks and shapes, then the backend's kernels (see dpt.h).
 *
 * Invariant: kernels get a network that rnn_check_network has accepted, at least one step, lengths
 * of 1 to T by value, and a reserve of exactly the size that the device's backend requested.
 */
#include "rnn/rnn.h"
#include "device/device.h"
#include "nn/call.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const cell_names[] = {"RELU", "TANH", "LSTM", "GRU"};

static int rnn_check_number(const char *name, int64_t got, int64_t low, int64_t high) {
  if (got >= low && got <= high) return 0;
  return dpt__fail("rnn: '%s' of the network is %lld, wanted %lld to %lld", name, (long long)got,
                   (long long)low, (long long)high);
}

static int rnn_check_network(const dpt_rnn *r) {
  if (!r) return dpt__fail("rnn: argument 'rnn' is missing, wanted a network");
  DPT__TRY(rnn_check_number("cell", r->cell, DPT_RNN_RELU, DPT_RNN_GRU));
  DPT__TRY(rnn_check_number("bias", r->bias, DPT_RNN_NO_BIAS, DPT_RNN_RECURRENT_BIAS));
  DPT__TRY(rnn_check_number("directions", r->directions, 1, 2));
  DPT__TRY(rnn_check_number("layers", r->layers, 1, 1024));
  DPT__TRY(rnn_check_number("input", r->input, 1, 1 << 24));
  DPT__TRY(rnn_check_number("hidden", r->hidden, 1, 1 << 24));
  DPT__TRY(rnn_check_number("projection", r->projection, 0, r->hidden - 1));
  if (r->projection && r->cell != DPT_RNN_LSTM)
    return dpt__fail(
        "rnn: 'projection' of the network is %d, but only an LSTM has one: this is a %s",
        (int)r->projection, cell_names[r->cell]);
  if (r->skip_input && r->input != r->hidden)
    return dpt__fail("rnn: the network skips the input's matrices, so 'input' %d must be 'hidden' "
                     "%d",
                     (int)r->input, (int)r->hidden);
  if (!(r->dropout >= 0 && r->dropout < 1))
    return dpt__fail("rnn: 'dropout' of the network is %g, wanted 0 <= dropout < 1", r->dropout);
  return 0;
}

/* ---- the layout of weights ---- */

/* The owner of the layout: a backend's library, or dpt. */
typedef struct owner {
  int type;                        /* in which kernels take operands */
  const dpt__rnn_library *library; /* NULL: the layout is dpt's */
  int index;                       /* the library's index of the device */
} owner;

static int rnn_find_owner(const dpt_rnn *rnn, const dpt_tensor *weight, owner *o) {
  DPT__TRY(rnn_check_network(rnn));
  if (!weight) return dpt__fail("rnn: argument 'weight' is missing, wanted a tensor");
  int on_device = dpt__is_device(weight->kind_);
  int type = dpt__type(weight);
  *o = (owner){type, NULL, 0};
  if (!dpt__is_real(type))
    return dpt__fail("rnn: argument 'weight' is a %s, wanted a tensor of real numbers",
                     dpt__kind_name(weight->kind_));
  if (!on_device) return 0;
  DPT__TRY(dpt__launch_type("rnn", DPT__KERNEL_rnn_forward, weight, &o->type));
  dpt__device *device;
  DPT__TRY(dpt__device_find("rnn", weight->storage_ ? weight->storage_->device : 0, &device));
  o->library = device->backend->rnn;
  o->index = device->index;
  return 0;
}

int dpt_rnn_size(const dpt_rnn *rnn, const dpt_tensor *weight, int64_t *elements) {
  owner o;
  DPT__TRY(rnn_find_owner(rnn, weight, &o));
  if (o.library) return o.library->size(o.index, rnn, o.type, elements) ? dpt__fail_in("rnn") : 0;
  *elements = dpt__rnn_layer_at(rnn, 0).end;
  return 0;
}

static dpt_rnn_part rnn_find_part(const dpt_rnn *rnn, int pseudo_layer, int id) {
  dpt__rnn_layer at = dpt__rnn_layer_at(rnn, pseudo_layer);
  dpt_rnn_part part = {0};
  int64_t H = rnn->hidden, O = dpt__rnn_width(rnn);
  int64_t I = dpt__rnn_input(rnn, pseudo_layer / rnn->directions);
  int gates = dpt__rnn_gates(rnn);
  if (id == 2 * gates) return (dpt_rnn_part){.matrix = at.projection, .rows = O, .columns = H};
  int on_input = id < gates;
  int64_t position = on_input ? id : id - gates;
  int64_t matrix = on_input ? at.input : at.recurrent, columns = on_input ? I : O;
  int64_t bias = on_input ? at.input_bias : at.recurrent_bias;
  if (matrix >= 0)
    part.matrix = matrix + position * H * columns, part.rows = H, part.columns = columns;
  if (bias >= 0) part.bias = bias + position * H, part.biases = H;
  return part;
}

int dpt_rnn_find(const dpt_rnn *rnn, const dpt_tensor *weight, int pseudo_layer, int id,
                 dpt_rnn_part *part) {
  owner o;
  DPT__TRY(rnn_find_owner(rnn, weight, &o));
  int layers = rnn->layers * rnn->directions;
  int ids = 2 * dpt__rnn_gates(rnn) + (rnn->projection > 0);
  if (pseudo_layer < 0 || pseudo_layer >= layers)
    return dpt__fail("rnn: argument 'pseudo_layer' is %d, wanted 0 to %d", pseudo_layer,
                     layers - 1);
  if (id < 0 || id >= ids)
    return dpt__fail("rnn: argument 'id' is %d, wanted 0 to %d", id, ids - 1);
  if (o.library)
    return o.library->find(o.index, rnn, o.type, pseudo_layer, id, part) ? dpt__fail_in("rnn") : 0;
  *part = rnn_find_part(rnn, pseudo_layer, id);
  return 0;
}

/* ---- calls ---- */

/* A call and its kernel's arguments. The operands' sizes follow from rnn, T and B. */
typedef struct rnn_call {
  dpt__call call;
  enum dpt__kernel kernel;
  const dpt_rnn *rnn;
  int64_t T, B, steps; /* steps: of all sequences together */
  struct dpt__rnn_args *args;
  size_t size; /* of args with lengths */
} rnn_call;

static int rnn_copy_lengths(rnn_call *c, const dpt_tensor *lengths) {
  if (lengths->kind_ != DPT_I64 || lengths->ndim_ != 1 || lengths->size_[0] != c->B)
    return dpt__fail("rnn: argument 'lengths' is a %s, wanted a torch.LongTensor of %lld elements, "
                     "one for each sequence",
                     dpt__describe(lengths), (long long)c->B);
  const int64_t *n = dpt__at(lengths);
  c->steps = 0;
  for (int64_t b = 0; b < c->B; b++) {
    int64_t length = n[b * lengths->stride_[0]];
    if (length < 1 || length > c->T)
      return dpt__fail("rnn: argument 'lengths' has %lld for sequence %lld, wanted 1 to %lld, the "
                       "steps of the input",
                       (long long)length, (long long)b + 1, (long long)c->T);
    c->args->lengths[b] = (int32_t)length;
    c->steps += length;
  }
  return 0;
}

static int64_t rnn_out_columns(const dpt_rnn *r) {
  return (int64_t)r->directions * dpt__rnn_width(r);
}

/* Begins a call over sequences of the size of `like`: of inputs, or of outputs. Returns 1 if it
 * fails; then there is nothing to end. */
static int rnn_begin(rnn_call *c, enum dpt__kernel kernel, const dpt_rnn *rnn, const char *name,
                     const dpt_tensor *like, int outputs, const dpt_tensor *lengths) {
  DPT__TRY(rnn_check_network(rnn));
  dpt__call_begin(&c->call, kernel, "rnn", name, like);
  if (c->call.status) return 1;
  int64_t limit = INT_MAX / 8, columns = outputs ? rnn_out_columns(rnn) : rnn->input;
  if (like->ndim_ != 3 || like->size_[2] != columns || like->size_[0] > limit ||
      like->size_[1] > limit)
    return dpt__fail(
        "rnn: argument '%s' is a %s, wanted %s of %lld columns", name, dpt__describe(like),
        rnn->batch_first ? "sequences x steps" : "steps x sequences", (long long)columns);
  c->rnn = rnn;
  c->kernel = kernel;
  c->T = like->size_[rnn->batch_first ? 1 : 0];
  c->B = like->size_[rnn->batch_first ? 0 : 1];
  c->steps = c->T * c->B;
  c->size = sizeof *c->args + (lengths ? (size_t)c->B * sizeof(int32_t) : 0);
  c->args = calloc(1, c->size);
  if (!c->args) return dpt__no_memory("rnn: no host memory for %lld lengths", (long long)c->B);
  *c->args = (struct dpt__rnn_args){.rnn = *rnn,
                                    .type = c->call.type,
                                    .param_type = c->call.type,
                                    .deterministic = dpt_deterministic_get(),
                                    .tf32 = dpt_tf32_get(),
                                    .ragged = lengths != NULL,
                                    .T = (int32_t)c->T,
                                    .B = (int32_t)c->B};
  if (lengths) c->call.status = rnn_copy_lengths(c, lengths);
  return 0;
}

/* Operands by role; `field` of the arguments is set to the operand's address. Sequences are x, y
 * and their gradients; states have a matrix for each pseudo-layer. */
enum role { SEQUENCE, STATE };
static void rnn_role_size(const rnn_call *c, enum role role, int64_t columns, int64_t size[3]) {
  int64_t layers = (int64_t)c->rnn->layers * c->rnn->directions;
  size[0] = role == STATE ? layers : c->rnn->batch_first ? c->B : c->T;
  size[1] = role == STATE || !c->rnn->batch_first ? c->B : c->T;
  size[2] = columns;
}
/* A state may be missing. */
static void rnn_in(rnn_call *c, enum role role, void *field, const char *name, const dpt_tensor *t,
                   int64_t columns) {
  int64_t size[3];
  rnn_role_size(c, role, columns, size);
  if (role == SEQUENCE) dpt__call_present(&c->call, name, t);
  dpt__call_same(&c->call, name, dpt__call_in_optional(&c->call, name, t, field), 3, size);
}
static void rnn_out(rnn_call *c, enum role role, void *field, const char *name, dpt_tensor *t,
                    int64_t columns) {
  int64_t size[3];
  rnn_role_size(c, role, columns, size);
  if (t || role == SEQUENCE) dpt__call_out(&c->call, name, t, 3, size, field);
}
/* Fails the call unless w, which may be a gradient of floats, has the size of the weights. */
static void rnn_check_weight(rnn_call *c, const char *name, const dpt_tensor *w) {
  int64_t n;
  if (c->call.status) return;
  dpt_tensor like = {.kind_ = c->call.type | (c->call.kind & DPT_ON_DEVICE),
                     .storage_ = w->storage_};
  if (dpt_rnn_size(c->rnn, &like, &n))
    c->call.status = 1;
  else
    dpt__call_count(&c->call, name, w, n, "the network's weights");
}

static void rnn_weight_in(rnn_call *c, const dpt_tensor *weight) {
  const dpt_tensor *w = dpt__call_in(&c->call, "weight", weight, &c->args->weight);
  rnn_check_weight(c, "weight", w);
}

/* Fails the call if a state that only an LSTM has is given for another cell. */
static void rnn_only_lstm(rnn_call *c, const char *name, const dpt_tensor *t) {
  if (!c->call.status && t && c->rnn->cell != DPT_RNN_LSTM)
    c->call.status =
        dpt__fail("rnn: argument '%s' is given, but a %s has no cells; only an LSTM has", name,
                  cell_names[c->rnn->cell]);
}

/* Returns the bytes of forward's reserve on the device of the first operand. */
static int64_t rnn_reserve_bytes(rnn_call *c) {
  owner o;
  int64_t bytes = 0;
  if (c->call.status || !c->steps) return 0;
  dpt_tensor like = {.kind_ = c->call.kind, .storage_ = c->call.tensor[0].storage_};
  c->call.status = rnn_find_owner(c->rnn, &like, &o);
  if (!c->call.status && o.library)
    c->call.status = o.library->reserve(o.index, c->args, &bytes) ? dpt__fail_in("rnn") : 0;
  else
    bytes = dpt__rnn_reserve(c->rnn, c->steps) *
            (int64_t)dpt__dtype_size(dpt__compute_dtype(c->call.type));
  return bytes;
}

/* Adds the reserve written by forward, and checks its size. */
static void rnn_reserve_in(rnn_call *c, dpt_tensor *reserve) {
  dpt__call_present(&c->call, "reserve", reserve);
  if (c->call.status) return;
  int64_t bytes = rnn_reserve_bytes(c);
  if (!c->call.status && (dpt__count(reserve) != bytes || !dpt__contiguous(reserve)))
    c->call.status =
        dpt__fail("rnn: argument 'reserve' is a %s, wanted the %lld bytes that forward wrote",
                  dpt__describe(reserve), (long long)bytes);
  c->args->reserve_bytes = bytes;
  dpt__call_update_type(&c->call, "reserve", reserve, DPT_U8, &c->args->reserve);
}

/* Launches the kernel, unless there are no steps or the call has failed, and ends the call. */
static int rnn_run(rnn_call *c) {
  if (!c->call.status && c->steps)
    dpt__call_submit(&c->call, c->kernel, &c->args->type, c->args, c->size);
  free(c->args);
  return dpt__call_end(&c->call);
}

/* Handles a call without steps: copies a state or its gradient unchanged, or fills 0 if there is
 * none. */
static int rnn_pass_state(const rnn_call *c, dpt_tensor *to, const dpt_tensor *from) {
  if (c->steps || !to) return 0;
  return from ? dpt_copy(to, from) : dpt_fill(to, 0);
}

int dpt_rnn_forward(dpt_tensor *y, dpt_tensor *hn, dpt_tensor *cn, dpt_tensor *reserve,
                    const dpt_rnn *rnn, const dpt_tensor *x, const dpt_tensor *h0,
                    const dpt_tensor *c0, const dpt_tensor *weight, const dpt_tensor *lengths) {
  rnn_call c;
  DPT__TRY(rnn_begin(&c, DPT__KERNEL_rnn_forward, rnn, "input", x, 0, lengths));
  struct dpt__rnn_args *a = c.args;
  rnn_only_lstm(&c, "c0", c0);
  rnn_only_lstm(&c, "cn", cn);
  rnn_in(&c, SEQUENCE, &a->x, "input", x, rnn->input);
  rnn_in(&c, STATE, &a->h0, "h0", h0, dpt__rnn_width(rnn));
  rnn_in(&c, STATE, &a->c0, "c0", c0, rnn->hidden);
  rnn_weight_in(&c, weight);
  rnn_out(&c, SEQUENCE, &a->y, "output", y, rnn_out_columns(rnn));
  rnn_out(&c, STATE, &a->hn, "hn", hn, dpt__rnn_width(rnn));
  rnn_out(&c, STATE, &a->cn, "cn", cn, rnn->hidden);
  if (reserve) {
    int64_t bytes = a->reserve_bytes = rnn_reserve_bytes(&c);
    dpt__call_out_type(&c.call, "reserve", reserve, DPT_U8, 1, &bytes, &a->reserve);
  }
  DPT__TRY(rnn_run(&c));
  return rnn_pass_state(&c, hn, h0) || rnn_pass_state(&c, cn, c0);
}

int dpt_rnn_backward_data(dpt_tensor *gx, dpt_tensor *gh0, dpt_tensor *gc0, dpt_tensor *reserve,
                          const dpt_rnn *rnn, const dpt_tensor *y, const dpt_tensor *gy,
                          const dpt_tensor *ghn, const dpt_tensor *gcn, const dpt_tensor *h0,
                          const dpt_tensor *c0, const dpt_tensor *weight,
                          const dpt_tensor *lengths) {
  rnn_call c;
  DPT__TRY(rnn_begin(&c, DPT__KERNEL_rnn_data, rnn, "gradOutput", gy, 1, lengths));
  struct dpt__rnn_args *a = c.args;
  rnn_only_lstm(&c, "gcn", gcn);
  rnn_only_lstm(&c, "c0", c0);
  rnn_only_lstm(&c, "gc0", gc0);
  rnn_in(&c, SEQUENCE, &a->gy, "gradOutput", gy, rnn_out_columns(rnn));
  rnn_in(&c, SEQUENCE, &a->y, "output", y, rnn_out_columns(rnn));
  rnn_in(&c, STATE, &a->ghn, "ghn", ghn, dpt__rnn_width(rnn));
  rnn_in(&c, STATE, &a->gcn, "gcn", gcn, rnn->hidden);
  rnn_in(&c, STATE, &a->h0, "h0", h0, dpt__rnn_width(rnn));
  rnn_in(&c, STATE, &a->c0, "c0", c0, rnn->hidden);
  rnn_weight_in(&c, weight);
  rnn_reserve_in(&c, reserve);
  rnn_out(&c, SEQUENCE, &a->gx, "gradInput", gx, rnn->input);
  rnn_out(&c, STATE, &a->gh0, "gh0", gh0, dpt__rnn_width(rnn));
  rnn_out(&c, STATE, &a->gc0, "gc0", gc0, rnn->hidden);
  DPT__TRY(rnn_run(&c));
  return rnn_pass_state(&c, gh0, ghn) || rnn_pass_state(&c, gc0, gcn);
}

int dpt_rnn_backward_weight(dpt_tensor *gw, const dpt_rnn *rnn, const dpt_tensor *x,
                            const dpt_tensor *h0, const dpt_tensor *y, const dpt_tensor *lengths,
                            dpt_tensor *reserve, double scale) {
  rnn_call c;
  DPT__TRY(rnn_begin(&c, DPT__KERNEL_rnn_weight, rnn, "input", x, 0, lengths));
  struct dpt__rnn_args *a = c.args;
  a->scale = scale;
  dpt__call_present(&c.call, "gradWeight", gw);
  dpt_tensor *g = dpt__call_param_update(&c.call, "gradWeight", gw, &a->gw);
  a->param_type = dpt__call_param_type(&c.call);
  rnn_in(&c, SEQUENCE, &a->x, "input", x, rnn->input);
  rnn_in(&c, STATE, &a->h0, "h0", h0, dpt__rnn_width(rnn));
  rnn_in(&c, SEQUENCE, &a->y, "output", y, rnn_out_columns(rnn));
  rnn_check_weight(&c, "gradWeight", g);
  rnn_reserve_in(&c, reserve);
  return rnn_run(&c);
}
