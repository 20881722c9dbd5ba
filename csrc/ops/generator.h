/* generator.h: the generator of host tensors inside the library.
 *
 * Invariant: the numbers for a seed are those of Torch7: MT19937, reals from 32 bits, normals by
 * Box and Muller with the second one kept.
 */
#ifndef DPT_OPS_GENERATOR_H
#define DPT_OPS_GENERATOR_H
#include "base/status.h"

enum { DPT__MT_WORDS = 624 };

struct dpt_generator {
  uint64_t seed;
  uint32_t words[DPT__MT_WORDS];
  int32_t used;         /* words given out since the last refill */
  int32_t kept;         /* whether a second normal number waits */
  double angle, radius; /* of the pair that it belongs to: angle in turns */
};

/* A state of a generator goes into a ByteTensor, and comes from one. */
int dpt__state_put(dpt_tensor *r, const void *state, size_t size);
int dpt__state_take(const dpt_tensor *from, void *state, size_t size);

/* Leave to draw from a generator: an effect of the thread, which nothing takes back. */
typedef struct dpt__drawer {
  dpt_generator *g;
} dpt__drawer;
dpt__drawer dpt__draw_from(dpt_generator *g);

uint32_t dpt__draw(dpt__drawer from);
void dpt__draw_words(dpt__drawer from, uint32_t *words, int64_t n); /* the next n of them */
double dpt__draw_uniform(dpt__drawer from);                         /* [0, 1) */
double dpt__draw_normal(dpt__drawer from);

/* The next n <= DPT__MT_NORMALS normal numbers to within some 2^-50 of dpt__draw_normal's, many
 * times as fast, for elements of fewer digits. The state afterwards is the same to the bit. */
enum { DPT__MT_NORMALS = 512 };
void dpt__draw_normals(dpt__drawer from, double *numbers, int64_t n);

#endif
