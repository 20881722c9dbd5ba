/* rendezvous.c: one item of work for several streams (see rendezvous.h). */
#include "device/rendezvous.h"

#include "device/capture.h"

#include <stdlib.h>
#include <string.h>

typedef struct rendezvous {
  atomic_int arriving, leaving; /* streams that have not arrived; streams that still use this */
  int n, status;
  dpt__rendezvous_fn *fn;
  dpt__event work;   /* the item that ran fn */
  dpt__counter over; /* 1: fn has returned */
  const void *args;  /* after the streams */
  dpt__stream *stream[];
} rendezvous;

static void rendezvous_leave(rendezvous *m) {
  if (atomic_fetch_sub(&m->leaving, 1) == 1) free(m);
}

static int rendezvous_run(dpt__context *context, const void *args) {
  rendezvous *m = *(rendezvous *const *)args;
  dpt__stream *stream = context->stream;
  dpt__event self = dpt__event_running(stream);
  int status = 0;
  if (atomic_fetch_sub(&m->arriving, 1) == 1) {
    dpt__runner_enter(&stream->runner);
    status = m->status = m->fn(context, m->n, m->stream, m->args);
    m->work = self;
    dpt__counter_advance(&m->over, 1);
  } else {
    dpt__counter_wait(&m->over, 1);
    if (m->status) {
      dpt__event_run(m->work); /* the error is set by then */
      dpt__stream_inherit(stream, self.number, m->work);
    }
  }
  rendezvous_leave(m);
  return status;
}

static int rendezvous_by_id(const void *a, const void *b) {
  return (*(dpt__stream *const *)a)->id - (*(dpt__stream *const *)b)->id;
}

int dpt__stream_rendezvous(int n, dpt__stream *const *streams, dpt__rendezvous_fn *fn,
                           const char *name, const void *args, size_t size) {
  dpt__assert(n > 0 && n <= DPT__PUSH_MAX);
  dpt__stream *sorted[DPT__PUSH_MAX];
  size_t head = (sizeof(rendezvous) + (size_t)n * sizeof *streams + 15) / 16 * 16;
  DPT__TRY(dpt__capture_rejects(name, "it uses several devices"));
  rendezvous *m = malloc(head + size);
  if (!m) return dpt__no_memory("%s: no host memory", name);
  *m = (rendezvous){.n = n, .fn = fn, .args = (char *)m + head};
  atomic_init(&m->arriving, n);
  atomic_init(&m->leaving, n);
  dpt__counter_init(&m->over);
  memcpy(m->stream, streams, (size_t)n * sizeof *streams);
  if (size) memcpy((char *)m + head, args, size);
  memcpy(sorted, streams, (size_t)n * sizeof *streams);
  qsort(sorted, (size_t)n, sizeof *sorted, rendezvous_by_id);
  int status = dpt__stream_push_all(n, sorted, rendezvous_run, name, &m, sizeof m);
  if (status) free(m);
  return status;
}
