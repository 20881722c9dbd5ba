/* nll.inc.c: rows of nll.c. */

static int FN(nll_loss)(const struct dpt__nll_args *a) {
  const T *in = a->in, *weight = a->weight;
  double sum = 0, total = 0;
  for (int64_t i = 0; i < a->N * a->S; i++) {
    int64_t n = i / a->S, s = i % a->S, class = dpt__index_at(a->target, a->target_type, i);
    if (class == a->ignore) continue;
    if (class < 1 || class > a->C) return nll_bad_class(a->target, a->target_type, i, a->C);
    double w = weight ? LOAD(weight[class - 1]) : 1;
    sum -= w * LOAD(in[(n * a->C + class - 1) * a->S + s]);
    total += w;
  }
  *(T *)a->total = STORE(total);
  *(T *)a->out = STORE(a->average && total != 0 ? sum / total : sum);
  return 0;
}

static int FN(nll_gradient)(dpt__context *context, const struct dpt__nll_args *a) {
  const T *weight = a->weight;
  T *gin = a->gin;
  double total = LOAD(*(const T *)a->total);
#pragma omp parallel for num_threads(dpt__threads(context, a->N * a->C * a->S)) schedule(static)
  for (int64_t n = 0; n < a->N; n++)
    memset(gin + n * a->C * a->S, 0, (size_t)(a->C * a->S) * sizeof *gin);
  for (int64_t i = 0; i < a->N * a->S; i++) {
    int64_t n = i / a->S, s = i % a->S, class = dpt__index_at(a->target, a->target_type, i);
    if (class == a->ignore) continue;
    if (class < 1 || class > a->C) return nll_bad_class(a->target, a->target_type, i, a->C);
    double w = weight ? LOAD(weight[class - 1]) : 1;
    gin[(n * a->C + class - 1) * a->S + s] = STORE(a->average && total != 0 ? -w / total : -w);
  }
  return 0;
}

static int FN(nll)(dpt__context *context, const struct dpt__nll_args *a) {
  return a->gin ? FN(nll_gradient)(context, a) : FN(nll_loss)(a);
}

static int FN(multimargin)(dpt__context *context, const struct dpt__multimargin_args *a) {
  (void)context;
  const T *weight = a->weight;
  double sum = 0, share = nll_share_of(a->average, a->N, a->C);
  for (int64_t n = 0; n < a->N; n++) {
    const T *in = (const T *)a->in + n * a->C;
    T *gin = a->gin ? (T *)a->gin + n * a->C : NULL;
    int64_t class = dpt__index_at(a->target, a->target_type, n);
    if (class < 1 || class > a->C) return nll_bad_class(a->target, a->target_type, n, a->C);
    double w = weight ? LOAD(weight[class - 1]) : 1, own = 0;
    for (int64_t c = 0; c < a->C; c++) {
      double z = a->margin - LOAD(in[class - 1]) + LOAD(in[c]), slope = 0;
      if (c != class - 1 && z > 0) {
        sum += w * (a->p == 1 ? z : z * z);
        slope = w * share * (a->p == 1 ? 1 : 2 * z);
        own -= slope;
      }
      if (gin) gin[c] = STORE(slope);
    }
    if (gin) gin[class - 1] = STORE(own);
  }
  if (a->out) *(T *)a->out = STORE(sum * share);
  return 0;
}

static int FN(multilabel)(dpt__context *context, const struct dpt__multilabel_args *a) {
  uint8_t *wanted = dpt__scratch(context, (size_t)a->C + 1);
  WIDE *slope = dpt__scratch(context, (size_t)a->C * sizeof *slope);
  if (context->measures) return 0;
  double sum = 0, share = nll_share_of(a->average, a->N, a->C);
  for (int64_t n = 0; n < a->N; n++) {
    const T *in = (const T *)a->in + n * a->C;
    T *gin = a->gin ? (T *)a->gin + n * a->C : NULL;
    int64_t labels = 0;
    memset(wanted, 0, (size_t)a->C);
    memset(slope, 0, (size_t)a->C * sizeof *slope);
    for (; labels < a->C; labels++) {
      int64_t class = dpt__index_at(a->target, a->target_type, n * a->C + labels);
      if (class == 0) break;
      if (class < 1 || class > a->C)
        return nll_bad_class(a->target, a->target_type, n * a->C + labels, a->C);
      wanted[class - 1] = 1;
    }
    for (int64_t l = 0; l < labels; l++) {
      int64_t class = dpt__index_at(a->target, a->target_type, n * a->C + l) - 1;
      for (int64_t c = 0; c < a->C; c++) {
        double z = wanted[c] ? 0 : 1 - LOAD(in[class]) + LOAD(in[c]);
        if (z <= 0) continue;
        sum += z;
        slope[class] = (WIDE)(slope[class] - share);
        slope[c] = (WIDE)(slope[c] + share);
      }
    }
    for (int64_t c = 0; c < a->C && gin; c++) gin[c] = STORE(slope[c]);
  }
  if (a->out) *(T *)a->out = STORE(sum * share);
  return 0;
}
