/* marks.c: marks in queues, and what is known of them (marks.h has the rules). */
#include "device/marks.h"

#include "device/graph.h"

#include <stdlib.h>

enum { SET = 16, SPARE = 16 };

typedef struct follow {
  dpt__event event; /* the last one of its stream that was waited for */
  uint64_t at;      /* by this item */
} follow;

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
  int closed;
  /* under the lock of all follows: */
  follow *follows;
  int nfollow, room;
  uint64_t passed;   /* by the queue, when it is looked at */
  uint64_t reach;    /* what goes wrong up to this item concerns who looks */
  dpt__stream *next; /* of those that are being looked at */
  int looked_at;
};

static pthread_mutex_t follow_lock = PTHREAD_MUTEX_INITIALIZER;

int dpt__marks_new(dpt__stream *stream) {
  struct dpt__marks *marks = calloc(1, sizeof *marks);
  if (!marks) return dpt__no_memory("no host memory for the marks of a stream");
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
  m->mark = NULL;
  if (marks->closed) return dpt__graph_mismatch("stream wait", stream);
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
  mark *last = marks->nset ? &marks->set[(marks->first + marks->nset - 1) % SET] : NULL;
  if (!dpt__event_over(event) && !marks->closed && marks->nset < SET &&
      (!last || last->number < event.number)) {
    mark *next = &marks->set[(marks->first + marks->nset) % SET];
    if (!set_mark(stream, next)) marks->nset++;
  }
  while (marks->nset && !stream->backend->mark_query(marks->set[marks->first].mark, &passed) &&
         passed) {
    advance(stream, marks->set[marks->first].number);
    keep(marks, marks->set[marks->first].mark);
    marks->first = (marks->first + 1) % SET;
    marks->nset--;
  }
  pthread_mutex_unlock(&marks->lock);
  return dpt__event_over(event);
}

void dpt__marks_close(dpt__stream *stream, int on) {
  if (!stream->queue) return;
  pthread_mutex_lock(&stream->marks->lock);
  stream->marks->closed = on;
  pthread_mutex_unlock(&stream->marks->lock);
}

int dpt__marks_settle(dpt__event event) {
  dpt__stream *stream = event.stream;
  struct dpt__marks *marks = stream->marks;
  if (!stream->queue || dpt__event_over(event)) return 0; /* never started, or known */
  dpt__counter_wait(&stream->issued, event.number);
  mark m;
  pthread_mutex_lock(&marks->lock);
  int closed = marks->closed && !dpt__event_over(event);
  int status = set_mark(stream, &m);
  pthread_mutex_unlock(&marks->lock);
  if (closed) return status;
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
  mark m = {0, NULL};
  pthread_mutex_lock(&marks->lock);
  if (dpt__event_over(event)) { /* meanwhile */
    pthread_mutex_unlock(&marks->lock);
    return 0;
  }
  int status = set_mark(other, &m);
  status = status || stream->backend->mark_await(stream->queue, m.mark);
  keep(marks, m.mark);
  pthread_mutex_unlock(&marks->lock);
  return status;
}

/* ---- what kernels find wrong ---- */

/* Under the lock. */
static follow *find_follow(struct dpt__marks *marks, dpt__stream *stream) {
  for (int i = 0; i < marks->nfollow; i++)
    if (marks->follows[i].event.stream == stream) return &marks->follows[i];
  if (marks->nfollow == marks->room) {
    int room = marks->room ? 2 * marks->room : 4;
    follow *follows = realloc(marks->follows, (size_t)room * sizeof *follows);
    if (!follows) return NULL;
    marks->follows = follows;
    marks->room = room;
  }
  follow *f = &marks->follows[marks->nfollow++];
  *f = (follow){{stream, 0}, 0};
  return f;
}

int dpt__marks_follow(dpt__stream *stream, uint64_t at, dpt__event event) {
  if (!event.stream->queue) return 0;
  pthread_mutex_lock(&follow_lock);
  follow *f = find_follow(stream->marks, event.stream);
  if (f && f->event.number < event.number) f->event.number = event.number;
  if (f && f->at < at) f->at = at;
  pthread_mutex_unlock(&follow_lock);
  return f ? 0 : dpt__no_memory("no host memory to note which stream waits for which");
}

/* Under the lock: a list of the stream and of all that it follows, directly or not. */
static dpt__stream *list_followed(dpt__stream *stream) {
  dpt__stream *last = stream;
  stream->marks->looked_at = 1;
  stream->marks->reach = UINT64_MAX;
  stream->marks->next = NULL;
  for (dpt__stream *s = stream; s; s = s->marks->next)
    for (int i = 0; i < s->marks->nfollow; i++) {
      dpt__stream *other = s->marks->follows[i].event.stream;
      uint64_t number = s->marks->follows[i].event.number;
      if (!other->marks->looked_at || other->marks->reach < number) other->marks->reach = number;
      if (other->marks->looked_at) continue;
      other->marks->looked_at = 1;
      other->marks->next = NULL;
      last->marks->next = other;
      last = other;
    }
  return stream;
}

/* Under the lock: those stay whose wait the stream has not passed; with the others it has passed
 * what it waited for. */
static void forget_passed(dpt__stream *stream, uint64_t passed) {
  struct dpt__marks *marks = stream->marks;
  int kept = 0;
  for (int i = 0; i < marks->nfollow; i++) {
    follow *f = &marks->follows[i];
    if (f->at > passed) {
      marks->follows[kept++] = *f;
      continue;
    }
    struct dpt__marks *others = f->event.stream->marks;
    pthread_mutex_lock(&others->lock);
    advance(f->event.stream, f->event.number);
    pthread_mutex_unlock(&others->lock);
  }
  marks->nfollow = kept;
}

void dpt__marks_look(dpt__stream *stream, uint64_t number) {
  pthread_mutex_lock(&follow_lock);
  /* What each has passed is asked before what went wrong in it, and in those that it follows. */
  for (dpt__stream *s = list_followed(stream); s; s = s->marks->next)
    s->marks->passed = dpt__counter_value(&s->done);
  for (dpt__stream *s = stream, *next; s; s = next) {
    next = s->marks->next;
    s->marks->looked_at = 0;
    uint64_t wrong;
    if (s->backend->queue_fault(s->queue, &wrong)) dpt__stream_keep(s, "", wrong);
    if (s != stream) dpt__stream_inherit(stream, number, (dpt__event){s, s->marks->reach});
  }
  for (dpt__stream *s = stream; s; s = s->marks->next) forget_passed(s, s->marks->passed);
  pthread_mutex_unlock(&follow_lock);
}
