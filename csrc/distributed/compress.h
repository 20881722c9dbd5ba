/* compress.h: reductions over ranks whose elements are sent in 16 bits each. */
#ifndef DPT_DISTRIBUTED_COMPRESS_H
#define DPT_DISTRIBUTED_COMPRESS_H
#include "distributed/job.h"

/* Returns 1 if a reduction's elements are sent in 16 bits. */
int dpt__is_compressed(const dpt__signature *signature);
/* All-reduces `count` elements of the signature's type in place. */
int dpt__compressed_all_reduce(const dpt__ranks *group, const dpt__signature *signature, void *data,
                               int64_t count);

#endif
