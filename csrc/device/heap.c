/* heap.c: bins of free blocks (see heap.h). */
#include "device/heap.h"

#include <stdlib.h>

enum { LOOK = 32 }; /* the number of blocks of its own bin that a search compares */

static void heap_bin(size_t bytes, int *row, int *column) {
  uint64_t grains = bytes / DPT__GRAIN;
  int log = 63 - __builtin_clzll(grains);
  *row = log < DPT__BIN_ROWS ? log : DPT__BIN_ROWS - 1;
  *column = (int)(log >= 3 ? (grains >> (log - 3)) & 7 : (grains << (3 - log)) & 7);
}

void dpt__bins_add(dpt__bins *bins, dpt__block *block) {
  int row, column;
  heap_bin(block->bytes, &row, &column);
  dpt__block **first = &bins->first[row][column];
  block->prev = NULL;
  block->next = *first;
  if (*first) (*first)->prev = block;
  *first = block;
  bins->rows |= UINT64_C(1) << row;
  bins->columns[row] |= (uint8_t)(1 << column);
}

void dpt__bins_remove(dpt__bins *bins, dpt__block *block) {
  int row, column;
  heap_bin(block->bytes, &row, &column);
  if (block->next) block->next->prev = block->prev;
  if (block->prev) {
    block->prev->next = block->next;
    return;
  }
  bins->first[row][column] = block->next;
  if (block->next) return;
  bins->columns[row] &= (uint8_t) ~(1 << column);
  if (!bins->columns[row]) bins->rows &= ~(UINT64_C(1) << row);
}

dpt__block *dpt__bins_find(dpt__bins *bins, size_t bytes) {
  int row, column;
  heap_bin(bytes, &row, &column);
  dpt__block *best = NULL;
  int left = LOOK;
  for (dpt__block *b = bins->first[row][column]; b && left; b = b->next, left--)
    if (b->bytes >= bytes && (!best || b->bytes < best->bytes)) best = b;
  if (best) return best;
  unsigned columns = bins->columns[row] & (0xfeu << column);
  if (columns) return bins->first[row][__builtin_ctz(columns)];
  uint64_t rows = row + 1 < 64 ? bins->rows & (~UINT64_C(0) << (row + 1)) : 0;
  if (!rows) return NULL;
  row = __builtin_ctzll(rows);
  return bins->first[row][__builtin_ctz(bins->columns[row])];
}

void dpt__block_cut(dpt__block *block, size_t bytes) {
  dpt__assert(bytes && bytes < block->bytes && bytes % DPT__GRAIN == 0);
  dpt__block *rest = calloc(1, sizeof *rest);
  if (!rest) return;
  rest->data = (char *)block->data + bytes;
  rest->bytes = block->bytes - bytes;
  rest->device = block->device;
  rest->home = block->home;
  rest->stream = block->stream;
  rest->freed = block->freed;
  rest->before = block;
  rest->after = block->after;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  dpt__bins_add(rest->home, rest);
}

/* Merges `second` into its neighbor `first`; neither is in a bin. */
static void heap_merge(dpt__block *first, dpt__block *second) {
  first->bytes += second->bytes;
  first->after = second->after;
  if (first->after) first->after->before = first;
  if (second->freed > first->freed) first->freed = second->freed;
  free(second->users);
  free(second);
}

static int heap_is_free(const dpt__block *block) { return block && !block->requested; }

void dpt__block_join(dpt__block *block) {
  dpt__assert(block->requested > 0);
  block->requested = 0;
  if (heap_is_free(block->after)) {
    dpt__bins_remove(block->home, block->after);
    heap_merge(block, block->after);
  }
  if (heap_is_free(block->before)) {
    dpt__block *first = block->before;
    dpt__bins_remove(first->home, first);
    heap_merge(first, block);
    block = first;
  }
  dpt__assert(!heap_is_free(block->before) && !heap_is_free(block->after));
  dpt__bins_add(block->home, block);
}
