/* draws.h: what the random numbers of device tensors are keyed by.
 *
 * Invariant: every draw of a device has a number (offset) of its own under the device's seed, in
 * the order in which a program draws, whichever module draws; so two draws never have the same
 * words, and nothing but these two numbers has to be kept to draw the same again. Element i of a
 * draw, in row-major order, goes by the position of its row in the whole batch.
 *
 * In a pass (dpt_pass in dpt.h) a thread's draws on its device go by those of the pass: replicas
 * draw under the seed of the first one's device and from the same offset on. A tensor whose rows
 * are the replica's, or as many for each of them, has the words that one device would have drawn
 * for these rows; any other one draws under the seed moved by the replica's number. (Replicas that
 * draw tensors of one size, whatever their rows, share no words either, unless weights move a later
 * replica more rows than an earlier one: its words may then be some of that one's, elsewhere.)
 *
 * While a graph is captured its draws are numbered from 0, and added to what stands in a little
 * memory of the graph; each replay takes as many of the device's numbers and writes there, in
 * order, where they begin.
 */
#ifndef DPT_DEVICE_DRAWS_H
#define DPT_DEVICE_DRAWS_H
#include "base/dtype.h"

/* What a device's numbers go on from. */
typedef struct dpt__draws {
  uint64_t seed, offset;
} dpt__draws;

/* The next draw of a device, for a tensor of so many rows (0: it has none). */
int dpt__draws_next(const char *fn, int device, int64_t rows, dpt_draw *draw);

/* The state of a device, in a pass the pass's; the second moves it on by `count` draws. A device
 * that nobody seeded seeds itself at random. */
dpt__draws dpt__draws_get(int device);
dpt__draws dpt__draws_take(int device, uint64_t count);
/* Sets it. A seed that is set in a pass ends the pass for its device; a state does not. */
void dpt__draws_set(int device, dpt__draws state);
void dpt__draws_seed(int device, uint64_t seed);

/* 64 random bits from the system, as many as a Lua number holds. */
uint64_t dpt__random_seed(void);

#endif
