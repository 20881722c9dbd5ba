/* version.c: the version set by CMakeLists.txt. */
#include "dpt.h"

const char *dpt_version(void) { return DPT_VERSION; }
