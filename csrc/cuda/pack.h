/* pack.h: loads and stores of adjacent elements, in accesses of 16 bytes where alignment allows it.
 *
 * Invariant: a caller that passes `whole` has checked that the address is aligned to the pack's
 * size and that all its elements exist.
 */
#ifndef DPT_CUDA_PACK_H
#define DPT_CUDA_PACK_H
#include "cuda/element.h"
#include "cuda/walk.h"

enum { DPT__PACK = 4 };

template <typename T> struct alignas(DPT__PACK * sizeof(T)) dpt__pack { T v[DPT__PACK]; };

/* Returns true if packs of T may start at p; does not dereference p. */
template <typename T> static inline bool dpt__packs_at(const void *p) {
  return (uintptr_t)p % sizeof(dpt__pack<T>) == 0;
}

/* Loads n elements from `from` on; elements beyond n are `fill`. */
template <typename T>
__device__ __forceinline__ dpt__pack<T> dpt__pack_load(const T *from, int n, bool whole,
                                                       T fill = T()) {
  if (whole) return *(const dpt__pack<T> *)from;
  dpt__pack<T> pack;
  for (int i = 0; i < DPT__PACK; i++) pack.v[i] = i < n ? from[i] : fill;
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

/* Convert a pack to the type that kernels compute in, and back. */
template <typename T>
__device__ __forceinline__ dpt__pack<typename dpt__wide<T>::type>
dpt__pack_widen(const dpt__pack<T> &from) {
  dpt__pack<typename dpt__wide<T>::type> to;
  DPT_UNROLL
  for (int i = 0; i < DPT__PACK; i++) to.v[i] = dpt__load(from.v[i]);
  return to;
}
template <typename T>
__device__ __forceinline__ dpt__pack<T>
dpt__pack_narrow(const dpt__pack<typename dpt__wide<T>::type> &from) {
  dpt__pack<T> to;
  DPT_UNROLL
  for (int i = 0; i < DPT__PACK; i++) to.v[i] = dpt__store<T>::from(from.v[i]);
  return to;
}

/* Elements first to first + n - 1 of one or more vectors. */
struct dpt__pack_at {
  int64_t first;
  int n;
  bool whole;
  template <typename T> __device__ dpt__pack<T> load(const void *from) const {
    return dpt__pack_load((const T *)from + first, n, whole);
  }
  template <typename T> __device__ void store(void *to, const dpt__pack<T> &pack) const {
    dpt__pack_store((T *)to + first, pack, n, whole);
  }
};

/* Calls body(at) for each pack of `count` elements that the running thread processes. */
template <typename Body>
__device__ __forceinline__ void dpt__each_pack(int64_t count, bool packs, Body body) {
  const int64_t step = dpt__grid_threads<int64_t>() * DPT__PACK;
  for (int64_t first = dpt__thread<int64_t>() * DPT__PACK; first < count; first += step) {
    int n = count - first < DPT__PACK ? (int)(count - first) : DPT__PACK;
    body(dpt__pack_at{first, n, packs && n == DPT__PACK});
  }
}

static inline int64_t dpt__packs_of(int64_t n) { return (n + DPT__PACK - 1) / DPT__PACK; }

#endif
