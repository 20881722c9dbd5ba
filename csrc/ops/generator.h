/* generator.h: the generator of host tensors inside the library.
 *
 * What must stay true: the numbers for a seed are those of Torch7: MT19937, reals from 32 bits,
 * normals by Box and Muller with the second one kept.
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

uint32_t dpt__draw(dpt_generator *g);
double dpt__draw_uniform(dpt_generator *g); /* [0, 1) */
double dpt__draw_normal(dpt_generator *g);

#endif
