/* rows_base.c: rows for every CPU of the architecture: SSE2 on x86-64, Advanced SIMD on ARM64. */
#define ISA base
#ifdef __x86_64__
#define ISA_NAME "sse2"
#define SLEEF_ISA sse2
#else
#define ISA_NAME "advsimd"
#define SLEEF_ISA advsimd
#endif
#define BYTES 16
#define STRIDED
#define F32_LANES 4
#define F64_LANES 2
#define SLEEF(function, type, lanes, accuracy) SLEEF_(function, type, lanes, accuracy, SLEEF_ISA)
#define SLEEF_(...) SLEEF__(__VA_ARGS__)
#define SLEEF__(function, type, lanes, accuracy, isa)                                              \
  Sleef_##function##type##lanes##_##accuracy##isa
#include "host/rows.inc.c"
