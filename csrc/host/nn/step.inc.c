/* step.inc.c: optimizer steps for one element type T (see step.c). The arithmetic has type T and
 * the order of optim's operations. */

DPT__CLONES
static void FN(sgd_block)(const void *args, void *x_, void *g_, int64_t first, int64_t n) {
  const struct dpt__sgd_args *a = args;
  T *restrict x = x_, *restrict g = g_;
  T *restrict v = a->v ? (T *)a->v + first : NULL;
  const T *restrict rates = a->rates ? (const T *)a->rates + first : NULL;
  const T *restrict decays = a->decays ? (const T *)a->decays + first : NULL;
  T rate = (T)-a->rate, decay = (T)a->decay, momentum = (T)a->momentum, keep = (T)a->keep;
  if (decays)
    for (int64_t i = 0; i < n; i++) g[i] += decays[i] * x[i];
  else if (a->decay != 0)
    for (int64_t i = 0; i < n; i++) g[i] += decay * x[i];
  if (v && a->first)
    memcpy(v, g, (size_t)n * sizeof *v);
  else if (v)
    for (int64_t i = 0; i < n; i++) v[i] = v[i] * momentum + keep * g[i];
  if (v && a->nesterov)
    for (int64_t i = 0; i < n; i++) g[i] += momentum * v[i];
  const T *restrict d = v && !a->nesterov ? v : g;
  if (rates)
    for (int64_t i = 0; i < n; i++) x[i] += rate * (rates[i] * d[i]);
  else
    for (int64_t i = 0; i < n; i++) x[i] += rate * d[i];
}

DPT__CLONES
static void FN(adam_block)(const void *args, void *x_, void *g_, int64_t first, int64_t n) {
  const struct dpt__adam_args *a = args;
  T *restrict x = x_, *restrict g = g_;
  T *restrict m = (T *)a->m + first, *restrict v = (T *)a->v + first;
  T *restrict vmax = a->vmax ? (T *)a->vmax + first : NULL;
  const T *restrict rates = a->rates ? (const T *)a->rates + first : NULL;
  const T *restrict decays = a->decays ? (const T *)a->decays + first : NULL;
  T beta1 = (T)a->beta1, beta2 = (T)a->beta2, rest1 = (T)(1 - a->beta1), rest2 = (T)(1 - a->beta2);
  T rate = (T)-a->rate, eps = (T)a->eps, decay = (T)a->decay, base = (T)a->base, keep = 1;
  if (a->decoupled && (rates || decays))
    for (int64_t i = 0; i < n; i++)
      x[i] *= 1 - base * (rates ? rates[i] : 1) * (decays ? decays[i] : decay);
  else if (a->decoupled)
    keep = (T)(1 - a->base * a->decay);
  else if (decays)
    for (int64_t i = 0; i < n; i++) g[i] += decays[i] * x[i];
  else if (a->decay != 0)
    for (int64_t i = 0; i < n; i++) g[i] += decay * x[i];
  for (int64_t i = 0; i < n; i++) {
    m[i] = m[i] * beta1 + rest1 * g[i];
    v[i] = v[i] * beta2 + rest2 * g[i] * g[i];
    T most = v[i];
    if (vmax) vmax[i] = most = vmax[i] >= most ? vmax[i] : most; /* keeps a NaN */
    T step = rate * m[i] / (REAL(sqrt)(most) + eps);
    x[i] = keep * x[i] + (rates ? rates[i] * step : step);
  }
}
