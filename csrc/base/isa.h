/* isa.h: compiles a hot function for several instruction sets; the loader selects one.
 *
 * Invariant: all clones return the same bits: none of them may contract to fused multiply-add.
 * Sanitizer builds have one version, because their runtimes start after the loader's selection.
 */
#ifndef DPT_BASE_ISA_H
#define DPT_BASE_ISA_H

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DPT__CLONES __attribute__((target_clones("default", "avx2")))
#else
#define DPT__CLONES
#endif

#endif
