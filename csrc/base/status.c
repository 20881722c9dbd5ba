/* status.c: the thread-local error message (see status.h). */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];
static _Thread_local int no_memory;
_Thread_local struct dpt__local dpt__local;

const char *dpt_message(void) { return message; }
const uint32_t *dpt_effects(void) { return &dpt__local.effects; }
int dpt_may_retry(uint32_t before) { return no_memory && dpt__local.effects == before; }

#define SAY()                                                                                      \
  va_list args;                                                                                    \
  va_start(args, format);                                                                          \
  vsnprintf(message, sizeof message, format, args), va_end(args)

void dpt__set_message(const char *format, ...) {
  SAY();
  no_memory = 0;
}

void dpt__set_no_memory_message(const char *format, ...) {
  SAY();
  no_memory = 1;
}

void dpt__prepend_message(const char *format, ...) {
  char old[sizeof message];
  memcpy(old, message, sizeof old);
  SAY();
  size_t n = strlen(message), left = sizeof message - n;
  snprintf(message + n, left, ": %.*s", (int)left, old);
}
