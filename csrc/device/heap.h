/* heap.h: free blocks in bins by size, split off segments and merged again.
 *
 * Invariant: a segment is a row of blocks that covers it; two neighbors are never both free. The
 * records are in host memory, and the blocks' own bytes are never accessed, so that this works for
 * any backend's memory. All sizes are multiples of DPT__GRAIN. The caller holds the lock of the
 * pool (allocator.c) that the heap belongs to.
 */
#ifndef DPT_DEVICE_HEAP_H
#define DPT_DEVICE_HEAP_H
#include "device/stream_state.h"

enum { DPT__GRAIN = 512, DPT__BIN_ROWS = 40, DPT__BIN_COLUMNS = 8 };

typedef struct dpt__block dpt__block;
typedef struct dpt__bins dpt__bins;

struct dpt__block {
  void *data;
  size_t bytes;     /* of the whole block */
  size_t requested; /* the part its user requested, in grains; 0: free */
  int device;       /* 0: page-locked host memory */
  dpt__bins *home;
  dpt__stream *stream;        /* the stream it is allocated on; NULL: page-locked host memory */
  dpt__block *before, *after; /* neighbors in the segment */
  dpt__block *prev, *next;    /* in a bin, or in a list of the allocator */
  uint64_t freed;             /* the last item of that stream when the block was freed */
  _Atomic(dpt__stream *) last_user;
  dpt__event *users; /* other streams that used it; the numbers are set when it is freed */
  int nuser, user_capacity;
  int pins, freed_by_user; /* number of graphs that use it; 1: freed by its user */
  uint64_t graph;          /* the last graph that pinned it */
};

/* Block sizes double from row to row, in DPT__BIN_COLUMNS steps. */
struct dpt__bins {
  uint64_t rows; /* a bit for each row that has blocks; columns: likewise */
  uint8_t columns[DPT__BIN_ROWS];
  dpt__block *first[DPT__BIN_ROWS][DPT__BIN_COLUMNS];
};

void dpt__bins_add(dpt__bins *bins, dpt__block *block);
void dpt__bins_remove(dpt__bins *bins, dpt__block *block);
/* Finds a free block of at least that size, the best of its bin or one of a larger bin; it stays in
 * the bin. NULL: none. */
dpt__block *dpt__bins_find(dpt__bins *bins, size_t bytes);
/* Splits off the bytes beyond `bytes` of a block that is in no bin, and adds them to the bins. Does
 * nothing if there is no host memory for the record. */
void dpt__block_cut(dpt__block *block, size_t bytes);
/* Merges a block that becomes free with its free neighbors and adds the result to the bins. */
void dpt__block_join(dpt__block *block);

#endif
