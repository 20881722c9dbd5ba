/* job.c: the groups of the job (see job.h). */
#include "distributed/job.h"

dpt__job dpt__job_own = {.size = 1, .local_size = 1, .name = "alone", .lock = DPT__MUTEX_INIT};

int dpt__job_group(const char *fn, int number, dpt__ranks **group) {
  dpt__job *job = &dpt__job_own;
  dpt__lock(&job->lock);
  *group = number >= 0 && number < job->groups ? job->group[number] : NULL;
  dpt__unlock(&job->lock);
  return *group ? 0 : dpt__fail("%s: unknown group %d", fn, number);
}

const dpt__ranks *dpt__job_find(uint64_t hash) {
  const dpt__job *job = &dpt__job_own;
  dpt__assert_held(&job->lock);
  for (int i = 0; i < job->groups; i++)
    if (job->group[i] && job->group[i]->hash == hash) return job->group[i];
  return NULL;
}
