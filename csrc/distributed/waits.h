/* waits.h: operations that wait in vain: findings, as texts.
 *
 * Invariant: a rank that has not begun an operation is missing only if it cannot begin it any more:
 * it has left, or it waits for this one.
 */
#ifndef DPT_DISTRIBUTED_WAITS_H
#define DPT_DISTRIBUTED_WAITS_H
#include "distributed/compare.h"
#include "distributed/job.h"

/* Returns 1 if rank k has begun this rank's operation. */
int dpt__waits_came(int k, const dpt__operation *own);
/* Finds a rank that has left and that this rank's operation, by its number in the record, needs. */
int dpt__waits_absent(char text[DPT__FINDING], uint64_t which, const dpt__operation *own);
/* Finds ranks of which each waits for the next and the last for this one. */
int dpt__waits_circle(char text[DPT__FINDING]);
/* When all ranks have left: finds an operation that this one has begun and another has not. */
int dpt__waits_leftover(char text[DPT__FINDING]);

#endif
