/* radix.cu: radix sort of long slices, by bytes of their keys from the lowest.
 *
 * Invariant: a pass is stable, and an item's destination depends on counts alone, so the same call
 * has the same order. A pass counts the bytes of each tile, sums the counts, and moves each item to
 * its destination through shared memory, so that adjacent items are written together. The first
 * pass reads the tensor, the last one writes the results; most elements are computed from their
 * keys.
 */
#include "cuda/ops/sort.h"

namespace {

enum { THREADS = 256, WARPS = THREADS / 32, DIGITS = 256 };
static_assert(THREADS == DIGITS, "a thread for each digit");

/* Items per thread; a tile has THREADS times as many. */
template <typename T> constexpr int EACH = sizeof(T) == 8 ? 8 : 16;

/* One pass over slices of n items. NULL reads the tensor, or writes the results. */
template <typename Key> struct pass {
  const Key *from_key;
  const uint32_t *from_at;
  Key *to_key;
  uint32_t *to_at;
  uint32_t *counts; /* (slices, tiles, DIGITS) */
  uint32_t *chunks; /* (slices, number of chunks, DIGITS): sums of `chunk` tiles' counts */
  int64_t tiles, chunk, first, many;
  int shift;
};

/* Return item i of a slice: its key, and its position. */
template <typename T>
__device__ __forceinline__ typename dpt__keys<T>::key
key_of(const dpt__sort_args &g, const pass<typename dpt__keys<T>::key> &p, int64_t slice,
       int64_t start, int64_t i) {
  typedef dpt__keys<T> K;
  if (p.from_key) return p.from_key[slice * g.n + i];
  return K::of(((const T *)g.a)[start + i * g.a_stride]) ^ (g.descending ? K::ALL : 0);
}
template <typename Key>
__device__ __forceinline__ uint32_t position_of(const pass<Key> &p, int64_t n, int64_t slice,
                                                int64_t i) {
  return p.from_at ? p.from_at[slice * n + i] : (uint32_t)i;
}

/* Each warp has a contiguous part of the tile; adjacent lanes have adjacent items of it. */
template <int each> __device__ __forceinline__ int64_t item_of(int64_t tile, int round) {
  int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  return tile * (THREADS * each) + (warp * each + round) * 32 + lane;
}

template <typename T>
__global__ void count_digits(dpt__sort_args g, pass<typename dpt__keys<T>::key> p) {
  __shared__ uint32_t counts[WARPS][DIGITS];
  const int64_t slice = (int64_t)blockIdx.x / p.tiles, tile = (int64_t)blockIdx.x % p.tiles;
  const int warp = (int)threadIdx.x / 32;
  int64_t start[1];
  dpt__offsets<uint64_t, 1>(g.slices, (uint64_t)slice, start);
  for (int w = 0; w < WARPS; w++) counts[w][threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < EACH<T>; round++) {
    int64_t i = item_of<EACH<T>>(tile, round);
    if (i >= g.n) continue;
    atomicAdd(&counts[warp][(unsigned)(key_of<T>(g, p, slice, start[0], i) >> p.shift) & 255], 1u);
  }
  __syncthreads();
  uint32_t sum = 0;
  for (int w = 0; w < WARPS; w++) sum += counts[w][threadIdx.x];
  p.counts[(slice * p.tiles + tile) * DIGITS + threadIdx.x] = sum;
  int64_t chunks = (p.tiles + p.chunk - 1) / p.chunk;
  if (sum) atomicAdd(&p.chunks[(slice * chunks + tile / p.chunk) * DIGITS + threadIdx.x], sum);
}

/* Replaces counts by the positions in the slice where each tile's items of a digit begin, with a
 * block for each chunk of tiles. */
template <typename Key> __global__ void add_counts(pass<Key> p, int64_t chunks) {
  const int64_t slice = (int64_t)blockIdx.x / chunks, chunk = (int64_t)blockIdx.x % chunks;
  const uint32_t *sums = p.chunks + slice * chunks * DIGITS + threadIdx.x;
  uint32_t before = 0, all = 0;
  for (int64_t c = 0; c < chunks; c++) {
    uint32_t sum = sums[c * DIGITS];
    all += sum;
    if (c < chunk) before += sum;
  }
  before += dpt__sum_before<THREADS>(all);
  uint32_t *counts = p.counts + slice * p.tiles * DIGITS + threadIdx.x;
  int64_t end = (chunk + 1) * p.chunk < p.tiles ? (chunk + 1) * p.chunk : p.tiles;
  for (int64_t tile = chunk * p.chunk; tile < end; tile++) {
    uint32_t count = counts[tile * DIGITS];
    counts[tile * DIGITS] = before;
    before += count;
  }
}

/* Writes item i of a slice's order to the result. */
template <typename T>
__device__ __forceinline__ void write(const dpt__sort_args &g, int64_t start, int64_t r,
                                      int64_t idx, int64_t i, typename dpt__keys<T>::key key,
                                      uint32_t at) {
  typedef dpt__keys<T> K;
  if (g.descending) key ^= K::ALL;
  ((T *)g.r)[r + i * g.r_stride] =
      K::shared(key) ? ((const T *)g.a)[start + (int64_t)at * g.a_stride] : K::element(key);
  g.idx[idx + i * g.idx_stride] = (int64_t)at + 1;
}

template <typename T>
__global__ void __launch_bounds__(THREADS, 3)
    put_items(dpt__sort_args g, pass<typename dpt__keys<T>::key> p) {
  typedef typename dpt__keys<T>::key key;
  constexpr int TILE = THREADS * EACH<T>;
  __shared__ key keys[TILE];
  __shared__ uint32_t positions[TILE];
  __shared__ uint32_t counts[WARPS][DIGITS]; /* later: where a warp's items of a digit begin */
  uint32_t(*same)[DIGITS] = (uint32_t(*)[DIGITS])keys; /* a bit for each lane of a warp */
  static_assert(sizeof keys >= sizeof counts, "its memory serves twice");
  __shared__ uint32_t begins[DIGITS]; /* in the slice, minus the start in the tile */
  const int64_t slice = (int64_t)blockIdx.x / p.tiles, tile = (int64_t)blockIdx.x % p.tiles;
  const int warp = (int)threadIdx.x / 32, self = (int)threadIdx.x % 32;
  int64_t start[3];
  dpt__offsets<uint64_t, 3>(g.slices, (uint64_t)slice, start);
  for (int w = 0; w < WARPS; w++) counts[w][threadIdx.x] = same[w][threadIdx.x] = 0;
  __syncthreads();
  key k[EACH<T>];
  uint32_t rank[EACH<T>];
  DPT_UNROLL
  for (int round = 0; round < EACH<T>; round++) {
    int64_t i = item_of<EACH<T>>(tile, round);
    k[round] = i < g.n ? key_of<T>(g, p, slice, start[0], i) : 0;
  }
  DPT_UNROLL
  for (int round = 0; round < EACH<T>; round++) {
    bool here = item_of<EACH<T>>(tile, round) < g.n;
    unsigned digit = (unsigned)(k[round] >> p.shift) & 255;
    if (here) atomicOr(&same[warp][digit], 1u << self);
    __syncwarp();
    unsigned alike = here ? same[warp][digit] : 0, before = alike & ((1u << self) - 1);
    rank[round] = counts[warp][digit] + (uint32_t)__popc(before);
    __syncwarp();
    if (here && !before) { /* the first lane with this digit */
      same[warp][digit] = 0;
      counts[warp][digit] += (uint32_t)__popc(alike);
    }
    __syncwarp();
  }
  __syncthreads();
  uint32_t sum = 0;
  for (int w = 0; w < WARPS; w++) {
    uint32_t count = counts[w][threadIdx.x];
    counts[w][threadIdx.x] = sum;
    sum += count;
  }
  uint32_t begin = dpt__sum_before<THREADS>(sum);
  for (int w = 0; w < WARPS; w++) counts[w][threadIdx.x] += begin;
  begins[threadIdx.x] = p.counts[(slice * p.tiles + tile) * DIGITS + threadIdx.x] - begin;
  __syncthreads();
  DPT_UNROLL
  for (int round = 0; round < EACH<T>; round++) {
    int64_t i = item_of<EACH<T>>(tile, round);
    if (i >= g.n) continue;
    uint32_t to = counts[warp][(unsigned)(k[round] >> p.shift) & 255] + rank[round];
    keys[to] = k[round];
    positions[to] = position_of(p, g.n, slice, i);
  }
  __syncthreads();
  int64_t left = g.n - tile * TILE, count = left < TILE ? left : TILE;
  for (int64_t i = threadIdx.x; i < count; i += THREADS) {
    key moved = keys[i];
    int64_t to = (uint32_t)(begins[(unsigned)(moved >> p.shift) & 255] + (uint32_t)i);
    if (p.to_key) {
      p.to_key[slice * g.n + to] = moved;
      p.to_at[slice * g.n + to] = positions[i];
    } else if (to >= p.first && to - p.first < p.many) {
      write<T>(g, start[0], start[1], start[2], to - p.first, moved, positions[i]);
    }
  }
}

/* ---- the most frequent element of sorted slices ---- */

template <typename Key>
__global__ void score_runs(const Key *keys, int64_t n, int64_t count, unsigned long long *best) {
  for (int64_t t = dpt__thread<int64_t>(); t < count; t += dpt__grid_threads<int64_t>()) {
    int64_t slice = t / n, i = t - slice * n;
    const Key *x = keys + slice * n;
    if (i + 1 < n && x[i + 1] == x[i]) continue;
    unsigned long long score = dpt__run_score(i + 1 - dpt__keys_below(x, i, x[i]), i);
    atomicMax(&best[slice], score);
  }
}

template <typename T>
__global__ void give_modes(dpt__sort_args g, const typename dpt__keys<T>::key *keys,
                           const uint32_t *at, const unsigned long long *best) {
  int64_t slice = dpt__thread<int64_t>();
  for (; slice < g.slices.count; slice += dpt__grid_threads<int64_t>()) {
    int64_t start[3], i = slice * g.n + dpt__run_end(best[slice]);
    dpt__offsets<uint64_t, 3>(g.slices, (uint64_t)slice, start);
    write<T>(g, start[0], start[1], start[2], 0, keys[i], at[i]);
  }
}

template <typename T>
int modes(dpt__context *context, const dpt__sort_args *g, const typename dpt__keys<T>::key *keys,
          const uint32_t *at) {
  int64_t slices = g->slices.count;
  size_t bytes = (size_t)slices * sizeof(unsigned long long);
  unsigned long long *best = (unsigned long long *)dpt__scratch(context, bytes);
  if (dpt__cuda_clear(context, best, bytes)) return 1;
  auto score = score_runs<typename dpt__keys<T>::key>;
  if (DPT_LAUNCH(score, dpt__blocks(slices * g->n), DPT__BLOCK, 0, context, keys, g->n,
                 slices * g->n, best))
    return 1;
  auto end = give_modes<T>;
  return DPT_LAUNCH(end, dpt__blocks(slices), DPT__BLOCK, 0, context, *g, keys, at, best);
}

/* ---- the passes ---- */

template <typename T> int sort(dpt__context *context, const dpt__sort_args *g, int bits) {
  typedef typename dpt__keys<T>::key key;
  constexpr int TILE = THREADS * EACH<T>;
  const int mode = g->mode == DPT__SORT_mode;
  const int passes = ((bits < 8 * (int)sizeof(T) ? bits : 8 * (int)sizeof(T)) + 7) / 8;
  const int64_t slices = g->slices.count, tiles = (g->n + TILE - 1) / TILE;
  int64_t chunk = 16;
  while (chunk * chunk < tiles) chunk *= 2;
  const int64_t chunks = (tiles + chunk - 1) / chunk;
  if (tiles > INT32_MAX / slices)
    return dpt__cuda_fail("%lld slices of %lld elements are too many", (long long)slices,
                          (long long)g->n);
  /* Every pass but the last (for a mode, every pass) leaves items in one of two buffers, in
   * turn. */
  const int left = passes - 1 + mode, copies = left < 2 ? left : 2;
  const size_t items = (size_t)(slices * g->n), sums = (size_t)(slices * chunks * DIGITS);
  const size_t counts = (size_t)(slices * tiles * DIGITS);
  key *keys = NULL;
  uint32_t *words = (uint32_t *)dpt__scratch(
      context, (counts + (size_t)passes * sums + (size_t)copies * items) * sizeof *words);
  if (copies) keys = (key *)dpt__scratch(context, (size_t)copies * items * sizeof *keys);
  uint32_t *chunk_sums = words + counts, *positions = chunk_sums + (size_t)passes * sums;
  if (dpt__cuda_clear(context, chunk_sums, (size_t)passes * sums * sizeof *words)) return 1;
  auto count = count_digits<T>;
  auto add = add_counts<key>;
  auto put = put_items<T>;
  pass<key> p = {};
  p.counts = words;
  p.tiles = tiles;
  p.chunk = chunk;
  p.first = dpt__sort_first(g);
  p.many = dpt__sort_many(g);
  for (int i = 0; i < passes; i++) {
    p.shift = 8 * i;
    p.chunks = chunk_sums + (size_t)i * sums;
    p.from_key = p.to_key;
    p.from_at = p.to_at;
    p.to_key = i < left ? keys + (size_t)(i % 2) * items : NULL;
    p.to_at = i < left ? positions + (size_t)(i % 2) * items : NULL;
    if (DPT_LAUNCH_COOPERATIVE(count, (unsigned)(slices * tiles), THREADS, 0, context, *g, p) ||
        DPT_LAUNCH_COOPERATIVE(add, (unsigned)(slices * chunks), THREADS, 0, context, p, chunks) ||
        DPT_LAUNCH_COOPERATIVE(put, (unsigned)(slices * tiles), THREADS, 0, context, *g, p))
      return 1;
  }
  return mode ? modes<T>(context, g, p.to_key, p.to_at) : 0;
}

} // namespace

int dpt__radix_sort(dpt__context *context, const dpt__sort_args *g, int bits) {
  return dpt__of_type(g->dtype, [&](auto zero) { return sort<decltype(zero)>(context, g, bits); });
}
