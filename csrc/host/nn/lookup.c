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

enum { BLOCK = 64 }; /* columns that are summed at once */

/* Links the occurrences of each index: sets the next one for each of n, and then the first one for
 * each of V rows; -1: none. */
static void lookup_link(const void *idx, int type, int64_t n, int64_t V, int64_t *next) {
  int64_t *first = next + n;
  for (int64_t row = 0; row < V; row++) first[row] = -1;
  for (int64_t i = n - 1; i >= 0; i--) {
    int64_t *at = &first[dpt__index_at(idx, type, i) - 1];
    next[i] = *at;
    *at = i;
  }
}

#define ONLY_REALS
#define BODY "host/nn/lookup.inc.c"
#include "host/all_types.inc.c"

DPT_KERNEL_OF(lookup, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(lookup_backward, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(lookup_renorm, DPT__BY_STORED_REAL)
