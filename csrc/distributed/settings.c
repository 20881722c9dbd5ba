/* settings.c: see settings.h. */
#include "distributed/settings.h"

#include "device/timeout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 4, SETTING = 128 };
typedef struct settings {
  char value[SETTINGS][SETTING];
} settings;

static const char *const SETTING_NAMES[SETTINGS] = {"the version of dpt", "the version of MPI",
                                                    "DPT_TIMEOUT",
                                                    "deterministic mode (DPT_DETERMINISTIC)"};

static void settings_own(settings *own) {
  memset(own, 0, sizeof *own);
  snprintf(own->value[0], SETTING, "%s", dpt_version());
  snprintf(own->value[1], SETTING, "%s", dpt__job_own.library);
  snprintf(own->value[2], SETTING, "%g s", (double)dpt__timeout() * 1e-9);
  snprintf(own->value[3], SETTING, "%s", dpt_deterministic_get() ? "on" : "off");
}

/* Adds "20 s on ranks 0, 2" for the ranks that have rank k's value. */
static size_t settings_add_value(char *text, size_t size, const settings *all, int setting, int k) {
  const char *value = all[k].value[setting];
  int ranks = 0;
  for (int r = k; r < dpt__job_own.size; r++) ranks += !strcmp(all[r].value[setting], value);
  size_t n =
      (size_t)snprintf(text, size, "%s%s on rank%s", k ? " and " : "", value, ranks > 1 ? "s" : "");
  for (int r = k, first = 1; r < dpt__job_own.size && n < size; r++)
    if (!strcmp(all[r].value[setting], value)) {
      n += (size_t)snprintf(text + n, size - n, "%s %d", first ? "" : ",", r);
      first = 0;
    }
  return n < size ? n : size - 1;
}

/* Fails if a setting differs between ranks, and lists its values. */
static int settings_compare_one(const settings *all, int setting) {
  char text[1024];
  size_t n = 0;
  for (int k = 0; k < dpt__job_own.size; k++) {
    int is_new = 1;
    for (int r = 0; r < k; r++) is_new &= strcmp(all[r].value[setting], all[k].value[setting]) != 0;
    if (is_new) n += settings_add_value(text + n, sizeof text - n, all, setting, k);
  }
  for (int k = 1; k < dpt__job_own.size; k++)
    if (strcmp(all[k].value[setting], all[0].value[setting]))
      return dpt__fail("distributed: %s is %s: all ranks need the same", SETTING_NAMES[setting],
                       text);
  return 0;
}

int dpt__settings_compare(void) {
  dpt__job *job = &dpt__job_own;
  dpt__ranks *world;
  settings own, *all = calloc((size_t)job->size, sizeof *all);
  if (!all) return dpt__no_memory("distributed: no host memory for the ranks' settings");
  settings_own(&own);
  int status = dpt__job_group("distributed", 0, &world) ||
               job->engine->all_gather(world->joined, &own, all, sizeof own);
  for (int i = 0; i < SETTINGS && !status; i++) status = settings_compare_one(all, i);
  free(all);
  return status;
}
