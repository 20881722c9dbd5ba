/* fail.c: the error message of each thread. */
#include "image/fail.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char fail_message[512];

int dpt_image__fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(fail_message, sizeof fail_message, format, list);
  va_end(list);
  return 1;
}

const char *dpt_image_message(void) { return fail_message; }
