/* generator.h: the generator of host tensors, inside the library.
 *
 * Invariant: a seed gives the numbers of Torch7: MT19937, reals from 32 bits, normals by Box and
 * Muller, where the second number of a pair is kept for the next call.
 */
#ifndef DPT_OPS_GENERATOR_H
#define DPT_OPS_GENERATOR_H
#include "base/status.h"

enum { DPT__MT_WORDS = 624 };

struct dpt_generator {
  uint64_t seed;
  uint32_t words[DPT__MT_WORDS];
  int32_t used;         /* words used since the last refill */
  int32_t kept;         /* 1 if the second normal number of a pair is pending */
  double angle, radius; /* the pending pair; the angle is in turns */
};

/* Writes a generator's state to a ByteTensor, or reads it from one. */
int dpt__state_put(dpt_tensor *r, const void *state, size_t size);
int dpt__state_take(const dpt_tensor *from, void *state, size_t size);

/* Permission to draw from a generator. Drawing is an effect of the thread that cannot be undone
 * (dpt__effect). */
typedef struct dpt__drawer {
  dpt_generator *g;
} dpt__drawer;
dpt__drawer dpt__draw_from(dpt_generator *g);

uint32_t dpt__draw(dpt__drawer from);
void dpt__draw_words(dpt__drawer from, uint32_t *words, int64_t n); /* the next n words */
double dpt__draw_uniform(dpt__drawer from);                         /* [0, 1) */
double dpt__draw_normal(dpt__drawer from);

/* Draws the next n <= DPT__MT_NORMALS normal numbers, to within about 2^-50 of dpt__draw_normal's
 * and many times as fast, for element types of lower precision. The state afterwards is the same to
 * the bit. */
enum { DPT__MT_NORMALS = 512 };
void dpt__draw_normals(dpt__drawer from, double *numbers, int64_t n);

#endif
