/* panels_spec.c: compares products by panels, for each instruction set of the CPU, with sums in
 * double. A row has the same bits whether it is computed alone or with other rows. */
#include "base/cpu.h"
#include "host/panels.h"

#include "check.h"

#include <math.h>

enum { MOST_ROWS = 20, MOST_K = 40, MOST_N = 70, APART = 3 };

static double get(int type, const void *p, int64_t i) {
  return type ? ((const double *)p)[i] : (double)((const float *)p)[i];
}
static void set(int type, void *p, int64_t i, double value) {
  if (type)
    ((double *)p)[i] = value;
  else
    ((float *)p)[i] = (float)value;
}
static void fill(int type, void *p, int64_t n, uint64_t *seed) {
  for (int64_t i = 0; i < n; i++) set(type, p, i, (double)draw(seed, 2001) / 1000 - 1);
}

/* Tests c (rows, n) = or += a (rows, k) times b; rows of a and c have gaps of APART elements. */
static int product(const dpt__panels *panels, int type, int64_t rows, int64_t k, int64_t n, int add,
                   int turned, uint64_t *seed) {
  static double a[MOST_ROWS * (MOST_K + APART)], b[MOST_K * MOST_N], packed[MOST_K * (MOST_N + 64)];
  static double c[MOST_ROWS * (MOST_N + APART)], alone[MOST_N + APART],
      before[sizeof c / sizeof *c];
  const int64_t a_row = k + APART, c_row = n + APART, width = type ? 8 : 4;
  const int64_t b_row = turned ? 1 : n, b_col = turned ? k : 1;
  fill(type, a, rows * a_row, seed);
  fill(type, b, k * n, seed);
  fill(type, c, rows * c_row, seed);
  memcpy(before, c, sizeof c);
  panels->pack(packed, b, k, n, b_row, b_col);
  panels->run(c, c_row, a, a_row, packed, rows, k, n, add);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < c_row; j++) {
      double old = get(type, before, i * c_row + j), sum = add || j >= n ? old : 0;
      for (int64_t l = 0; l < k && j < n; l++)
        sum += get(type, a, i * a_row + l) * get(type, b, l * b_row + j * b_col);
      double far = fabs(get(type, c, i * c_row + j) - sum);
      if (!CHECK(j < n ? far <= (type ? 1e-14 : 1e-5) * (double)(k + 1) : far == 0)) return 0;
    }
    memcpy(alone, (char *)before + i * c_row * width, (size_t)(c_row * width));
    panels->run(alone, c_row, (char *)a + i * a_row * width, a_row, packed, 1, k, n, add);
    if (!CHECK(!memcmp(alone, (char *)c + i * c_row * width, (size_t)(c_row * width)))) return 0;
  }
  return 1;
}

static int products(const dpt__panels *tables, uint64_t *seed) {
  for (int type = 0; type < 2; type++)
    for (int64_t rows = 1; rows <= MOST_ROWS; rows++)
      for (int i = 0; i < 40; i++) {
        int64_t k = 1 + (int64_t)draw(seed, MOST_K), n = 1 + (int64_t)draw(seed, MOST_N);
        if (!product(tables + type, type, rows, k, n, i % 2, i / 2 % 2, seed)) return 0;
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
