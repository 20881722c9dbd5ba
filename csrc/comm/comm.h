/* comm.h: how tensors travel between devices.
 *
 * What must stay true: everything here is queued on the current streams of the devices that take
 * part and ordered by events; nothing waits on the host, host tensors excepted. Sums are taken in
 * the order of their sources. A transport gets operands that comm.c has checked: contiguous, of one
 * type, with equal counts, the n tensors of one side on one device.
 */
#ifndef DPT_COMM_COMM_H
#define DPT_COMM_COMM_H
#include "tensor/tensor.h"

/* As the functions of dpt.h: out[c * n + k] = src[k]; out[k] (+)= in[0 * n + k] + in[1 * n + k] ...
 */
typedef struct dpt__transport {
  const char *name;
  int (*available)(void); /* 0, or a sentence that says why not */
  int (*broadcast)(int64_t n, const dpt_tensor *const *src, int64_t copies, dpt_tensor *const *out);
  int (*reduce)(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in, int add);
} dpt__transport;

extern const dpt__transport dpt__transport_copy;

/* dst = sum of the sources, in their order, in the wide accumulator of dtype; with add, dst's own
 * value is the first summand. */
enum { DPT__SOURCES = 16 };
struct dpt__comm_sum_args {
  void *dst;                        /* (count) */
  const void *source[DPT__SOURCES]; /* (count) each */
  int64_t count;
  int32_t sources, dtype, add;
};

#endif
