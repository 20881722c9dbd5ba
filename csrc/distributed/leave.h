/* leave.h: the end of a rank. */
#ifndef DPT_DISTRIBUTED_LEAVE_H
#define DPT_DISTRIBUTED_LEAVE_H
#include "distributed/job.h"

/* Sets this rank's state; does not return if another thread has failed it, and ends it. */
void dpt__set_state(int state);
/* For the end of the process, with that exit status. */
void dpt__leave(int status);

#endif
