/* plugin.h: parts of dpt in separate libraries: backends, and the engine of ranks
 * (distributed/engine.h).
 *
 * Invariant: a plugin is loaded when its part is first used, never unloaded, and exports one
 * symbol, which is dpt_backend for a backend. It calls libdpt only through dpt__services, so that
 * libdpt needs none of the libraries that the plugin needs.
 */
#ifndef DPT_DEVICE_PLUGIN_H
#define DPT_DEVICE_PLUGIN_H
#include "device/backend.h"

/* Functions of libdpt that a plugin may call. */
typedef struct dpt__services {
  int (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* returns 1 */
  const char *(*message)(void); /* this thread's last error message */
  int (*poll)(int (*query)(void *data, int *done), void *data, int *done); /* dpt__poll */
  const dpt__backend *host; /* kernels that an emulated device borrows */
} dpt__services;

/* Returns the backend, or NULL and an error message in dpt_message(). */
typedef const dpt__backend *dpt__plugin_fn(int abi, const dpt__services *services);

/* Opens libdpt_NAME.so in libdpt.so's folder or in the system's search path; NULL: dlerror() has
 * the reason. */
void *dpt__plugin_open(const char *name);
/* Implements dpt__services.fail. */
int dpt__plugin_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* name: "cuda" or "emulated", of lib/libdpt_NAME.so. */
int dpt__plugin_load(const char *name, const dpt__backend **backend);

#endif
