// resize.c: Torch7's bilinear formulas in plain C, one thread, for `scripts/bench image`.
//
// Invariant: rows are resized before columns; reducing takes the mean of the source pixels covered,
// enlarging is linear between two. Arguments: planes, rows, columns, rows and columns of the
// result, rounds.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void line(const float* in, int n, int step, float* out, int m, int out_step) {
  if (m > n) {
    float ratio = (float)(n - 1) / (float)(m - 1);
    for (int i = 0; i < m - 1; i++) {
      float at = (float)i * ratio;
      int k = (int)at;
      float part = at - (float)k;
      out[i * out_step] = (1 - part) * in[k * step] + part * in[(k + 1) * step];
    }
    out[(m - 1) * out_step] = in[(n - 1) * step];
    return;
  }
  float ratio = (float)n / (float)m;
  for (int i = 0; i < m; i++) {
    float from = (float)i * ratio, to = (float)(i + 1) * ratio, sum = 0, weights = 0;
    for (int k = (int)from; k < n && (float)k < to; k++) {
      float low = (float)k > from ? (float)k : from;
      float high = (float)(k + 1) < to ? (float)(k + 1) : to;
      sum += (high - low) * in[k * step];
      weights += high - low;
    }
    out[i * out_step] = sum / weights;
  }
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  int planes = atoi(argv[1]), rows = atoi(argv[2]), columns = atoi(argv[3]);
  int h = atoi(argv[4]), w = atoi(argv[5]), rounds = atoi(argv[6]);
  float* in = malloc(sizeof *in * (size_t)planes * (size_t)rows * (size_t)columns);
  float* middle = malloc(sizeof *in * (size_t)rows * (size_t)w);
  float* out = malloc(sizeof *in * (size_t)planes * (size_t)h * (size_t)w);
  for (int i = 0; i < planes * rows * columns; i++) in[i] = (float)(i % 251) / 251;
  double best = 1e9;
  for (int round = 0; round < rounds; round++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int p = 0; p < planes; p++) {
      for (int y = 0; y < rows; y++)
        line(in + ((size_t)p * (size_t)rows + (size_t)y) * (size_t)columns, columns, 1,
             middle + (size_t)y * (size_t)w, w, 1);
      for (int x = 0; x < w; x++)
        line(middle + x, rows, w, out + (size_t)p * (size_t)h * (size_t)w + x, h, w);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    double took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    if (took < best) best = took;
  }
  printf("%.9f %g\n", best, (double)out[0]);
  return 0;
}
