/* draws.h: the keys of the random numbers of device tensors.
 *
 * Invariant: every draw of a device has a unique number (offset) under the device's seed, in the
 * order in which a program draws, whichever module draws. So two draws never have the same words,
 * and these two numbers are all the state that is needed to repeat a draw. Element i of a draw, in
 * row-major order, is keyed by the position of its row in the whole batch.
 *
 * In a pass (dpt_pass in dpt.h) a thread's draws on its device use the state of the pass: replicas
 * draw under the seed of the first one's device and from the same offset on. A tensor with as many
 * rows as the replica has, or a multiple of that, has the words that one device would have drawn
 * for these rows; any other one draws under a seed shifted by the replica's number. (Replicas that
 * draw tensors of one size, whatever their rows, share no words either, unless weights assign a
 * later replica more rows than an earlier one: its words may then include words of the earlier one,
 * at other positions.)
 *
 * While a graph is captured, its draws are numbered from 0 and added to a state in device memory of
 * the graph. Each replay draws the same number of draws from the device's state and writes the
 * first one's seed and offset to the graph's state, in stream order.
 */
#ifndef DPT_DEVICE_DRAWS_H
#define DPT_DEVICE_DRAWS_H
#include "base/dtype.h"

/* State of a device's generator. */
typedef struct dpt__draws {
  uint64_t seed, offset;
} dpt__draws;

/* Returns the next draw of a device, for a tensor of that many rows (0: none). */
int dpt__draws_next(const char *fn, int device, int64_t rows, dpt_draw *draw);

/* Return the state of a device or, in a pass, of the pass; dpt__draws_take also advances it by
 * `count` draws. A device that was not seeded seeds itself at random. */
dpt__draws dpt__draws_get(int device);
dpt__draws dpt__draws_take(int device, uint64_t count);
/* Set the state. Setting a seed in a pass ends the pass for its device; setting a state does
 * not. */
void dpt__draws_set(int device, dpt__draws state);
void dpt__draws_seed(int device, uint64_t seed);

/* Returns random bits from the system, as many as a Lua number holds (53). */
uint64_t dpt__random_seed(void);

#endif
