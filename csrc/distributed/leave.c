/* leave.c: the end of a rank: its states, and the conclusions that others draw from them.
 *
 *   state     | set when                                  | others conclude
 *   ----------|-------------------------------------------|-------------------------------------
 *   STARTING  | the record is made                        | nothing: it connects
 *   RUNNING   | all ranks are connected                   | nothing: it may begin operations,
 *             |                                           | also when its script has ended, from
 *             |                                           | what is queued on its devices
 *   FAILED    | it ends the job (dpt__abort_job)          | the job ends, with its message
 *   LEAVING   | its script has ended, and all that it has | it begins nothing any more: who
 *             | queued is done                            | waits for it waits in vain
 *   LEFT      | all ranks are leaving                     | what ranks have begun is final, and
 *             |                                           | has to be the same
 */
#include "distributed/leave.h"

#include "distributed/watchdog.h"

#include <unistd.h>

void dpt__set_state(int next) {
  _Atomic int32_t *state = &dpt__job_own.record->state;
  int32_t now = atomic_load(state);
  while (now != DPT__RANK_FAILED)
    if (atomic_compare_exchange_weak(state, &now, next)) return;
  for (;;) pause();
}

/* Before the end of the process waits for kernels and destroys MPI's libraries. All wait for each
 * other by a communicator of its own, where no barrier of a script can be met. */
void dpt__leave(int status) {
  dpt__job *job = &dpt__job_own;
  if (status) dpt__abort_job("rank %d has ended with status %d", job->rank, status);
  dpt__event_wait_quietly(dpt__event_last(job->stream));
  dpt__set_state(DPT__RANK_LEAVING);
  job->engine->barrier(job->leaving);
  dpt__set_state(DPT__RANK_LEFT);
  dpt__watch_close();
  job->engine->finish();
  dpt__watch_end();
  dpt__record_remove(job->name, job->rank);
}
