/* rows_avx512.c: rows for AVX-512 (F, BW, DQ, VL). */
#include "host/floats_avx512.h"
#define ISA avx512
#define ISA_NAME "avx512"
#define BYTES 64
#define F32_LANES 16
#define F64_LANES 8
#define SLEEF(function, type, lanes, accuracy) SLEEF_(function, type, lanes, accuracy)
#define SLEEF_(function, type, lanes, accuracy) Sleef_##function##type##lanes##_##accuracy##avx512f
#define FLOAT_EXP dpt__exp16
#define FLOAT_TANH dpt__tanh16
#include "host/rows.inc.c"
