/* waits.h: finds operations that wait in vain (deadlocks), and describes them as text.
 *
 * Invariant: a rank that has not begun an operation counts as missing only if it can no longer
 * begin it: it has left, or it waits for this rank.
 */
#ifndef DPT_DISTRIBUTED_WAITS_H
#define DPT_DISTRIBUTED_WAITS_H
#include "distributed/compare.h"
#include "distributed/job.h"

/* Returns 1 if rank k has begun this rank's operation. */
int dpt__waits_has_begun(int k, const dpt__operation *own);
/* Finds a rank that has left although this rank's operation needs it. which: the operation's number
 * in the record. */
int dpt__waits_absent(char text[DPT__FINDING], uint64_t which, const dpt__operation *own);
/* Finds a cycle of ranks, each of which waits for the next and the last for this one. */
int dpt__waits_find_cycle(char text[DPT__FINDING]);
/* Finds an operation that this rank has begun and another has not. Called after all ranks have
 * left. */
int dpt__waits_find_unmatched(char text[DPT__FINDING]);

#endif
