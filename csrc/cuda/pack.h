/* pack.h: a few neighbouring elements at once, in accesses of 16 bytes where addresses allow it.
 *
 * Invariant: whoever passes `whole` has seen that the address is a multiple of the pack's size and
 * that all its elements exist.
 */
#ifndef DPT_CUDA_PACK_H
#define DPT_CUDA_PACK_H
#include "cuda/cuda.h"

enum { DPT__PACK = 4 };

template <typename T> struct alignas(DPT__PACK * sizeof(T)) dpt__pack { T v[DPT__PACK]; };

/* Whether packs of T may start at p; NULL is not read. */
template <typename T> static inline bool dpt__packs_at(const void *p) {
  return (uintptr_t)p % sizeof(dpt__pack<T>) == 0;
}

/* n elements from `from` on; those beyond n become 0. */
template <typename T>
__device__ __forceinline__ dpt__pack<T> dpt__pack_load(const T *from, int n, bool whole) {
  if (whole) return *(const dpt__pack<T> *)from;
  dpt__pack<T> pack;
  for (int i = 0; i < DPT__PACK; i++) pack.v[i] = i < n ? from[i] : T();
  return pack;
}
template <typename T>
__device__ __forceinline__ void dpt__pack_store(T *to, const dpt__pack<T> &pack, int n,
                                                bool whole) {
  if (whole) {
    *(dpt__pack<T> *)to = pack;
    return;
  }
  for (int i = 0; i < DPT__PACK; i++)
    if (i < n) to[i] = pack.v[i];
}

#endif
