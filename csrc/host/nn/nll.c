/* nll.c: losses with classes as targets: ClassNLL, MultiMargin, MultiLabelMargin.
 *
 * Invariant: one thread processes rows in order (there is little work, except for clearing a
 * gradient), with sums in double. A class out of range is an error that names it.
 */
#include "host/nn/real.h"

static int nll_bad_class(const void *target, int type, int64_t i, int64_t C) {
  char text[DPT__INDEX_TEXT];
  dpt__index_text(text, dpt__index_at(target, type, i), dpt__index_number(target, type, i));
  return dpt__fail("argument 'target' has class %s at element %lld, wanted 1 to %lld", text,
                   (long long)i + 1, (long long)C);
}

/* Returns the share of one class of one row in the loss; without rows nothing is averaged. */
static double nll_share_of(int average, int64_t N, int64_t C) {
  return 1.0 / (double)(average && N ? N * C : C);
}

#define ONLY_REALS
#define BODY "host/nn/nll.inc.c"
#include "host/all_types.inc.c"

DPT_KERNEL_OF(nll, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(multimargin, DPT__BY_STORED_REAL)
DPT_KERNEL_OF(multilabel, DPT__BY_STORED_REAL)
