/* cpu.h: instruction sets that the CPU has and the operating system enables.
 *
 * Invariant: all code that is selected by instruction set uses these functions, and never the CPU's
 * name: a CPU newer than dpt would match no name.
 */
#ifndef DPT_BASE_CPU_H
#define DPT_BASE_CPU_H

enum {
  DPT__CPU_AVX2 = 1,
  DPT__CPU_FMA = 2,
  DPT__CPU_AVX512F = 4,
  DPT__CPU_AVX512BW = 8,
  DPT__CPU_AVX512DQ = 16,
  DPT__CPU_AVX512VL = 32,
  DPT__CPU_AVX512CD = 64,
  DPT__CPU_AVX512BF16 = 128
};

/* The instruction sets that dpt has code for; each includes those before it. BASE: the minimum of
 * the architecture, SSE2 on x86-64 and Advanced SIMD on ARM64, where there is no other. */
enum dpt__isa { DPT__ISA_BASE, DPT__ISA_AVX2, DPT__ISA_AVX512 };

/* Returns bits of DPT__CPU_*: cpuid reports the feature, and xgetbv that its registers are saved.
 * DPT_ISA=avx512, avx2 or sse2 in the environment masks wider features: avx512 those of BF16. */
unsigned dpt__cpu_features(void);

/* Returns the widest set that the features allow. AVX2 requires FMA as well; AVX-512 requires AVX2,
 * FMA and all DPT__CPU_AVX512 bits. */
enum dpt__isa dpt__cpu_isa(unsigned features);

/* Returns the set of this machine, determined once. */
enum dpt__isa dpt__isa(void);

/* Returns true if this machine multiplies bfloat16 (AVX-512 BF16), determined once. */
int dpt__cpu_has_bf16(void);

/* Selects the table compiled for this machine's set. */
#ifdef __x86_64__
#define DPT__BY_ISA(base, avx2, avx512)                                                            \
  (dpt__isa() == DPT__ISA_AVX512 ? (avx512) : dpt__isa() == DPT__ISA_AVX2 ? (avx2) : (base))
#else
#define DPT__BY_ISA(base, avx2, avx512) (base)
#endif

#endif
