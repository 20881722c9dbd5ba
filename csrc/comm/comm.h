/* comm.h: transfers of tensors between devices.
 *
 * Invariant: all work is queued on the current streams of the devices involved and ordered by
 * events; nothing waits on the host, except for host tensors. Sums add in the order of their
 * summands, whichever device computes them. comm.c checks the operands before it calls a transport:
 * contiguous, of one type, with equal counts, the tensors of one side on one device.
 */
#ifndef DPT_COMM_COMM_H
#define DPT_COMM_COMM_H
#include "comm/runs.h"
#include "device/copy.h"
#include "tensor/tensor.h"

/* Tensors of one device seen as one row of elements, and a cursor: element `first` of t[0], with n
 * tensors left. Several rows may have the same elements, split differently. */
typedef struct dpt__row {
  int64_t n;
  const dpt_tensor *const *t;
  int64_t first;
} dpt__row;

typedef struct dpt__transport {
  const char *name;
  int (*available)(void); /* returns 0, or fails with the reason */
  /* Sets each out row to src. */
  int (*broadcast)(dpt__row src, int64_t copies, const dpt__row *out);
  /* Sets out to the sum of the rows in[0], in[1] ..., one of which may be out itself. */
  int (*reduce)(dpt__row out, int64_t sources, const dpt__row *in);
  /* Like the functions dpt_comm_all_reduce ... of dpt.h: each of the n tensors is on a different
   * device. Part i begins at element first[i] of the whole, which has first[n] elements. */
  int (*all_reduce)(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
  int (*all_gather)(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                    const int64_t *first);
  int (*reduce_scatter)(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                        const int64_t *first);
} dpt__transport;

extern const dpt__transport dpt__transport_copy, dpt__transport_nccl;
/* The transport in use: copies, unless a script chooses another one that does not fail. */
extern _Atomic(const dpt__transport *) dpt__transport_chosen;

/* row.c: these functions read at the row's cursor; those ending in _advance also move it. After
 * dpt__row_count and dpt__row_run, t[0] is the tensor that contains the cursor. */

static inline int dpt__row_device(const dpt__row *row) { return row->t[0]->storage_->device; }
/* Returns the number of elements of the type at the row's cursor, at most `most`; 0 at the end. */
int64_t dpt__row_count(dpt__row *row, int64_t most);
/* Sets *at to the address of the element at the cursor and *run to the number of elements, at most
 * `most`, that are contiguous from there on (0: the end). Records that the stream (NULL: none) uses
 * them. */
int dpt__row_run(dpt__row *row, int64_t most, dpt__stream *stream, char **at, int64_t *run);
static inline void dpt__row_advance(dpt__row *row, int64_t count) { row->first += count; }
/* Returns the total bytes of the tensors from the cursor on. */
uint64_t dpt__row_bytes(const dpt__row *row);
/* Adds copies of the next count elements to plain memory, or from it, to the batch. */
enum dpt__direction { DPT__GATHER, DPT__SPREAD };
int dpt__row_copy_advance(dpt__row *row, int64_t count, dpt__copies *copies,
                          enum dpt__direction direction, void *memory, dpt_storage *storage);
/* Adds copies of the elements of one row to another, at most `most`, to the batch. */
int dpt__row_copy(dpt__row to, dpt__row from, int64_t most, dpt__copies *copies);
/* Counts a write to all of the row's storages. */
void dpt__row_written(const dpt__row *row);

/* sum.c: reduce, and one part of a sum on each of n devices: elements first[i] to first[i + 1] - 1
 * of all `in` are summed into out[i], from element to[i] on. */
int dpt__sum_rows(const char *fn, dpt__row out, int64_t sources, const dpt__row *in);
int dpt__sum_parts(const char *fn, int64_t n, dpt_tensor *const *out, const int64_t *to,
                   const dpt_tensor *const *in, const int64_t *first);

#endif
