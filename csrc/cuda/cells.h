/* cells.h: divides a walk (tensor/walk.h) into cells of adjacent elements, each loaded or stored by
 * one access.
 *
 * Invariant: each element of the walk is in one cell. The elements of a cell are contiguous and
 * aligned for a single access, or are one element (an operand that is expanded along rows). Counts
 * and offsets fit in 30 bits, so that kernels compute in 32; dpt__each_part splits larger walks.
 */
#ifndef DPT_CUDA_CELLS_H
#define DPT_CUDA_CELLS_H
#include "cuda/element.h"
#include "cuda/walk.h"

/* For elements of `bytes` bytes: the number that a thread processes, in accesses of at most 16
 * bytes, and the number per cell. */
template <size_t bytes> constexpr int dpt__per_thread = bytes > 4 ? 4 : 8;
template <size_t bytes> constexpr int dpt__per_cell = bytes > 2 ? 16 / bytes : 8;

/* Divides numbers below 2^31 by a multiplication and a shift (Granlund and Montgomery, 1994). */
struct dpt__divisor {
  uint32_t size, factor, shift;
  __host__ __device__ __forceinline__ uint32_t quotient(uint32_t x) const {
    return (uint32_t)(((uint64_t)x * factor >> 32) + x) >> shift;
  }
};

static inline dpt__divisor dpt__divisor_of(int64_t size) {
  uint32_t shift = 0;
  while ((int64_t)1 << shift < size) shift++;
  uint64_t rest = ((uint64_t)1 << shift) - (uint64_t)size;
  return {(uint32_t)size, (uint32_t)((rest << 32) / (uint64_t)size + 1), shift};
}

/* The elements of one cell of one operand. */
template <typename T, int width> struct alignas(width * sizeof(T)) dpt__cell { T v[width]; };

/* A cell's offset in each operand; its elements low to high - 1 exist. */
template <int operands> struct dpt__cell_at {
  uint32_t offset[operands];
  int low, high;
};

template <int operands> struct dpt__cells {
  uint32_t count;      /* cells */
  uint32_t begin, end; /* in a single row: its elements, counted from the start of cell 0 */
  int ndim;
  dpt__divisor size[DPT_MAXDIM];         /* in cells */
  uint32_t stride[operands][DPT_MAXDIM]; /* in elements, from cell to cell */
  bool still[operands];                  /* a cell is one element */
  char *data[operands];

  template <int width> __device__ __forceinline__ dpt__cell_at<operands> at(uint32_t cell) const {
    dpt__cell_at<operands> at = {};
    if (cell >= count) return at;
    uint32_t first = cell * width;
    at.low = first < begin ? (int)(begin - first) : 0;
    at.high = end - first < width ? (int)(end - first) : width;
    DPT_ROLLED
    for (int d = ndim - 1; d > 0; d--) {
      uint32_t quotient = size[d].quotient(cell), rest = cell - quotient * size[d].size;
      DPT_UNROLL
      for (int k = 0; k < operands; k++) at.offset[k] += rest * stride[k][d];
      cell = quotient;
    }
    DPT_UNROLL
    for (int k = 0; k < operands; k++) at.offset[k] += cell * stride[k][0];
    return at;
  }

  /* Loads a cell of operand k, with `none` in place of elements that do not exist. */
  template <int width, typename T>
  __device__ __forceinline__ dpt__cell<T, width> load(int k, const dpt__cell_at<operands> &at,
                                                      T none) const {
    const T *from = (const T *)data[k] + at.offset[k];
    dpt__cell<T, width> cell;
    if (at.high - at.low == width && (width == 1 || !still[k]))
      return *(const dpt__cell<T, width> *)from;
    DPT_UNROLL
    for (int i = 0; i < width; i++)
      cell.v[i] = i >= at.low && i < at.high ? from[still[k] ? 0 : i] : none;
    return cell;
  }
  /* Stores a cell in operand 0. */
  template <int width, typename T>
  __device__ __forceinline__ void store(const dpt__cell_at<operands> &at,
                                        const dpt__cell<T, width> &cell) const {
    T *to = (T *)data[0] + at.offset[0];
    if (at.high - at.low == width) {
      *(dpt__cell<T, width> *)to = cell;
      return;
    }
    DPT_UNROLL
    for (int i = 0; i < width; i++)
      if (i >= at.low && i < at.high) to[i] = cell.v[i];
  }
};

/* Returns the distance, in elements, of operand k from the last address aligned for a cell of
 * `width`. */
static inline int64_t dpt__cell_skew(const dpt__walk &walk, int k, int width) {
  return (int64_t)((uintptr_t)walk.data[k] / dpt__dtype_size(walk.dtype[k])) % width;
}

/* Returns true if a walk can be divided into cells of `width` elements: it is one row whose
 * operands are all equally misaligned, or its rows begin at aligned addresses. */
static inline bool dpt__cells_fit(const dpt__walk &walk, int width) {
  const int last = walk.ndim - 1;
  if (walk.stride[0][last] != 1 || (last && walk.size[last] % width)) return false;
  const int64_t skew = last ? 0 : dpt__cell_skew(walk, 0, width);
  for (int k = 0; k < walk.noperand; k++) {
    if (walk.stride[k][last] == 0) continue;
    if (walk.stride[k][last] != 1 || dpt__cell_skew(walk, k, width) != skew) return false;
    for (int d = 0; d < last; d++)
      if (walk.stride[k][d] % width) return false;
  }
  return true;
}

/* Returns the cells of a part; width is 1, or one that fits. */
template <int operands> dpt__cells<operands> dpt__cells_of(const dpt__walk &walk, int width) {
  dpt__cells<operands> cells = {};
  const int last = walk.ndim - 1;
  const int64_t skew = width > 1 && !last ? dpt__cell_skew(walk, 0, width) : 0;
  const int64_t end = dpt__walk_count(&walk) + skew;
  cells.ndim = walk.ndim;
  cells.begin = (uint32_t)skew;
  cells.end = (uint32_t)end;
  cells.count = (uint32_t)((end + width - 1) / width);
  for (int d = 0; d <= last; d++)
    cells.size[d] = dpt__divisor_of(d < last ? walk.size[d] : (walk.size[d] + width - 1) / width);
  DPT_UNROLL
  for (int k = 0; k < operands; k++) {
    const int64_t row = walk.stride[k][last];
    cells.still[k] = row == 0;
    cells.data[k] = walk.data[k] - skew * row * (int)dpt__dtype_size(walk.dtype[k]);
    for (int d = 0; d <= last; d++)
      cells.stride[k][d] = (uint32_t)(d < last ? walk.stride[k][d] : row * width);
  }
  return cells;
}

/* Splits a walk into parts whose counts and offsets fit in cells, and calls f(part) for one after
 * the other until one fails. */
template <typename F> int dpt__each_part(const dpt__walk &walk, const F &f) {
  const int64_t limit = 1 << 30;
  int64_t reach = dpt__walk_count(&walk), most = 0;
  int cut = 0;
  for (int k = 0; k < walk.noperand; k++) {
    int64_t sum = 0;
    for (int d = 0; d < walk.ndim; d++) {
      const int64_t own = (walk.size[d] - 1) * walk.stride[k][d];
      sum += own;
      if (own > most) most = own, cut = d;
    }
    if (sum > reach) reach = sum;
  }
  if (reach <= limit) return f(walk);
  /* Aliased outputs are written in order, so split along the outermost dimension. */
  if (walk.serial)
    for (cut = 0; walk.size[cut] == 1;) cut++;
  dpt__walk part = walk;
  part.size[cut] /= 2;
  if (dpt__each_part(part, f)) return 1;
  for (int k = 0; k < walk.noperand; k++)
    part.data[k] += part.size[cut] * walk.stride[k][cut] * (int)dpt__dtype_size(walk.dtype[k]);
  part.size[cut] = walk.size[cut] - part.size[cut];
  return dpt__each_part(part, f);
}

/* Returns the number of blocks for a part of which a thread processes `each` cells. */
template <int operands>
unsigned dpt__cells_blocks(const dpt__walk &walk, const dpt__cells<operands> &cells, int each) {
  return dpt__walk_blocks(&walk, (cells.count + (int64_t)each - 1) / each);
}

#endif
