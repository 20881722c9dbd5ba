/* watchdog.h: one thread of each rank that monitors the job, so that nothing hangs.
 *
 * Invariant: only the watchdog ends the job, except for errors that a thread of this rank meets
 * itself (dpt__abort_job). All ranks end, each with one message; a message that another rank of
 * this host has printed is not repeated.
 */
#ifndef DPT_DISTRIBUTED_WATCHDOG_H
#define DPT_DISTRIBUTED_WATCHDOG_H
#include "distributed/job.h"

int dpt__watch_begin(void);
/* Closes the job after all ranks have left: ends the news between hosts, and aborts the job if
 * ranks have not run the same operations. After this the thread ends. */
void dpt__watch_close(void);
void dpt__watch_end(void);
/* Ends this rank with a message, after notifying the others. */
void dpt__abort_job(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn, cold));
/* Ends the job if another rank of this host is in a different operation. */
void dpt__watch_compare(const dpt__ranks *group, const dpt__operation *own);
/* Waits after a failure of the engine until the watchdog has had time to find the cause. */
void dpt__watch_await_diagnosis(void);

#endif
