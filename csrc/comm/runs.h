/* runs.h: the arguments of the kernel that sums over devices.
 *
 * Invariant: plain data; only the part that the runs use is queued.
 */
#ifndef DPT_COMM_RUNS_H
#define DPT_COMM_RUNS_H
#include "base/dtype.h"

/* Sums runs of elements, in the order of the sources, in the wide accumulator of dtype. A run is
 * 2 + sources words: its count, the address of the sum (which may be one of the sources), the
 * sources. */
enum { DPT__SOURCES = 32, DPT__SUM_WORDS = 1024 };
typedef union dpt__word {
  int64_t count;
  void *sum;
  const void *source;
} dpt__word;
struct dpt__comm_sum_args {
  int32_t sources, dtype;
  int64_t runs;
  dpt__word word[DPT__SUM_WORDS]; /* (runs, 2 + sources): only this part is queued */
};

#endif
