/* system.c: clocks, files and folders, the environment: functions missing in Lua's own library.
 *
 * Invariant: a returned text belongs to the calling thread and is valid until the same thread calls
 * a function that returns a text again; nothing here uses tensors or devices.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/status.h"
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double system_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double dpt_clock(void) { return system_seconds(CLOCK_MONOTONIC); }

double dpt_epoch(void) { return system_seconds(CLOCK_REALTIME); }

void dpt_sleep(double time) {
  struct timespec left = {(time_t)time, (long)(1e9 * (time - (double)(time_t)time))};
  while (time > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

void dpt_cpu_time(double *user, double *system) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  *user = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
  *system = (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

/* Returns the number of processes on this host that one launcher started together
 * (distributed/world.h), at least 1. */
static int system_ranks_here(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                      "SLURM_STEP_TASKS_PER_NODE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && atoi(text) > 1) return atoi(text);
  }
  return 1;
}

int dpt_cores(void) {
  cpu_set_t own, above;
  if (sched_getaffinity(0, sizeof own, &own) != 0) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
  }
  int n = CPU_COUNT(&own);
  if (sched_getaffinity(getppid(), sizeof above, &above) == 0 && CPU_EQUAL(&own, &above))
    n /= system_ranks_here(); /* the launcher has not bound them to separate cores */
  return n > 0 ? n : 1;
}

int dpt_terminal(int descriptor) {
  struct winsize size;
  if (!isatty(descriptor)) return 0;
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int dpt_path_kind(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return 0;
  return S_ISDIR(status.st_mode) ? 2 : 1;
}

/* The last text returned to this thread; it is not freed when the thread ends. */
static _Thread_local char *text;

static char *system_keep(char *fresh) {
  free(text);
  return text = fresh;
}

const char *dpt_folder_list(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    dpt__fail("dir: cannot read directory '%s': %s", path, strerror(errno));
    return NULL;
  }
  size_t used = 0, capacity = 256;
  char *names = malloc(capacity);
  for (struct dirent *entry; names && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    if (used + length + 2 > capacity) {
      capacity = 2 * capacity + length;
      char *larger = realloc(names, capacity);
      if (!larger) free(names);
      names = larger;
      if (!names) break;
    }
    memcpy(names + used, entry->d_name, length);
    used += length;
    names[used++] = '/';
  }
  closedir(folder);
  if (!names) {
    dpt__no_memory("dir: no host memory for the names in directory '%s'", path);
    return NULL;
  }
  names[used] = 0;
  return system_keep(names);
}

int dpt_folder_make(const char *path) {
  if (mkdir(path, 0777) == 0) return 0;
  return dpt__fail("mkdir: cannot create directory '%s': %s", path, strerror(errno));
}

int dpt_folder_remove(const char *path) {
  if (rmdir(path) == 0) return 0;
  return dpt__fail("rmdir: cannot remove directory '%s': %s", path, strerror(errno));
}

const char *dpt_cwd(void) {
  char *path = getcwd(NULL, 0);
  if (!path) dpt__fail("cwd: cannot get the current directory: %s", strerror(errno));
  return path ? system_keep(path) : NULL;
}

int dpt_setenv(const char *name, const char *value) {
  if ((value ? setenv(name, value, 1) : unsetenv(name)) == 0) return 0;
  return dpt__fail("setenv: cannot set '%s': %s", name, strerror(errno));
}
