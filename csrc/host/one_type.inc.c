/* one_type.inc.c: one of all_types.inc.c's: reads BODY, and T and SUFFIX are free for the next. */
#include BODY
#undef T
#undef SUFFIX
