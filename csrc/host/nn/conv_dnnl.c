/* conv_dnnl.c: convolutions of floats and bfloat16 by oneDNN.
 *
 * Invariant: oneDNN runs with context->threads OpenMP threads of the calling thread, whose thread
 * count is restored. In deterministic mode every image runs alone through a plan for one thread, so
 * its bits depend neither on the other images nor on the number of threads.
 */
#include "host/nn/conv_dnnl.h"

/* One run of a plan, and its tensors. */
struct conv_dnnl_run {
  const dpt__conv_plan *plan;
  dnnl_stream_t stream;
  void *in, *weight, *out; /* Torch7's layout */
  const void *bias;
  char *scratch;      /* conv_dnnl_scratch_of(plan) bytes, for this run alone */
  void *ready_weight; /* weights in the primitive's layout, or NULL: reorder them */
};

static size_t conv_dnnl_round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }
static size_t conv_dnnl_scratch_of(const dpt__conv_plan *p) {
  return conv_dnnl_round_up(p->in.bytes) + conv_dnnl_round_up(p->weight.bytes) +
         conv_dnnl_round_up(p->out.bytes) + conv_dnnl_round_up(p->scratch_bytes);
}

static int conv_dnnl_reorder(const struct conv_dnnl_run *r, const dpt__conv_side *side, void *plain,
                             void *inner, int back) {
  const dnnl_memory_desc_t *md[] = {back ? &side->inner : &side->plain,
                                    back ? &side->plain : &side->inner};
  void *data[] = {back ? inner : plain, back ? plain : inner};
  static const int arg[] = {DNNL_ARG_FROM, DNNL_ARG_TO};
  return dpt__dnnl_run(side->reorder, r->stream, 2, md, data, arg);
}

static int conv_dnnl_run(const struct conv_dnnl_run *r) {
  const dpt__conv_plan *p = r->plan;
  const dpt__conv_side *side[] = {&p->in, &p->weight, &p->out};
  void *plain[] = {r->in, r->weight, r->out}, *data[5];
  const dnnl_memory_desc_t *md[5];
  int arg[5], n = 3,
              result = p->key.pass == DPT__PASS_FORWARD ? 2
                       : p->key.pass == DPT__PASS_DATA  ? 0
                                                        : 1;
  char *scratch = r->scratch;
  for (int i = 0; i < 3; i++) {
    data[i] = side[i]->reorder ? scratch : plain[i];
    md[i] = &side[i]->inner;
    arg[i] = side[i]->arg;
    scratch += conv_dnnl_round_up(side[i]->bytes);
    if (i == 1 && r->ready_weight)
      data[i] = r->ready_weight;
    else if (side[i]->reorder && i != result)
      DPT__TRY(conv_dnnl_reorder(r, side[i], plain[i], data[i], 0));
  }
  if (p->key.bias) {
    md[n] = &p->bias;
    data[n] = (void *)(uintptr_t)r->bias;
    arg[n++] = DNNL_ARG_BIAS;
  }
  md[n] = &p->scratch;
  data[n] = scratch;
  arg[n++] = DNNL_ARG_SCRATCHPAD;
  DPT__TRY(dpt__dnnl_run(p->primitive, r->stream, n, md, data, arg));
  return side[result]->reorder ? conv_dnnl_reorder(r, side[result], plain[result], data[result], 1)
                               : 0;
}

/* Runs the whole batch. WEIGHT adds scale * the gradient, which a run writes to separate memory. */
static int conv_dnnl_whole(dpt__context *context, struct conv_dnnl_run *r,
                           const struct dpt__convolution_args *a) {
  int64_t n = 0;
  float *gw = a->weight, scale = (float)a->scale;
  r->scratch = dpt__scratch(context, conv_dnnl_scratch_of(r->plan) + 64);
  if (a->pass == DPT__PASS_WEIGHT) {
    n = a->O * (a->I / a->groups) * dpt__volume(a->slide.kernel);
    r->weight = dpt__scratch(context, (size_t)n * sizeof *gw);
  }
  if (context->measures) return 0;
  DPT__TRY(conv_dnnl_run(r));
  const float *fresh = r->weight;
#pragma omp parallel for simd num_threads(dpt__threads(context, n)) schedule(static)
  for (int64_t i = 0; i < n; i++) gw[i] += scale * fresh[i];
  return 0;
}

/* Runs FORWARD or DATA image by image; the weights are reordered once. */
static int conv_dnnl_one_by_one(dpt__context *context, struct conv_dnnl_run *r,
                                const struct dpt__convolution_args *a) {
  size_t each = conv_dnnl_round_up(conv_dnnl_scratch_of(r->plan)) + 64;
  int64_t width = (int64_t)dpt__dtype_size(a->type);
  int64_t in = a->I * dpt__volume(a->slide.in), out = a->O * dpt__volume(a->slide.out);
  int failed = 0, threads = context->threads;
  char *scratch = dpt__scratch(context, each * (size_t)threads);
  if (r->plan->weight.reorder) r->ready_weight = dpt__scratch(context, r->plan->weight.bytes);
  if (context->measures) return 0;
  if (r->ready_weight)
    DPT__TRY(conv_dnnl_reorder(r, &r->plan->weight, a->weight, r->ready_weight, 0));
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
  for (int64_t n = 0; n < a->N; n++) {
    struct conv_dnnl_run image = *r;
    image.in = (char *)a->in + n * in * width;
    image.out = (char *)a->out + n * out * width;
    image.scratch = scratch + each * (size_t)dpt__thread_number();
    failed |= conv_dnnl_run(&image);
  }
  return failed ? dpt__fail("oneDNN failed on an image") : 0;
}

/* Returns true if images run one by one: large ones are then still in a thread's cache between
 * reordering and convolution, and the batch needs no second copy (3 x 3, 16 planes of 32 x 32
 * forward: three quarters of the time). */
static int conv_dnnl_runs_by_image(const dpt__context *context,
                                   const struct dpt__convolution_args *a) {
  enum { LARGE = 1 << 15, EACH = 4 }; /* numbers of an image and its result; images per thread */
  int64_t image = a->I * dpt__volume(a->slide.in) + a->O * dpt__volume(a->slide.out);
  if (a->pass == DPT__PASS_WEIGHT) return 0;
  return a->deterministic || (image >= LARGE && a->N >= EACH * context->threads);
}

int dpt__conv_dnnl(dpt__context *context, const struct dpt__convolution_args *a) {
  int alone = conv_dnnl_runs_by_image(context, a);
  dpt__conv_key key = {.type = a->type,
                       .pass = a->pass,
                       .ndim = a->ndim,
                       .threads = alone ? 1 : context->threads,
                       .bias = a->pass == DPT__PASS_FORWARD && a->bias,
                       .N = alone ? 1 : a->N,
                       .I = a->I,
                       .O = a->O,
                       .groups = a->groups,
                       .slide = a->slide};
  dpt__dnnl_plan *plan;
  struct conv_dnnl_run r = {.in = a->in, .weight = a->weight, .out = a->out, .bias = a->bias};
#ifdef _OPENMP
  int before = omp_get_max_threads();
  omp_set_num_threads((int)key.threads);
#endif
  int status = dpt__dnnl_take(&dpt__conv_plans, &key, &plan);
  if (!status) {
    r.plan = (const dpt__conv_plan *)plan;
    status = dnnl_stream_create(&r.stream, dpt__dnnl_engine(), dnnl_stream_default_flags) !=
             dnnl_success;
    if (status)
      dpt__fail("oneDNN cannot create a stream");
    else {
      status = alone ? conv_dnnl_one_by_one(context, &r, a) : conv_dnnl_whole(context, &r, a);
      dnnl_stream_destroy(r.stream);
    }
    dpt__dnnl_give(plan);
  }
#ifdef _OPENMP
  omp_set_num_threads(before);
#endif
  return status;
}
