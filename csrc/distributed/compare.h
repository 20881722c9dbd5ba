/* compare.h: finds differences between the operations of two ranks, and describes them as text. */
#ifndef DPT_DISTRIBUTED_COMPARE_H
#define DPT_DISTRIBUTED_COMPARE_H
#include "distributed/texts.h"

enum { DPT__FINDING = 1024 };

/* Compares two ranks' operations of the same group and number. Returns 1 if they differ; text then
 * says how.
 */
int dpt__compare(char text[DPT__FINDING], int rank, const dpt__operation *own, int other,
                 const dpt__operation *its);
/* Compares a channel that both ranks have finished using. Returns 1 if this rank has begun
 * operations that the other has not, or different ones. missing: this rank's first operation that
 * the other lacks, or NULL. */
int dpt__compare_ends(char text[DPT__FINDING], int rank, const dpt__channel *mine, int other,
                      const dpt__channel *its, const dpt__operation *missing);

#endif
