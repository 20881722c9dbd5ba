/* flip.c: reverses elements along one dimension.
 *
 * Invariant: elements are moved as bytes of some width and not interpreted.
 */
#include "image/fail.h"
#include "image/team.h"

#include <string.h>

#define FLIP_ROW(T)                                                                                \
  for (int64_t x = 0; x < n; x++) ((T *)out)[x] = ((const T *)in)[n - 1 - x]

static void flip_row(const char *in, char *out, int bytes, int64_t n) {
  if (bytes == 1)
    FLIP_ROW(uint8_t);
  else if (bytes == 2)
    FLIP_ROW(uint16_t);
  else if (bytes == 4)
    FLIP_ROW(uint32_t);
  else
    FLIP_ROW(uint64_t);
}

int dpt_image_flip(const void *in, void *out, int bytes, int64_t outer, int64_t n, int64_t inner,
                   int threads) {
  const int64_t row = inner * bytes;
  const int team = dpt_image__team(threads, outer * n * inner / 4);
#pragma omp parallel for num_threads(team)
  for (int64_t i = 0; i < outer; i++) {
    const char *from = (const char *)in + i * n * row;
    char *to = (char *)out + i * n * row;
    if (inner == 1)
      flip_row(from, to, bytes, n);
    else
      for (int64_t k = 0; k < n; k++) memcpy(to + (n - 1 - k) * row, from + k * row, (size_t)row);
  }
  return 0;
}
