/* strips.h: layer kernels of reduced types, by their kernels of floats.
 *
 * Invariant: the operands are converted to floats a strip at a time, so that the floats stay in the
 * cache and each element is read and written once, in 16 bits. A kernel's results do not depend on
 * how its units are split (host/nn/real.h), so they are those of whole floats, rounded once.
 */
#ifndef DPT_HOST_NN_STRIPS_H
#define DPT_HOST_NN_STRIPS_H
#include "host/kernels.h"

#include <stddef.h>

enum dpt__strip_use { DPT__STRIP_IN, DPT__STRIP_OUT, DPT__STRIP_UPDATE };

/* An operand, whose pointer may be NULL: (outer, units, inner) elements, of which a strip has
 * (outer, some units, inner). Operands that are not of a reduced type are used in place; their
 * outer is 1. */
typedef struct dpt__strip_operand {
  size_t field; /* offset of the pointer among the arguments */
  int dtype;
  enum dpt__strip_use use;
  int64_t outer, inner;
} dpt__strip_operand;
#define DPT__STRIP(a, field, dtype, use, outer, inner)                                             \
  { (size_t)((const char *)&(a)->field - (const char *)(a)), dtype, use, outer, inner }
#define DPT__READS(a, field, outer, inner)                                                         \
  DPT__STRIP(a, field, (a)->type, DPT__STRIP_IN, outer, inner)
#define DPT__WRITES(a, field, outer, inner)                                                        \
  DPT__STRIP(a, field, (a)->type, DPT__STRIP_OUT, outer, inner)

typedef struct dpt__strips {
  dpt__kernel_fn *kernel; /* takes floats */
  const void *args;
  size_t size;
  const int64_t *units; /* their number, among args */
  int n;
  const dpt__strip_operand *operands;
  int in_turn; /* true: all threads compute one strip, larger than a thread's, after the other */
} dpt__strips;

/* Runs a kernel whose arguments begin with their type, strip by strip. */
int dpt__host_in_strips(dpt__context *context, const dpt__strips *s);

/* Describes kernel `name` with arguments `a`, whose field `count` is the number of units. */
#define DPT__STRIPS(name, a, count, operands, in_turn)                                             \
  (const dpt__strips) {                                                                            \
    dpt__host_##name, (a), sizeof *(a), &(a)->count, sizeof(operands) / sizeof *(operands),        \
        (operands), (in_turn)                                                                      \
  }

/* Defines the kernel NAME over planes from `in` to `out` or, if `backward`, from `out` to `in`;
 * insize and outsize: the fields with their sizes. */
#define DPT__SIDE(a, field, writes, size)                                                          \
  DPT__STRIP(a, field, a->type, (writes) ? DPT__STRIP_OUT : DPT__STRIP_IN, 1, dpt__volume(a->size))
#define DPT__SIDES(name, insize, outsize)                                                          \
  static int name##_strips(dpt__context *context, const struct dpt__##name##_args *a) {            \
    const dpt__strip_operand operands[] = {DPT__SIDE(a, in, a->backward, insize),                  \
                                           DPT__SIDE(a, out, !a->backward, outsize)};              \
    return dpt__host_in_strips(context, &DPT__STRIPS(name, a, planes, operands, 0));               \
  }                                                                                                \
  DPT_STORED_KERNEL(name)

#endif
