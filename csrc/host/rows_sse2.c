/* rows_sse2.c: rows for every x86-64. */
#define ISA sse2
#define ISA_NAME "sse2"
#define BYTES 16
#define F32_LANES 4
#define F64_LANES 2
#define SLEEF(function, type, lanes, accuracy) SLEEF_(function, type, lanes, accuracy)
#define SLEEF_(function, type, lanes, accuracy) Sleef_##function##type##lanes##_##accuracy##sse2
#include "host/rows.inc.c"
