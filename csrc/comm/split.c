/* split.c: splits a tensor into parts on several devices, and joins parts into one tensor.
 *
 * Invariant: parts and result are resized only if their shape changes, so that a loop allocates
 * nothing. Between devices, the streams of all receivers wait for the sender before the sender
 * waits for any of them.
 */
#include "comm/comm.h"
#include "device/copy.h"
#include "device/device.h"
#include "ops/copy.h"

#include <stdlib.h>

/* Returns the part of t that starts at entry `first` of dimension dim; it owns no reference. */
static dpt_tensor split_part_of(const dpt_tensor *t, int dim, int64_t first, int64_t count) {
  dpt_tensor view = *t;
  view.offset_ += first * t->stride_[dim];
  view.size_[dim] = count;
  return view;
}

static int split_is_plain(const dpt_tensor *to, const dpt_tensor *from) {
  return to->kind_ == from->kind_ && dpt__is_device(to->kind_) && dpt__contiguous(to) &&
         dpt__contiguous(from);
}

/* Copies `from` to `to`; without elements they may have no memory. Plain bytes between devices are
 * queued on the receiver's current stream, which waits for `ready`, an event of the sender; the
 * caller makes the sender wait for the receiver later. Bytes between host and device may be queued
 * as well; the caller must then wait for *done. All other copies order themselves. */
static int split_move(const char *fn, dpt_tensor *to, const dpt_tensor *from, dpt__event ready,
                      dpt__event *done) {
  *done = (dpt__event){NULL, 0};
  if (!dpt__count(from)) return 0;
  if (!split_is_plain(to, from)) {
    DPT__TRY(dpt__copy_direct(fn, to, from, done));
    return done->stream ? 0 : dpt_copy(to, from);
  }
  dpt__stream *stream = dpt__current_stream(to->storage_->device);
  DPT__TRY(dpt__stream_wait(stream, ready));
  return dpt__copy_on(stream, fn, dpt__at(to), to->storage_, dpt__at(from), from->storage_,
                      (size_t)dpt__count(to) * dpt__dtype_size(dpt__type(to)));
}

/* Waits on the host for the copies that split_move has queued, to devices or to the host (device
 * 0), even after a failure. */
static int split_finish(int status, int device, int64_t n, dpt__event *done) {
  for (int64_t i = 0; i < n; i++)
    if (done[i].stream) status |= dpt__copy_finish(device, done[i]);
  free(done);
  return status;
}

/* Allocates the events of n moves, none of which has begun. */
static dpt__event *split_moves(const char *fn, int64_t n) {
  dpt__event *done = calloc((size_t)n + 1, sizeof *done);
  if (!done) dpt__no_memory("%s: no host memory", fn);
  return done;
}

/* Records an event on the device's current stream; none for the host. */
static int split_record(const dpt_tensor *t, dpt__event *event) {
  *event = (dpt__event){NULL, 0};
  if (!t->storage_ || !t->storage_->device) return 0;
  return dpt__event_record(dpt__current_stream(t->storage_->device), event);
}

/* Makes the device of `waiting` wait for all work queued on that of `t`. */
static int split_wait_for(const dpt_tensor *waiting, const dpt_tensor *t) {
  dpt__event event;
  DPT__TRY(split_record(t, &event));
  if (!event.stream || !waiting->storage_ || !waiting->storage_->device) return 0;
  return dpt__stream_wait(dpt__current_stream(waiting->storage_->device), event);
}

int dpt_comm_scatter(int64_t n, dpt_tensor *const *out, const int32_t *devices, const int64_t *rows,
                     const dpt_tensor *src, int dim) {
  int64_t all = 0, first = 0;
  for (int64_t i = 0; i < n; i++) {
    if (rows[i] < 0)
      return dpt__fail("scatter: chunk %lld has size %lld, wanted 0 or more", (long long)i + 1,
                       (long long)rows[i]);
    all += rows[i];
  }
  if (src->ndim_ || all > 0) DPT__TRY(dpt__check_dim("scatter", src, dim));
  if (src->ndim_ && all != src->size_[dim])
    return dpt__fail(
        "scatter: the chunks have %lld entries together, dimension %d of a %s has %lld",
        (long long)all, dim + 1, dpt__describe(src), (long long)src->size_[dim]);
  dpt__event ready, *done = split_moves("scatter", n);
  int status = !done || split_record(src, &ready);
  for (int64_t i = 0; !status && i < n; i++) {
    if (!rows[i]) {
      status = dpt_resize(out[i], 0, NULL);
      continue;
    }
    dpt_tensor part = split_part_of(src, dim, first, rows[i]);
    first += rows[i];
    status = dpt__result(out[i], part.ndim_, part.size_, devices[i]) ||
             split_move("scatter", out[i], &part, ready, &done[i]);
  }
  for (int64_t i = 0; !status && i < n; i++)
    if (rows[i]) status = split_wait_for(src, out[i]);
  return split_finish(status, !dpt_tensor_device(src), done ? n : 0, done);
}

/* Computes the sizes of the result: those of the first part that has elements, with the sum over
 * all parts in dimension dim. */
static int split_joined_size(int64_t n, const dpt_tensor *const *in, int dim, dpt_tensor *size) {
  size->ndim_ = 0;
  for (int64_t i = 0; i < n; i++) {
    const dpt_tensor *t = in[i];
    if (!t->ndim_) continue;
    DPT__TRY(dpt__check_dim("gather", t, dim));
    if (!size->ndim_) {
      *size = *t;
      continue;
    }
    int64_t sum = size->size_[dim] + t->size_[dim];
    size->size_[dim] = t->size_[dim];
    int alike = dpt__same_size(size, t) && size->kind_ == t->kind_;
    size->size_[dim] = sum;
    if (!alike)
      return dpt__fail("gather: part %lld is a %s, wanted one that joins a %s along dimension %d",
                       (long long)i + 1, dpt__describe(t), dpt__describe(in[0]), dim + 1);
  }
  return 0;
}

int dpt_comm_gather(dpt_tensor *out, int device, int64_t n, const dpt_tensor *const *in, int dim) {
  dpt_tensor size = {0};
  DPT__TRY(split_joined_size(n, in, dim, &size));
  if (!size.ndim_) return dpt_resize(out, 0, NULL);
  DPT__TRY(dpt__result(out, size.ndim_, size.size_, device));
  int64_t first = 0;
  dpt__event *done = split_moves("gather", n);
  int status = !done;
  for (int64_t i = 0; !status && i < n; i++) {
    if (!in[i]->ndim_) continue;
    dpt__event ready;
    dpt_tensor part = split_part_of(out, dim, first, in[i]->size_[dim]);
    first += in[i]->size_[dim];
    status = split_record(in[i], &ready) || split_move("gather", &part, in[i], ready, &done[i]);
  }
  for (int64_t i = 0; !status && i < n; i++)
    if (in[i]->ndim_) status = split_wait_for(in[i], out);
  return split_finish(status, device, done ? n : 0, done);
}
