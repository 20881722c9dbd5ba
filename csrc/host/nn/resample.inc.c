/* resample.inc.c: rows of resample.c; each works on one plane. */

/* out gets a weighted sum of up to two elements of each dimension of in, or, backward, gives its
 * gradient to them. */
static void FN(upsample)(const struct dpt__upsample_args *a, const struct tap *t, T *in, T *out) {
  const struct tap *y = t + a->outsize[0], *x = y + a->outsize[1];
  if (a->backward) memset(in, 0, (size_t)volume(a->insize) * sizeof *in);
  for (int64_t i = 0; i < a->outsize[0]; i++)
    for (int64_t j = 0; j < a->outsize[1]; j++)
      for (int64_t k = 0; k < a->outsize[2]; k++, out++) {
        double sum = 0;
        for (int corner = 0; corner < 8; corner++) {
          int c0 = corner >> 2, c1 = corner >> 1 & 1, c2 = corner & 1;
          double w = t[i].weight[c0] * y[j].weight[c1] * x[k].weight[c2];
          if (w == 0) continue;
          int64_t place = (t[i].at[c0] * a->insize[1] + y[j].at[c1]) * a->insize[2] + x[k].at[c2];
          if (a->backward)
            in[place] += (T)w * *out;
          else
            sum += w * in[place];
        }
        if (!a->backward) *out = (T)sum;
      }
}

/* from[d] + o: the element of in that out's element comes from, -1 for a zero. */
static void FN(pad)(const struct dpt__pad_args *a, const int64_t *t, T *in, T *out) {
  const int64_t *y = t + a->outsize[0], *x = y + a->outsize[1];
  if (a->backward) memset(in, 0, (size_t)volume(a->insize) * sizeof *in);
  for (int64_t i = 0; i < a->outsize[0]; i++)
    for (int64_t j = 0; j < a->outsize[1]; j++, out += a->outsize[2]) {
      int outside = t[i] < 0 || y[j] < 0;
      T *row = outside ? NULL : in + (t[i] * a->insize[1] + y[j]) * a->insize[2];
      for (int64_t k = 0; k < a->outsize[2]; k++) {
        int zero = outside || x[k] < 0;
        if (!a->backward)
          out[k] = zero ? 0 : row[x[k]];
        else if (!zero)
          row[x[k]] += out[k];
      }
    }
}
