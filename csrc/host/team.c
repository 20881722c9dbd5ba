/* team.c: see team.h. Each thread that begins regions knows the others of its last one; those that
 * a smaller region has ended are forgotten.
 */
#define _GNU_SOURCE
#include "host/team.h"

#ifdef _OPENMP
#include <omp.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

struct dpt__team {
  int n, moved; /* how many threads; whether one is bound */
  struct {
    pid_t id; /* 0: not known */
    int cpu;  /* where it was in the last region */
    int is_moved;
    cpu_set_t allowed; /* where it might run before */
  } of[MOST];
};

static _Thread_local dpt__team team;

/* Lets thread i run on the processors in `free` alone. */
static void team_move(int i, const cpu_set_t *free) {
  pid_t id = team.of[i].id;
  cpu_set_t *allowed = &team.of[i].allowed, set;
  if (sched_getaffinity(id, sizeof *allowed, allowed)) return;
  CPU_AND(&set, allowed, free);
  if (CPU_COUNT(&set) && !sched_setaffinity(id, sizeof set, &set))
    team.moved = team.of[i].is_moved = 1;
}

dpt__team *dpt__team_begin(int n) {
  if (n > MOST) n = MOST;
  for (int i = team.n; i < n; i++) team.of[i].id = 0;
  team.n = n;
  team.of[0].cpu = sched_getcpu();
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++)
      if (team.of[i].id && team.of[i].cpu == team.of[j].cpu) {
        cpu_set_t free;
        memset(&free, 0xff, sizeof free);
        for (int k = 0; k < n; k++)
          if ((k == 0 || team.of[k].id) && team.of[k].cpu >= 0) CPU_CLR(team.of[k].cpu, &free);
        team_move(i, &free);
        break;
      }
  return &team;
}

void dpt__team_here(dpt__team *region) {
  int i = omp_get_thread_num();
  if (i == 0 || i >= region->n) return;
  region->of[i].id = gettid();
  region->of[i].cpu = sched_getcpu();
}

void dpt__team_end(dpt__team *region) {
  if (!region->moved) return;
  region->moved = 0;
  for (int i = 1; i < region->n; i++)
    if (region->of[i].is_moved) {
      region->of[i].is_moved = 0;
      sched_setaffinity(region->of[i].id, sizeof region->of[i].allowed, &region->of[i].allowed);
    }
}

#else
#include <stddef.h>

dpt__team *dpt__team_begin(int n) { return NULL; }
void dpt__team_here(dpt__team *team) {}
void dpt__team_end(dpt__team *team) {}
#endif
