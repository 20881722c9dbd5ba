/* panels_spec.c: compares products by panels, for each instruction set of the CPU, with sums in
 * double. A row has the same bits whether it is computed alone or with other rows. */
#include "base/cpu.h"
#include "base/element.h"
#include "host/panels.h"

#include "check.h"

#include <math.h>

enum { MOST_ROWS = 20, MOST_K = 40, MOST_N = 70, APART = 3 };

/* Draws n elements with few bits, which every type holds exactly. */
static void fill(int type, char *p, int64_t n, uint64_t *seed) {
  for (int64_t i = 0; i < n; i++)
    dpt__put_element(type, p + i * (int64_t)dpt__dtype_size(type),
                     (double)draw(seed, 257) / 128 - 1);
}
static double get(int type, const void *p, int64_t i) {
  return dpt__get_element(type, (const char *)p + i * (int64_t)dpt__dtype_size(type));
}

/* Tests c (rows, n) = or += a (rows, k) times b, whose type is given; rows of a and c have gaps of
 * APART elements. */
static int product(const dpt__panels *panels, int given, int64_t rows, int64_t k, int64_t n,
                   int add, int turned, uint64_t *seed) {
  static double a[MOST_ROWS * (MOST_K + APART)], b[MOST_K * MOST_N], packed[MOST_K * (MOST_N + 64)];
  static double c[MOST_ROWS * (MOST_N + APART)], alone[MOST_N + APART],
      before[sizeof c / sizeof *c];
  const int type = dpt__compute_dtype(given);
  const int64_t a_row = k + APART, c_row = n + APART, width = (int64_t)dpt__dtype_size(type);
  const int64_t b_row = turned ? 1 : n, b_col = turned ? k : 1;
  fill(type, (char *)a, rows * a_row, seed);
  fill(given, (char *)b, k * n, seed);
  fill(type, (char *)c, rows * c_row, seed);
  memcpy(before, c, sizeof c);
  panels->pack(packed, b, k, n, b_row, b_col);
  panels->run(c, c_row, a, a_row, packed, rows, k, n, add);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < c_row; j++) {
      double old = get(type, before, i * c_row + j), sum = add || j >= n ? old : 0;
      for (int64_t l = 0; l < k && j < n; l++)
        sum += get(type, a, i * a_row + l) * get(given, b, l * b_row + j * b_col);
      double far = fabs(get(type, c, i * c_row + j) - sum);
      if (!CHECK(j < n ? far <= (type == DPT_F64 ? 1e-14 : 1e-5) * (double)(k + 1) : far == 0))
        return 0;
    }
    memcpy(alone, (char *)before + i * c_row * width, (size_t)(c_row * width));
    panels->run(alone, c_row, (char *)a + i * a_row * width, a_row, packed, 1, k, n, add);
    if (!CHECK(!memcmp(alone, (char *)c + i * c_row * width, (size_t)(c_row * width)))) return 0;
  }
  return 1;
}

/* Tests to (columns, rows) = scale times the transpose of `from`. */
static int transposed(const dpt__panels *panels, int given, int64_t rows, int64_t columns,
                      uint64_t *seed) {
  static double from[MOST_K * (MOST_N + APART)], to[MOST_N * (MOST_K + APART)];
  const int type = dpt__compute_dtype(given);
  const int64_t from_row = columns + APART, to_row = rows + APART;
  fill(given, (char *)from, rows * from_row, seed);
  panels->turn(to, to_row, from, from_row, rows, columns, 0.5);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (!CHECK(get(type, to, j * to_row + i) == 0.5 * get(given, from, i * from_row + j)))
        return 0;
  return 1;
}

static int products(const dpt__panels *tables, uint64_t *seed) {
  static const int types[] = {DPT_F32, DPT_F64, DPT_F16, DPT_BF16};
  for (int t = 0; t < 4; t++)
    for (int64_t rows = 1; rows <= MOST_ROWS; rows++)
      for (int i = 0; i < 40; i++) {
        int64_t k = 1 + (int64_t)draw(seed, MOST_K), n = 1 + (int64_t)draw(seed, MOST_N);
        if (!product(tables + types[t], types[t], rows, k, n, i % 2, i / 2 % 2, seed) ||
            !transposed(tables + types[t], types[t], k, n, seed))
          return 0;
      }
  return 1;
}

int main(void) {
  uint64_t seed = check_seed();
  products(dpt__panels_base, &seed);
#ifdef __x86_64__
  if (dpt__isa() >= DPT__ISA_AVX2) products(dpt__panels_avx2, &seed);
  if (dpt__isa() >= DPT__ISA_AVX512) products(dpt__panels_avx512, &seed);
#endif
  return check_end();
}
