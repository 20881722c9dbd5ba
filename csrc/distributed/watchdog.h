/* watchdog.h: one thread of each rank looks after the job, so that nothing hangs.
 *
 * Invariant: it alone decides that the job ends, but for what a thread of this rank has met itself
 * (dpt__abort_job). All ranks end, each with one message; what another rank of this host has said
 * is not said again.
 */
#ifndef DPT_DISTRIBUTED_WATCHDOG_H
#define DPT_DISTRIBUTED_WATCHDOG_H
#include "distributed/job.h"

int dpt__watch_begin(void);
/* For ranks that all have left: ends the news between hosts, and the job if ranks have not done the
 * same; then the thread ends. */
void dpt__watch_close(void);
void dpt__watch_end(void);
/* Ends this rank with a message, after it has let the others know. */
void dpt__abort_job(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn, cold));
/* Ends the job if another rank of this host is in another operation than this. */
void dpt__watch_compare(const dpt__ranks *group, const dpt__operation *own);
/* After the engine has failed: waits as long as the watchdog needs to find out why, if it can. */
void dpt__watch_let_explain(void);

#endif
