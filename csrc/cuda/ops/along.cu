/* along.cu: cross products, torch.conv2 and its variants (ops/create.h).
 *
 * Invariant: a thread computes one element and sums its terms in the host's order.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/create.h"
}

namespace {

/* Reads a slice before writing it, since r may alias an operand. */
template <typename T> __global__ void cross_kernel(dpt__cross_args g) {
  int64_t slice = dpt__thread<int64_t>();
  for (; slice < g.slices.count; slice += dpt__grid_threads<int64_t>()) {
    int64_t at[3];
    dpt__offsets<uint64_t, 3>(g.slices, (uint64_t)slice, at);
    const T *a = (const T *)g.a + at[0], *b = (const T *)g.b + at[1];
    T *r = (T *)g.r + at[2];
    dpt__sum_of<T> x[3], y[3];
    for (int i = 0; i < 3; i++) {
      x[i] = dpt__widen(a[i * g.a_stride]);
      y[i] = dpt__widen(b[i * g.b_stride]);
    }
    r[0] = dpt__narrow<T>(x[1] * y[2] - x[2] * y[1]);
    r[g.r_stride] = dpt__narrow<T>(x[2] * y[0] - x[0] * y[2]);
    r[2 * g.r_stride] = dpt__narrow<T>(x[0] * y[1] - x[1] * y[0]);
  }
}

template <typename T> __global__ void plane_kernel(dpt__planes_args g, int64_t count) {
  int64_t size = g.r_size[0] * g.r_size[1] * g.r_size[2];
  for (int64_t t = dpt__thread<int64_t>(); t < count; t += dpt__grid_threads<int64_t>()) {
    int64_t output = t / size, rest = t - output * size, first[3], last[3], position[3];
    position[0] = rest / (g.r_size[1] * g.r_size[2]);
    position[1] = rest / g.r_size[2] % g.r_size[1];
    position[2] = rest % g.r_size[2];
    for (int d = 0; d < 3; d++) { /* the kernel's range that overlaps a */
      int64_t begin = g.pad[d] - position[d], end = begin + g.a_size[d];
      first[d] = begin > 0 ? begin : 0;
      last[d] = end < g.k_size[d] ? end : g.k_size[d];
    }
    const T *a = (const T *)g.a + output * g.a_output, *k = (const T *)g.k + output * g.k_output;
    dpt__sum_of<T> sum = 0;
    for (int64_t p = 0; p < g.inputs; p++, a += g.a_input, k += g.k_input)
      for (int64_t z = first[0]; z < last[0]; z++)
        for (int64_t y = first[1]; y < last[1]; y++)
          for (int64_t x = first[2]; x < last[2]; x++) {
            int64_t kz = g.flip ? g.k_size[0] - 1 - z : z;
            int64_t ky = g.flip ? g.k_size[1] - 1 - y : y;
            int64_t kx = g.flip ? g.k_size[2] - 1 - x : x;
            sum += dpt__widen(a[(position[0] + z - g.pad[0]) * g.a_stride[0] +
                                (position[1] + y - g.pad[1]) * g.a_stride[1] +
                                (position[2] + x - g.pad[2]) * g.a_stride[2]]) *
                   dpt__widen(k[kz * g.k_stride[0] + ky * g.k_stride[1] + kx * g.k_stride[2]]);
          }
    ((T *)g.r)[t] = dpt__narrow<T>(sum);
  }
}

} // namespace

int dpt__cuda_cross(dpt__context *context, const void *args) {
  const dpt__cross_args *g = (const dpt__cross_args *)args;
  if (!g->slices.count) return 0;
  return dpt__of_type(g->dtype, [&](auto zero) {
    auto kernel = cross_kernel<decltype(zero)>;
    return DPT_LAUNCH(kernel, dpt__blocks(g->slices.count), DPT__BLOCK, 0, context, *g);
  });
}

int dpt__cuda_planes(dpt__context *context, const void *args) {
  const dpt__planes_args *g = (const dpt__planes_args *)args;
  int64_t count = g->outputs * g->r_size[0] * g->r_size[1] * g->r_size[2];
  if (!count) return 0;
  return dpt__of_type(g->dtype, [&](auto zero) {
    auto kernel = plane_kernel<decltype(zero)>;
    return DPT_LAUNCH(kernel, dpt__blocks(count), DPT__BLOCK, 0, context, *g, count);
  });
}
