/* rows_avx2.c: rows for AVX2 with FMA (Haswell and later). */
#include "host/floats_avx2.h"
#define ISA avx2
#define ISA_NAME "avx2"
#define BYTES 32
#define F32_LANES 8
#define F64_LANES 4
#define SLEEF(function, type, lanes, accuracy) SLEEF_(function, type, lanes, accuracy)
#define SLEEF_(function, type, lanes, accuracy) Sleef_##function##type##lanes##_##accuracy##avx2
#define FLOAT_EXP dpt__exp8
#include "host/rows.inc.c"
