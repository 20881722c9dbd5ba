/* messages.c: see messages.h.
 *
 * Invariant: each message's signature is sent along with it, by the engine with a tag of its own,
 * and compared by the receiver. All transfers of a call by the engine are begun before any is
 * waited for. A message that both ends transfer by the devices' library is marked so in its
 * signature. That library has no tags, so both ends begin the messages of one call in ascending
 * order of tags.
 */
#include "distributed/messages.h"

#include "distributed/watchdog.h"

#include <stdlib.h>

static uint64_t messages_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 32;
}

/* Sums up in a channel's chain, since messages of one class of tags may be received out of
 * order. */
static uint64_t messages_hash(const dpt__ranks *g, const dpt__message *m) {
  const dpt__signature *s = &m->signature;
  uint64_t hash = messages_mix((uint64_t)s->count, s->dtype);
  return messages_mix(messages_mix(hash, (uint64_t)m->tag), g->hash);
}

void dpt__messages_advance(const dpt__ranks *g, int n, const dpt__message *messages,
                           uint64_t which) {
  dpt__record *r = dpt__job_own.record;
  for (int i = 0; i < n; i++) {
    const dpt__message *m = &messages[i];
    int own = dpt__job_own.rank, other = (int)m->signature.root;
    int sends = m->signature.what == DPT_RANKS_SEND;
    dpt__channel c = {0};
    int at =
        dpt__record_channel(r, dpt__pair_key(sends ? own : other, sends ? other : own, m->tag));
    if (at < 0) continue;
    dpt__record_get_channel(r, at, &c);
    c.number++;
    c.chain += messages_hash(g, m);
    c.which = which;
    dpt__record_set_channel(r, at, &c);
  }
}

static void messages_compare(const dpt__signature *own, const dpt__signature *its) {
  char a[160], b[160];
  if (its->count == own->count && its->dtype == own->dtype && its->flags == own->flags) return;
  dpt__abort_job("rank %d calls %s, which calls %s", dpt__job_own.rank, dpt__signature_text(a, own),
                 dpt__signature_text(b, its));
}

/* A call under way. */
typedef struct messages {
  int n, transfers;
  const dpt__message *message;
  dpt__signature *got;     /* (n): received signatures */
  dpt__transfer *transfer; /* (2 n): signatures, then the data that the engine transfers */
} messages;

/* Calls of the devices' library; arrays of n. */
typedef struct calls {
  int n;
  dpt__collective_call *call;
  dpt__buffers *buffers;
  int32_t *tag;
} calls;

static int messages_receives(const dpt__message *m) {
  return m->signature.what == DPT_RANKS_RECEIVE;
}

static int64_t messages_bytes(const dpt__message *m) {
  return m->signature.count * (int64_t)dpt__dtype_size((int)m->signature.dtype);
}

/* Adds a call after those of lower and equal tags. */
static void messages_add_call(calls *all, const dpt__message *m) {
  int receives = messages_receives(m), i = all->n++;
  for (; i > 0 && all->tag[i - 1] > m->tag; i--) {
    all->tag[i] = all->tag[i - 1];
    all->call[i] = all->call[i - 1];
    all->buffers[i] = all->buffers[i - 1];
  }
  all->tag[i] = m->tag;
  all->call[i] = (dpt__collective_call){
      .what = receives ? DPT__RECEIVE : DPT__SEND, .root = m->peer, .count = messages_bytes(m)};
  all->buffers[i] = (dpt__buffers){receives ? NULL : m->data, receives ? m->data : NULL};
}

static void messages_list(messages *all) {
  all->transfers = all->n;
  for (int i = 0; i < all->n; i++) {
    const dpt__message *m = &all->message[i];
    const dpt__signature *s = &m->signature;
    int receives = messages_receives(m);
    void *header = receives ? &all->got[i] : (void *)(uintptr_t)s;
    all->transfer[i] = (dpt__transfer){header, sizeof *s, m->peer, 2 * m->tag, receives};
    if (!(s->flags & DPT__ON_DEVICES))
      all->transfer[all->transfers++] =
          (dpt__transfer){m->data, messages_bytes(m), m->peer, 2 * m->tag + 1, receives};
  }
}

int dpt__messages_begin(const dpt__ranks *g, void *native, int n, const dpt__message *message,
                        dpt__ongoing *ongoing) {
  size_t some = (size_t)n;
  calls all = {0};
  char *memory = calloc(some + 1, sizeof *all.call + sizeof *all.buffers + sizeof *all.tag);
  if (!memory) return dpt__no_memory("no host memory for %d messages", n);
  all.call = (dpt__collective_call *)memory;
  all.buffers = (dpt__buffers *)(all.call + some);
  all.tag = (int32_t *)(all.buffers + some);
  for (int i = 0; i < n; i++)
    if (message[i].signature.flags & DPT__ON_DEVICES) messages_add_call(&all, &message[i]);
  int status =
      all.n ? dpt__communicator_begin(g->devices, native, all.n, all.call, all.buffers, ongoing)
            : 0;
  free(memory);
  return status;
}

static int messages_exchange(const dpt__ranks *g, messages *all) {
  const dpt__engine *engine = dpt__job_own.engine;
  void *begun;
  messages_list(all);
  DPT__TRY(engine->begin(g->joined, all->transfers, all->transfer, &begun));
  DPT__TRY(engine->await(begun, all->n));
  for (int i = 0; i < all->n; i++)
    if (all->transfer[i].receives) messages_compare(&all->message[i].signature, &all->got[i]);
  return all->transfers > all->n ? engine->await(begun, all->transfers) : 0;
}

int dpt__messages_run(const dpt__ranks *g, int n, const dpt__message *message) {
  size_t some = (size_t)n;
  messages all = {.n = n, .message = message};
  if (!n) return 0;
  char *memory = calloc(some, sizeof *all.got + 2 * sizeof *all.transfer);
  if (!memory) return dpt__no_memory("no host memory for %d messages", n);
  all.got = (dpt__signature *)memory;
  all.transfer = (dpt__transfer *)(all.got + some);
  int status = messages_exchange(g, &all);
  free(memory);
  return status;
}
