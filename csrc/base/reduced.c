/* reduced.c: converts rows of a reduced type to float and back. */
#include "base/reduced.h"
#include "base/isa.h"

/* The loops of each type, vectorized for each instruction set. */
#define X(id, type, suffix, ...)                                                                   \
  DPT__CLONES                                                                                      \
  static void reduced_widen_##suffix(int64_t n, float *restrict to, const void *restrict from) {   \
    const type *x = from;                                                                          \
    for (int64_t i = 0; i < n; i++) to[i] = dpt__##suffix##_to_float(x[i]);                        \
  }
DPT_REDUCED_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  DPT__CLONES                                                                                      \
  static void reduced_narrow_##suffix(int64_t n, void *restrict to, const float *restrict from) {  \
    type *r = to;                                                                                  \
    for (int64_t i = 0; i < n; i++) r[i] = dpt__##suffix##_from_float(from[i]);                    \
  }
DPT_REDUCED_DTYPES(X)
#undef X

void dpt__reduced_widen(int dtype, int64_t n, float *to, const void *from) {
  static void (*const widen[])(int64_t, float *,
                               const void *) = {DPT__REDUCED(DPT__ENTRY, reduced_widen)};
  widen[dtype](n, to, from);
}

void dpt__reduced_narrow(int dtype, int64_t n, void *to, const float *from) {
  static void (*const narrow[])(int64_t, void *,
                                const float *) = {DPT__REDUCED(DPT__ENTRY, reduced_narrow)};
  narrow[dtype](n, to, from);
}
