/* masked.cu: selection of elements by a mask, and positions of nonzero elements (ops/index.h).
 *
 * Invariant: an element's position in the list depends on counts alone: those of the tiles before
 * it, counted by a first launch and summed by a scan, and those of the warps before it. If the list
 * is too short, nothing is written. A single tile needs one launch.
 */
#include "cuda/element.h"
#include "cuda/walk.h"
extern "C" {
#include "ops/create.h"
#include "ops/index.h"
}

namespace {

constexpr int THREADS = 256, WARP = 32, WARPS = THREADS / WARP, ROUNDS = 16;
constexpr int64_t TILE = THREADS * ROUNDS;

/* Each warp has a contiguous part of the tile; adjacent lanes have adjacent elements of it. */
__device__ __forceinline__ int64_t element_of(int round) {
  int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
  return blockIdx.x * TILE + (warp * ROUNDS + round) * WARP + lane;
}

/* Returns a bit for each of the thread's elements, set if the last operand is nonzero there. */
template <typename Index, int operands>
__device__ unsigned bits_of(const dpt__walk &walk, int64_t count) {
  constexpr int k = operands - 1;
  const int dtype = walk.dtype[k], width = dpt__dtype_size(dtype);
  unsigned bits = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int64_t i = element_of(round), offset[operands];
    if (i >= count) break;
    dpt__offsets<Index, operands>(walk, (Index)i, offset);
    if (dpt__element_set(dtype, walk.data[k] + offset[k] * width)) bits |= 1u << round;
  }
  return bits;
}

/* Returns the number of set elements in the tile, and in *before the number of those in the warps
 * before this one. All threads of a block call it. */
__device__ int64_t count_tile(unsigned bits, int64_t *before) {
  __shared__ int counts[WARPS];
  int sum = __popc(bits);
  for (int apart = WARP / 2; apart; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (threadIdx.x % WARP == 0) counts[threadIdx.x / WARP] = sum;
  __syncthreads();
  int64_t all = 0;
  for (int w = 0; w < WARPS; w++) {
    if (w == (int)threadIdx.x / WARP) *before = all;
    all += counts[w];
  }
  return all;
}

template <typename Index, int operands>
__global__ void count_tiles(dpt__walk walk, int64_t count, int64_t *sums) {
  int64_t before, all = count_tile(bits_of<Index, operands>(walk, count), &before);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/* A list of elements: element i of the walk is number `at` in the list. */
template <typename U, typename Index> struct elements {
  enum { OPERANDS = 2, FAULT = DPT__KERNEL_FAULT_MASK };
  dpt__walk walk;
  U *list;
  int read;
  __device__ void meet(int64_t i, int64_t at) const {
    int64_t offset[1];
    dpt__offsets<Index, 1>(walk, (Index)i, offset);
    U *element = (U *)walk.data[0] + offset[0];
    if (read)
      list[at] = *element;
    else
      *element = list[at];
  }
};

/* A list of positions. */
template <typename Index> struct positions {
  enum { OPERANDS = 1, FAULT = DPT__KERNEL_FAULT_CHANGED };
  dpt__walk walk;
  int64_t *out;
  int ndim;
  int64_t size[DPT_MAXDIM];
  __device__ void meet(int64_t i, int64_t at) const {
    Index rest = (Index)i;
    for (int d = ndim - 1; d >= 0; d--) {
      Index next = d ? rest / (Index)size[d] : 0;
      out[at * ndim + d] = (int64_t)(rest - next * (Index)size[d]) + 1;
      rest = next;
    }
  }
};

/* sums: running sums of the tiles' counts; not read if there is one tile. */
template <typename List, typename Index>
__global__ void meet_all(List list, int64_t count, int64_t capacity, const int64_t *sums,
                         dpt__kernel_fault fault, const char *name) {
  int64_t at, tile;
  unsigned bits = bits_of<Index, List::OPERANDS>(list.walk, count);
  tile = count_tile(bits, &at);
  int64_t all = gridDim.x > 1 ? sums[gridDim.x - 1] : tile;
  if (all > capacity) {
    if (threadIdx.x == 0) dpt__fault_set(fault, List::FAULT, name, all, 0, capacity);
    return;
  }
  if (blockIdx.x) at += sums[blockIdx.x - 1];
  unsigned below = (1u << threadIdx.x % WARP) - 1;
  for (int round = 0; round < ROUNDS; round++) {
    bool set = bits >> round & 1;
    unsigned warp = __ballot_sync(0xffffffffu, set);
    if (set) list.meet(element_of(round), at + __popc(warp & below));
    at += __popc(warp);
  }
}

template <typename Index, typename List>
int launch(dpt__context *context, const List &list, int64_t capacity) {
  int64_t count = dpt__walk_count(&list.walk), tiles = (count + TILE - 1) / TILE, *sums = NULL;
  if (tiles > INT32_MAX) return dpt__cuda_fail("%lld elements are too many", (long long)count);
  if (tiles > 1) {
    sums = (int64_t *)dpt__scratch(context, (size_t)tiles * sizeof *sums);
    auto first = count_tiles<Index, List::OPERANDS>;
    if (DPT_LAUNCH_COOPERATIVE(first, (unsigned)tiles, THREADS, 0, context, list.walk, count, sums))
      return 1;
    dpt__scan_args g = {};
    g.dtype = DPT_I64;
    g.n = tiles;
    g.a_stride = g.r_stride = g.slices.count = 1;
    g.a = g.r = sums;
    if (dpt__cuda_scan(context, &g)) return 1;
  }
  auto kernel = meet_all<List, Index>;
  return DPT_LAUNCH_COOPERATIVE(kernel, (unsigned)tiles, THREADS, 0, context, list, count, capacity,
                                sums, dpt__fault_of(context), context->name);
}

/* Writes aliased elements in order, on one thread: the last write wins. */
template <typename U>
__global__ void write_in_order(dpt__walk walk, const U *list, int64_t count, int64_t capacity,
                               dpt__kernel_fault fault, const char *name) {
  for (int writes = 0; writes < 2; writes++) {
    int64_t at = 0, offset[2];
    for (int64_t i = 0; i < count; i++) {
      dpt__offsets<uint64_t, 2>(walk, (uint64_t)i, offset);
      if (!walk.data[1][offset[1]]) continue;
      if (writes) ((U *)walk.data[0])[offset[0]] = list[at];
      at++;
    }
    if (at <= capacity) continue;
    dpt__fault_set(fault, DPT__KERNEL_FAULT_MASK, name, at, 0, capacity);
    return;
  }
}

template <typename U, typename Index>
__global__ void fill_masked(dpt__walk walk, int64_t count, U value) {
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += dpt__grid_threads<int64_t>()) {
    int64_t offset[2];
    dpt__offsets<Index, 2>(walk, (Index)i, offset);
    if (walk.data[1][offset[1]]) ((U *)walk.data[0])[offset[0]] = value;
  }
}

template <typename U, typename Index> int masked(dpt__context *context, const dpt__masked_args *g) {
  int64_t count = dpt__walk_count(&g->walk);
  if (g->mode == DPT__INDEX_fill) {
    auto fill = fill_masked<U, Index>;
    return DPT_LAUNCH(fill, dpt__blocks(count), DPT__BLOCK, 0, context, g->walk, count,
                      dpt__bits_of_number<U>(g->walk.dtype[0], g->value));
  }
  if (g->mode == DPT__INDEX_write && g->walk.serial) {
    auto write = write_in_order<U>;
    return DPT_LAUNCH(write, 1, 1, 0, context, g->walk, (const U *)g->list, count, g->capacity,
                      dpt__fault_of(context), context->name);
  }
  elements<U, Index> list = {g->walk, (U *)g->list, g->mode == DPT__INDEX_read};
  return launch<Index>(context, list, g->capacity);
}

template <typename Index> int nonzero(dpt__context *context, const dpt__nonzero_args *g) {
  positions<Index> list = {};
  list.walk = g->walk;
  list.out = g->out;
  list.ndim = g->ndim;
  for (int d = 0; d < g->ndim; d++) list.size[d] = g->size[d];
  return launch<Index>(context, list, g->capacity);
}

} // namespace

int dpt__cuda_masked(dpt__context *context, const void *args) {
  const dpt__masked_args *g = (const dpt__masked_args *)args;
  int64_t count = dpt__walk_count(&g->walk);
  if (!count) return 0;
  return dpt__of_width(dpt__dtype_size(g->walk.dtype[0]), [&](auto zero) {
    typedef decltype(zero) U;
    return count <= UINT32_MAX ? masked<U, uint32_t>(context, g) : masked<U, uint64_t>(context, g);
  });
}

int dpt__cuda_nonzero(dpt__context *context, const void *args) {
  const dpt__nonzero_args *g = (const dpt__nonzero_args *)args;
  int64_t count = dpt__walk_count(&g->walk);
  if (!count) return 0;
  return count <= UINT32_MAX ? nonzero<uint32_t>(context, g) : nonzero<uint64_t>(context, g);
}
