/* compare.h: differences between what two ranks did: findings, as texts. */
#ifndef DPT_DISTRIBUTED_COMPARE_H
#define DPT_DISTRIBUTED_COMPARE_H
#include "distributed/texts.h"

enum { DPT__FINDING = 1024 };

/* Compares two ranks' operations of the same group and number; 1: they differ, and text says how.
 */
int dpt__compare(char text[DPT__FINDING], int rank, const dpt__operation *own, int other,
                 const dpt__operation *its);
/* Compares a channel that both have finished with; 1: this rank has begun operations in it that the
 * other has not, or others than it. own: this rank's first operation that is missing, or NULL. */
int dpt__compare_ends(char text[DPT__FINDING], int rank, const dpt__channel *mine, int other,
                      const dpt__channel *its, const dpt__operation *missing);

#endif
