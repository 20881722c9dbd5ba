/* lookup.c: dropout's mask and nn.LookupTable: shapes and checks, then the backend's kernels.
 *
 * Invariant: kernels check the values of indices (on the host, immediately).
 */
#include "nn/call.h"
#include "nn/kernels.h"

int dpt_dropout_mask(dpt_tensor *mask, const dpt_draw *draw, double p, double value) {
  dpt__call call;
  struct dpt__dropout_mask_args args = {.p = p, .value = value};
  dpt__call_begin(&call, DPT__KERNEL_dropout_mask, "dropout", "mask", mask);
  if (!call.status && !draw) call.status = dpt__fail("dropout: argument 'draw' is missing");
  if (!call.status && !(p >= 0 && p <= 1))
    call.status = dpt__fail("dropout: argument 'p' is %g, wanted 0 to 1", p);
  dpt_tensor *m = dpt__call_update(&call, "mask", mask, &args.mask);
  if (call.status || !dpt__count(m)) return dpt__call_end(&call);
  args.n = dpt__count(m);
  args.first = draw->first_row * (args.n / m->size_[0]);
  args.draw = *draw;
  return dpt__call_run(&call, 1, dropout_mask, &args);
}

/* Checks the table, V rows of D numbers. */
static void lookup_table(dpt__call *call, const char *name, const dpt_tensor *weight, int64_t *V,
                         int64_t *D) {
  if (call->status) return;
  if (weight->ndim_ != 2 || weight->size_[1] < 1) dpt__call_wrong(call, name, weight, "a matrix");
  *V = weight->size_[0];
  *D = weight->size_[1];
}

int dpt_lookup_forward(dpt_tensor *out, const dpt_tensor *weight, const dpt_tensor *idx) {
  dpt__call call;
  struct dpt__lookup_args args;
  int64_t size[DPT_MAXDIM];
  dpt__call_begin(&call, DPT__KERNEL_lookup, "lookup", "weight", weight);
  const dpt_tensor *w = dpt__call_in(&call, "weight", weight, &args.weight);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx, &args.index_type);
  lookup_table(&call, "weight", w, &args.V, &args.D);
  if (!call.status && i->ndim_ == DPT_MAXDIM)
    call.status =
        dpt__fail("lookup: argument 'indices' has %d dimensions, wanted fewer", DPT_MAXDIM);
  if (call.status) return dpt__call_end(&call);
  int ndim = i->ndim_;
  for (int d = 0; d < ndim; d++) size[d] = i->size_[d];
  if (ndim == 0) size[ndim++] = 0; /* no dimensions: an empty vector */
  size[ndim++] = args.D;
  args.n = dpt__count(i);
  dpt_tensor *y = dpt__call_out(&call, "output", out, ndim, size, &args.out);
  return dpt__call_run(&call, dpt__call_some(y), lookup, &args);
}

int dpt_lookup_backward(dpt_tensor *gw, const dpt_tensor *idx, const dpt_tensor *gout,
                        int64_t padding, int by_frequency, double scale) {
  dpt__call call;
  struct dpt__lookup_backward_args args = {
      .by_frequency = by_frequency, .padding = padding, .scale = scale};
  dpt__call_begin(&call, DPT__KERNEL_lookup_backward, "lookup", "gradOutput", gout);
  dpt__call_present(&call, "gradWeight", gw);
  dpt_tensor *w = dpt__call_param_update(&call, "gradWeight", gw, &args.gw);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx, &args.index_type);
  const dpt_tensor *gy = dpt__call_in(&call, "gradOutput", gout, &args.gout);
  args.param_type = dpt__call_param_type(&call);
  lookup_table(&call, "gradWeight", w, &args.V, &args.D);
  args.n = call.status ? 0 : dpt__count(i);
  dpt__call_count(&call, "gradOutput", gy, args.n * args.D, "a row for each index");
  return dpt__call_run(&call, dpt__call_some(i), lookup_backward, &args);
}

int dpt_lookup_renorm(dpt_tensor *weight, const dpt_tensor *idx, double max_norm, double p) {
  dpt__call call;
  struct dpt__lookup_renorm_args args = {.max_norm = max_norm, .p = p};
  dpt__call_begin(&call, DPT__KERNEL_lookup_renorm, "lookup", "weight", weight);
  dpt_tensor *w = dpt__call_update(&call, "weight", weight, &args.weight);
  const dpt_tensor *i = dpt__call_index(&call, "indices", idx, &args.idx, &args.index_type);
  lookup_table(&call, "weight", w, &args.V, &args.D);
  if (!call.status && !(p > 0))
    call.status = dpt__fail("lookup: argument 'p' is %g, wanted a positive norm", p);
  args.n = call.status ? 0 : dpt__count(i);
  return dpt__call_run(&call, dpt__call_some(i), lookup_renorm, &args);
}
