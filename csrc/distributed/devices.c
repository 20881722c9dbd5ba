/* devices.c: see devices.h.
 *
 * Invariant: one operation per group determines whether all its ranks have the library and can be
 * joined. All ranks get the same answer, and keep the reason for messages. A rank has one device in
 * a group, the first that it used there; tensors of its other devices are copied to that device and
 * back (collective.c). The library is not used for sums in rank order, types that it lacks, or
 * minima and maxima of floats, whose result for NaN it does not specify.
 */
#include "distributed/devices.h"

#include <stdio.h>
#include <stdlib.h>

/* The data that each rank sends to the others of its group. */
typedef struct offer {
  int32_t can;
  char why[DPT__WHY - 12];
  char id[DPT__COLLECTIVES_ID]; /* group rank 0's */
} offer;

static void devices_make_offer(const dpt__ranks *g, int device, offer *mine) {
  *mine = (offer){0};
  const dpt__backend *backend = device ? dpt__device_at(device)->backend : NULL;
  if (!backend)
    snprintf(mine->why, sizeof mine->why, "it has no device");
  else if (!backend->collectives)
    snprintf(mine->why, sizeof mine->why, "%s devices have no collectives library", backend->name);
  else if (dpt__communicators_open() || (!g->rank && dpt__communicator_new_id(mine->id)))
    snprintf(mine->why, sizeof mine->why, "%s", dpt_message());
  else
    mine->can = 1;
}

/* Exchanges the offers. *can: 1 if all ranks can; *all: (n), their offers. */
static int devices_agree(dpt__ranks *g, const offer *mine, offer *all, int *can) {
  DPT__TRY(dpt__job_own.engine->all_gather(g->joined, mine, all, sizeof *mine));
  *can = 1;
  for (int i = 0; i < g->n && *can; i++) {
    if (!all[i].can) snprintf(g->why, sizeof g->why, "rank %d: %s", g->list[i], all[i].why);
    *can = all[i].can;
  }
  return 0;
}

/* Joins the group. A rank that fails to join reports so before any data uses the others'
 * communicators. */
static int devices_join(dpt__ranks *g, int device, offer *mine, offer *all) {
  dpt__communicator *joined = NULL;
  int can;
  devices_make_offer(g, device, mine);
  DPT__TRY(devices_agree(g, mine, all, &can));
  if (!can) return 0;
  mine->can = !dpt__communicator_join(all[0].id, g->n, g->rank, device, &joined);
  if (!mine->can) snprintf(mine->why, sizeof mine->why, "%s", dpt_message());
  int status = devices_agree(g, mine, all, &can);
  if (can && !status)
    g->devices = joined;
  else if (joined)
    dpt__communicator_leave(joined);
  g->device = device;
  return status;
}

int dpt__devices_join(dpt__ranks *g, int device) {
  offer mine, *all = calloc((size_t)g->n, sizeof *all);
  if (!all) return dpt__no_memory("no host memory for the communicators of devices");
  int status = devices_join(g, device, &mine, all);
  free(all);
  atomic_store(&g->devices_queried, !status);
  return status;
}

int dpt__devices_take(const dpt__signature *s) {
  const dpt__collective_kind *kind = dpt__kind_of(s);
  int has_all = kind->device >= 0 || s->what == DPT_RANKS_ALL_TO_ALL;
  int is_sum = s->how == DPT_RANKS_SUM || s->how == DPT_RANKS_MEAN;
  if (!has_all || !s->count || s->flags & DPT__IN_ORDER) return 0;
  int dtype = (int)s->dtype;
  return !kind->reduces || (dpt__dtype_in_nccl(dtype) && (is_sum || !dpt__is_real(dtype)));
}

/* Sends and receives all parts, this rank's own included, as one operation. */
static int devices_all_to_all(const dpt__ranks *g, void *native, int64_t bytes, const char *from,
                              char *to, dpt__ongoing *ongoing) {
  size_t n = 2 * (size_t)g->n;
  dpt__collective_call *call = calloc(n, sizeof *call);
  dpt__buffers *buffers = calloc(n, sizeof *buffers);
  int status = 1;
  for (int i = 0; call && buffers && i < g->n; i++) {
    call[2 * i] = (dpt__collective_call){.what = DPT__SEND, .root = i, .count = bytes};
    call[2 * i + 1] = (dpt__collective_call){.what = DPT__RECEIVE, .root = i, .count = bytes};
    buffers[2 * i].from = from + i * bytes;
    buffers[2 * i + 1].to = to + i * bytes;
  }
  if (call && buffers)
    status = dpt__communicator_begin(g->devices, native, (int)n, call, buffers, ongoing);
  else
    dpt__no_memory("no host memory for messages to %d ranks", g->n);
  free(call);
  free(buffers);
  return status;
}

int dpt__devices_begin(const dpt__ranks *g, void *native, const dpt__signature *s, int dtype,
                       const void *from, void *to, dpt__ongoing *ongoing) {
  static const int32_t HOW[] = {[DPT_RANKS_SUM] = DPT__OP_SUM,
                                [DPT_RANKS_MIN] = DPT__OP_MIN,
                                [DPT_RANKS_MAX] = DPT__OP_MAX,
                                [DPT_RANKS_MEAN] = DPT__OP_MEAN};
  const dpt__collective_kind *kind = dpt__kind_of(s);
  int64_t width = kind->reduces ? 1 : (int64_t)dpt__dtype_size(dtype);
  if (s->what == DPT_RANKS_ALL_TO_ALL)
    return devices_all_to_all(g, native, s->count * width, from, to, ongoing);
  dpt__collective_call call = {.what = kind->device,
                               .dtype = dtype,
                               .root = (int32_t)s->root,
                               .count = s->count * width,
                               .op = HOW[s->how]};
  dpt__buffers buffers = {from ? from : to, to};
  return dpt__communicator_begin(g->devices, native, 1, &call, &buffers, ongoing);
}
