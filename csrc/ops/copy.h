/* copy.h: copies between host memory and a device, for operations that start several at once. */
#ifndef DPT_OPS_COPY_H
#define DPT_OPS_COPY_H
#include "device/stream.h"
#include "tensor/tensor.h"

/* Queues a copy between host memory and a device without a staging buffer, if that is better than
 * dpt_copy: if both tensors are contiguous and of one type and, for a copy to a device, if it is
 * long enough and has no earlier work to wait for. The caller must wait for *event before it
 * returns, even after an error; event->stream is NULL if nothing was queued. */
int dpt__copy_direct(const char *fn, const dpt_tensor *to, const dpt_tensor *from,
                     dpt__event *event);

/* Resizes r and copies `made`, which shares no memory with r, to it, unless `failed` is set; frees
 * `made`. Returns the status. */
int dpt__copy_result(int failed, dpt_tensor *r, dpt_tensor *made);

#endif
