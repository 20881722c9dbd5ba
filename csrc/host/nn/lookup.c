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

/* An index: the position of its next occurrence, or -1; true if there is an earlier one. */
struct occurrence {
  int64_t next;
  int later;
};

/* Links the occurrences of each index. list: n entries, and temporary memory of V. */
static void lookup_link(const void *idx, int type, int64_t n, int64_t V, struct occurrence *list) {
  struct occurrence *last = list + n; /* of each row: `next` is its latest position */
  for (int64_t row = 0; row < V; row++) last[row].next = -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t *latest = &last[dpt__index_at(idx, type, i) - 1].next;
    list[i] = (struct occurrence){-1, *latest >= 0};
    if (*latest >= 0) list[*latest].next = i;
    *latest = i;
  }
}

#define ONLY_REALS
#define BODY "host/nn/lookup.inc.c"
#include "host/all_types.inc.c"

DPT_KERNEL_OF(lookup, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(lookup_backward, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(lookup_renorm, DPT__BY_STORED_REAL)
