/* blas_library_spec.c: tests the choice of kernels for a CPU, and compares products and
 * factorizations by the available kernels with plain loops.
 *
 * Invariant: sizes exceed the blocks of every kernel; operands that beta 0 must not read are NaN. A
 * run with OPENBLAS_CORETYPE set tests that set of kernels.
 */
#include "samples.h"

#include "ops/blas_library.h"

static uint64_t seed;

static void choices(void) {
  const unsigned avx2 = DPT__CPU_AVX2 | DPT__CPU_FMA;
  const unsigned avx512 = DPT__CPU_AVX512F | DPT__CPU_AVX512BW | DPT__CPU_AVX512DQ |
                          DPT__CPU_AVX512VL | DPT__CPU_AVX512CD;
  CHECK(dpt__cpu_isa(0) == DPT__ISA_BASE && !dpt__blas_kernels(DPT__ISA_BASE));
  CHECK(dpt__cpu_isa(avx2) == DPT__ISA_AVX2);
  CHECK(dpt__cpu_isa(avx2 | avx512) == DPT__ISA_AVX512);
  CHECK(!strcmp(dpt__blas_kernels(DPT__ISA_AVX2), "Haswell"));
  CHECK(!strcmp(dpt__blas_kernels(DPT__ISA_AVX512), "SkylakeX"));
  for (unsigned bit = 1; bit <= DPT__CPU_AVX512CD; bit <<= 1) { /* every one is required */
    enum dpt__isa want = bit & avx2 ? DPT__ISA_BASE : DPT__ISA_AVX2;
    CHECK(dpt__cpu_isa((avx2 | avx512) & ~bit) == want);
  }
  CHECK(dpt__cpu_isa(avx512) == DPT__ISA_BASE);
  CHECK(dpt__cpu_isa(dpt__cpu_features()) <= DPT__ISA_AVX512);
  setenv("DPT_ISA", "avx512", 1);
  CHECK(!(dpt__cpu_features() & DPT__CPU_AVX512BF16));
  setenv("DPT_ISA", "avx2", 1);
  CHECK(dpt__cpu_isa(dpt__cpu_features()) <= DPT__ISA_AVX2);
  setenv("DPT_ISA", "sse2", 1);
  CHECK(dpt__cpu_isa(dpt__cpu_features()) == DPT__ISA_BASE);
  unsetenv("DPT_ISA");
}

/* Small integers: sums are exact in any order. */
static double number(void) { return (double)draw(&seed, 7) - 3; }

#define MOST 300
static float fa[MOST * MOST], fb[MOST * MOST], fc[MOST * MOST];
static double da[MOST * MOST], db[MOST * MOST], dc[MOST * MOST], want[MOST * MOST];

static int64_t side(void) {
  return 1 + (int64_t)draw(&seed, draw(&seed, 3) ? 40 : draw(&seed, 2) ? 100 : MOST);
}

/* c = beta * c + alpha * op(a) * op(b) by gemm, or by gemv if n is 1. */
static void product(void) {
  int m = (int)side(), k = (int)side(), vector = !draw(&seed, 4), n = vector ? 1 : (int)side();
  int ta = (int)draw(&seed, 2), tb = vector ? 0 : (int)draw(&seed, 2);
  double alpha = (double)draw(&seed, 3), beta = (double)draw(&seed, 3);
  for (int i = 0; i < m * k; i++) fa[i] = (float)(da[i] = number());
  for (int i = 0; i < k * n; i++) fb[i] = (float)(db[i] = number());
  for (int i = 0; i < m * n; i++) fc[i] = (float)(dc[i] = beta == 0 ? NAN : number());
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++)
        sum += da[ta ? l * m + i : i * k + l] * db[tb ? j * k + l : l * n + j];
      want[i * n + j] = alpha * sum + (beta == 0 ? 0 : beta * dc[i * n + j]);
    }
  int ca = ta ? DPT__TRANS : DPT__NO_TRANS, cb = tb ? DPT__TRANS : DPT__NO_TRANS;
  int lda = ta ? m : k, ldb = tb ? k : n;
  if (vector) {
    int rows = ta ? k : m, columns = ta ? m : k;
    dpt__cblas.sgemv(DPT__ROW_MAJOR, ca, rows, columns, (float)alpha, fa, lda, fb, 1, (float)beta,
                     fc, 1);
    dpt__cblas.dgemv(DPT__ROW_MAJOR, ca, rows, columns, alpha, da, lda, db, 1, beta, dc, 1);
  } else {
    dpt__cblas.sgemm(DPT__ROW_MAJOR, ca, cb, m, n, k, (float)alpha, fa, lda, fb, ldb, (float)beta,
                     fc, n);
    dpt__cblas.dgemm(DPT__ROW_MAJOR, ca, cb, m, n, k, alpha, da, lda, db, ldb, beta, dc, n);
  }
  int wrong = 0;
  for (int i = 0; i < m * n; i++) wrong += fc[i] != (float)want[i] || dc[i] != want[i];
  if (!CHECK(!wrong))
    printf("%d of %dx%dx%d wrong, ta %d tb %d alpha %g beta %g\n", wrong, m, n, k, ta, tb, alpha,
           beta);
}

/* Compares L of A = L L^T, and x of A x = b, for a matrix with a large diagonal. */
static void factors(void) {
  int n = 1 + (int)draw(&seed, 90), one = 1, info = 1, pivots[90];
  double x[90], b[90], a[90 * 90];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = i == j ? 20.0 * n : number();
  for (int i = 0; i < n; i++) b[i] = x[i] = number();
  memcpy(dc, a, sizeof *a * (size_t)(n * n));
  dpt__lapack[1].gesv(&n, &one, dc, &n, pivots, x, &n, &info);
  double off = 0, off32 = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
    off = fmax(off, fabs(sum - b[i]));
  }
  CHECK(!info && off < 1e-12 * n);
  for (int i = 0; i < n * n; i++) fa[i] = (float)a[i];
  dpt__lapack[0].potrf("L", &n, fa, &n, &info);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int l = 0; l <= j; l++) sum += (double)fa[l * n + i] * fa[l * n + j];
      off32 = fmax(off32, fabs(sum - a[i * n + j]));
    }
  CHECK(!info && off32 < 1e-5 * 20 * n);
}

int main(void) {
  seed = check_seed();
  choices();
  if (!OK(dpt__lapack_open("spec"))) return check_end();
  printf("%s\n", dpt__blas_text());
  for (int i = torture(3000); i > 0; i--) product();
  for (int i = torture(300); i > 0; i--) factors();
  return check_end();
}
