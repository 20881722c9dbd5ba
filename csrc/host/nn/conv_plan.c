/* conv_plan.c: creates and caches oneDNN's convolution primitives (see conv_dnnl.h). */
#include "base/lock.h"
#include "host/nn/conv_dnnl.h"

#include <stdlib.h>

static dpt__mutex lock = DPT__MUTEX_INIT;
static dpt__conv_plan *plans DPT__GUARDED_BY(lock);
static int count DPT__GUARDED_BY(lock);
static uint64_t clock_ DPT__GUARDED_BY(lock);
static dnnl_engine_t engine; /* set once, before the first plan */

dnnl_engine_t dpt__dnnl_engine(void) { return engine; }

static int conv_plan_failed(dnnl_status_t status, const char *what) {
  if (status == dnnl_success) return 0;
  return dpt__fail("oneDNN's %s failed with status %d", what, (int)status);
}

static void conv_plan_drop(dpt__conv_plan *plan) {
  dnnl_primitive_t own[] = {plan->primitive, plan->in.reorder, plan->weight.reorder,
                            plan->out.reorder};
  for (int i = 0; i < 4; i++)
    if (own[i]) dnnl_primitive_destroy(own[i]);
  free(plan);
}

static void conv_plan_plain(dnnl_memory_desc_t *md, int n, const dnnl_dims_t dims) {
  dnnl_memory_desc_init_by_strides(md, n, dims, dnnl_f32, NULL);
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
  conv_plan_plain(&plan->in.plain, n, in);
  conv_plan_plain(&plan->out.plain, n, out);
  conv_plan_plain(&plan->weight.plain, n + g, weight + 1 - g);
  conv_plan_plain(&plan->bias, 1, bias);
}

/* Describes the same tensor in a layout that oneDNN chooses. */
static dnnl_memory_desc_t conv_plan_any(const dnnl_memory_desc_t *md) {
  dnnl_memory_desc_t r;
  dnnl_memory_desc_init_by_tag(&r, md->ndims, md->dims, dnnl_f32, dnnl_format_tag_any);
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
    return conv_plan_failed(dnnl_dilated_convolution_forward_desc_init(
                                desc, dnnl_forward_training, direct, &in, &weight,
                                k->bias ? &plan->bias : NULL, &out, stride, dilate, left, right),
                            "description");
  if (k->pass == DPT__PASS_DATA)
    return conv_plan_failed(dnnl_dilated_convolution_backward_data_desc_init(
                                desc, direct, &in, &weight, &out, stride, dilate, left, right),
                            "description");
  return conv_plan_failed(dnnl_dilated_convolution_backward_weights_desc_init(
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
  if (conv_plan_failed(dnnl_reorder_primitive_desc_create(&reorder, from, engine, to, engine, attr),
                       "reorder"))
    return 1;
  int status = conv_plan_failed(dnnl_primitive_create(&side->reorder, reorder), "reorder");
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
         conv_plan_failed(dnnl_primitive_create(&plan->primitive, pd), "primitive");
}

static int conv_plan_make(dpt__conv_plan *plan) {
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t pd;
  dnnl_convolution_desc_t desc;
  if (!engine && conv_plan_failed(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine")) return 1;
  conv_plan_describe(plan);
  DPT__TRY(conv_plan_describe_operation(plan, &desc));
  if (conv_plan_failed(dnnl_primitive_attr_create(&attr), "attributes")) return 1;
  dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  int status =
      conv_plan_failed(dnnl_primitive_desc_create(&pd, &desc, attr, engine, NULL), "choice");
  if (!status) {
    status = conv_plan_complete_all(plan, pd, attr);
    dnnl_primitive_desc_destroy(pd);
  }
  dnnl_primitive_attr_destroy(attr);
  return status;
}

static uint64_t conv_plan_hash_of(const dpt__conv_key *key) {
  const uint64_t *words = (const uint64_t *)key;
  uint64_t hash = 14695981039346656037u;
  _Static_assert(sizeof *key % 8 == 0, "a key is made of 64-bit words");
  for (size_t i = 0; i < sizeof *key / 8; i++) hash = (hash ^ words[i]) * 1099511628211u;
  return hash;
}

static void conv_plan_evict(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__conv_plan **oldest = NULL;
  for (dpt__conv_plan **p = &plans; *p; p = &(*p)->next)
    if (!(*p)->users && (!oldest || (*p)->used < (*oldest)->used)) oldest = p;
  if (!oldest) return;
  dpt__conv_plan *plan = *oldest;
  *oldest = plan->next;
  count--;
  conv_plan_drop(plan);
}

/* Holds the lock while a primitive is created, so that two threads do not create the same one. */
int dpt__conv_plan_take(dpt__conv_plan **result, const dpt__conv_key *key) {
  uint64_t hash = conv_plan_hash_of(key);
  dpt__lock(&lock);
  dpt__conv_plan *plan = plans;
  while (plan && (plan->hash != hash || memcmp(&plan->key, key, sizeof *key))) plan = plan->next;
  int status = 0;
  if (!plan) {
    plan = calloc(1, sizeof *plan);
    if (!plan)
      status = dpt__fail("no host memory for a oneDNN primitive");
    else {
      plan->hash = hash;
      plan->key = *key;
      if ((status = conv_plan_make(plan)))
        conv_plan_drop(plan);
      else {
        if (count >= DPT__PLANS) conv_plan_evict();
        plan->next = plans;
        plans = plan;
        count++;
      }
    }
  }
  if (!status) {
    plan->users++;
    plan->used = ++clock_;
    *result = plan;
  }
  dpt__unlock(&lock);
  return status;
}

void dpt__conv_plan_give(dpt__conv_plan *plan) {
  dpt__lock(&lock);
  dpt__assert(plan->users > 0);
  plan->users--;
  dpt__unlock(&lock);
}
