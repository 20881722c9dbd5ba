/* runs.h: the arguments of the kernel that sums over devices.
 *
 * Invariant: plain data; how much of it is queued depends on the number of runs.
 */
#ifndef DPT_COMM_RUNS_H
#define DPT_COMM_RUNS_H
#include "base/dtype.h"

/* Sums of runs of elements, in the order of the sources, in the wide accumulator of dtype. A run is
 * 2 + sources words: its count, where the sum goes (which may be one of the sources), the sources.
 */
enum { DPT__SOURCES = 32, DPT__SUM_WORDS = 1024 };
typedef union dpt__word {
  int64_t count;
  void *sum;
  const void *source;
} dpt__word;
struct dpt__comm_sum_args {
  int32_t sources, dtype;
  int64_t runs;
  dpt__word word[DPT__SUM_WORDS]; /* (runs, 2 + sources): only these are queued */
};

#endif
