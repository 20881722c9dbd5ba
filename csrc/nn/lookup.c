/* lookup.c: dropout's mask and nn.LookupTable: shapes and checks, then the backend's kernels.
 *
 * Invariant: values of indices are checked by the kernels (on the host that is at once).
 */
#include "nn/call.h"
#include "nn/kernels.h"

int dpt_dropout_mask(dpt_tensor *mask, const dpt_draw *draw, double p, double value) {
  dpt__call call;
  struct dpt__dropout_mask_args args;
  dpt__call_begin(&call, "dropout", "mask", mask);
  if (!call.status && !draw) call.status = dpt__fail("dropout: argument 'draw' is missing");
  if (!call.status && !(p >= 0 && p <= 1))
    call.status = dpt__fail("dropout: argument 'p' is %g, wanted a probability", p);
  dpt_tensor *m = dpt__call_update(&call, "mask", mask, &args.mask);
  if (call.status || !dpt__count(m)) return dpt__call_end(&call);
  int64_t n = dpt__count(m);
  args = (struct dpt__dropout_mask_args){.type = call.type,
                                         .n = n,
                                         .first = draw->first_row * (n / m->size_[0]),
                                         .p = p,
                                         .value = value,
                                         .draw = *draw};
  return dpt__call_run(&call, 1, dropout_mask, &args);
}

static void check_weight(dpt__call *call, const char *name, const dpt_tensor *weight) {
  char text[DPT__TEXT];
  if (!call->status && (weight->ndim_ != 2 || weight->size_[1] < 1))
    call->status = dpt__fail("%s: argument '%s' is a %s, wanted a matrix", call->fn, name,
                             dpt__describe(text, weight));
}

int dpt_lookup_forward(dpt_tensor *out, const dpt_tensor *weight, const dpt_tensor *idx) {
  dpt__call call;
  struct dpt__lookup_args args;
  int64_t size[DPT_MAXDIM];
  dpt__call_begin(&call, "lookup", "weight", weight);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx);
  check_weight(&call, "weight", w);
  if (!call.status && i->ndim_ == DPT_MAXDIM)
    call.status =
        dpt__fail("lookup: argument 'indices' has %d dimensions, wanted fewer", DPT_MAXDIM);
  if (call.status) return dpt__call_end(&call);
  int ndim = i->ndim_;
  for (int d = 0; d < ndim; d++) size[d] = i->size_[d];
  if (ndim) size[ndim++] = w->size_[1];
  dpt_tensor *y = dpt__call_out(&call, "output", out, ndim, size, &args.out);
  args = (struct dpt__lookup_args){.type = call.type,
                                   .index_type = dpt__type(i),
                                   .n = dpt__count(i),
                                   .V = w->size_[0],
                                   .D = w->size_[1]};
  return dpt__call_run(&call, dpt__call_some(y), lookup, &args);
}

int dpt_lookup_backward(dpt_tensor *gw, const dpt_tensor *idx, const dpt_tensor *gout,
                        int64_t padding, int by_frequency, double scale) {
  dpt__call call;
  struct dpt__lookup_backward_args args;
  dpt__call_begin(&call, "lookup", "gw", gw);
  dpt_tensor *w = dpt__call_update(&call, "gw", gw, &args.gw);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  check_weight(&call, "gw", w);
  if (!call.status)
    dpt__call_count(&call, "gradOutput", gy, dpt__count(i) * w->size_[1], "a row for each index");
  if (call.status) return dpt__call_end(&call);
  args = (struct dpt__lookup_backward_args){.type = call.type,
                                            .index_type = dpt__type(i),
                                            .by_frequency = by_frequency,
                                            .n = dpt__count(i),
                                            .V = w->size_[0],
                                            .D = w->size_[1],
                                            .padding = padding,
                                            .scale = scale};
  return dpt__call_run(&call, dpt__call_some(i), lookup_backward, &args);
}

int dpt_lookup_renorm(dpt_tensor *weight, const dpt_tensor *idx, double max_norm, double p) {
  dpt__call call;
  struct dpt__lookup_renorm_args args;
  dpt__call_begin(&call, "lookup", "weight", weight);
  dpt_tensor *w = dpt__call_update(&call, "weight", weight, &args.weight);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx);
  check_weight(&call, "weight", w);
  if (!call.status && !(p > 0))
    call.status = dpt__fail("lookup: argument 'p' is %g, wanted a positive norm", p);
  if (call.status) return dpt__call_end(&call);
  args = (struct dpt__lookup_renorm_args){.type = call.type,
                                          .index_type = dpt__type(i),
                                          .n = dpt__count(i),
                                          .V = w->size_[0],
                                          .D = w->size_[1],
                                          .max_norm = max_norm,
                                          .p = p};
  return dpt__call_run(&call, dpt__call_some(i), lookup_renorm, &args);
}
