/* leave.h: the end of a rank. */
#ifndef DPT_DISTRIBUTED_LEAVE_H
#define DPT_DISTRIBUTED_LEAVE_H
#include "distributed/job.h"

/* Sets this rank's state. Does not return if another thread has set FAILED and is ending this
 * rank. */
void dpt__set_state(int state);
/* Leaves the job at the end of the process, which has that exit status. */
void dpt__leave(int status);

#endif
