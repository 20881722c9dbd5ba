/* stream_state.c: new streams, and the errors that streams keep (see stream_state.h). */
#include "device/stream_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE = 512 };

struct dpt__error {
  atomic_int references;
  atomic_int reported;
  size_t size; /* of text */
  char text[];
};

dpt__mutex dpt__error_lock = DPT__MUTEX_INIT;

static _Atomic uint64_t failures;

uint64_t dpt_failures(void) { return atomic_load(&failures); }

const char *dpt__stream_name(char text[DPT__STREAM_NAME], const dpt__stream *stream) {
  if (stream->index < 0)
    snprintf(text, DPT__STREAM_NAME, "the communication stream of device %d", stream->device);
  else if (!stream->device)
    snprintf(text, DPT__STREAM_NAME, "the stream of ranks");
  else
    snprintf(text, DPT__STREAM_NAME, "stream %d of device %d", stream->index, stream->device);
  return text;
}

dpt__stream *dpt__stream_new(dpt__device *device, int index, int blocking) {
  static atomic_int ids;
  dpt__stream *stream = aligned_alloc(DPT__LINE, sizeof *stream);
  if (!stream) {
    dpt__no_memory("stream %d of device %d: no host memory for its queue", index, device->number);
    return NULL;
  }
  memset(stream, 0, sizeof *stream);
  stream->backend = device->backend;
  stream->owner = device;
  stream->unit = device->index;
  stream->device = device->number;
  stream->index = index;
  stream->id = atomic_fetch_add(&ids, 1);
  stream->threads = device->threads;
  stream->blocking = blocking;
  dpt__mutex_init(&stream->lock, NULL);
  dpt__counter_init(&stream->submitted);
  dpt__counter_init(&stream->issued);
  dpt__counter_init(&stream->done);
  return stream;
}

/* ---- errors ---- */

static int stream_state_has_error(dpt__stream *stream) DPT__REQUIRES(dpt__error_lock) {
  dpt__assert_held(&dpt__error_lock);
  return stream->error && !atomic_load(&stream->error->reported);
}

/* Returns NULL without a message if out of host memory. */
static dpt__error *error_new(size_t size) {
  dpt__error *error = dpt__sync_point("error_new") ? NULL : malloc(sizeof *error + size);
  if (!error) return NULL;
  atomic_init(&error->references, 1);
  atomic_init(&error->reported, 0);
  error->size = size;
  return error;
}

static void error_release(dpt__error *error) {
  if (!error) return;
  int references = atomic_fetch_sub(&error->references, 1);
  dpt__assert(references > 0);
  if (references == 1) free(error);
}

int dpt__stream_reserve_error(dpt__stream *stream) {
  dpt__lock(&dpt__error_lock);
  if (!stream->reserve) stream->reserve = error_new(RESERVE);
  int status = !stream->reserve;
  dpt__unlock(&dpt__error_lock);
  return status;
}

/* Releases an error that was reported; it becomes the reserve again if it has no other owner. */
static void error_done(dpt__stream *stream, dpt__error *error) {
  dpt__lock(&dpt__error_lock);
  if (!stream->reserve && error->size == RESERVE && atomic_load(&error->references) == 1) {
    atomic_store(&error->reported, 0);
    stream->reserve = error;
    error = NULL;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(error);
}

/* Returns memory for a message of that size, or the stream's reserve if there is none, which
 * truncates the message. NULL: the reserve is in use. */
static dpt__error *error_for(dpt__stream *stream, size_t size) {
  dpt__error *error = error_new(size);
  if (!error) {
    dpt__lock(&dpt__error_lock);
    error = stream->reserve;
    stream->reserve = NULL;
    dpt__unlock(&dpt__error_lock);
  }
  dpt__stream_reserve_error(stream);
  return error;
}

void dpt__stream_set_error(dpt__stream *stream, const char *name, uint64_t number) {
  atomic_fetch_add(&failures, 1);
  const char *text = dpt_message();
  char where[DPT__STREAM_NAME];
  dpt__stream_name(where, stream);
  dpt__error *error =
      error_for(stream, strlen(name) + strlen(text) + strlen(where) + sizeof ":  (queued on )");
  if (!error) return;
  snprintf(error->text, error->size, "%s: %s (queued on %s)", name, text, where);
  dpt__lock(&dpt__error_lock);
  dpt__error *old = error;
  if (!stream_state_has_error(stream)) {
    old = stream->error;
    stream->error = error;
    stream->error_number = number;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(old);
}

void dpt__stream_inherit(dpt__stream *stream, uint64_t number, dpt__event event) {
  dpt__error *old = NULL;
  dpt__lock(&dpt__error_lock);
  dpt__stream *from = event.stream;
  if (stream_state_has_error(from) && from->error_number <= event.number &&
      !stream_state_has_error(stream)) {
    atomic_fetch_add(&from->error->references, 1);
    old = stream->error;
    stream->error = from->error;
    stream->error_number = number;
  }
  dpt__unlock(&dpt__error_lock);
  error_release(old);
}

int dpt__stream_report(dpt__event event) {
  dpt__stream *stream = event.stream;
  dpt__error *error = NULL;
  int status = 0;
  dpt__lock(&dpt__error_lock);
  if (stream->error && stream->error_number <= event.number) {
    error = stream->error;
    stream->error = NULL;
  }
  dpt__unlock(&dpt__error_lock);
  if (!error) return 0;
  if (!atomic_exchange(&error->reported, 1)) status = dpt__fail("%s", error->text);
  error_done(stream, error);
  return status;
}
