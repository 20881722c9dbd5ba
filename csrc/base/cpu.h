/* cpu.h: which instruction sets the CPU has, and the operating system lets programs use.
 *
 * Invariant: whatever picks code by instruction set asks here, and never looks at the CPU's name:
 * one that is younger than dpt has the right name for nobody.
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
  DPT__CPU_AVX512CD = 64
};

/* The sets that dpt has code for; each contains those before it. BASE: what every CPU of the
 * architecture has: SSE2 on x86-64, Advanced SIMD on ARM64, where there is no other. */
enum dpt__isa { DPT__ISA_BASE, DPT__ISA_AVX2, DPT__ISA_AVX512 };

/* Bits of DPT__CPU_*: cpuid says that the CPU has it, xgetbv that its registers are saved. The
 * environment's DPT_ISA=avx2 or sse2 leaves out what is wider. */
unsigned dpt__cpu_features(void);

/* The widest set that such features allow: AVX2 with FMA; AVX-512 with all of its bits above. */
enum dpt__isa dpt__cpu_isa(unsigned features);

/* That of this machine, looked up once. */
enum dpt__isa dpt__isa(void);

/* Which of the tables that are compiled for each set this machine takes. */
#ifdef __x86_64__
#define DPT__BY_ISA(base, avx2, avx512)                                                            \
  (dpt__isa() == DPT__ISA_AVX512 ? (avx512) : dpt__isa() == DPT__ISA_AVX2 ? (avx2) : (base))
#else
#define DPT__BY_ISA(base, avx2, avx512) (base)
#endif

#endif
