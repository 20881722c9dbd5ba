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
__global__ void convert_kernel(dpt__walk walk, int64_t n) {
  Index count = (Index)n, threads = dpt__grid_threads<Index>();
  for (Index i = dpt__thread<Index>(); i < count; i += threads) {
    int64_t offset[2];
    dpt__offsets<Index, 2>(walk, i, offset);
    ((To *)walk.data[0])[offset[0]] =
        dpt__store<To>::from(dpt__load(((const From *)walk.data[1])[offset[1]]));
    if (count - i <= threads) break;
  }
}

template <typename T, typename Index>
__global__ void fill_kernel(dpt__walk walk, int64_t n, T value) {
  Index count = (Index)n, threads = dpt__grid_threads<Index>();
  for (Index i = dpt__thread<Index>(); i < count; i += threads) {
    int64_t offset[1];
    dpt__offsets<Index, 1>(walk, i, offset);
    ((T *)walk.data[0])[offset[0]] = value;
    if (count - i <= threads) break;
  }
}

template <typename To, typename From>
int convert_from(dpt__context *context, const dpt__walk &walk, int64_t count) {
  auto kernel =
      count <= UINT32_MAX ? convert_kernel<To, From, uint32_t> : convert_kernel<To, From, uint64_t>;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                    walk, count);
}

template <typename To> int convert_to(dpt__context *context, const dpt__walk &walk, int64_t count) {
  return dpt__of_type(walk.dtype[1], [&](auto zero) {
    return convert_from<To, decltype(zero)>(context, walk, count);
  });
}

template <typename T>
int fill_all(dpt__context *context, const dpt__walk &walk, int64_t count, T value) {
  auto kernel = count <= UINT32_MAX ? fill_kernel<T, uint32_t> : fill_kernel<T, uint64_t>;
  return DPT_LAUNCH(kernel, dpt__walk_blocks(&walk, count), dpt__walk_threads(&walk), 0, context,
                    walk, count, value);
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

int dpt__cuda_copy(dpt__context *context, int dtype, int ndim, const int64_t *size, void *to,
                   const int64_t *to_stride, const void *from, const int64_t *from_stride) {
  struct dpt__convert_args args = {};
  args.walk.noperand = 2;
  args.walk.ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    args.walk.size[d] = size[d];
    args.walk.stride[0][d] = to_stride[d];
    args.walk.stride[1][d] = from_stride[d];
  }
  args.walk.data[0] = (char *)to;
  args.walk.data[1] = (char *)from;
  args.walk.dtype[0] = args.walk.dtype[1] = dtype;
  return dpt__cuda_convert(context, &args);
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
