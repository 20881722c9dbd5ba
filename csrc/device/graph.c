/* graph.c: captures and replays graphs (see graph.h, capture.h).
 *
 * Begin and end of a capture are items of the stream, run by its thread like the work between them.
 * A graph that is freed is put on a list, since its last replay may still run. Every call that
 * creates, replays or frees a graph later, or empties the cache, sweeps that list.
 */
#include "device/graph.h"

#include "device/allocator.h"
#include "device/backend_events.h"
#include "device/bytes.h"
#include "device/device.h"
#include "device/draws.h"
#include "device/storage.h"

#include <stdlib.h>

struct dpt_graph {
  dpt__capture capture;
  void *work;      /* the backend's */
  int status;      /* of the begin and end items */
  dpt__event last; /* the last replay */
  dpt_graph *next; /* in the list of freed graphs */
};

static dpt__mutex lock = DPT__MUTEX_INIT;
static dpt_graph *freed DPT__GUARDED_BY(lock);

static void graph_destroy(dpt_graph *graph) {
  if (graph->work) graph->capture.stream->backend->graph_free(graph->work);
  dpt__list *blocks = &graph->capture.blocks, *written = &graph->capture.written;
  for (int i = 0; i < blocks->n; i++) dpt__block_unpin(blocks->item[i]);
  for (int i = 0; i < written->n; i++) dpt_storage_release(written->item[i]);
  free(blocks->item);
  free(written->item);
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
    graph_destroy(done);
    done = next;
  }
}

/* ---- capturing ---- */

static int graph_run_begin(dpt__context *context, const void *args) {
  dpt_graph *graph = *(dpt_graph *const *)args;
  graph->status = context->backend->capture_begin(context->native_stream);
  return graph->status;
}

static int graph_run_end(dpt__context *context, const void *args) {
  dpt_graph *graph = *(dpt_graph *const *)args;
  if (graph->status) return 0; /* the capture never began */
  graph->status = context->backend->capture_end(context->native_stream, &graph->work);
  return graph->status;
}

/* Queues fn(graph) and waits until it has run. */
static int graph_run(dpt_graph *graph, dpt__kernel_fn *fn) {
  dpt__stream *stream = graph->capture.stream;
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
  if (dpt__own_capture) return dpt__capture_reject(fn, "it captures");
  if (!device->backend->capture_begin)
    return dpt__fail("%s: %s devices do not support graphs", fn, device->backend->name);
  dpt__graphs_sweep();
  dpt__stream *stream = dpt__current_stream(device->number);
  DPT__TRY(dpt__stream_synchronize(stream));
  dpt_graph *graph = calloc(1, sizeof *graph);
  dpt__capture *none = NULL;
  if (!graph) return dpt__no_memory("%s: no host memory", fn);
  graph->capture.id = atomic_fetch_add(&ids, 1) + 1;
  graph->capture.stream = stream;
  graph->status = 1; /* not begun */
  if (!atomic_compare_exchange_strong(&stream->capture, &none, &graph->capture)) {
    free(graph);
    return dpt__capture_mismatch(fn, stream);
  }
  /* Other threads may have queued work since the wait above; from here on they cannot. */
  if (dpt__event_wait_keep_error(dpt__event_last(stream))) {
    atomic_store(&stream->capture, NULL);
    free(graph);
    return dpt__fail_in("%s", fn);
  }
  dpt__own_capture = &graph->capture;
  dpt__backend_events_close(stream, 1);
  if (graph_run(graph, graph_run_begin) || graph->status) {
    dpt_graph_end(graph);
    free(graph);
    return 1;
  }
  *out = graph;
  return 0;
}

int dpt_graph_end(dpt_graph *graph) {
  dpt__stream *stream = graph->capture.stream;
  if (dpt__own_capture != &graph->capture)
    return dpt__fail("cutorch.graph: this thread is not capturing that graph");
  int status = graph_run(graph, graph_run_end);
  dpt__backend_events_close(stream, 0);
  dpt__own_capture = NULL;
  atomic_store(&stream->capture, NULL);
  /* includes errors of items that ran during the capture */
  status = status || dpt__stream_synchronize(stream) || graph->status;
  if (!status && graph->capture.failed)
    status = dpt__no_memory("cutorch.graph: no host memory to record the blocks that it uses");
  return status;
}

/* A replay and the state that its draws start from. */
typedef struct launch {
  dpt_graph *graph;
  dpt__draws from;
} launch;

static int graph_run_launch(dpt__context *context, const void *args) {
  const launch *l = args;
  void *live = l->graph->capture.live;
  if (live) {
    struct dpt__copy_bytes_args copy = {
        .way = DPT__WITHIN, .count = 1, .piece = {{live, &l->from, sizeof l->from}}};
    DPT__TRY(context->backend->kernels[DPT__KERNEL_copy_bytes](context, &copy));
  }
  return context->backend->graph_launch(context->native_stream, l->graph->work);
}

int dpt_graph_launch(dpt_graph *graph) {
  const char *fn = "a graph";
  dpt__stream *stream = graph->capture.stream;
  DPT__TRY(dpt__devices_ready(fn));
  if (!graph->work) return dpt__fail("%s: its capture did not complete", fn);
  DPT__TRY(dpt__capture_rejects(fn, "it is replayed"));
  dpt__stream *current = dpt__current_stream(stream->device);
  DPT__TRY(dpt__stream_wait_all(stream, current));
  launch l = {.graph = graph};
  if (graph->capture.draws) l.from = dpt__draws_take(stream->device, graph->capture.draws);
  DPT__TRY(dpt__stream_push(stream, graph_run_launch, fn, &l, sizeof l));
  graph->last = dpt__event_last(stream);
  dpt__list *written = &graph->capture.written;
  for (int i = 0; i < written->n; i++) dpt__storage_written(written->item[i]);
  return dpt__stream_wait(current, graph->last);
}

void dpt_graph_free(dpt_graph *graph) {
  if (!graph || dpt__forked()) return;
  if (dpt__own_capture == &graph->capture) dpt_graph_end(graph);
  dpt__lock(&lock);
  graph->next = freed;
  freed = graph;
  dpt__unlock(&lock);
  dpt__graphs_sweep();
}
