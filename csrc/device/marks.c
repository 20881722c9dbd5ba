/* marks.c: marks in queues, and what is known of them (marks.h has the rules). */
#include "device/marks.h"

#include "device/capture.h"

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

static dpt__mutex follow_lock = DPT__MUTEX_INIT; /* of what all streams follow */

struct dpt__marks {
  dpt__mutex lock;
  /* a ring of marks that were set for dpt__marks_done, oldest first */
  int first DPT__GUARDED_BY(lock), nset DPT__GUARDED_BY(lock);
  mark set[SET] DPT__GUARDED_BY(lock);
  int nspare DPT__GUARDED_BY(lock);
  void *spare[SPARE] DPT__GUARDED_BY(lock);
  int closed DPT__GUARDED_BY(lock);
  follow *follows DPT__GUARDED_BY(follow_lock);
  int nfollow DPT__GUARDED_BY(follow_lock), room DPT__GUARDED_BY(follow_lock);
  /* by the queue, when it is looked at */
  uint64_t passed DPT__GUARDED_BY(follow_lock);
  /* what goes wrong up to this item concerns who looks */
  uint64_t reach DPT__GUARDED_BY(follow_lock);
  dpt__stream *next DPT__GUARDED_BY(follow_lock); /* of those that are being looked at */
  int looked_at DPT__GUARDED_BY(follow_lock);
};

int dpt__marks_new(dpt__stream *stream) {
  struct dpt__marks *marks = calloc(1, sizeof *marks);
  if (!marks) return dpt__no_memory("no host memory for the marks of a stream");
  dpt__mutex_init(&marks->lock, NULL);
  void *queue = NULL;
  if (stream->backend->queue_new(stream->unit, &queue)) {
    free(marks);
    return 1;
  }
  stream->marks = marks;
  (void)dpt__sync_point("marks are there");
  atomic_store(&stream->queue, queue);
  return 0;
}

static void advance(dpt__stream *stream, uint64_t number) DPT__REQUIRES(stream->marks->lock) {
  dpt__assert_held(&stream->marks->lock);
  if (number > dpt__counter_value(&stream->done)) dpt__counter_advance(&stream->done, number);
}

/* A mark behind everything that has been issued; where it fails m is one behind nothing. */
static int set_mark(dpt__stream *stream, mark *m) DPT__REQUIRES(stream->marks->lock) {
  struct dpt__marks *marks = stream->marks;
  dpt__assert_held(&marks->lock);
  *m = (mark){0, NULL};
  if (marks->closed) return dpt__capture_mismatch("stream wait", stream);
  m->mark = marks->nspare ? marks->spare[--marks->nspare] : NULL;
  m->number = dpt__counter_value(&stream->issued);
  return stream->backend->mark_set(stream->unit, stream->queue, &m->mark);
}

/* Where there is no room the mark is lost, which only costs its memory. */
static void keep(dpt__stream *stream, void *spare) DPT__REQUIRES(stream->marks->lock) {
  struct dpt__marks *marks = stream->marks;
  dpt__assert_held(&marks->lock);
  if (spare && marks->nspare < SPARE) marks->spare[marks->nspare++] = spare;
}

int dpt__marks_done(dpt__event event) {
  dpt__stream *stream = event.stream;
  struct dpt__marks *marks = stream->marks;
  if (dpt__counter_value(&stream->issued) < event.number) return 0;
  dpt__lock(&stream->marks->lock);
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
    keep(stream, marks->set[marks->first].mark);
    marks->first = (marks->first + 1) % SET;
    marks->nset--;
  }
  dpt__unlock(&stream->marks->lock);
  return dpt__event_over(event);
}

void dpt__marks_close(dpt__stream *stream, int on) {
  if (!stream->queue) return;
  dpt__lock(&stream->marks->lock);
  stream->marks->closed = on;
  dpt__unlock(&stream->marks->lock);
}

int dpt__marks_settle(dpt__event event) {
  dpt__stream *stream = event.stream;
  if (!stream->queue || dpt__event_over(event)) return 0; /* never started, or known */
  dpt__counter_wait(&stream->issued, event.number);
  (void)dpt__sync_point("settle");
  mark m;
  dpt__lock(&stream->marks->lock);
  int over = dpt__event_over(event), closed = stream->marks->closed; /* perhaps meanwhile */
  int status = over ? 0 : set_mark(stream, &m);
  dpt__unlock(&stream->marks->lock);
  if (over || closed) return status;
  /* A device that failed does no work any more: nobody is to wait for it again. */
  status = status || stream->backend->mark_wait(m.mark);
  dpt__lock(&stream->marks->lock);
  advance(stream, m.number);
  keep(stream, m.mark);
  dpt__unlock(&stream->marks->lock);
  return status;
}

int dpt__marks_await(dpt__stream *stream, dpt__event event) {
  dpt__stream *other = event.stream;
  dpt__counter_wait(&other->issued, event.number);
  if (dpt__event_over(event)) return 0;
  mark m = {0, NULL};
  dpt__lock(&other->marks->lock);
  if (dpt__event_over(event)) { /* meanwhile */
    dpt__unlock(&other->marks->lock);
    return 0;
  }
  int status = set_mark(other, &m);
  status = status || stream->backend->mark_await(stream->queue, m.mark);
  keep(other, m.mark);
  dpt__unlock(&other->marks->lock);
  return status;
}

/* ---- what kernels find wrong ---- */

static follow *find_follow(struct dpt__marks *marks, dpt__stream *stream)
    DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
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
  dpt__lock(&follow_lock);
  follow *f = find_follow(stream->marks, event.stream);
  if (f && f->event.number < event.number) f->event.number = event.number;
  if (f && f->at < at) f->at = at;
  dpt__unlock(&follow_lock);
  return f ? 0 : dpt__no_memory("no host memory to note which stream waits for which");
}

/* A list of the stream and of all that it follows, directly or not. */
static dpt__stream *list_followed(dpt__stream *stream) DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
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

/* Those stay whose wait the stream has not passed; with the others it has passed what it waited
 * for.
 */
static void forget_passed(dpt__stream *stream, uint64_t passed) DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
  struct dpt__marks *marks = stream->marks;
  int kept = 0;
  for (int i = 0; i < marks->nfollow; i++) {
    follow *f = &marks->follows[i];
    if (f->at > passed) {
      marks->follows[kept++] = *f;
      continue;
    }
    dpt__stream *other = f->event.stream;
    dpt__lock(&other->marks->lock);
    advance(other, f->event.number);
    dpt__unlock(&other->marks->lock);
  }
  marks->nfollow = kept;
}

void dpt__marks_look(dpt__stream *stream, uint64_t number) {
  dpt__lock(&follow_lock);
  /* What each has passed is asked before what went wrong in it, and in those that it follows. */
  for (dpt__stream *s = list_followed(stream); s; s = s->marks->next)
    s->marks->passed = dpt__counter_value(&s->done);
  for (dpt__stream *s = stream, *next; s; s = next) {
    next = s->marks->next;
    s->marks->looked_at = 0;
    uint64_t wrong;
    const char *name;
    if (s->backend->queue_fault(s->queue, &wrong, &name)) dpt__stream_keep(s, name, wrong);
    if (s != stream) dpt__stream_inherit(stream, number, (dpt__event){s, s->marks->reach});
  }
  for (dpt__stream *s = stream; s; s = s->marks->next) forget_passed(s, s->marks->passed);
  dpt__unlock(&follow_lock);
}
