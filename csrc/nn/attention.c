/* attention.c: scaled dot-product attention: shapes and checks, then the backend's kernel. */
#include "nn/call.h"
#include "nn/kernels.h"

static struct dpt__heads attention_strides(const dpt_tensor *t) {
  return (struct dpt__heads){t->stride_[0], t->stride_[1], t->stride_[2]};
}

/* Adds an operand whose rows a kernel reads in place. */
static const dpt_tensor *attention_in(dpt__call *call, const char *name, const dpt_tensor *t,
                                      const void *field, struct dpt__heads *at) {
  const dpt_tensor *x = dpt__call_in(call, name, t, (void *)field);
  if (!call->status) dpt__call_dims(call, name, x, 4, 4, "four dimensions");
  if (!call->status) *at = attention_strides(x);
  return x;
}

static const dpt_tensor *attention_out(dpt__call *call, const char *name, dpt_tensor *r,
                                       const dpt_tensor *like, void *field, struct dpt__heads *at) {
  const dpt_tensor *y = dpt__call_out_like(call, name, r, like, field);
  if (!call->status) *at = attention_strides(y);
  return y;
}

/* Adds the mask; sizes that are 1 are broadcast. */
static void attention_mask(dpt__call *call, const dpt_tensor *mask,
                           struct dpt__attention_args *args) {
  const int64_t size[] = {args->N, args->H, args->L, args->S};
  int64_t stride[4];
  if (call->status || !mask) return;
  int bytes = dpt__type(mask) == DPT_U8;
  const dpt_tensor *m = bytes ? dpt__call_index(call, "mask", mask, &args->mask, &args->mask_type)
                              : dpt__call_in(call, "mask", mask, &args->mask);
  if (!bytes) args->mask_type = call->type;
  if (!call->status) dpt__call_dims(call, "mask", m, 4, 4, "four dimensions");
  for (int d = 0; d < 4 && !call->status; d++) {
    stride[d] = m->size_[d] == 1 ? 0 : m->stride_[d];
    if (m->size_[d] != 1 && m->size_[d] != size[d])
      call->status = dpt__fail("%s: argument 'mask' is a %s, wanted %lld or 1 as size %d", call->fn,
                               dpt__describe(mask), (long long)size[d], d + 1);
  }
  if (call->status) return;
  args->mask_at = (struct dpt__heads){stride[0], stride[1], stride[2]};
  args->mask_column = stride[3];
}

/* Begins a call and adds q, k, v and the mask. */
static void attention_begin(dpt__call *call, struct dpt__attention_args *args, const dpt_tensor *q,
                            const dpt_tensor *k, const dpt_tensor *v, const dpt_tensor *mask,
                            const dpt_attention *options, const dpt_tensor *in[3]) {
  dpt__call_begin(call, DPT__KERNEL_attention, "attention", "query", q);
  call->by_rows = 1;
  in[0] = attention_in(call, "query", q, &args->q, &args->q_at);
  in[1] = attention_in(call, "key", k, &args->k, &args->k_at);
  in[2] = attention_in(call, "value", v, &args->v, &args->v_at);
  if (call->status) return;
  args->N = q->size_[0], args->H = q->size_[1], args->L = q->size_[2], args->E = q->size_[3];
  args->G = k->size_[1], args->S = k->size_[2], args->V = v->size_[3];
  dpt__call_same(call, "key", k, 4, (const int64_t[]){args->N, args->G, args->S, args->E});
  dpt__call_same(call, "value", v, 4, (const int64_t[]){args->N, args->G, args->S, args->V});
  if (!call->status && args->H && (!args->G || args->H % args->G))
    call->status = dpt__fail("%s: argument 'key' has %lld heads, wanted a divisor of the query's "
                             "%lld",
                             call->fn, (long long)args->G, (long long)args->H);
  if (!call->status && !options)
    call->status = dpt__fail("%s: argument 'options' is missing", call->fn);
  if (!call->status && !(options->dropout >= 0 && options->dropout < 1))
    call->status = dpt__fail("%s: argument 'dropout' is %g, wanted 0 <= dropout < 1", call->fn,
                             options->dropout);
  if (call->status) return;
  args->options = *options;
  args->deterministic = dpt_deterministic_get();
  args->tf32 = dpt_tf32_get();
  attention_mask(call, mask, args);
}

int dpt_attention_forward(dpt_tensor *out, dpt_tensor *save, const dpt_tensor *q,
                          const dpt_tensor *k, const dpt_tensor *v, const dpt_tensor *mask,
                          const dpt_attention *options) {
  dpt__call call;
  struct dpt__attention_args args = {0};
  const dpt_tensor *in[3];
  attention_begin(&call, &args, q, k, v, mask, options, in);
  const int64_t size[] = {args.N, args.H, args.L, args.V};
  const int64_t saved[] = {args.N, args.H, args.L, 2};
  dpt_tensor *y = dpt__call_out(&call, "output", out, 4, size, &args.out);
  if (!call.status) args.out_at = attention_strides(y);
  const dpt_tensor *s =
      dpt__call_out_type(&call, "save", save, dpt__compute_dtype(call.type), 4, saved, &args.save);
  return dpt__call_run(&call, dpt__call_some(s), attention, &args);
}

int dpt_attention_backward(dpt_tensor *gq, dpt_tensor *gk, dpt_tensor *gv, const dpt_tensor *q,
                           const dpt_tensor *k, const dpt_tensor *v, const dpt_tensor *mask,
                           const dpt_tensor *out, const dpt_tensor *gout, const dpt_tensor *save,
                           const dpt_attention *options) {
  dpt__call call;
  struct dpt__attention_args args = {0};
  const dpt_tensor *in[3];
  int32_t save_type = 0;
  args.backward = 1;
  attention_begin(&call, &args, q, k, v, mask, options, in);
  const int64_t size[] = {args.N, args.H, args.L, args.V};
  const dpt_tensor *o = attention_in(&call, "output", out, &args.out, &args.out_at);
  const dpt_tensor *g = attention_in(&call, "gradOutput", gout, &args.gout, &args.gout_at);
  dpt__call_same(&call, "output", o, 4, size);
  dpt__call_same(&call, "gradOutput", g, 4, size);
  const dpt_tensor *s = dpt__call_index(&call, "save", save, &args.save, &save_type);
  if (!call.status && save_type != dpt__compute_dtype(call.type))
    dpt__call_wrong(&call, "save", s, "the type that forward wrote");
  dpt__call_same(&call, "save", s, 4, (const int64_t[]){args.N, args.H, args.L, 2});
  const dpt_tensor *x = attention_out(&call, "gradQuery", gq, in[0], &args.gq, &args.gq_at);
  const dpt_tensor *y = attention_out(&call, "gradKey", gk, in[1], &args.gk, &args.gk_at);
  const dpt_tensor *z = attention_out(&call, "gradValue", gv, in[2], &args.gv, &args.gv_at);
  int some = dpt__call_some(x) || dpt__call_some(y) || dpt__call_some(z);
  return dpt__call_run(&call, some, attention, &args);
}
