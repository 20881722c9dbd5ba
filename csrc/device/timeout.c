/* timeout.c: see timeout.h. */
#include "device/timeout.h"

#include <stdlib.h>

int64_t dpt__timeout(void) {
  const char *text = getenv("DPT_TIMEOUT");
  double seconds = text ? strtod(text, NULL) : 0;
  if (!(seconds > 0) || seconds > 1e6) seconds = 600;
  return (int64_t)(seconds * 1e9);
}
