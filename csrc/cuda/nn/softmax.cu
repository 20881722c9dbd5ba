/* softmax.cu: SoftMax and LogSoftMax over C classes of N images of S positions.
 *
 * Invariant: a row's threads and the order of its sums depend on C alone, so it does not depend on
 * the other rows. Sums are double; the largest class is taken off first, so nothing overflows.
 */
#include "cuda/block_reduce.h"
#include "cuda/nn/nn.h"

namespace {

enum { WARP = 32, SIDE = 32, DEEP = 8, MOST_THREADS = 1024 };

/* The classes of one position: the running thread has first, first + stride ... */
struct classes {
  int64_t from, class_stride; /* of class 0, to the next class, in elements */
  int64_t first, stride, C;
  bool here; /* this position is one */
};

/* Positions one after the other, where a position's classes are neighbours (S is 1): blockDim.x
 * threads have one position, blockDim.y positions are a block's. */
struct rows {
  static __device__ classes mine(int64_t N, int64_t C, int64_t) {
    int64_t n = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    return {n * C, 1, threadIdx.x, blockDim.x, C, n < N};
  }
  template <typename V, typename F> static __device__ V join(V v, F f, V *shared) {
    return dpt__block_reduce_x(v, f, shared);
  }
};

/* Positions side by side; blockDim.y threads have one position. */
struct columns {
  static __device__ classes mine(int64_t N, int64_t C, int64_t S) {
    int64_t position = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = position / S;
    return {n * C * S + (position - n * S), S, threadIdx.y, blockDim.y, C, n < N};
  }
  template <typename V, typename F> static __device__ V join(V v, F f, V *shared) {
    return dpt__block_reduce_y(v, f, shared);
  }
};

template <typename T, typename Layout> __global__ void forward(dpt__softmax_args a) {
  DPT_SHARED(double, shared);
  classes k = Layout::mine(a.N, a.C, a.S);
  const T *in = (const T *)a.in + k.from;
  T *out = (T *)a.out + k.from;
  if (!k.here) k.first = k.C; /* it only meets the others */
  T max = T(-INFINITY);
  for (int64_t c = k.first; c < k.C; c += k.stride)
    max = dpt__larger()(max, in[c * k.class_stride]);
  max = Layout::join(max, dpt__larger(), (T *)shared);
  double sum = 0;
  for (int64_t c = k.first; c < k.C; c += k.stride) sum += exp(in[c * k.class_stride] - max);
  sum = Layout::join(sum, dpt__plus(), shared);
  T shift = (T)(a.log ? max + log(sum) : 1 / sum);
  for (int64_t c = k.first; c < k.C; c += k.stride) {
    T x = in[c * k.class_stride];
    out[c * k.class_stride] = a.log ? x - shift : exp(x - max) * shift;
  }
}

template <typename T, typename Layout> __global__ void backward(dpt__softmax_args a) {
  DPT_SHARED(double, shared);
  classes k = Layout::mine(a.N, a.C, a.S);
  const T *gout = (const T *)a.gout + k.from, *out = (const T *)a.out + k.from;
  T *gin = (T *)a.gin + k.from;
  if (!k.here) k.first = k.C;
  double sum = 0;
  for (int64_t c = k.first; c < k.C; c += k.stride) {
    double g = gout[c * k.class_stride];
    sum += a.log ? g : g * out[c * k.class_stride];
  }
  T total = (T)Layout::join(sum, dpt__plus(), shared);
  for (int64_t c = k.first; c < k.C; c += k.stride) {
    T g = gout[c * k.class_stride], y = out[c * k.class_stride];
    gin[c * k.class_stride] = a.log ? g - exp(y) * total : y * (g - total);
  }
}

/* Threads for a position, and positions for a block. */
dim3 block_of(int64_t C, int64_t S) {
  if (S > 1) return C < 4 * DEEP ? dim3(SIDE * DEEP, 1) : dim3(SIDE, DEEP);
  if (C > 32 * DPT__BLOCK) return dim3(MOST_THREADS);
  if (C > 8 * WARP) return dim3(DPT__BLOCK);
  unsigned threads = 1;
  while (threads < C && threads < WARP) threads *= 2;
  return dim3(threads, DPT__BLOCK / threads);
}

typedef void kernel(dpt__softmax_args a);

int launch(dpt__context *context, const dpt__softmax_args *a, kernel *by_rows, kernel *by_columns) {
  dim3 block = block_of(a->C, a->S);
  int64_t positions = a->N * a->S, side = a->S > 1 ? block.x : block.y;
  int64_t blocks = (positions + side - 1) / side;
  if (!a->C || !blocks) return 0;
  kernel *run = a->S > 1 ? by_columns : by_rows;
  return DPT_LAUNCH_COOPERATIVE(run, (unsigned)blocks, block, DPT__BLOCK * sizeof(double), context,
                                *a);
}

} // namespace

int dpt__cuda_softmax(dpt__context *context, const void *args) {
  const struct dpt__softmax_args *a = (const struct dpt__softmax_args *)args;
  return dpt__of_real(a->type, [&](auto zero) {
    typedef decltype(zero) T;
    return a->gin ? launch(context, a, backward<T, rows>, backward<T, columns>)
                  : launch(context, a, forward<T, rows>, forward<T, columns>);
  });
}
