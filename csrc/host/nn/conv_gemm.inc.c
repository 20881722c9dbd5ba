/* conv_gemm.inc.c: rows of conv_gemm.c: patches of one group of one image to columns and back. */

/* Copies patches of in (I/groups, S) to col (I/groups * K, S'). back: adds each element of col to
 * the element of in that it came from. */
static inline __attribute__((always_inline)) void FN(columns)(const struct dpt__convolution_args *a,
                                                              T *in, T *col, int back) {
  const struct dpt__slide *s = &a->slide;
  int64_t plane = dpt__volume(s->in), k[3], o[2];
  for (int64_t i = 0; i < a->I / a->groups; i++, in += plane)
    for (k[0] = 0; k[0] < s->kernel[0]; k[0]++)
      for (k[1] = 0; k[1] < s->kernel[1]; k[1]++)
        for (k[2] = 0; k[2] < s->kernel[2]; k[2]++)
          for (o[0] = 0; o[0] < s->out[0]; o[0]++)
            for (o[1] = 0; o[1] < s->out[1]; o[1]++, col += s->out[2]) {
              T *row = conv_row_of(s, k, o) < 0 ? NULL : in + conv_row_of(s, k, o) * s->in[2];
              int64_t x = k[2] * s->dilation[2] - s->pad[2];
              for (int64_t j = 0; j < s->out[2] && (row || !back); j++, x += s->stride[2]) {
                int inside = row && x >= 0 && x < s->in[2];
                if (!back)
                  col[j] = inside ? row[x] : 0;
                else if (inside)
                  row[x] += col[j];
              }
            }
}

/* Computes one image; col holds one group's columns. context has one thread except for WEIGHT. */
static int FN(image)(dpt__context *context, const struct dpt__convolution_args *a, int64_t n,
                     T *col) {
  int64_t in_size = a->I * dpt__volume(a->slide.in), S = dpt__volume(a->slide.out);
  int64_t O = a->O / a->groups, K = a->I / a->groups * dpt__volume(a->slide.kernel);
  T *in = (T *)a->in + n * in_size, *out = (T *)a->out + n * a->O * S;
  const T *bias = a->bias;
  if (a->pass == DPT__PASS_DATA) memset(in, 0, (size_t)in_size * sizeof *in);
  for (int64_t g = 0; g < a->groups; g++) {
    T *gin = in + g * (in_size / a->groups), *gout = out + g * O * S;
    T *weight = (T *)a->weight + g * O * K;
    if (a->pass != DPT__PASS_DATA) FN(columns)(a, gin, col, 0);
    if (a->pass == DPT__PASS_FORWARD)
      for (int64_t o = 0; o < O && bias; o++)
        for (int64_t s = 0; s < S; s++) gout[o * S + s] = bias[g * O + o];
    dpt__gemm_args gemm = dpt__convolution_product(a, 0, bias ? 1 : 0, col, gout, weight);
    DPT__TRY(dpt__host_gemm_within(context, &gemm));
    if (a->pass == DPT__PASS_DATA) FN(columns)(a, gin, col, 1);
  }
  return 0;
}
