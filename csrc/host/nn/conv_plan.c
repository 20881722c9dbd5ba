/* conv_plan.c: creates oneDNN's convolution primitives (see conv_dnnl.h). */
#include "host/nn/conv_dnnl.h"

#include <stddef.h>

/* Returns oneDNN's type of a tensor; parameters: of weights or biases. The gradient of weights is
 * computed in float. */
static dnnl_data_type_t conv_plan_type(const dpt__conv_key *key, int parameters) {
  int gradient = parameters && key->pass == DPT__PASS_WEIGHT;
  return key->type == DPT_BF16 && !gradient ? dnnl_bf16 : dnnl_f32;
}

static void conv_plan_plain(dnnl_memory_desc_t *md, int n, const dnnl_dims_t dims,
                            dnnl_data_type_t type) {
  dnnl_memory_desc_init_by_strides(md, n, dims, type, NULL);
}

/* Describes the three tensors in Torch7's layouts. */
static void conv_plan_describe(dpt__conv_plan *plan) {
  const dpt__conv_key *k = &plan->key;
  int first = 3 - (int)k->ndim, n = 2 + (int)k->ndim, g = k->groups > 1;
  dnnl_dims_t in = {k->N, k->I}, out = {k->N, k->O};
  dnnl_dims_t weight = {k->groups, k->O / k->groups, k->I / k->groups};
  for (int d = 0; d < k->ndim; d++) {
    in[2 + d] = k->slide.in[first + d];
    out[2 + d] = k->slide.out[first + d];
    weight[3 + d] = k->slide.kernel[first + d];
  }
  dnnl_dims_t bias = {k->O};
  dnnl_data_type_t type = conv_plan_type(k, 0), of_weight = conv_plan_type(k, 1);
  conv_plan_plain(&plan->in.plain, n, in, type);
  conv_plan_plain(&plan->out.plain, n, out, type);
  conv_plan_plain(&plan->weight.plain, n + g, weight + 1 - g, of_weight);
  conv_plan_plain(&plan->bias, 1, bias, of_weight);
}

/* Describes the same tensor in a layout that oneDNN chooses. */
static dnnl_memory_desc_t conv_plan_any(const dnnl_memory_desc_t *md) {
  dnnl_memory_desc_t r;
  dnnl_memory_desc_init_by_tag(&r, md->ndims, md->dims, md->data_type, dnnl_format_tag_any);
  return r;
}

/* Describes the operation; the padding on the right is such that the sizes fit. */
static int conv_plan_describe_operation(const dpt__conv_plan *plan, dnnl_convolution_desc_t *desc) {
  const dpt__conv_key *k = &plan->key;
  const struct dpt__slide *s = &k->slide;
  dnnl_dims_t stride, dilate, left, right;
  int first = 3 - (int)k->ndim;
  for (int d = 0; d < k->ndim; d++) {
    int f = first + d;
    stride[d] = s->stride[f];
    dilate[d] = s->dilation[f] - 1;
    left[d] = s->pad[f];
    right[d] = (s->out[f] - 1) * s->stride[f] + s->dilation[f] * (s->kernel[f] - 1) + 1 - s->in[f] -
               s->pad[f];
  }
  dnnl_memory_desc_t in = conv_plan_any(&plan->in.plain),
                     weight = conv_plan_any(&plan->weight.plain);
  dnnl_memory_desc_t out = conv_plan_any(&plan->out.plain);
  dnnl_alg_kind_t direct = dnnl_convolution_direct;
  if (k->pass == DPT__PASS_FORWARD)
    return dpt__dnnl_failed(dnnl_dilated_convolution_forward_desc_init(
                                desc, dnnl_forward_training, direct, &in, &weight,
                                k->bias ? &plan->bias : NULL, &out, stride, dilate, left, right),
                            "description");
  if (k->pass == DPT__PASS_DATA)
    return dpt__dnnl_failed(dnnl_dilated_convolution_backward_data_desc_init(
                                desc, direct, &in, &weight, &out, stride, dilate, left, right),
                            "description");
  return dpt__dnnl_failed(dnnl_dilated_convolution_backward_weights_desc_init(
                              desc, direct, &in, &weight, NULL, &out, stride, dilate, left, right),
                          "description");
}

/* Completes one side with the primitive's choices; result: the side is the primitive's result. */
static int conv_plan_complete(dpt__conv_side *side, const dnnl_primitive_desc_t pd, int arg,
                              int result, const dnnl_primitive_attr_t attr) {
  side->arg = arg;
  side->inner = *dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg);
  if (dnnl_memory_desc_equal(&side->inner, &side->plain)) return 0;
  const dnnl_memory_desc_t *from = result ? &side->inner : &side->plain;
  const dnnl_memory_desc_t *to = result ? &side->plain : &side->inner;
  dnnl_primitive_desc_t reorder;
  side->bytes = dnnl_memory_desc_get_size(&side->inner);
  if (dpt__dnnl_failed(dnnl_reorder_primitive_desc_create(&reorder, from, dpt__dnnl_engine(), to,
                                                          dpt__dnnl_engine(), attr),
                       "reorder"))
    return 1;
  int status = dpt__dnnl_failed(dnnl_primitive_create(&side->reorder, reorder), "reorder");
  dnnl_primitive_desc_destroy(reorder);
  return status;
}

static int conv_plan_complete_all(dpt__conv_plan *plan, const dnnl_primitive_desc_t pd,
                                  const dnnl_primitive_attr_t attr) {
  int pass = (int)plan->key.pass;
  int in = pass == DPT__PASS_DATA ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
  int out = pass == DPT__PASS_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  int weight = pass == DPT__PASS_WEIGHT ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
  plan->scratch = *dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
  plan->scratch_bytes = dnnl_memory_desc_get_size(&plan->scratch);
  return conv_plan_complete(&plan->in, pd, in, pass == DPT__PASS_DATA, attr) ||
         conv_plan_complete(&plan->weight, pd, weight, pass == DPT__PASS_WEIGHT, attr) ||
         conv_plan_complete(&plan->out, pd, out, pass == DPT__PASS_FORWARD, attr) ||
         dpt__dnnl_failed(dnnl_primitive_create(&plan->primitive, pd), "primitive");
}

static int conv_plan_make(dpt__dnnl_plan *p) {
  dpt__conv_plan *plan = (dpt__conv_plan *)p;
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t pd;
  dnnl_convolution_desc_t desc;
  conv_plan_describe(plan);
  DPT__TRY(conv_plan_describe_operation(plan, &desc));
  if (dpt__dnnl_failed(dnnl_primitive_attr_create(&attr), "attributes")) return 1;
  dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  int status = dpt__dnnl_failed(
      dnnl_primitive_desc_create(&pd, &desc, attr, dpt__dnnl_engine(), NULL), "choice");
  if (!status) {
    status = conv_plan_complete_all(plan, pd, attr);
    dnnl_primitive_desc_destroy(pd);
  }
  dnnl_primitive_attr_destroy(attr);
  return status;
}

static void conv_plan_drop(dpt__dnnl_plan *p) {
  const dpt__conv_plan *plan = (const dpt__conv_plan *)p;
  dnnl_primitive_t own[] = {plan->primitive, plan->in.reorder, plan->weight.reorder,
                            plan->out.reorder};
  for (int i = 0; i < 4; i++)
    if (own[i]) dnnl_primitive_destroy(own[i]);
}

const dpt__dnnl_kind dpt__conv_plans = {.size = sizeof(dpt__conv_plan),
                                        .key_at = offsetof(dpt__conv_plan, key),
                                        .key_size = sizeof(dpt__conv_key),
                                        .make = conv_plan_make,
                                        .drop = conv_plan_drop};
