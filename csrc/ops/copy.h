/* copy.h: copies between host memory and a device, for operations that start several at once. */
#ifndef DPT_OPS_COPY_H
#define DPT_OPS_COPY_H
#include "device/stream.h"
#include "tensor/tensor.h"

/* Queues a copy between host memory and a device, without a buffer between them, where that is
 * better than dpt_copy: both contiguous and of one type and, towards the device, long enough and
 * with nothing to wait for. *event is then what the caller has to wait for before it returns, also
 * after an error; event->stream is NULL where nothing was queued. */
int dpt__copy_straight(const char *fn, const dpt_tensor *to, const dpt_tensor *from,
                       dpt__event *event);

/* r becomes a copy of `made`, a result that lies apart from r, unless failed; `made` is freed.
 * Returns the status. */
int dpt__copy_made(int failed, dpt_tensor *r, dpt_tensor *made);

#endif
