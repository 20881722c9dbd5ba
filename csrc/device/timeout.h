/* timeout.h: how long dpt waits for others before it reports that they do not come. */
#ifndef DPT_DEVICE_TIMEOUT_H
#define DPT_DEVICE_TIMEOUT_H
#include <stdint.h>

/* Nanoseconds that a collective, or joining the ranks, may take: DPT_TIMEOUT in seconds, else 600
 * s. What dpt__timeout_check rejects counts as not set. */
int64_t dpt__timeout(void);
int dpt__timeout_check(void);

#endif
