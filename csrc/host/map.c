/* map.c: the host kernels map, fill and convert: choose a row function and apply it to tiles.
 *
 * Invariant: integers are divided only after all divisors were checked for 0, so that nothing traps
 * and a rejected division has changed nothing. Reduced types compute in float: cheap
 * operations in rows of the type, others in tiles.
 */
#include "base/element.h"
#include "host/kernels.h"
#include "host/tile.h"
#include <string.h>

enum { SMALL = 1 << 15 }; /* elements that one thread copies */

/* The equivalents of operations for a second operand that is one number. scales: the number is
 * multiplied by p. */
static const struct by_number {
  uint8_t known, op, scales;
} map_by_number[DPT__NMAP] = {
    [DPT__MAP_cadd] = {1, DPT__MAP_add, 1},       [DPT__MAP_csub] = {1, DPT__MAP_sub, 1},
    [DPT__MAP_cmul] = {1, DPT__MAP_mul, 0},       [DPT__MAP_cdiv] = {1, DPT__MAP_div, 0},
    [DPT__MAP_cmax] = {1, DPT__MAP_cmaxvalue, 0}, [DPT__MAP_cmin] = {1, DPT__MAP_cminvalue, 0},
};

/* Returns true if operand k has an element 0. */
static int map_has_zero(const dpt__walk *walk, int k) {
  static const char zero[8];
  size_t size = dpt__dtype_size(walk->dtype[k]);
  int64_t stride = walk->stride[k][walk->ndim - 1] * (int64_t)size;
  dpt__cursor c;
  dpt__walk_at(walk, &c, 0, dpt__walk_count(walk));
  while (dpt__walk_row(walk, &c))
    for (int64_t i = 0; i < c.n; i++)
      if (memcmp(c.data[k] + i * stride, zero, size) == 0) return 1;
  return 0;
}

int dpt__host_map(dpt__context *context, const void *args) {
  const struct dpt__map_args *a = args;
  const dpt__rows *rows = dpt__rows_pick();
  int dtype = rows->map[a->op][a->dtype] ? a->dtype : dpt__compute_dtype(a->dtype), result = dtype;
  int divisor = dpt__map_divisor(a), calls = dpt__map_traits(a->op) & DPT__CALLS;
  dpt__row_fn *row = rows->map[a->op][dtype];
  if (rows->compare[a->op][dtype] && a->walk.dtype[0] == DPT_U8) {
    row = rows->compare[a->op][dtype];
    result = DPT_U8;
  }
  dpt__task task = {row, a->p, a->q, {result, dtype, dtype, dtype}, calls, NULL, NULL, NULL, 0};
  if (row == rows->map[a->op][dtype]) {
    task.past = rows->past[a->op][dtype];
    task.strided = dpt__rows_strided[a->op][dtype];
    const struct by_number *by = &map_by_number[a->op];
    if (by->known && dpt__is_real(dtype)) task.number = rows->map[by->op][dtype];
    task.scales = by->scales;
  }
  if (divisor && map_has_zero(&a->walk, divisor))
    return dpt__fail("a divisor is 0, which is invalid for %s elements", dpt__dtype_name(dtype));
  dpt__tiles(context, &a->walk, &task);
  return 0;
}

int dpt__host_fill(dpt__context *context, const void *args) {
  const struct dpt__fill_args *a = args;
  int dtype = a->walk.dtype[0];
  double value = a->value;
  dpt__walk walk = a->walk;
  if (dpt__is_reduced(dtype)) { /* fill with its bits */
    double element;             /* large enough for every type */
    dpt__put_element(dtype, &element, value);
    int16_t bits;
    memcpy(&bits, &element, sizeof bits);
    value = bits;
    walk.dtype[0] = dtype = DPT_I16;
  }
  dpt__task task = {dpt__rows_pick()->fill[dtype], value, 0, {dtype}, 0, NULL, NULL, NULL, 0};
  dpt__tiles(context, &walk, &task);
  return 0;
}

int dpt__host_convert(dpt__context *context, const void *args) {
  const struct dpt__convert_args *a = args;
  int to = a->walk.dtype[0], from = a->walk.dtype[1];
  dpt__task task = {dpt__rows_pick()->convert[to][from], 0, 0, {to, from}, 0, NULL, NULL, NULL, 0};
  dpt__tiles(context, &a->walk, &task);
  return 0;
}

void dpt__host_copy(dpt__context *context, int64_t rows, int64_t cols, dpt__matrix to,
                    dpt__matrix from) {
  int64_t width = (int64_t)dpt__dtype_size(to.dtype), size = (int64_t)dpt__dtype_size(from.dtype);
  if (to.col == 1 && from.col == 1 && (context->threads == 1 || rows * cols < SMALL)) {
    dpt__row_fn *convert = dpt__rows_pick()->convert[to.dtype][from.dtype];
    for (int64_t i = 0; i < rows; i++)
      convert(cols, (char *)to.data + i * to.row * width, (char *)from.data + i * from.row * size,
              NULL, NULL, 0, 0);
    return;
  }
  struct dpt__convert_args args = {
      .walk = {.noperand = 2, .data = {to.data, from.data}, .dtype = {to.dtype, from.dtype}}};
  dpt__walk *walk = &args.walk;
  for (int d = 0; d < 2; d++) {
    int64_t n = d ? cols : rows;
    if (n == 1 && (!d || walk->ndim)) continue;
    walk->size[walk->ndim] = n;
    walk->stride[0][walk->ndim] = d ? to.col : to.row;
    walk->stride[1][walk->ndim++] = d ? from.col : from.row;
  }
  dpt__walk_sort(walk);
  (void)dpt__host_convert(context, &args);
}
