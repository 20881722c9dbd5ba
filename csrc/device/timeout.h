/* timeout.h: the time limit of collectives and of joining ranks. */
#ifndef DPT_DEVICE_TIMEOUT_H
#define DPT_DEVICE_TIMEOUT_H
#include <stdint.h>

/* Returns the nanoseconds that a collective, or joining the ranks, may take: DPT_TIMEOUT in
 * seconds, else 600 s. A value that dpt__timeout_keep rejects counts as not set. */
int64_t dpt__timeout(void);
/* Reads and keeps the current value, in the thread that begins an operation of ranks: the watchdog
 * of ranks must not read the environment, which MPI changes concurrently (getenv and setenv at once
 * crash). */
int dpt__timeout_keep(void);

#endif
