/* marks.c: marks in queues, and what is known of them (marks.h has the rules). */
#include "device/marks.h"

#include <stdlib.h>

enum { SET = 16, SPARE = 16 };

typedef struct mark {
  uint64_t number; /* everything up to this item has been issued before it */
  void *mark;
} mark;

struct dpt__marks {
  pthread_mutex_t lock;
  int first, nset; /* a ring of marks that were set for dpt__marks_done, oldest first */
  mark set[SET];
  int nspare;
  void *spare[SPARE];
};

int dpt__marks_new(dpt__stream *stream) {
  struct dpt__marks *marks = calloc(1, sizeof *marks);
  if (!marks) return dpt__fail("no host memory for the marks of a stream");
  pthread_mutex_init(&marks->lock, NULL);
  if (stream->backend->queue_new(stream->unit, &stream->queue)) {
    free(marks);
    return 1;
  }
  stream->marks = marks;
  return 0;
}

/* Under the lock. */
static void advance(dpt__stream *stream, uint64_t number) {
  if (number > dpt__counter_value(&stream->done)) dpt__counter_advance(&stream->done, number);
}

/* Under the lock: a mark behind everything that has been issued. */
static int set_mark(dpt__stream *stream, mark *m) {
  struct dpt__marks *marks = stream->marks;
  m->mark = marks->nspare ? marks->spare[--marks->nspare] : NULL;
  m->number = dpt__counter_value(&stream->issued);
  return stream->backend->mark_set(stream->unit, stream->queue, &m->mark);
}

/* Under the lock. Where there is no room the mark is lost, which only costs its memory. */
static void keep(struct dpt__marks *marks, void *spare) {
  if (spare && marks->nspare < SPARE) marks->spare[marks->nspare++] = spare;
}

int dpt__marks_done(dpt__event event) {
  dpt__stream *stream = event.stream;
  struct dpt__marks *marks = stream->marks;
  if (dpt__counter_value(&stream->issued) < event.number) return 0;
  pthread_mutex_lock(&marks->lock);
  int passed = 1;
  while (marks->nset && !stream->backend->mark_query(marks->set[marks->first].mark, &passed) &&
         passed) {
    advance(stream, marks->set[marks->first].number);
    keep(marks, marks->set[marks->first].mark);
    marks->first = (marks->first + 1) % SET;
    marks->nset--;
  }
  int known = dpt__event_over(event);
  mark *last = marks->nset ? &marks->set[(marks->first + marks->nset - 1) % SET] : NULL;
  if (!known && marks->nset < SET && (!last || last->number < event.number)) {
    mark *next = &marks->set[(marks->first + marks->nset) % SET];
    if (!set_mark(stream, next)) marks->nset++;
  }
  pthread_mutex_unlock(&marks->lock);
  return known;
}

int dpt__marks_settle(dpt__event event) {
  dpt__stream *stream = event.stream;
  struct dpt__marks *marks = stream->marks;
  if (!stream->queue || dpt__event_over(event)) return 0; /* never started, or known */
  dpt__counter_wait(&stream->issued, event.number);
  mark m;
  pthread_mutex_lock(&marks->lock);
  int status = set_mark(stream, &m);
  pthread_mutex_unlock(&marks->lock);
  /* A device that failed does no work any more: nobody is to wait for it again. */
  status = status || stream->backend->mark_wait(m.mark);
  pthread_mutex_lock(&marks->lock);
  advance(stream, m.number);
  keep(marks, m.mark);
  pthread_mutex_unlock(&marks->lock);
  return status;
}

int dpt__marks_await(dpt__stream *stream, dpt__event event) {
  dpt__stream *other = event.stream;
  struct dpt__marks *marks = other->marks;
  dpt__counter_wait(&other->issued, event.number);
  if (dpt__event_over(event)) return 0;
  mark m;
  pthread_mutex_lock(&marks->lock);
  int status = set_mark(other, &m);
  status = status || stream->backend->mark_await(stream->queue, m.mark);
  keep(marks, m.mark);
  pthread_mutex_unlock(&marks->lock);
  return status;
}
