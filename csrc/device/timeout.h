/* timeout.h: how long dpt waits for others before it reports that they do not come. */
#ifndef DPT_DEVICE_TIMEOUT_H
#define DPT_DEVICE_TIMEOUT_H
#include <stdint.h>

/* Nanoseconds that a collective, or joining the ranks, may take: DPT_TIMEOUT in seconds, else 600
 * s. What dpt__timeout_keep rejects counts as not set. */
int64_t dpt__timeout(void);
/* What it is now is kept, by the thread that begins an operation of ranks: the watchdog of ranks
 * may not look at the environment, which MPI changes beside it (getenv beside setenv crashes). */
int dpt__timeout_keep(void);

#endif
