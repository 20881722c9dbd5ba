/* timeout.h: how long dpt waits for others before it reports that they do not come. */
#ifndef DPT_DEVICE_TIMEOUT_H
#define DPT_DEVICE_TIMEOUT_H
#include <stdint.h>

/* Nanoseconds that a collective, a rendezvous or joining the ranks may take: DPT_TIMEOUT in
 * seconds, or 600 s. What is no positive number counts as not set. */
int64_t dpt__timeout(void);

#endif
