/* one_type.inc.c: one type of all_types.inc.c: includes BODY and undefines T and SUFFIX. */
#include BODY
#undef T
#undef SUFFIX
