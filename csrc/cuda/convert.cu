/* convert.cu: copies with conversion, and filling.
 *
 * Invariant: a copy between equal types moves bits by their width, whatever they mean.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/map.h"
}

namespace {

/* Threads take elements in turns, so that neighbours are neighbours. */
template <typename To, typename From, typename Index>
__global__ void convert_kernel(dpt__walk walk, Index count) {
  Index threads = (Index)gridDim.x * blockDim.x;
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    int64_t place[2];
    dpt__offsets<Index, 2>(walk, i, place);
    ((To *)walk.data[0])[place[0]] =
        dpt__store<To>::from(dpt__load(((const From *)walk.data[1])[place[1]]));
    if (count - i <= threads) break;
  }
}

template <typename T, typename Index>
__global__ void fill_kernel(dpt__walk walk, Index count, T value) {
  Index threads = (Index)gridDim.x * blockDim.x;
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    int64_t place[1];
    dpt__offsets<Index, 1>(walk, i, place);
    ((T *)walk.data[0])[place[0]] = value;
    if (count - i <= threads) break;
  }
}

template <typename To, typename From>
int convert_from(dpt__context *context, const dpt__walk &walk, int64_t count) {
  if (count <= UINT32_MAX) {
    auto kernel = convert_kernel<To, From, uint32_t>;
    return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                      walk, (uint32_t)count);
  }
  auto kernel = convert_kernel<To, From, uint64_t>;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                    walk, (uint64_t)count);
}

template <typename To> int convert_to(dpt__context *context, const dpt__walk &walk, int64_t count) {
  return dpt__of_type(walk.dtype[1], [&](auto zero) {
    return convert_from<To, decltype(zero)>(context, walk, count);
  });
}

template <typename T>
int fill_all(dpt__context *context, const dpt__walk &walk, int64_t count, T value) {
  if (count <= UINT32_MAX) {
    auto kernel = fill_kernel<T, uint32_t>;
    return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                      walk, (uint32_t)count, value);
  }
  auto kernel = fill_kernel<T, uint64_t>;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                    walk, (uint64_t)count, value);
}

int move(dpt__context *context, const dpt__walk &walk, int64_t count, size_t width) {
  if (context->measures) return 0;
  if (dpt__walk_is_dense(&walk)) {
    DPT__CUDA(cudaMemcpyAsync(walk.data[0], walk.data[1], (size_t)count * width, cudaMemcpyDefault,
                              dpt__native_stream_of(context)->stream));
    return 0;
  }
  return dpt__of_width((int)width, [&](auto zero) {
    return convert_from<decltype(zero), decltype(zero)>(context, walk, count);
  });
}

} // namespace

int dpt__cuda_convert(dpt__context *context, const void *args) {
  const dpt__walk &walk = ((const struct dpt__convert_args *)args)->walk;
  int64_t count = dpt__walk_count(&walk);
  if (!count) return 0;
  return dpt__of_type(walk.dtype[0], [&](auto zero) {
    if (walk.dtype[0] == walk.dtype[1]) return move(context, walk, count, sizeof zero);
    return convert_to<decltype(zero)>(context, walk, count);
  });
}

int dpt__cuda_fill(dpt__context *context, const void *args) {
  const struct dpt__fill_args *a = (const struct dpt__fill_args *)args;
  int64_t count = dpt__walk_count(&a->walk);
  if (!count) return 0;
  int dtype = a->walk.dtype[0];
  return dpt__of_width(dpt__width_of(dtype), [&](auto zero) {
    return fill_all(context, a->walk, count, dpt__bits_of_number<decltype(zero)>(dtype, a->value));
  });
}
