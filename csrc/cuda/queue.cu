/* queue.cu: queues of work on a GPU, the marks in them, and what their kernels found wrong.
 *
 * Invariant: every queue is a stream of its own that is not ordered with CUDA's default stream.
 * Events are made and streams are used by threads whose device they belong to; waiting for an event
 * is legal on any thread.
 */
#include "cuda/cuda.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

static int enter(int index) {
  DPT__CUDA(cudaSetDevice(index));
  return 0;
}

static int queue_make(dpt__queue *q) {
  DPT__CUDA(cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
  DPT__CUDA(cudaHostAlloc((void **)&q->fault, sizeof *q->fault, cudaHostAllocPortable));
  memset(q->fault, 0, sizeof *q->fault);
  return 0;
}

/* *queue stays as it is where it fails: a stream without a queue may start another time. */
static int queue_new(int index, void **queue) {
  dpt__queue *q = (dpt__queue *)calloc(1, sizeof *q);
  if (!q) return dpt__cuda_fail("no host memory for a queue");
  dpt__visit there(index);
  if (there.failed || queue_make(q)) {
    free(q);
    return 1;
  }
  *queue = q;
  return 0;
}

struct mark {
  cudaEvent_t event;
};

static int mark_set(int index, void *queue, void **out) {
  mark *m = (mark *)*out;
  dpt__visit there(index);
  if (there.failed) return 1;
  if (!m) {
    m = (mark *)calloc(1, sizeof *m);
    if (!m) return dpt__cuda_fail("no host memory for a mark");
    *out = m;
    DPT__CUDA(cudaEventCreateWithFlags(&m->event, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  DPT__CUDA(cudaEventRecord(m->event, ((dpt__queue *)queue)->stream));
  return 0;
}

static int mark_await(void *queue, void *m) {
  DPT__CUDA(cudaStreamWaitEvent(((dpt__queue *)queue)->stream, ((mark *)m)->event, 0));
  return 0;
}

int dpt__cuda_passed(cudaEvent_t event, int *passed) {
  cudaError_t error = cudaEventQuery(event);
  *passed = error == cudaSuccess;
  if (error != cudaErrorNotReady) return dpt__cuda_status(error, "cudaEventQuery");
  (void)cudaGetLastError(); /* the next launch is not to be blamed for it */
  return 0;
}

static int mark_query(void *m, int *passed) { return dpt__cuda_passed(((mark *)m)->event, passed); }

/* Spins at most 50 us, then sleeps. */
static int mark_wait(void *m) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  do {
    int passed;
    if (mark_query(m, &passed)) return 1;
    if (passed) return 0;
  } while (std::chrono::steady_clock::now() < end);
  DPT__CUDA(cudaEventSynchronize(((mark *)m)->event));
  return 0;
}

/* ---- faults ---- */

int dpt__cuda_queue_fault(void *queue, uint64_t *number, const char **name) {
  dpt__fault_record *at = ((dpt__queue *)queue)->fault;
  if (!__atomic_load_n(&at->whole, __ATOMIC_ACQUIRE)) return 0;
  dpt__fault_record f = *at;
  *number = f.number;
  *name = f.name;
  at->whole = 0;
  __atomic_store_n(&at->code, (int)DPT__FAULT_NONE, __ATOMIC_RELEASE);
  switch (f.code) {
  case DPT__FAULT_DIVISOR:
    return dpt__cuda_fail("a divisor is 0, which integers can't be divided by");
  case DPT__FAULT_ROW:
    return dpt__cuda_fail("argument 'indices' has %lld at element %lld, wanted 1 to %lld", f.value,
                          f.place, f.limit);
  case DPT__FAULT_CLASS:
    return dpt__cuda_fail("argument 'target' has class %lld at element %lld, wanted 1 to %lld",
                          f.value, f.place, f.limit);
  case DPT__FAULT_MASK:
    return dpt__cuda_fail("the mask names %lld elements, there are %lld", f.value, f.limit);
  case DPT__FAULT_CHANGED:
    return dpt__cuda_fail("the tensor changed meanwhile");
  default:
    return dpt__cuda_fail("index %lld is out of range, dimension %lld has %lld elements", f.value,
                          f.place, f.limit);
  }
}

/* ---- graphs ---- */

/* Relaxed: the stream's thread may take memory for kernels while it captures (device/scratch.c). */
static int capture_begin(void *queue) {
  dpt__queue *q = (dpt__queue *)queue;
  DPT__CUDA(cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeRelaxed));
  q->captures = true;
  return 0;
}

static int capture_end(void *queue, void **out) {
  dpt__queue *q = (dpt__queue *)queue;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t work = NULL;
  q->captures = false;
  DPT__CUDA(cudaStreamEndCapture(q->stream, &graph));
  int status = dpt__cuda_status(cudaGraphInstantiate(&work, graph, 0), "cudaGraphInstantiate");
  status |= dpt__cuda_status(cudaGraphDestroy(graph), "cudaGraphDestroy");
  *out = work;
  return status;
}

static int graph_launch(void *queue, void *graph) {
  DPT__CUDA(cudaGraphLaunch((cudaGraphExec_t)graph, ((dpt__queue *)queue)->stream));
  return 0;
}

static void graph_free(void *graph) {
  if (dpt__cuda_status(cudaGraphExecDestroy((cudaGraphExec_t)graph), "cudaGraphExecDestroy"))
    return; /* a device that failed: the graph is gone with it */
}

void dpt__cuda_queues(dpt__backend *backend) {
  backend->enter = enter;
  backend->queue_new = queue_new;
  backend->mark_set = mark_set;
  backend->mark_await = mark_await;
  backend->mark_query = mark_query;
  backend->mark_wait = mark_wait;
  backend->queue_fault = dpt__cuda_queue_fault;
  backend->capture_begin = capture_begin;
  backend->capture_end = capture_end;
  backend->graph_launch = graph_launch;
  backend->graph_free = graph_free;
}
