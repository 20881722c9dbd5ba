/* plugin.c: finds and loads a backend's library (see plugin.h). */
#define _GNU_SOURCE
#include "device/plugin.h"

#include "base/lock.h"
#include "device/counter.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int dpt__plugin_fail(const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return dpt__fail("%s", text);
}

static const dpt__services services = {dpt__plugin_fail, dpt_message, dpt__poll, &dpt__host};

void *dpt__plugin_open(const char *name) {
  Dl_info info;
  char path[4096];
  if (dladdr((const void *)&services, &info) && info.dli_fname) {
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    int n = snprintf(path, sizeof path, "%.*slibdpt_%s.so", folder, info.dli_fname, name);
    /* a library that exists but does not load must not be hidden by another one */
    if (n < (int)sizeof path && access(path, F_OK) == 0)
      return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  snprintf(path, sizeof path, "libdpt_%s.so", name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static int plugin_load(const char *name, const dpt__backend **backend) {
  void *library = dpt__plugin_open(name);
  if (!library) return dpt__fail("dpt's plugin for it cannot be loaded: %s", dlerror());
  dpt__plugin_fn *get;
  *(void **)&get = dlsym(library, "dpt_backend");
  if (!get) return dpt__fail("libdpt_%s.so has no dpt_backend: %s", name, dlerror());
  *backend = get(DPT__BACKEND_ABI, &services);
  if (!*backend) return 1;
  if ((*backend)->abi != DPT__BACKEND_ABI)
    return dpt__fail("libdpt_%s.so is from another version of dpt (interface %d, wanted %d)", name,
                     (*backend)->abi, DPT__BACKEND_ABI);
  return 0;
}

/* Loads each plugin once: a plugin fills its table on every call, while threads read it. */
int dpt__plugin_load(const char *name, const dpt__backend **backend) {
  static dpt__mutex lock = DPT__MUTEX_INIT;
  static const dpt__backend *loaded[2];
  const dpt__backend **at = &loaded[!strcmp(name, "emulated")], *found = NULL;
  dpt__lock(&lock);
  int status = *at ? 0 : plugin_load(name, &found);
  if (!status && found) *at = found;
  *backend = *at;
  dpt__unlock(&lock);
  return status;
}
