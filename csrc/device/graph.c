/* graph.c: capturing and replaying (graph.h has the rules).
 *
 * Begin and end of a capture are items of the stream, run by its thread like the work between them.
 * A graph that is freed goes to a list, since its last replay may still run; whoever makes, replays
 * or frees a graph later, or empties the cache, sweeps that list.
 */
#include "device/graph.h"

#include "device/allocator.h"
#include "device/bytes.h"
#include "device/device.h"
#include "device/draws.h"
#include "device/marks.h"
#include "device/scratch.h"
#include "device/storage.h"

#include <stdlib.h>

struct dpt_graph {
  uint64_t id; /* never used again */
  dpt__stream *stream;
  void *work; /* the backend's */
  void *scratch;
  int status; /* of the items that begin and end the capture */
  int failed; /* something that is needed could not be noted */
  dpt__block **blocks;
  dpt_storage **written;
  int nblock, block_room, nwritten, written_room;
  uint64_t draws;  /* that a replay takes of the device's random numbers */
  uint64_t *live;  /* where its kernels find from which on: device memory, one of `blocks` */
  dpt__event last; /* replay */
  dpt_graph *next; /* of those that were freed */
};

_Thread_local dpt_graph *dpt__own_capture;

static dpt__mutex lock = DPT__MUTEX_INIT;
static dpt_graph *freed DPT__GUARDED_BY(lock);

int dpt_graph_capturing(void) { return dpt__own_capture != NULL; }

int dpt__graph_reject(const char *fn, const char *why) {
  return dpt__fail("%s: %s, which a function that cutorch.graph captures can't do", fn, why);
}

int dpt_graph_reject(const char *fn, const char *why) { return dpt__graph_rejects(fn, why); }

int dpt__graph_mismatch(const char *fn, const dpt__stream *stream) {
  const dpt_graph *own = dpt__own_capture;
  if (!own)
    return dpt__fail("%s: stream %d of device %d is being captured by another thread "
                     "(cutorch.graph)",
                     fn, stream->index, stream->device);
  return dpt__fail("%s: it needs stream %d of device %d, but cutorch.graph captures stream %d of "
                   "device %d: all that a captured function does is done there",
                   fn, stream->index, stream->device, own->stream->index, own->stream->device);
}

/* ---- what a graph keeps ---- */

/* Room for one more at *list. */
static int grow(void **list, int n, int *room) {
  if (n < *room) return 1;
  int more = *room ? 2 * *room : 64;
  void *bigger = realloc(*list, (size_t)more * sizeof(void *));
  if (!bigger) return 0;
  *list = bigger;
  *room = more;
  return 1;
}

int dpt__graph_hold(dpt_graph *graph, dpt__block *block) {
  if (block->graph == graph->id) return 0;
  if (!grow((void **)&graph->blocks, graph->nblock, &graph->block_room))
    return dpt__no_memory("cutorch.graph: no host memory to note what it uses");
  dpt__block_hold(block, graph->id);
  graph->blocks[graph->nblock++] = block;
  return 0;
}

void dpt__graph_written(dpt_storage *storage) {
  dpt_graph *graph = dpt__own_capture;
  for (int i = 0; i < graph->nwritten; i++)
    if (graph->written[i] == storage) return;
  graph->failed |= !grow((void **)&graph->written, graph->nwritten, &graph->written_room);
  if (graph->failed) return;
  dpt_storage_retain(storage);
  graph->written[graph->nwritten++] = storage;
}

int dpt__graph_draw(dpt_graph *graph, dpt_draw *draw) {
  if (!graph->live) {
    dpt__block *block;
    DPT__TRY(dpt__block_take(graph->stream->device, sizeof(dpt__draws), &block));
    int failed = dpt__graph_hold(graph, block);
    if (!failed) graph->live = block->data;
    dpt__block_give(block);
    if (failed) return 1;
  }
  *draw = (dpt_draw){.offset = graph->draws++, .live_ = graph->live};
  return 0;
}

static void destroy(dpt_graph *graph) {
  const dpt__backend *backend = graph->stream->backend;
  if (graph->work) backend->graph_free(graph->work);
  dpt__scratch_free(graph->scratch);
  for (int i = 0; i < graph->nblock; i++) dpt__block_release(graph->blocks[i]);
  for (int i = 0; i < graph->nwritten; i++) dpt_storage_release(graph->written[i]);
  free(graph->blocks);
  free(graph->written);
  free(graph);
}

void dpt__graphs_sweep(void) {
  dpt_graph *done = NULL;
  dpt__lock(&lock);
  for (dpt_graph **link = &freed; *link;) {
    dpt_graph *graph = *link;
    if (!dpt__event_done(graph->last)) {
      link = &graph->next;
      continue;
    }
    *link = graph->next;
    graph->next = done;
    done = graph;
  }
  dpt__unlock(&lock);
  while (done) {
    dpt_graph *next = done->next;
    destroy(done);
    done = next;
  }
}

/* ---- capturing ---- */

static int run_begin(dpt__context *context, const void *args) {
  dpt_graph *graph = *(dpt_graph *const *)args;
  dpt__scratch_divert();
  graph->status = context->backend->capture_begin(context->queue);
  return graph->status;
}

static int run_end(dpt__context *context, const void *args) {
  dpt_graph *graph = *(dpt_graph *const *)args;
  graph->scratch = dpt__scratch_restore();
  if (graph->status) return 0; /* it never began */
  graph->status = context->backend->capture_end(context->queue, &graph->work);
  return graph->status;
}

/* Queues fn(graph) and waits until it has run. */
static int run(dpt_graph *graph, dpt__kernel_fn *fn) {
  dpt__stream *stream = graph->stream;
  DPT__TRY(dpt__stream_push_unordered(stream, fn, "cutorch.graph", &graph, sizeof graph));
  dpt__event_run(dpt__event_last(stream));
  return 0;
}

int dpt_graph_supported(int *yes) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("cutorch.graph", 0, &device));
  *yes = device->backend->capture_begin != NULL;
  return 0;
}

int dpt_graph_begin(dpt_graph **out) {
  static _Atomic uint64_t ids;
  const char *fn = "cutorch.graph";
  dpt__device *device;
  DPT__TRY(dpt__device_find(fn, 0, &device));
  if (dpt__own_capture) return dpt__graph_reject(fn, "it captures");
  if (!device->backend->capture_begin)
    return dpt__fail("%s: %s devices have no graphs", fn, device->backend->name);
  dpt__graphs_sweep();
  dpt__stream *stream = dpt__current_stream(device->number);
  DPT__TRY(dpt__stream_synchronize(stream));
  dpt_graph *graph = calloc(1, sizeof *graph), *none = NULL;
  if (!graph) return dpt__no_memory("%s: no host memory", fn);
  graph->id = atomic_fetch_add(&ids, 1) + 1;
  graph->stream = stream;
  if (!atomic_compare_exchange_strong(&stream->capture, &none, graph)) {
    free(graph);
    return dpt__graph_mismatch(fn, stream);
  }
  /* Others may have queued something meanwhile; from here on they can't. */
  dpt__event_settle(dpt__event_last(stream));
  dpt__own_capture = graph;
  dpt__marks_close(stream, 1);
  run(graph, run_begin);
  *out = graph;
  return 0;
}

int dpt_graph_end(dpt_graph *graph) {
  dpt__stream *stream = graph->stream;
  if (dpt__own_capture != graph)
    return dpt__fail("cutorch.graph: this thread does not capture that graph");
  int status = run(graph, run_end);
  dpt__marks_close(stream, 0);
  dpt__own_capture = NULL;
  atomic_store(&stream->capture, NULL);
  /* what failed while the work was recorded */
  status = status || dpt__stream_synchronize(stream) || graph->status;
  if (!status && graph->failed)
    status = dpt__no_memory("cutorch.graph: no host memory to note what it uses");
  return status;
}

/* A replay and what it draws from. */
typedef struct launch {
  dpt_graph *graph;
  dpt__draws from;
} launch;

static int run_launch(dpt__context *context, const void *args) {
  const launch *l = args;
  if (l->graph->live) {
    struct dpt__copy_bytes_args copy = {
        .way = DPT__WITHIN, .count = 1, .piece = {{l->graph->live, &l->from, sizeof l->from}}};
    DPT__TRY(context->backend->kernels[DPT__KERNEL_copy_bytes](context, &copy));
  }
  return context->backend->graph_launch(context->queue, l->graph->work);
}

int dpt_graph_launch(dpt_graph *graph) {
  const char *fn = "a graph";
  dpt__stream *stream = graph->stream;
  DPT__TRY(dpt__devices_ready(fn));
  if (!graph->work) return dpt__fail("%s: it was not captured to its end", fn);
  DPT__TRY(dpt__graph_rejects(fn, "it is replayed"));
  dpt__stream *current = dpt__current_stream(stream->device);
  DPT__TRY(dpt__stream_wait_all(stream, current));
  launch l = {.graph = graph};
  if (graph->draws) l.from = dpt__draws_take(stream->device, graph->draws);
  DPT__TRY(dpt__stream_push(stream, run_launch, fn, &l, sizeof l));
  graph->last = dpt__event_last(stream);
  for (int i = 0; i < graph->nwritten; i++) dpt__storage_written(graph->written[i]);
  return dpt__stream_wait(current, graph->last);
}

void dpt_graph_free(dpt_graph *graph) {
  if (!graph || dpt__forked()) return;
  if (dpt__own_capture == graph) dpt_graph_end(graph);
  dpt__lock(&lock);
  graph->next = freed;
  freed = graph;
  dpt__unlock(&lock);
  dpt__graphs_sweep();
}
