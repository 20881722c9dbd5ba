/* plugin.h: parts of dpt that live in libraries of their own: backends, and the engine of ranks
 * (distributed/engine.h).
 *
 * Invariant: a plugin is loaded when its part is first used, never unloaded, and exports one
 * symbol, that of a backend being dpt_backend. It sees libdpt through dpt__services alone, so that
 * libdpt needs none of the libraries that the plugin needs.
 */
#ifndef DPT_DEVICE_PLUGIN_H
#define DPT_DEVICE_PLUGIN_H
#include "device/backend.h"

/* What a plugin's code may call of libdpt. */
typedef struct dpt__services {
  int (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2))); /* is 1 */
  const char *(*message)(void); /* this thread's last error message */
  const dpt__backend *host;     /* kernels that an emulated device borrows */
} dpt__services;

/* The backend, or NULL and an error message in dpt_message(). */
typedef const dpt__backend *dpt__plugin_fn(int abi, const dpt__services *services);

/* libdpt_NAME.so beside libdpt.so, or where the system looks; NULL: dlerror() says why not. */
void *dpt__plugin_open(const char *name);
/* What plugins call as `fail`. */
int dpt__plugin_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* name: "cuda" or "emulated", of lib/libdpt_NAME.so. */
int dpt__plugin_load(const char *name, const dpt__backend **backend);

#endif
