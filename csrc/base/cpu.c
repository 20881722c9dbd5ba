/* cpu.c: the CPU's instruction sets (cpu.h). */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The compiler's builtins read cpuid and xgetbv once, when the process starts. */
#ifdef __x86_64__
#define HAS(name, bit) (__builtin_cpu_supports(name) ? (unsigned)(bit) : 0)
#define INIT() __builtin_cpu_init()
#else
#define HAS(name, bit) 0u
#define INIT() ((void)0)
#endif

unsigned dpt__cpu_features(void) {
  const char *limit = getenv("DPT_ISA");
  INIT();
  unsigned all = HAS("avx2", DPT__CPU_AVX2) | HAS("fma", DPT__CPU_FMA) |
                 HAS("avx512f", DPT__CPU_AVX512F) | HAS("avx512bw", DPT__CPU_AVX512BW) |
                 HAS("avx512dq", DPT__CPU_AVX512DQ) | HAS("avx512vl", DPT__CPU_AVX512VL) |
                 HAS("avx512cd", DPT__CPU_AVX512CD) | HAS("avx512bf16", DPT__CPU_AVX512BF16);
  if (limit && !strcmp(limit, "sse2")) return 0;
  if (limit && !strcmp(limit, "avx512")) return all & ~(unsigned)DPT__CPU_AVX512BF16;
  return limit && !strcmp(limit, "avx2") ? all & (DPT__CPU_AVX2 | DPT__CPU_FMA) : all;
}

enum dpt__isa dpt__cpu_isa(unsigned features) {
  const unsigned avx2 = DPT__CPU_AVX2 | DPT__CPU_FMA;
  const unsigned avx512 = avx2 | DPT__CPU_AVX512F | DPT__CPU_AVX512BW | DPT__CPU_AVX512DQ |
                          DPT__CPU_AVX512VL | DPT__CPU_AVX512CD;
  if ((features & avx512) == avx512) return DPT__ISA_AVX512;
  return (features & avx2) == avx2 ? DPT__ISA_AVX2 : DPT__ISA_BASE;
}

/* Returns the features, determined once. */
static unsigned known_features(void) {
  static atomic_uint known; /* plus 1; 0: not determined yet */
  unsigned features = atomic_load_explicit(&known, memory_order_relaxed);
  if (!features) {
    features = dpt__cpu_features() + 1;
    atomic_store_explicit(&known, features, memory_order_relaxed);
  }
  return features - 1;
}

enum dpt__isa dpt__isa(void) { return dpt__cpu_isa(known_features()); }

int dpt__cpu_has_bf16(void) {
  return dpt__isa() == DPT__ISA_AVX512 && known_features() & DPT__CPU_AVX512BF16;
}
