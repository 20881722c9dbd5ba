/* texts.h: properties of each operation of ranks (collectives.def), and operations as text. */
#ifndef DPT_DISTRIBUTED_TEXTS_H
#define DPT_DISTRIBUTED_TEXTS_H
#include "device/collectives.h"
#include "distributed/record.h"

enum { DPT__RANKS_MAKE_GROUP = DPT_RANKS_ALL_TO_ALL + 1, DPT__RANKS_JOIN_DEVICES };

enum dpt__parts {
  DPT__NONE,
  DPT__PART,
  DPT__WHOLE,     /* a part for each rank */
  DPT__ROOT_WHOLE /* on the root; nothing elsewhere */
};

typedef struct dpt__collective_kind {
  const char *name;
  int8_t has_root, in, out, reduces, is_message, device; /* as in collectives.def */
} dpt__collective_kind;

const dpt__collective_kind *dpt__kind_of(const dpt__signature *signature);
/* Returns the name of an operation, such as "allReduce" for DPT_RANKS_ALL_REDUCE; "?" if
 * unknown. */
const char *dpt__collective_name(uint32_t what);
/* Returns 1 for a send, receive or exchange, which have no number in a group's order. */
int dpt__is_message(const dpt__signature *signature);

/* Formats a signature: "allReduce of 12 Float elements (sum)". */
const char *dpt__signature_text(char text[160], const dpt__signature *signature);
/* Formats an operation, with its purpose: "allReduce of 12 Float elements (sum), gradients, bucket
 * 1". */
enum { DPT__OPERATION_TEXT = 160 + DPT__RECORD_NAME };
const char *dpt__operation_text(char text[DPT__OPERATION_TEXT], const dpt__operation *operation);

#endif
