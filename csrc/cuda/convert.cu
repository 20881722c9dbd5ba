/* convert.cu: copies with conversion, and fills.
 *
 * Invariant: a copy between equal types moves the elements' bits unchanged, without interpreting
 * them.
 */
#include "cuda/cells.h"
extern "C" {
#include "ops/map.h"
}

namespace {

template <typename To, typename From, int n, int width>
__global__ void convert_kernel(dpt__cells<2> cells) {
  enum { CELLS = n / width };
  const uint32_t threads = blockDim.x, step = gridDim.x * threads * CELLS;
  for (uint32_t first = blockIdx.x * threads * CELLS + threadIdx.x; first < cells.count;
       first += step) {
    dpt__cell_at<2> at[CELLS];
    dpt__cell<From, width> in[CELLS];
    DPT_UNROLL
    for (int c = 0; c < CELLS; c++) {
      at[c] = cells.at<width>(first + c * threads);
      in[c] = cells.load<width>(1, at[c], From());
    }
    DPT_UNROLL
    for (int c = 0; c < CELLS; c++) {
      dpt__cell<To, width> out;
      DPT_UNROLL
      for (int i = 0; i < width; i++) out.v[i] = dpt__store<To>::from(dpt__load(in[c].v[i]));
      cells.store(at[c], out);
    }
  }
}

template <typename T, int width> __global__ void fill_kernel(dpt__cells<1> cells, T value) {
  const uint32_t step = dpt__grid_threads<uint32_t>();
  dpt__cell<T, width> cell;
  DPT_UNROLL
  for (int i = 0; i < width; i++) cell.v[i] = value;
  for (uint32_t c = dpt__thread<uint32_t>(); c < cells.count; c += step)
    cells.store(cells.at<width>(c), cell);
}

template <typename To, typename From>
int convert_from(dpt__context *context, const dpt__walk &all) {
  constexpr size_t BYTES = sizeof(To) > sizeof(From) ? sizeof(To) : sizeof(From);
  constexpr int N = dpt__per_thread<BYTES>, WIDTH = dpt__per_cell<BYTES>;
  return dpt__each_part(all, [&](const dpt__walk &walk) {
    int width = dpt__cells_fit(walk, WIDTH) ? WIDTH : 1;
    auto cells = dpt__cells_of<2>(walk, width);
    auto wide = convert_kernel<To, From, N, WIDTH>;
    auto narrow = convert_kernel<To, From, N, 1>;
    auto kernel = width > 1 ? wide : narrow;
    return DPT_LAUNCH(kernel, dpt__cells_blocks(walk, cells, N / width), dpt__walk_threads(&walk),
                      0, context, cells);
  });
}

template <typename To> int convert_to(dpt__context *context, const dpt__walk &walk) {
  return dpt__of_type(walk.dtype[1],
                      [&](auto zero) { return convert_from<To, decltype(zero)>(context, walk); });
}

template <typename T> int fill_all(dpt__context *context, const dpt__walk &all, T value) {
  constexpr int WIDTH = dpt__per_cell<sizeof(T)>;
  return dpt__each_part(all, [&](const dpt__walk &walk) {
    int width = dpt__cells_fit(walk, WIDTH) ? WIDTH : 1;
    auto cells = dpt__cells_of<1>(walk, width);
    auto kernel = width > 1 ? fill_kernel<T, WIDTH> : fill_kernel<T, 1>;
    return DPT_LAUNCH(kernel, dpt__cells_blocks(walk, cells, 1), dpt__walk_threads(&walk), 0,
                      context, cells, value);
  });
}

int move(dpt__context *context, const dpt__walk &walk, int64_t count, size_t width) {
  if (context->measures) return 0;
  if (dpt__walk_is_dense(&walk)) {
    DPT__CUDA(cudaMemcpyAsync(walk.data[0], walk.data[1], (size_t)count * width, cudaMemcpyDefault,
                              dpt__native_stream_of(context)->stream));
    return 0;
  }
  return dpt__of_width((int)width, [&](auto zero) {
    return convert_from<decltype(zero), decltype(zero)>(context, walk);
  });
}

} // namespace

int dpt__cuda_convert(dpt__context *context, const void *args) {
  const dpt__walk &walk = ((const struct dpt__convert_args *)args)->walk;
  int64_t count = dpt__walk_count(&walk);
  if (!count) return 0;
  return dpt__of_type(walk.dtype[0], [&](auto zero) {
    if (walk.dtype[0] == walk.dtype[1]) return move(context, walk, count, sizeof zero);
    return convert_to<decltype(zero)>(context, walk);
  });
}

int dpt__cuda_copy(dpt__context *context, int ndim, const int64_t *size, int to_type, void *to,
                   const int64_t *to_stride, int from_type, const void *from,
                   const int64_t *from_stride) {
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
  args.walk.dtype[0] = to_type;
  args.walk.dtype[1] = from_type;
  return dpt__cuda_convert(context, &args);
}

int dpt__cuda_fill(dpt__context *context, const void *args) {
  const struct dpt__fill_args *a = (const struct dpt__fill_args *)args;
  if (!dpt__walk_count(&a->walk)) return 0;
  int dtype = a->walk.dtype[0];
  return dpt__of_width(dpt__dtype_size(dtype), [&](auto zero) {
    return fill_all(context, a->walk, dpt__bits_of_number<decltype(zero)>(dtype, a->value));
  });
}
