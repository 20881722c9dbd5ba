/* device_list.c: parses DPT_DEVICES (see device_list.h). */
#include "device/device_list.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parses "12", up to the end of text, into *n; returns 0 if text is something else. */
static int device_list_whole_number(const char *text, int *n) {
  char *end;
  if (*text < '0' || *text > '9') return 0;
  long value = strtol(text, &end, 10);
  if (*end || value < 1 || value > DPT__MAX_DEVICES) return 0;
  *n = (int)value;
  return 1;
}

/* Parses "0,2" into units; returns 0 if text is something else. */
static int unit_list(const char *text, dpt__device_list *list) {
  for (list->count = 0; list->count < DPT__MAX_DEVICES;) {
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 3) return 0;
    list->unit[list->count++] = atoi(text);
    text += digits;
    if (!*text) return 1;
    if (*text++ != ',') return 0;
  }
  return 0;
}

int dpt__device_list_parse(const char *source, const char *text, dpt__device_list *list) {
  *list = (dpt__device_list){.source = source, .text = text};
  for (int i = 0; i < DPT__MAX_DEVICES; i++) list->unit[i] = i;
  if (!strcmp(text, "none")) return 0;
  if (!strncmp(text, "host:", 5) && device_list_whole_number(text + 5, &list->count)) return 0;
  if (!strncmp(text, "emulated:", 9) && (device_list_whole_number(text + 9, &list->count) ||
                                         (strchr(text, ',') && unit_list(text + 9, list)))) {
    list->plugin = "emulated";
    return 0;
  }
  list->plugin = "cuda";
  list->every = !strcmp(text, "cuda");
  list->count = 2;
  if (list->every || (!strncmp(text, "cuda:", 5) && unit_list(text + 5, list))) return 0;
  return dpt__fail("%s: got '%.60s', wanted host:N (N from 1 to %d), none, cuda, a list of GPUs as "
                   "in cuda:0,2, or emulated:N",
                   source, text, DPT__MAX_DEVICES);
}

int dpt__device_list_find(const char *set, dpt__device_list *list) {
  const char *variable = getenv("DPT_DEVICES");
  int has_driver = access("/dev/nvidiactl", F_OK) == 0;
  if (*set) return dpt__device_list_parse("dpt.setDevices", set, list);
  if (variable && *variable) return dpt__device_list_parse("DPT_DEVICES", variable, list);
  return dpt__device_list_parse("default", has_driver ? "cuda" : "host:2", list);
}

/* Returns the local rank that the launcher sets (Open MPI, MPICH's Hydra, Slurm); -1: this process
 * is not a rank. Slurm sets its variable in a batch script, too, which is not a task of a step. */
static int device_list_local_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"};
  const char *text = getenv("SLURM_STEP_ID") ? getenv("SLURM_LOCALID") : NULL;
  for (int i = 0; i < 2; i++)
    if (getenv(names[i])) text = getenv(names[i]);
  return text ? atoi(text) : -1;
}

void dpt__device_list_take(dpt__device_list *list, int there) {
  int rank = device_list_local_rank();
  list->count = there < DPT__MAX_DEVICES ? there : DPT__MAX_DEVICES;
  if (rank < 0 || !there) return;
  list->count = 1;
  list->unit[0] = rank % there;
}
