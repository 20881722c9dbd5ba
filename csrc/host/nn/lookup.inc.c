/* lookup.inc.c: rows of lookup.c. */

static int FN(lookup)(dpt__context *context, const struct dpt__lookup_args *a) {
  DPT__TRY(lookup_check(a->idx, a->index_type, a->n, a->V));
  const T *weight = a->weight;
  T *out = a->out;
#pragma omp parallel for num_threads(dpt__threads(context, a->n * a->D)) schedule(static)
  for (int64_t i = 0; i < a->n; i++)
    memcpy(out + i * a->D, weight + (dpt__index_at(a->idx, a->index_type, i) - 1) * a->D,
           (size_t)a->D * sizeof *out);
  return 0;
}

/* Adds gradients to rows. Threads divide the columns, so that every element gets its terms in the
 * order of idx. The terms of a row of a reduced type are added together, to be rounded once. */
static int FN(lookup_backward)(dpt__context *context, const struct dpt__lookup_backward_args *a) {
  int64_t *count = NULL; /* how often a row occurs */
  if (a->by_frequency) count = dpt__scratch(context, (size_t)a->V * sizeof *count);
  int64_t *next = NULL;
  if (dpt__is_reduced(a->param_type))
    next = dpt__scratch(context, (size_t)(a->n + a->V) * sizeof *next);
  if (context->measures) return 0;
  DPT__TRY(lookup_check(a->idx, a->index_type, a->n, a->V));
  if (a->by_frequency) {
    memset(count, 0, (size_t)a->V * sizeof *count);
    for (int64_t i = 0; i < a->n; i++) count[dpt__index_at(a->idx, a->index_type, i) - 1]++;
  }
  if (next) lookup_link(a->idx, a->index_type, a->n, a->V, next);
  const T *gout = a->gout;
  T *own = a->param_type == a->type ? a->gw : NULL;
  WIDE *wide = a->gw; /* unless own */
  int64_t blocks = (a->D + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(dpt__threads(context, a->n * a->D)) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    int64_t first = b * BLOCK, n = BLOCK < a->D - first ? BLOCK : a->D - first;
    for (int64_t i = 0; i < a->n; i++) {
      int64_t row = dpt__index_at(a->idx, a->index_type, i);
      if (row == a->padding || (next && next[a->n + row - 1] != i)) continue;
      WIDE sum[BLOCK], scale = (WIDE)(count ? a->scale / (double)count[row - 1] : a->scale);
      int64_t to = (row - 1) * a->D + first;
      for (int64_t d = 0; d < n; d++) sum[d] = own ? WIDEN(own[to + d]) : wide[to + d];
      for (int64_t j = i; j >= 0; j = next ? next[j] : -1) {
        const T *from = gout + j * a->D + first;
        for (int64_t d = 0; d < n; d++) sum[d] += scale * WIDEN(from[d]);
      }
      for (int64_t d = 0; d < n; d++) {
        if (own)
          own[to + d] = STORE(sum[d]);
        else
          wide[to + d] = sum[d];
      }
    }
  }
  return 0;
}

/* Limits the norms of rows. A row that occurs twice is scaled once. */
static int FN(lookup_renorm)(dpt__context *context, const struct dpt__lookup_renorm_args *a) {
  uint8_t *seen = dpt__scratch(context, (size_t)a->V);
  if (context->measures) return 0;
  DPT__TRY(lookup_check(a->idx, a->index_type, a->n, a->V));
  memset(seen, 0, (size_t)a->V);
  T *weight = a->weight;
  for (int64_t i = 0; i < a->n; i++) {
    int64_t row = dpt__index_at(a->idx, a->index_type, i) - 1;
    if (seen[row]) continue;
    seen[row] = 1;
    T *w = weight + row * a->D;
    double sum = 0;
    for (int64_t d = 0; d < a->D; d++) {
      double v = fabs(LOAD(w[d]));
      sum += a->p == 1 ? v : a->p == 2 ? v * v : pow(v, a->p);
    }
    double norm = pow(sum, 1 / a->p);
    if (norm > a->max_norm)
      for (int64_t d = 0; d < a->D; d++) w[d] = STORE(LOAD(w[d]) * (a->max_norm / (norm + 1e-7)));
  }
  return 0;
}
