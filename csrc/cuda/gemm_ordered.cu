/* gemm_ordered.cu: products that sum each element sequentially: those of integers, and those of
 * deterministic mode.
 *
 * Invariant: every element of c is the sum over k in the order 0, 1, 2 ..., multiplied and added
 * without fusing (this file is compiled so), independent of its position and of the size of c, so
 * it has the host's bits. Integers wrap; halves accumulate in float.
 */
#include "cuda/element.h"
#include "cuda/gemm.h"

namespace {

/* A block of SIDE x SIDE threads computes TILE x TILE elements of c, DEPTH terms at a time. */
enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE, THREADS = SIDE * SIDE };

/* The accumulator of a product. */
template <typename V> struct sum_in {
  typedef uint32_t type; /* arithmetic modulo 2^32 is exact for narrower types */
};
template <> struct sum_in<int64_t> { typedef uint64_t type; };
template <> struct sum_in<float> { typedef float type; };
template <> struct sum_in<double> { typedef double type; };
template <typename T> struct sum_of : sum_in<typename dpt__wide<T>::type> {};

/* Converts a scalar of the call: real, or truncated to an integer. */
template <typename A> __device__ A scalar(double x) { return (A)dpt__long_number(x); }
template <> __device__ float scalar<float>(double x) { return (float)x; }
template <> __device__ double scalar<double>(double x) { return x; }

/* Loads TILE rows by DEPTH columns of a matrix, from (row, col) on, into shared (DEPTH, TILE), with
 * zeros past its ends. Rows of `shared` are padded by one, so that the threads of a warp have no
 * bank conflicts. Adjacent threads read along the smaller stride. */
template <typename T, typename A>
__device__ void fetch(A (*shared)[TILE + 1], const T *matrix, int64_t row_stride,
                      int64_t col_stride, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  int thread = threadIdx.y * SIDE + threadIdx.x;
  for (int e = thread; e < TILE * DEPTH; e += THREADS) {
    int r = col_stride <= row_stride ? e / DEPTH : e % TILE;
    int c = col_stride <= row_stride ? e % DEPTH : e / TILE;
    bool inside = row + r < rows && col + c < cols;
    shared[c][r] =
        inside ? (A)dpt__load(matrix[(row + r) * row_stride + (col + c) * col_stride]) : A(0);
  }
}

/* T: the type of a and b; C: the type of c. */
template <typename T, typename C>
__global__ void __launch_bounds__(THREADS)
    ordered(dpt__gemm_args g, int64_t across, int64_t tiles) {
  typedef typename sum_of<T>::type A;
  __shared__ A left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
  const A alpha = scalar<A>(g.alpha), beta = scalar<A>(g.beta);
  for (int64_t tile = blockIdx.x; tile < tiles * g.batch; tile += gridDim.x) {
    int64_t batch = tile / tiles, position = tile - batch * tiles;
    int64_t row = position / across * TILE, col = position % across * TILE;
    const T *a = (const T *)g.a + batch * g.a_batch, *b = (const T *)g.b + batch * g.b_batch;
    A sum[EACH][EACH];
    for (int i = 0; i < EACH; i++)
      for (int j = 0; j < EACH; j++) sum[i][j] = 0;
    for (int64_t k = 0; k < g.k; k += DEPTH) {
      fetch(left, a, g.a_row, g.a_col, row, g.m, k, g.k);
      fetch(right, b, g.b_col, g.b_row, col, g.n, k, g.k);
      __syncthreads();
      int depth = g.k - k < DEPTH ? (int)(g.k - k) : DEPTH;
      for (int l = 0; l < depth; l++) {
        A x[EACH], y[EACH];
        for (int i = 0; i < EACH; i++) x[i] = left[l][threadIdx.y + i * SIDE];
        for (int j = 0; j < EACH; j++) y[j] = right[l][threadIdx.x + j * SIDE];
        for (int i = 0; i < EACH; i++)
          for (int j = 0; j < EACH; j++) sum[i][j] += x[i] * y[j];
      }
      __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
      for (int j = 0; j < EACH; j++) {
        int64_t r = row + threadIdx.y + i * SIDE, c = col + threadIdx.x + j * SIDE;
        if (r >= g.m || c >= g.n) continue;
        C *at = (C *)g.c + batch * g.c_batch + r * g.c_row + c * g.c_col;
        /* without terms, c is only scaled */
        A old = g.beta == 0 ? A(0) : beta * (A)dpt__load(*at);
        A product = alpha * sum[i][j];
        *at = dpt__store<C>::from(g.k == 0 ? old : g.beta == 0 ? product : (A)(old + product));
      }
  }
}

template <typename T, typename C> int launch(dpt__context *context, const dpt__gemm_args *g) {
  int64_t across = (g->n + TILE - 1) / TILE, tiles = across * ((g->m + TILE - 1) / TILE);
  int64_t all = tiles * g->batch;
  auto kernel = ordered<T, C>;
  return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)(all < 1 << 30 ? all : 1 << 30), dim3(SIDE, SIDE),
                                0, context, *g, across, tiles);
}

} // namespace

int dpt__cuda_gemm_ordered(dpt__context *context, const dpt__gemm_args *g) {
  return dpt__of_type(g->dtype, [&](auto zero) {
    typedef decltype(zero) T;
    typedef typename dpt__wide<T>::type wide;
    return g->c_dtype == g->dtype ? launch<T, T>(context, g) : launch<T, wide>(context, g);
  });
}
