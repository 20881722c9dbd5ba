/* lookup.c: rows of a table by index, and their gradients.
 *
 * Invariant: all indices are checked before anything is written.
 */
#include "host/nn/real.h"

static int lookup_check(const void *idx, int type, int64_t n, int64_t V) {
  for (int64_t i = 0; i < n; i++) {
    int64_t row = dpt__index_at(idx, type, i);
    if (row >= 1 && row <= V) continue;
    char text[DPT__INDEX_TEXT];
    dpt__index_text(text, row, dpt__index_number(idx, type, i));
    return dpt__fail("argument 'indices' has %s at element %lld, wanted 1 to %lld", text,
                     (long long)i + 1, (long long)V);
  }
  return 0;
}

#define DPT_ROWS "host/nn/lookup.inc.c"
#include "host/each_real.h"

DPT_REAL_KERNEL(lookup)
DPT_REAL_KERNEL(lookup_backward)
DPT_REAL_KERNEL(lookup_renorm)
