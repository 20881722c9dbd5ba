/* along.inc.c: cumulative sums, cross products and planes for one element type. */

static DPT__INLINE void FN(scan_by)(int product, const dpt__scan_args *g, const T *a, T *r,
                                    int64_t cols, int64_t a_col, int64_t r_col) {
  WRAP sum[TILE];
  for (int64_t j = 0; j < cols; j++) sum[j] = product;
  for (int64_t i = 0; i < g->n; i++, a += g->a_stride, r += g->r_stride)
    for (int64_t j = 0; j < cols; j++) {
      WRAP x = (WRAP)LOAD(a[j * a_col]);
      sum[j] = product ? sum[j] * x : sum[j] + x;
      r[j * r_col] = STORE(sum[j]);
    }
}

/* Scans `cols` slices side by side: r[i] = a[0] + ... + a[i], or the product. Each set of constant
 * arguments compiles to a separate loop: the sum of a single slice stays in a register. */
static void FN(scan)(const dpt__scan_args *g, const void *from, void *to, int64_t cols,
                     int64_t a_col, int64_t r_col) {
  if (cols == 1 && g->product)
    FN(scan_by)(1, g, from, to, 1, 0, 0);
  else if (cols == 1)
    FN(scan_by)(0, g, from, to, 1, 0, 0);
  else
    FN(scan_by)(g->product, g, from, to, cols, a_col, r_col);
}

static void FN(cross)(const dpt__cross_args *g, int64_t a_at, int64_t b_at, int64_t r_at) {
  const T *a = (const T *)g->a + a_at, *b = (const T *)g->b + b_at;
  T *r = (T *)g->r + r_at;
  WRAP x[3], y[3];
  for (int i = 0; i < 3; i++) {
    x[i] = (WRAP)LOAD(a[i * g->a_stride]);
    y[i] = (WRAP)LOAD(b[i * g->b_stride]);
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    r[i * g->r_stride] = STORE(x[j] * y[k] - x[k] * y[j]);
  }
}

/* Computes one element of the result of planes. */
static void FN(plane)(const dpt__planes_args *g, const void *from, const void *kernel,
                      const int64_t position[3], void *to) {
  const T *a = from, *k = kernel;
  int64_t first[3], last[3];
  WRAP sum = 0;
  for (int d = 0; d < 3; d++) { /* positions of the kernel that overlap elements */
    int64_t begin = g->pad[d] - position[d], end = begin + g->a_size[d];
    first[d] = begin > 0 ? begin : 0;
    last[d] = end < g->k_size[d] ? end : g->k_size[d];
  }
  for (int64_t p = 0; p < g->inputs; p++, a += g->a_input, k += g->k_input)
    for (int64_t z = first[0]; z < last[0]; z++)
      for (int64_t y = first[1]; y < last[1]; y++)
        for (int64_t x = first[2]; x < last[2]; x++) {
          int64_t in = (position[0] + z - g->pad[0]) * g->a_stride[0] +
                       (position[1] + y - g->pad[1]) * g->a_stride[1] +
                       (position[2] + x - g->pad[2]) * g->a_stride[2];
          int64_t kz = g->flip ? g->k_size[0] - 1 - z : z, ky = g->flip ? g->k_size[1] - 1 - y : y,
                  kx = g->flip ? g->k_size[2] - 1 - x : x;
          sum += (WRAP)LOAD(a[in]) *
                 (WRAP)LOAD(k[kz * g->k_stride[0] + ky * g->k_stride[1] + kx * g->k_stride[2]]);
        }
  *(T *)to = STORE(sum);
}
