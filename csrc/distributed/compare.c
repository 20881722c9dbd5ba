/* compare.c: see compare.h. */
#include "distributed/compare.h"

#include <stdio.h>
#include <string.h>

int dpt__compare(char text[DPT__FINDING], int rank, const dpt__operation *own, int other,
                 const dpt__operation *its) {
  char a[DPT__OPERATION_TEXT], b[DPT__OPERATION_TEXT];
  unsigned long long number = own->number;
  if (memcmp(&own->signature, &its->signature, sizeof own->signature))
    snprintf(text, DPT__FINDING,
             "operation %llu is not the same on all ranks: %s on rank %d, %s on rank %d", number,
             dpt__operation_text(a, own), rank, dpt__operation_text(b, its), other);
  else if (own->chain != its->chain)
    snprintf(text, DPT__FINDING,
             "ranks %d and %d have called different operations before operation %llu, %s (`dpt "
             "flight` may show which)",
             rank, other, number, dpt__operation_text(a, own));
  else
    return 0;
  return 1;
}

int dpt__compare_ends(char text[DPT__FINDING], int rank, const dpt__channel *mine, int other,
                      const dpt__channel *its, const dpt__operation *missing) {
  char what[DPT__OPERATION_TEXT];
  unsigned long long number = its->number + 1;
  int pair = dpt__is_pair(mine->key);
  if (mine->number > its->number && pair)
    snprintf(text, DPT__FINDING,
             "rank %d has ended its script without the %s rank %d %s (message %llu)", other,
             dpt__pair_from(mine->key) == rank ? "receive of what" : "send that", rank,
             dpt__pair_from(mine->key) == rank ? "has sent" : "has received", number);
  else if (mine->number > its->number)
    snprintf(text, DPT__FINDING,
             "rank %d has ended its script without %s, which rank %d has called (operation %llu)",
             other, missing ? dpt__operation_text(what, missing) : "an operation of a group", rank,
             number);
  else if (mine->number == its->number && mine->chain != its->chain && pair)
    snprintf(text, DPT__FINDING,
             "messages from rank %d to rank %d were received with different tags",
             dpt__pair_from(mine->key), dpt__pair_to(mine->key));
  else if (mine->number == its->number && mine->chain != its->chain)
    snprintf(text, DPT__FINDING,
             "ranks %d and %d have called different operations up to operation %llu of a group "
             "(`dpt flight` may show which)",
             rank, other, (unsigned long long)mine->number);
  else
    return 0;
  return 1;
}
