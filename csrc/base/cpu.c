/* cpu.c: the CPU's instruction sets (cpu.h). */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

/* The compiler's builtins read cpuid and xgetbv once, when the process starts. */
#define HAS(name, bit) (__builtin_cpu_supports(name) ? (unsigned)(bit) : 0)

unsigned dpt__cpu_features(void) {
  const char *limit = getenv("DPT_ISA");
  __builtin_cpu_init();
  unsigned all = HAS("avx2", DPT__CPU_AVX2) | HAS("fma", DPT__CPU_FMA) |
                 HAS("avx512f", DPT__CPU_AVX512F) | HAS("avx512bw", DPT__CPU_AVX512BW) |
                 HAS("avx512dq", DPT__CPU_AVX512DQ) | HAS("avx512vl", DPT__CPU_AVX512VL) |
                 HAS("avx512cd", DPT__CPU_AVX512CD);
  if (limit && !strcmp(limit, "sse2")) return 0;
  return limit && !strcmp(limit, "avx2") ? all & (DPT__CPU_AVX2 | DPT__CPU_FMA) : all;
}

enum dpt__isa dpt__cpu_isa(unsigned features) {
  const unsigned avx2 = DPT__CPU_AVX2 | DPT__CPU_FMA;
  const unsigned avx512 = avx2 | DPT__CPU_AVX512F | DPT__CPU_AVX512BW | DPT__CPU_AVX512DQ |
                          DPT__CPU_AVX512VL | DPT__CPU_AVX512CD;
  if ((features & avx512) == avx512) return DPT__ISA_AVX512;
  return (features & avx2) == avx2 ? DPT__ISA_AVX2 : DPT__ISA_SSE2;
}
