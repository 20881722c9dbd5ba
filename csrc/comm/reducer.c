/* reducer.c: sums the gradients of several replicas while they are still being computed.
 *
 * Invariant: a bucket's sum is queued when the bucket is ready in the last replica, on the
 * communication streams, after all work that each replica had queued when it was ready there. It
 * equals the sum of dpt_comm_reduce, element for element. Until the pass ends, storages do not
 * count the writes of sums. Nothing waits on the host. Replicas may become ready on different
 * threads at once. Work that the caller does with a sum before the pass ends (send: to add the sums
 * of other processes) is queued after the sum, on the same streams; from then on nothing is added
 * to that bucket.
 *
 * Locks: `lock` is held while the state of a bucket changes and while its sum is queued, so that
 * the sums of two buckets are not interleaved in the streams; the streams' own locks are taken
 * inside it.
 */
#include "base/lock.h"
#include "device/device.h"
#include "tensor/tensor.h"

#include <stdlib.h>

typedef struct bucket {
  int64_t tensors;    /* of one replica */
  dpt_tensor **lists; /* (replicas, tensors) */
  int64_t missing;    /* replicas in which it is not ready */
  int queued, again;  /* the sum is queued; a replica wrote to the bucket after that */
  int sent;           /* the caller has used the sum */
  int written;        /* by sums of this pass */
} bucket;

struct dpt_reducer {
  dpt__mutex lock;
  int64_t buckets, replicas, tensors;         /* tensors: of all replicas */
  int *devices;                               /* (replicas) */
  bucket *bucket DPT__PT_GUARDED_BY(lock);    /* (buckets) */
  dpt__event *ready DPT__PT_GUARDED_BY(lock); /* (buckets, replicas); stream NULL: not ready */
  dpt_tensor *own;                            /* (tensors), each with a reference to its storage */
  dpt_tensor **lists;                         /* (tensors): bucket[b].lists point into it */
};

void dpt_reducer_free(dpt_reducer *r) {
  if (!r) return;
  for (int64_t i = 0; r->own && i < r->tensors; i++) dpt_tensor_free(&r->own[i]);
  dpt__mutex_destroy(&r->lock);
  free(r->devices);
  free(r->bucket);
  free(r->ready);
  free(r->own);
  free(r->lists);
  free(r);
}

static int reducer_allocate(dpt_reducer *r) {
  r->devices = calloc((size_t)r->replicas, sizeof *r->devices);
  r->bucket = calloc((size_t)r->buckets, sizeof *r->bucket);
  r->ready = calloc((size_t)(r->buckets * r->replicas), sizeof *r->ready);
  r->own = calloc((size_t)r->tensors, sizeof *r->own);
  r->lists = calloc((size_t)r->tensors, sizeof *r->lists);
  if (r->devices && r->bucket && r->ready && r->own && r->lists) return 0;
  return dpt__no_memory("reducer: no host memory for %lld buckets", (long long)r->buckets);
}

/* Fills in the tensors of one bucket, those of replica 0 first. */
static int reducer_fill_bucket(dpt_reducer *r, bucket *b, dpt_tensor *const *tensors,
                               int64_t first) {
  b->lists = r->lists + first;
  for (int64_t i = 0; i < r->replicas * b->tensors; i++) {
    const dpt_tensor *t = tensors[first + i];
    int64_t replica = i / b->tensors;
    int device = t->storage_ ? t->storage_->device : 0;
    if (!r->devices[replica]) r->devices[replica] = device;
    if (!device || device != r->devices[replica])
      return dpt__fail("reducer: tensor %lld is a %s on device %d, wanted device %d, that of the "
                       "first tensor of its replica",
                       (long long)(first + i) + 1, dpt__describe(t), device, r->devices[replica]);
    dpt__assign_view(&r->own[first + i], t);
    b->lists[i] = &r->own[first + i];
  }
  return 0;
}

/* Runs without the lock, since no other thread has the reducer yet. */
int dpt_reducer_new(dpt_reducer **result, int64_t buckets, const int64_t *counts, int64_t replicas,
                    dpt_tensor *const *tensors) DPT__UNPROVED {
  DPT__TRY(dpt__devices_ready("reducer"));
  if (buckets < 1 || replicas < 1)
    return dpt__fail("reducer: got %lld buckets of %lld replicas, wanted at least 1 of each",
                     (long long)buckets, (long long)replicas);
  dpt_reducer *r = calloc(1, sizeof *r);
  if (!r) return dpt__no_memory("reducer: no host memory");
  dpt__mutex_init(&r->lock, NULL);
  r->buckets = buckets;
  r->replicas = replicas;
  for (int64_t b = 0; b < buckets; b++) r->tensors += counts[b] * replicas;
  int status = reducer_allocate(r);
  int64_t first = 0;
  for (int64_t b = 0; b < buckets && !status; b++) {
    r->bucket[b].tensors = counts[b];
    status = reducer_fill_bucket(r, &r->bucket[b], tensors, first);
    first += counts[b] * replicas;
  }
  if (!status && !r->tensors)
    status =
        dpt__fail("reducer: got no tensors in %lld buckets, wanted at least 1 for each replica",
                  (long long)buckets);
  for (int64_t i = 0; i < replicas && !status; i++)
    status = !dpt__communication_stream(r->devices[i]);
  if (!status) {
    *result = r;
    return 0;
  }
  dpt_reducer_free(r);
  return status;
}

/* Records an event on this thread's current stream of the replica's device. */
static int reducer_record(dpt_reducer *r, int64_t replica, dpt__event *event) {
  return dpt__event_record(dpt__current_stream(r->devices[replica]), event);
}

/* Queues the sum of a bucket that is ready in all replicas. */
static int reducer_queue_sum(dpt_reducer *r, int64_t b) DPT__REQUIRES(r->lock) {
  dpt__assert_held(&r->lock);
  bucket *one = &r->bucket[b];
  for (int64_t i = 0; i < r->replicas; i++)
    DPT__TRY(
        dpt__stream_wait(dpt__communication_stream(r->devices[i]), r->ready[b * r->replicas + i]));
  dpt__communicate(1);
  one->written = dpt__writes_later = 1;
  int status =
      dpt_comm_reduce(one->tensors, one->lists, r->replicas - 1, one->lists + one->tensors, 1, 1);
  dpt__communicate(0);
  dpt__writes_later = 0;
  one->queued = !status;
  return status;
}

/* Marks a bucket of a replica as ready. If the sum cannot be queued, the bucket is not ready after
 * all, and the caller may try again. */
static int reducer_bucket_ready(dpt_reducer *r, int64_t replica, int64_t b) DPT__REQUIRES(r->lock) {
  dpt__assert_held(&r->lock);
  dpt__event *event = &r->ready[b * r->replicas + replica];
  if (event->stream) return 0;
  DPT__TRY(reducer_record(r, replica, event));
  if (--r->bucket[b].missing || !reducer_queue_sum(r, b)) return 0;
  r->bucket[b].missing = 1;
  event->stream = NULL;
  return 1;
}

static int reducer_check(const dpt_reducer *r, int64_t replica, int64_t b) {
  if (replica >= 0 && replica < r->replicas && b >= 0 && b < r->buckets) return 0;
  return dpt__fail("reducer: got bucket %lld of replica %lld, wanted 1 to %lld of 1 to %lld",
                   (long long)dpt__from_one(b), (long long)dpt__from_one(replica),
                   (long long)r->buckets, (long long)r->replicas);
}

int dpt_reducer_bucket_ready(dpt_reducer *r, int64_t replica, int64_t b) {
  DPT__TRY(reducer_check(r, replica, b));
  dpt__lock(&r->lock);
  int status = reducer_bucket_ready(r, replica, b);
  dpt__unlock(&r->lock);
  return status;
}

/* Makes the current stream of the replica's device wait for the communication stream. */
static int reducer_wait_for_sums(dpt_reducer *r, int64_t replica) {
  int device = r->devices[replica];
  return dpt__stream_wait_all(dpt__current_stream(device), dpt__communication_stream(device));
}

int dpt_reducer_invalidate(dpt_reducer *r, int64_t replica, int64_t b) {
  DPT__TRY(reducer_check(r, replica, b));
  int status = 0;
  dpt__lock(&r->lock);
  dpt__event *event = &r->ready[b * r->replicas + replica];
  if (r->bucket[b].sent) {
    status = dpt__fail("reducer: bucket %lld was sent already", (long long)dpt__from_one(b));
  } else if (r->bucket[b].queued) {
    r->bucket[b].again = 1;
    status = reducer_wait_for_sums(r, replica);
  } else if (event->stream) {
    event->stream = NULL;
    r->bucket[b].missing++;
  }
  dpt__unlock(&r->lock);
  return status;
}

/* Ends the pass: counts the writes of sums in their storages. */
static void reducer_clear(dpt_reducer *r) DPT__REQUIRES(r->lock) {
  dpt__assert_held(&r->lock);
  for (int64_t b = 0; b < r->buckets; b++) {
    for (int64_t i = 0; r->bucket[b].written && i < r->replicas * r->bucket[b].tensors; i++)
      dpt__written(r->bucket[b].lists[i]);
    r->bucket[b].written = 0;
    r->bucket[b].missing = r->replicas;
    r->bucket[b].queued = r->bucket[b].again = r->bucket[b].sent = 0;
    for (int64_t i = 0; i < r->replicas; i++) r->ready[b * r->replicas + i].stream = NULL;
  }
}

/* Marks all remaining buckets as ready, in the order of the buckets. */
static int reducer_all_ready(dpt_reducer *r, int64_t first_replica) DPT__REQUIRES(r->lock) {
  dpt__assert_held(&r->lock);
  for (int64_t b = 0; b < r->buckets; b++)
    for (int64_t i = first_replica; i < r->replicas; i++) DPT__TRY(reducer_bucket_ready(r, i, b));
  return 0;
}

int dpt_reducer_begin(dpt_reducer *r, int64_t used) {
  dpt__lock(&r->lock);
  reducer_clear(r);
  int status = used > 0 && used < r->replicas ? reducer_all_ready(r, used) : 0;
  dpt__unlock(&r->lock);
  return status;
}

int dpt_reducer_cancel(dpt_reducer *r) {
  int status = 0;
  dpt__lock(&r->lock);
  for (int64_t i = 0; i < r->replicas; i++) status |= reducer_wait_for_sums(r, i);
  reducer_clear(r);
  dpt__unlock(&r->lock);
  return status;
}

int dpt_reducer_flush(dpt_reducer *r) {
  dpt__lock(&r->lock);
  int status = reducer_all_ready(r, 0);
  for (int64_t b = 0; b < r->buckets && !status; b++) {
    if (!r->bucket[b].again) continue;
    for (int64_t i = 0; i < r->replicas && !status; i++)
      status = reducer_record(r, i, &r->ready[b * r->replicas + i]);
    if (!status) status = reducer_queue_sum(r, b);
    if (!status) r->bucket[b].again = 0;
  }
  dpt__unlock(&r->lock);
  return status;
}

int dpt_reducer_finish(dpt_reducer *r) {
  int status = dpt_reducer_flush(r);
  return dpt_reducer_cancel(r) || status;
}

int dpt_reducer_state(dpt_reducer *r, int64_t b) {
  if (b < 0 || b >= r->buckets) return DPT_BUCKET_OPEN;
  dpt__lock(&r->lock);
  const bucket *one = &r->bucket[b];
  int state = one->sent                    ? DPT_BUCKET_SENT
              : one->queued && !one->again ? DPT_BUCKET_SUMMED
                                           : DPT_BUCKET_OPEN;
  dpt__unlock(&r->lock);
  return state;
}

int dpt_reducer_send(dpt_reducer *r, int64_t b, int begin) {
  DPT__TRY(reducer_check(r, 0, b));
  dpt__lock(&r->lock);
  int ready = r->bucket[b].queued && !r->bucket[b].again;
  if (ready && begin) r->bucket[b].sent = r->bucket[b].written = 1;
  dpt__unlock(&r->lock);
  if (!ready && begin)
    return dpt__fail("reducer: bucket %lld is not summed yet", (long long)dpt__from_one(b));
  dpt__communicate(begin);
  dpt__writes_later = begin;
  return 0;
}
