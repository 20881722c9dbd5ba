/* planes.h: sums over each plane of (N, C, S), and elementwise work that depends on them.
 *
 * Invariant: how planes are divided, and the order in which parts are joined, depend on sizes
 * alone, so the same call has the same bits. If each plane fits one block, one launch does
 * everything. Otherwise a first launch (MEASURE) stores the sums of each chunk, and each block of a
 * second one (APPLY) adds them up.
 */
#ifndef DPT_CUDA_NN_PLANES_H
#define DPT_CUDA_NN_PLANES_H
#include "cuda/block_reduce.h"
#include "cuda/nn/nn.h"
#include "cuda/pack.h"

enum { DPT__MEASURE = 1, DPT__APPLY = 2 };

/* A unit is a pack of adjacent elements, or one element if S is not a multiple of a pack. A block
 * has `side` adjacent planes. If that is 1, its threads along x step through the plane, otherwise
 * those along y. */
struct dpt__cut {
  int64_t C, positions, n, chunk; /* units: of a plane in one image, in all, per block */
  int64_t image, plane;           /* elements from one image, or plane, to the next */
  int64_t step, back, wrap;       /* to a thread's next unit: elements; units; past a plane's end */
  unsigned per, side, deep, chunks;
};

static inline dpt__cut dpt__cut_of(int64_t N, int64_t C, int64_t S) {
  enum { ROW = 32, THREADS = 256, COLUMN_THREADS = 512, ELEMENTS = 32, ALONE = 16384 };
  enum { BLOCKS = 512, MOST_CHUNKS = 512 };
  dpt__cut k;
  k.per = S % DPT__PACK ? 1 : DPT__PACK;
  k.C = C;
  k.positions = S / k.per;
  k.n = N * k.positions;
  k.image = C * S;
  k.plane = S;
  k.side = 1;
  if (S < ROW)
    while (k.side < C && k.side < ROW) k.side *= 2;
  k.deep = (k.side == 1 ? THREADS : COLUMN_THREADS) / k.side;
  while (k.deep > ROW / k.side && k.deep / 2 >= k.n) k.deep /= 2; /* whole warps */
  k.chunk = (int64_t)k.deep * ELEMENTS / k.per;
  if ((C + k.side - 1) / k.side >= BLOCKS && k.n * k.per <= ALONE) k.chunk = k.n;
  if (k.n > k.chunk * MOST_CHUNKS) k.chunk = (k.n + MOST_CHUNKS - 1) / MOST_CHUNKS;
  k.chunks = (unsigned)((k.n + k.chunk - 1) / k.chunk);
  int64_t images = k.deep / k.positions;
  k.back = k.deep - images * k.positions;
  k.step = images * k.image + k.back * k.per;
  k.wrap = k.image - k.plane;
  return k;
}

static inline dim3 dpt__cut_block(const dpt__cut &k) {
  return k.side == 1 ? dim3(k.deep) : dim3(k.side, k.deep);
}
static inline dim3 dpt__cut_grid(const dpt__cut &k, unsigned chunks) {
  return dim3((unsigned)((k.C + k.side - 1) / k.side), chunks);
}
/* The bytes of dynamic shared memory for dpt__cut_sum. */
enum { DPT__CUT_SHARED = 512 * sizeof(double) };

/* Return the running thread's plane, which may be past the last one, and its index in the plane. */
__device__ __forceinline__ int64_t dpt__cut_plane(const dpt__cut &k) {
  return k.side == 1 ? blockIdx.x : (int64_t)blockIdx.x * k.side + threadIdx.x;
}
__device__ __forceinline__ unsigned dpt__cut_self(const dpt__cut &k) {
  return k.side == 1 ? threadIdx.x : threadIdx.y;
}
/* Returns the number of elements of a chunk. */
__device__ __forceinline__ double dpt__cut_count(const dpt__cut &k, int64_t chunk) {
  int64_t first = chunk * k.chunk, rest = k.n - first;
  return (double)((rest < k.chunk ? rest : k.chunk) * k.per);
}

/* Calls f(offset of a unit) for the thread's units of its block's chunk. */
template <typename F> __device__ __forceinline__ void dpt__cut_each(const dpt__cut &k, F f) {
  int64_t c = dpt__cut_plane(k), end = (blockIdx.y + (int64_t)1) * k.chunk;
  if (c >= k.C) return;
  if (end > k.n) end = k.n;
  int64_t i = blockIdx.y * k.chunk + dpt__cut_self(k), image = i / k.positions;
  int64_t position = i - image * k.positions, at = image * k.image + c * k.plane + position * k.per;
  for (; i < end; i += k.deep) {
    f(at);
    at += k.step;
    position += k.back;
    if (position >= k.positions) {
      position -= k.positions;
      at += k.wrap;
    }
  }
}

/* Load and store a unit of n elements, in the type that kernels compute in. */
template <int n, typename T>
__device__ __forceinline__ auto dpt__unit_load(const T *from, int whole) {
  return dpt__pack_widen(dpt__pack_load(from, n, n > 1 && whole));
}
template <int n, typename T>
__device__ __forceinline__ void
dpt__unit_store(T *to, const dpt__pack<typename dpt__wide<T>::type> &unit, int whole) {
  dpt__pack_store(to, dpt__pack_narrow<T>(unit), n, n > 1 && whole);
}

/* Returns the address of the sums of a plane's chunk. */
__device__ __forceinline__ double *dpt__cut_sums(const dpt__cut &k, double *sums, int64_t chunk) {
  return sums + 2 * (dpt__cut_plane(k) * k.chunks + chunk);
}

/* Returns the sum of v over the threads of a plane, to each of them. */
__device__ __forceinline__ double dpt__cut_sum(const dpt__cut &k, double v, double *shared) {
  return k.side == 1 ? dpt__block_reduce_x(v, dpt__plus(), shared)
                     : dpt__block_reduce_y(v, dpt__plus(), shared);
}

/* Calls launch(phase, sums, blocks per plane) once or twice; sums: two numbers per chunk. last:
 * APPLY writes the planes' elements; otherwise it has one block per plane. */
template <typename F>
int dpt__cut_launch(dpt__context *context, const dpt__cut &k, bool last, F launch) {
  if (k.chunks == 1) return launch(DPT__MEASURE | DPT__APPLY, (double *)NULL, 1u);
  size_t bytes = 2 * (size_t)k.C * k.chunks * sizeof(double);
  double *sums = (double *)dpt__scratch(context, bytes);
  if (launch(DPT__MEASURE, sums, k.chunks)) return 1;
  return launch(DPT__APPLY, sums, last ? k.chunks : 1u);
}

#endif
