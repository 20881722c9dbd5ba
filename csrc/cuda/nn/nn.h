/* nn.h: shared by the layer kernels: choice of types, and positions in planes.
 *
 * Invariant: a kernel's element types are float and double, and reduced types if kernels.def says
 * so (nn/call.c converts the others). Kernels load reduced types as floats and round once. Index is
 * int32_t if every number that a kernel computes with it is below 2^31.
 */
#ifndef DPT_CUDA_NN_NN_H
#define DPT_CUDA_NN_NN_H
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "nn/kernels.h"
}

/* Calls f(an index), or f(a float or double, an index), and returns its status. most: an upper
 * bound of all indices; an int32_t is passed if it can hold `most` plus the threads of a block. */
template <typename F> int dpt__of_index(int64_t most, F f) {
  return most < INT32_MAX - 1024 ? f(int32_t()) : f(int64_t());
}
template <typename F> int dpt__of_real_index(int type, int64_t most, F f) {
  return dpt__of_real(type, [&](auto zero) {
    return dpt__of_index(most, [&](auto index) { return f(zero, index); });
  });
}
template <typename F> int dpt__of_stored_real_index(int type, int64_t most, F f) {
  return dpt__of_stored_real(type, [&](auto zero) {
    return dpt__of_index(most, [&](auto index) { return f(zero, index); });
  });
}
/* Calls f(an element, an element of the type of parameters, which is the same or a float). */
template <typename F> int dpt__of_types(int type, int param_type, F f) {
  return dpt__of_stored_real(type, [&](auto zero) {
    typename dpt__wide<decltype(zero)>::type wide = 0;
    return param_type == type ? f(zero, zero) : f(zero, wide);
  });
}

/* The plane of element i, and its position in three dimensions. */
template <typename Index> struct dpt__plane_index { Index plane, at[3]; };
template <typename Index>
__device__ __forceinline__ dpt__plane_index<Index> dpt__plane_index_of(Index i,
                                                                       const int64_t *size) {
  dpt__plane_index<Index> index;
  Index row = i / (Index)size[2];
  index.at[2] = i - row * (Index)size[2];
  Index slice = row / (Index)size[1];
  index.at[1] = row - slice * (Index)size[1];
  index.plane = size[0] == 1 ? slice : slice / (Index)size[0];
  index.at[0] = slice - index.plane * (Index)size[0];
  return index;
}

#endif
