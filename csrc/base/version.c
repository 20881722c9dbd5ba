/* version.c: the version that CMakeLists.txt states. */
#include "dpt.h"

const char *dpt_version(void) { return DPT_VERSION; }
