/* row.c: lists of tensors as rows of elements (comm.h).
 *
 * Invariant: the tensors are contiguous, so an element's index in a tensor is an offset in memory;
 * a copy never extends beyond the row.
 */
#include "base/number.h"
#include "comm/comm.h"
#include "device/device.h"

static size_t row_element_size(const dpt_tensor *t) { return dpt__dtype_size(dpt__type(t)); }

/* Moves the cursor past tensors that it has passed or that are empty, and returns the tensor at it;
 * NULL at the end. */
static const dpt_tensor *row_here(dpt__row *row) {
  while (row->n && row->first >= dpt__count(row->t[0])) {
    row->first -= dpt__count(row->t[0]);
    row->t++;
    row->n--;
  }
  return row->n ? row->t[0] : NULL;
}

static char *row_at(const dpt__row *row) {
  return (char *)dpt__at(row->t[0]) + (size_t)row->first * row_element_size(row->t[0]);
}

int64_t dpt__row_count(dpt__row *row, int64_t most) {
  const dpt_tensor *t = row_here(row);
  if (!t) return 0;
  int64_t count = -row->first;
  for (int64_t i = 0; i < row->n && row->t[i]->kind_ == t->kind_ && count < most; i++)
    count += dpt__count(row->t[i]);
  return dpt__min(count, most);
}

uint64_t dpt__row_bytes(const dpt__row *row) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < row->n; i++)
    bytes += (uint64_t)dpt__count(row->t[i]) * row_element_size(row->t[i]);
  return bytes;
}

int dpt__row_run(dpt__row *row, int64_t most, dpt__stream *stream, char **start, int64_t *all) {
  const dpt_tensor *t = row_here(row);
  *all = 0;
  if (!t) return 0;
  int64_t run = dpt__min(most, dpt__count(t) - row->first);
  *start = row_at(row);
  for (int64_t i = 1; i < row->n && run < most; i++) {
    const dpt_tensor *next = row->t[i];
    if (next->kind_ != t->kind_ || next->storage_ != t->storage_ ||
        next->offset_ != t->offset_ + row->first + run)
      break;
    run += dpt__min(most - run, dpt__count(next));
  }
  *all = run;
  return stream ? dpt__block_use(t->storage_->block, stream) : 0;
}

int dpt__row_copy_advance(dpt__row *row, int64_t count, dpt__copies *copies,
                          enum dpt__direction direction, void *memory, dpt_storage *storage) {
  const dpt_tensor *t;
  for (char *next = memory; count > 0 && (t = row_here(row));) {
    int64_t n = dpt__min(count, dpt__count(t) - row->first);
    size_t bytes = (size_t)n * row_element_size(t);
    if (direction == DPT__GATHER)
      DPT__TRY(dpt__copies_add(copies, next, storage, row_at(row), t->storage_, bytes));
    else
      DPT__TRY(dpt__copies_add(copies, row_at(row), t->storage_, next, storage, bytes));
    next += bytes;
    count -= n;
    row->first += n;
  }
  return 0;
}

int dpt__row_copy(dpt__row to, dpt__row from, int64_t most, dpt__copies *copies) {
  const dpt_tensor *t;
  while (most > 0 && (t = row_here(&to))) {
    int64_t n = dpt__min(most, dpt__count(t) - to.first);
    DPT__TRY(dpt__row_copy_advance(&from, n, copies, DPT__GATHER, row_at(&to), t->storage_));
    to.first += n;
    most -= n;
  }
  return 0;
}

void dpt__row_written(const dpt__row *row) {
  for (int64_t i = 0; i < row->n; i++) dpt__written(row->t[i]);
}
