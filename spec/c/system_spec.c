/* system_spec.c: clocks, folders, the environment. */
#undef NDEBUG
#include "dpt.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  double before = dpt_clock(), user, system;
  assert(dpt_clock() >= before && dpt_epoch() > 1.7e9);
  dpt_cpu_time(&user, &system);
  assert(user >= 0 && system >= 0 && dpt_cores() >= 1);

  char folder[] = "/tmp/dpt_system_XXXXXX", path[100];
  assert(mkdtemp(folder));
  assert(dpt_path_kind(folder) == 2 && dpt_path_kind("/nonexistent") == 0);
  for (int i = 0; i < 40; i++) { /* more names than the first buffer holds */
    snprintf(path, sizeof path, "%s/a rather long name %d", folder, i);
    assert(dpt_folder_make(path) == 0);
  }
  const char *names = dpt_folder_list(folder);
  assert(names && strstr(names, "a rather long name 39/") && strlen(names) > 256);
  for (int i = 0; i < 40; i++) {
    snprintf(path, sizeof path, "%s/a rather long name %d", folder, i);
    assert(dpt_folder_remove(path) == 0);
  }
  assert(strcmp(dpt_folder_list(folder), "./../") == 0 ||
         strcmp(dpt_folder_list(folder), ".././") == 0);
  assert(dpt_folder_make(folder) != 0 && strstr(dpt_message(), folder));
  assert(dpt_folder_remove(folder) == 0 && dpt_folder_remove(folder) != 0);
  assert(dpt_folder_list(folder) == NULL && strstr(dpt_message(), folder));
  assert(dpt_cwd()[0] == '/');

  assert(dpt_setenv("DPT_SYSTEM_SPEC", "x") == 0 && strcmp(getenv("DPT_SYSTEM_SPEC"), "x") == 0);
  assert(dpt_setenv("DPT_SYSTEM_SPEC", NULL) == 0 && !getenv("DPT_SYSTEM_SPEC"));
  assert(dpt_setenv("a=b", "x") != 0);
  assert(strstr(dpt_libraries(), "oneDNN 2."));
  return 0;
}
