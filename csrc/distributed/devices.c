/* devices.c: collectives of device memory by the library of the devices' backend (NCCL).
 *
 * Invariant: a group is asked once, by an operation of its own, whether all its ranks have the
 * library and can be joined; all come to the same answer, and keep why. A rank has one device in a
 * group, the first that it used there; tensors of its other devices go through one on that device
 * (collective.c). Sums in the order of ranks, and types that the library has not, are not for it.
 */
#include "comm/communicators.h"
#include "device/device.h"
#include "distributed/world.h"

#include <stdio.h>
#include <stdlib.h>

/* What each rank tells the others of its group. */
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
    snprintf(mine->why, sizeof mine->why, "%s devices have no library for it", backend->name);
  else if (dpt__communicators_open() || (!g->rank && dpt__communicator_new_id(mine->id)))
    snprintf(mine->why, sizeof mine->why, "%s", dpt_message());
  else
    mine->can = 1;
}

/* *can: whether all can; *all: (n), what they say. */
static int devices_agree(dpt__ranks *g, const offer *mine, offer *all, int *can) {
  DPT__TRY(dpt__world_own.engine->all_gather(g->joined, mine, all, sizeof *mine));
  *can = 1;
  for (int i = 0; i < g->n && *can; i++) {
    if (!all[i].can) snprintf(g->why, sizeof g->why, "rank %d: %s", g->list[i], all[i].why);
    *can = all[i].can;
  }
  return 0;
}

/* A rank that cannot be joined says so before anything travels by the others' communicators. */
static int devices_join(dpt__ranks *g, int device, offer *mine, offer *all) {
  dpt__communicator *joined = NULL;
  int can;
  devices_make_offer(g, device, mine);
  DPT__TRY(devices_agree(g, mine, all, &can));
  if (!can) return 0;
  mine->can = !dpt__communicator_join(all[0].id, g->n, g->rank, device, &joined);
  if (!mine->can) snprintf(mine->why, sizeof mine->why, "%s", dpt_message());
  DPT__TRY(devices_agree(g, mine, all, &can));
  if (can) g->devices = joined;
  g->device = device;
  return 0;
}

int dpt__devices_join(dpt__ranks *g, int device) {
  offer mine, *all = calloc((size_t)g->n, sizeof *all);
  if (!all) return dpt__no_memory("no host memory to join devices");
  int status = devices_join(g, device, &mine, all);
  free(all);
  atomic_store(&g->asked, !status);
  return status;
}

int dpt__devices_take(const dpt__signature *s) {
  int reduces = s->what == DPT_RANKS_ALL_REDUCE || s->what == DPT_RANKS_REDUCE ||
                s->what == DPT_RANKS_REDUCE_SCATTER;
  int moves = s->what == DPT_RANKS_BROADCAST || s->what == DPT_RANKS_ALL_GATHER;
  return s->count && !(s->flags & (DPT__IN_ORDER | DPT__AS_BFLOAT16)) &&
         (moves || (reduces && s->dtype != DPT_I16));
}

int dpt__devices_call(const dpt__ranks *g, const dpt__signature *s, int dtype, const void *from,
                      void *to) {
  static const int32_t WHAT[] = {[DPT_RANKS_ALL_REDUCE] = DPT__ALL_REDUCE,
                                 [DPT_RANKS_REDUCE] = DPT__REDUCE,
                                 [DPT_RANKS_BROADCAST] = DPT__BROADCAST,
                                 [DPT_RANKS_ALL_GATHER] = DPT__ALL_GATHER,
                                 [DPT_RANKS_REDUCE_SCATTER] = DPT__REDUCE_SCATTER};
  static const int32_t HOW[] = {[DPT_RANKS_SUM] = DPT__OP_SUM,
                                [DPT_RANKS_MIN] = DPT__OP_MIN,
                                [DPT_RANKS_MAX] = DPT__OP_MAX,
                                [DPT_RANKS_MEAN] = DPT__OP_MEAN};
  int moves = s->what == DPT_RANKS_BROADCAST || s->what == DPT_RANKS_ALL_GATHER;
  dpt__collective_call call = {.what = WHAT[s->what],
                               .dtype = dtype,
                               .root = (int32_t)s->root,
                               .count = s->count * (moves ? (int64_t)dpt__dtype_size(dtype) : 1),
                               .op = HOW[s->how]};
  return dpt__communicator_call(g->devices, &call, &(dpt__buffers){from ? from : to, to});
}

int dpt_world_transport(int number, const char **transport, const char **why) {
  int device = 0, n;
  DPT__TRY(dpt__world_ready("distributed.transport"));
  if (number < 0 || number >= atomic_load(&dpt__world_own.ngroup))
    return dpt__fail("distributed.transport: there is no group %d", number);
  const dpt__ranks *g = &dpt__world_own.group[number];
  if (g->rank < 0)
    return dpt__fail("distributed.transport: rank %d is not in the group", dpt__world_own.rank);
  *transport = "none";
  *why = "there is one rank";
  if (g->n == 1) return 0;
  if (!dpt__devices_ready("distributed.transport") && (n = dpt__device_count()) > 0)
    DPT__TRY(dpt_device_get(&device));
  DPT__TRY(dpt__collective_join_devices(number, device));
  int is_host = device && dpt__device_at(device)->backend == &dpt__host;
  *transport = g->devices ? "nccl" : is_host ? "mpi" : device ? "page-locked" : "none";
  *why = g->why;
  return 0;
}
