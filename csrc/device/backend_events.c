/* backend_events.c: events of native streams (see backend_events.h). */
#include "device/backend_events.h"

#include "device/capture.h"

#include <stdlib.h>

enum { PENDING = 16, SPARE = 16 };

typedef struct follow {
  dpt__event event; /* the last one of its stream that was waited for */
  uint64_t at;      /* by this item */
} follow;

typedef struct recorded {
  uint64_t number; /* everything up to this item was issued before it */
  void *event;     /* the backend's */
} recorded;

static dpt__mutex follow_lock = DPT__MUTEX_INIT; /* protects `follows` of all streams */

struct dpt__backend_events {
  dpt__mutex lock;
  /* a ring of the events recorded by dpt__backend_event_query, oldest first */
  int first DPT__GUARDED_BY(lock), npending DPT__GUARDED_BY(lock);
  recorded pending[PENDING] DPT__GUARDED_BY(lock);
  int nspare DPT__GUARDED_BY(lock);
  void *spare[SPARE] DPT__GUARDED_BY(lock);
  int closed DPT__GUARDED_BY(lock);
  follow *follows DPT__GUARDED_BY(follow_lock);
  int nfollow DPT__GUARDED_BY(follow_lock), capacity DPT__GUARDED_BY(follow_lock);
  /* State of one poll: the stream's `done` when it began; the last item whose errors concern the
   * polling stream; the next stream to poll. */
  uint64_t done DPT__GUARDED_BY(follow_lock), reach DPT__GUARDED_BY(follow_lock);
  dpt__stream *next DPT__GUARDED_BY(follow_lock);
  int polled DPT__GUARDED_BY(follow_lock);
};

int dpt__backend_events_new(dpt__stream *stream) {
  struct dpt__backend_events *events = calloc(1, sizeof *events);
  if (!events) return dpt__no_memory("no host memory for the events of a stream");
  dpt__mutex_init(&events->lock, NULL);
  void *native = NULL;
  if (stream->backend->stream_new(stream->unit, stream->index < 0, &native)) {
    free(events);
    return 1;
  }
  stream->events = events;
  (void)dpt__sync_point("events are there");
  atomic_store(&stream->native_stream, native);
  return 0;
}

static void events_advance(dpt__stream *stream, uint64_t number)
    DPT__REQUIRES(stream->events->lock) {
  dpt__assert_held(&stream->events->lock);
  if (number > dpt__counter_value(&stream->done)) dpt__counter_advance(&stream->done, number);
}

/* Events beyond the capacity are lost, which only costs their memory. */
static void events_recycle(dpt__stream *stream, void *spare) DPT__REQUIRES(stream->events->lock) {
  struct dpt__backend_events *events = stream->events;
  dpt__assert_held(&events->lock);
  if (spare && events->nspare < SPARE) events->spare[events->nspare++] = spare;
}

/* Records an event after all items issued; if that fails, m->event is NULL. */
static int events_record(dpt__stream *stream, recorded *m) DPT__REQUIRES(stream->events->lock) {
  struct dpt__backend_events *events = stream->events;
  dpt__assert_held(&events->lock);
  *m = (recorded){dpt__counter_value(&stream->issued), NULL};
  if (events->closed) return dpt__capture_mismatch("stream wait", stream);
  void *event = events->nspare ? events->spare[--events->nspare] : NULL;
  if (stream->backend->event_record(stream->unit, stream->native_stream, &event)) {
    events_recycle(stream, event);
    return 1;
  }
  m->event = event;
  return 0;
}

int dpt__backend_event_query(dpt__event event, int *done) {
  dpt__stream *stream = event.stream;
  struct dpt__backend_events *events = stream->events;
  recorded *ring = events->pending;
  int status = 0, passed = 1;
  *done = 0;
  if (dpt__counter_value(&stream->issued) < event.number) return 0;
  dpt__lock(&stream->events->lock);
  const recorded *last =
      events->npending ? &ring[(events->first + events->npending - 1) % PENDING] : NULL;
  if (!dpt__event_known_done(event) && !events->closed && events->npending < PENDING &&
      (!last || last->number < event.number)) {
    status = events_record(stream, &ring[(events->first + events->npending) % PENDING]);
    events->npending += !status;
  }
  while (events->npending && !status) {
    recorded *oldest = &ring[events->first];
    status = stream->backend->event_query(oldest->event, &passed);
    if (status || !passed) break;
    events_advance(stream, oldest->number);
    events_recycle(stream, oldest->event);
    events->first = (events->first + 1) % PENDING;
    events->npending--;
  }
  dpt__unlock(&stream->events->lock);
  *done = dpt__event_known_done(event);
  return status;
}

void dpt__backend_events_close(dpt__stream *stream, int on) {
  if (!stream->native_stream) return;
  dpt__lock(&stream->events->lock);
  stream->events->closed = on;
  dpt__unlock(&stream->events->lock);
}

int dpt__backend_event_synchronize(dpt__event event) {
  dpt__stream *stream = event.stream;
  if (!stream->native_stream || dpt__event_known_done(event))
    return 0; /* never started, or known */
  dpt__counter_wait(&stream->issued, event.number);
  (void)dpt__sync_point("wait quietly");
  recorded m;
  dpt__lock(&stream->events->lock);
  int over = dpt__event_known_done(event), closed = stream->events->closed; /* after the wait */
  int status = over ? 0 : events_record(stream, &m);
  dpt__unlock(&stream->events->lock);
  if (over || closed) return status;
  status = status || stream->backend->event_synchronize(m.event);
  dpt__lock(&stream->events->lock);
  /* A lost device does no more work, so its items count as passed and no later wait blocks. After
   * any other failure the work may still run. */
  if (!status || stream->backend->lost()) events_advance(stream, m.number);
  events_recycle(stream, m.event);
  dpt__unlock(&stream->events->lock);
  return status;
}

int dpt__backend_stream_wait_event(dpt__stream *stream, dpt__event event) {
  dpt__stream *other = event.stream;
  dpt__counter_wait(&other->issued, event.number);
  if (dpt__event_known_done(event)) return 0;
  recorded m = {0, NULL};
  dpt__lock(&other->events->lock);
  if (dpt__event_known_done(event)) { /* passed since the check above */
    dpt__unlock(&other->events->lock);
    return 0;
  }
  int status = events_record(other, &m);
  status = status || stream->backend->stream_wait_event(stream->native_stream, m.event);
  events_recycle(other, m.event);
  dpt__unlock(&other->events->lock);
  return status;
}

/* ---- errors that kernels find ---- */

static follow *events_find_follow(struct dpt__backend_events *events, dpt__stream *stream)
    DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
  for (int i = 0; i < events->nfollow; i++)
    if (events->follows[i].event.stream == stream) return &events->follows[i];
  if (events->nfollow == events->capacity) {
    int capacity = events->capacity ? 2 * events->capacity : 4;
    follow *follows = realloc(events->follows, (size_t)capacity * sizeof *follows);
    if (!follows) return NULL;
    events->follows = follows;
    events->capacity = capacity;
  }
  follow *f = &events->follows[events->nfollow++];
  *f = (follow){{stream, 0}, 0};
  return f;
}

int dpt__backend_events_follow(dpt__stream *stream, uint64_t at, dpt__event event) {
  if (!event.stream->native_stream) return 0;
  dpt__lock(&follow_lock);
  follow *f = events_find_follow(stream->events, event.stream);
  if (f && f->event.number < event.number) f->event.number = event.number;
  if (f && f->at < at) f->at = at;
  dpt__unlock(&follow_lock);
  return f ? 0 : dpt__no_memory("no host memory to record a wait between streams");
}

/* Returns a list of the stream and of all streams that it follows, directly or indirectly. */
static dpt__stream *events_list_followed(dpt__stream *stream) DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
  dpt__stream *last = stream;
  stream->events->polled = 1;
  stream->events->reach = UINT64_MAX;
  stream->events->next = NULL;
  for (dpt__stream *s = stream; s; s = s->events->next)
    for (int i = 0; i < s->events->nfollow; i++) {
      dpt__stream *other = s->events->follows[i].event.stream;
      uint64_t number = s->events->follows[i].event.number;
      if (!other->events->polled || other->events->reach < number) other->events->reach = number;
      if (other->events->polled) continue;
      other->events->polled = 1;
      other->events->next = NULL;
      last->events->next = other;
      last = other;
    }
  return stream;
}

/* Keeps follows of waits that the stream has not passed; the events of the others are done. */
static void events_forget_passed(dpt__stream *stream, uint64_t passed) DPT__REQUIRES(follow_lock) {
  dpt__assert_held(&follow_lock);
  struct dpt__backend_events *events = stream->events;
  int kept = 0;
  for (int i = 0; i < events->nfollow; i++) {
    follow *f = &events->follows[i];
    if (f->at > passed) {
      events->follows[kept++] = *f;
      continue;
    }
    dpt__stream *other = f->event.stream;
    dpt__lock(&other->events->lock);
    events_advance(other, f->event.number);
    dpt__unlock(&other->events->lock);
  }
  events->nfollow = kept;
}

void dpt__backend_events_poll(dpt__stream *stream, uint64_t number) {
  dpt__lock(&follow_lock);
  /* Reads each stream's progress before its errors and those of the streams that it follows. */
  for (dpt__stream *s = events_list_followed(stream); s; s = s->events->next)
    s->events->done = dpt__counter_value(&s->done);
  for (dpt__stream *s = stream, *next; s; s = next) {
    next = s->events->next;
    s->events->polled = 0;
    uint64_t wrong;
    const char *name;
    if (s->backend->stream_fault(s->native_stream, &wrong, &name))
      dpt__stream_set_error(s, name, wrong);
    if (s != stream) dpt__stream_inherit(stream, number, (dpt__event){s, s->events->reach});
  }
  for (dpt__stream *s = stream; s; s = s->events->next) events_forget_passed(s, s->events->done);
  dpt__unlock(&follow_lock);
}
