/* leave.c: the end of a rank: its states, and the conclusions that other ranks draw from them.
 *
 *   state     | set when                                  | others conclude
 *   ----------|-------------------------------------------|-------------------------------------
 *   STARTING  | the record is made                        | nothing: it is connecting
 *   RUNNING   | all ranks are connected                   | nothing: it may begin operations,
 *             |                                           | even after its script has ended, from
 *             |                                           | work queued on its devices
 *   FAILED    | it ends the job (dpt__abort_job)          | the job ends, with its message
 *   LEAVING   | its script has ended, and all its queued  | it begins no more operations: ranks
 *             | work is done                              | that wait for it wait in vain
 *   LEFT      | all ranks are leaving                     | the operations that ranks have begun
 *             |                                           | are final, and must be the same
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

/* Runs before the end of the process waits for kernels and unloads MPI's libraries. All ranks wait
 * for each other on a separate communicator, where this barrier cannot match one of a script. */
void dpt__leave(int status) {
  dpt__job *job = &dpt__job_own;
  if (status) dpt__abort_job("rank %d has ended with status %d", job->rank, status);
  dpt__event_wait_keep_error(dpt__event_last(job->stream));
  dpt__set_state(DPT__RANK_LEAVING);
  job->engine->barrier(job->leaving);
  dpt__set_state(DPT__RANK_LEFT);
  dpt__watch_close();
  job->engine->finish();
  dpt__watch_end();
  dpt__record_remove(job->name, job->rank);
}
