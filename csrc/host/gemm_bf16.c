/* gemm_bf16.c: products of bfloat16 by oneDNN, on CPUs that multiply bfloat16 (AVX-512 BF16).
 *
 * Invariant: oneDNN runs with context->threads OpenMP threads of the calling thread, whose thread
 * count is restored. Sums are floats, and are rounded once.
 */
#include "base/cpu.h"
#include "host/gemm.h"

#ifdef _OPENMP
#include "host/dnnl.h"

enum { SMALL = 1 << 18 }; /* multiplications: below, running a primitive takes longer */

/* The properties of a product that a primitive depends on. */
typedef struct bf16_key {
  int64_t c_dtype, m, n, k, a_row, a_col, b_row, b_col, c_row, adds, threads;
} bf16_key;

typedef struct bf16_plan {
  dpt__dnnl_plan plan;
  bf16_key key;
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t md[4]; /* a, b, c, scratch */
  size_t scratch_bytes;
} bf16_plan;

static void bf16_matrix(dnnl_memory_desc_t *md, int dtype, int64_t rows, int64_t cols, int64_t row,
                        int64_t col) {
  const dnnl_dims_t dims = {rows, cols}, strides = {row, col};
  dnnl_memory_desc_init_by_strides(md, 2, dims, dtype == DPT_BF16 ? dnnl_bf16 : dnnl_f32, strides);
}

static int bf16_make(dpt__dnnl_plan *p) {
  bf16_plan *plan = (bf16_plan *)p;
  const bf16_key *k = &plan->key;
  dnnl_memory_desc_t *md = plan->md;
  dnnl_primitive_attr_t attr;
  dnnl_post_ops_t ops;
  dnnl_matmul_desc_t desc;
  dnnl_primitive_desc_t pd;
  bf16_matrix(&md[0], DPT_BF16, k->m, k->k, k->a_row, k->a_col);
  bf16_matrix(&md[1], DPT_BF16, k->k, k->n, k->b_row, k->b_col);
  bf16_matrix(&md[2], (int)k->c_dtype, k->m, k->n, k->c_row, 1);
  if (dpt__dnnl_failed(dnnl_matmul_desc_init(&desc, &md[0], &md[1], NULL, &md[2]), "product") ||
      dpt__dnnl_failed(dnnl_primitive_attr_create(&attr), "attributes"))
    return 1;
  dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  if (status == dnnl_success && k->adds) {
    status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success) {
      dnnl_post_ops_append_sum(ops, 1);
      status = dnnl_primitive_attr_set_post_ops(attr, ops);
      dnnl_post_ops_destroy(ops);
    }
  }
  if (status == dnnl_success)
    status = dnnl_primitive_desc_create(&pd, &desc, attr, dpt__dnnl_engine(), NULL);
  dnnl_primitive_attr_destroy(attr);
  if (dpt__dnnl_failed(status, "choice")) return 1;
  md[3] = *dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
  plan->scratch_bytes = dnnl_memory_desc_get_size(&md[3]);
  status = dnnl_primitive_create(&plan->primitive, pd);
  dnnl_primitive_desc_destroy(pd);
  return dpt__dnnl_failed(status, "primitive");
}

static void bf16_drop(dpt__dnnl_plan *p) {
  const bf16_plan *plan = (const bf16_plan *)p;
  if (plan->primitive) dnnl_primitive_destroy(plan->primitive);
}

static const dpt__dnnl_kind bf16_plans = {.size = sizeof(bf16_plan),
                                          .key_at = offsetof(bf16_plan, key),
                                          .key_size = sizeof(bf16_key),
                                          .make = bf16_make,
                                          .drop = bf16_drop};

int dpt__host_gemm_takes_bf16(const dpt__gemm_args *g) {
  double work = (double)g->m * (double)g->n * (double)g->k;
  return g->dtype == DPT_BF16 && work >= SMALL && g->alpha == 1 && (g->beta == 0 || g->beta == 1) &&
         !g->fixed && dpt__cpu_has_bf16() &&
         dpt__blas_form_of(g->m, g->k, g->a_row, g->a_col).fits &&
         dpt__blas_form_of(g->k, g->n, g->b_row, g->b_col).fits &&
         dpt__blas_form_of(g->m, g->n, g->c_row, g->c_col).fits;
}

static int bf16_run(dpt__context *context, const dpt__gemm_args *g, const bf16_plan *plan) {
  void *scratch = dpt__scratch(context, plan->scratch_bytes);
  const dnnl_memory_desc_t *md[] = {&plan->md[0], &plan->md[1], &plan->md[2], &plan->md[3]};
  void *data[] = {(void *)(uintptr_t)g->a, (void *)(uintptr_t)g->b, g->c, scratch};
  static const int arg[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  dnnl_stream_t stream;
  if (context->measures) return 0;
  if (dpt__dnnl_failed(dnnl_stream_create(&stream, dpt__dnnl_engine(), dnnl_stream_default_flags),
                       "stream"))
    return 1;
  int status = dpt__dnnl_run(plan->primitive, stream, 4, md, data, arg);
  dnnl_stream_destroy(stream);
  return status;
}

int dpt__host_gemm_bf16(dpt__context *context, const dpt__gemm_args *args) {
  int turned = dpt__blas_form_of(args->m, args->n, args->c_row, args->c_col).trans;
  dpt__gemm_args g = turned ? dpt__gemm_exchanged(args) : *args;
  dpt__blas_form a = dpt__blas_form_of(g.m, g.k, g.a_row, g.a_col);
  dpt__blas_form b = dpt__blas_form_of(g.k, g.n, g.b_row, g.b_col);
  dpt__blas_form c = dpt__blas_form_of(g.m, g.n, g.c_row, g.c_col);
  const bf16_key key = {.c_dtype = g.c_dtype,
                        .m = g.m,
                        .n = g.n,
                        .k = g.k,
                        .a_row = a.trans ? 1 : a.lead,
                        .a_col = a.trans ? a.lead : 1,
                        .b_row = b.trans ? 1 : b.lead,
                        .b_col = b.trans ? b.lead : 1,
                        .c_row = c.lead,
                        .adds = g.beta != 0,
                        .threads = context->threads};
  dpt__dnnl_plan *plan;
  int before = omp_get_max_threads();
  omp_set_num_threads(context->threads);
  int status = dpt__dnnl_take(&bf16_plans, &key, &plan);
  if (!status) {
    status = bf16_run(context, &g, (const bf16_plan *)plan);
    dpt__dnnl_give(plan);
  }
  omp_set_num_threads(before);
  return status;
}
#else
int dpt__host_gemm_takes_bf16(const dpt__gemm_args *g) { return 0; }
int dpt__host_gemm_bf16(dpt__context *context, const dpt__gemm_args *g) { return 0; }
#endif
