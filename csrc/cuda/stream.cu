/* stream.cu: native streams and events of a GPU, and the faults of their kernels.
 *
 * Invariant: native streams do not synchronize with CUDA's default stream. A thread creates events
 * and uses streams only on its own device; any thread may wait for an event.
 */
#include "base/element.h"
#include "cuda/cuda.h"
#include "cuda/group.h"

#include <cstdlib>
#include <cstring>

static int native_init(dpt__native_stream *q, int urgent) {
  int least, greatest;
  dpt__apart_from_groups apart;
  DPT__CUDA(cudaHostAlloc((void **)&q->fault, sizeof *q->fault, cudaHostAllocPortable));
  memset(q->fault, 0, sizeof *q->fault);
  DPT__CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  DPT__CUDA(
      cudaStreamCreateWithPriority(&q->stream, cudaStreamNonBlocking, urgent ? greatest : least));
  return 0;
}

/* Leaves *out unchanged on failure, so that a stream without a native one can retry. */
static int stream_new(int index, int urgent, void **out) {
  dpt__native_stream *q = (dpt__native_stream *)calloc(1, sizeof *q);
  if (!q) return dpt__cuda_fail("no host memory for a native stream");
  dpt__visit there(index);
  if (there.failed || native_init(q, urgent)) {
    if (q->fault) (void)cudaFreeHost(q->fault); /* report the first failure only */
    free(q);
    return 1;
  }
  *out = q;
  return 0;
}

/* Records the event *out. If *out is NULL, creates the event first; on failure *out stays NULL. */
static int record(int index, void *native, void **out, unsigned flags) {
  dpt__visit there(index);
  if (there.failed) return 1;
  cudaEvent_t event = (cudaEvent_t)*out;
  if (!event) DPT__CUDA(cudaEventCreateWithFlags(&event, flags));
  *out = event;
  DPT__CUDA(cudaEventRecord(event, ((dpt__native_stream *)native)->stream));
  return 0;
}

static int event_record(int index, void *native, void **out) {
  return record(index, native, out, cudaEventDisableTiming | cudaEventBlockingSync);
}

static int timer_record(int index, void *native, void **out) {
  return record(index, native, out, cudaEventBlockingSync);
}

static int stream_wait_event(void *native, void *event) {
  DPT__CUDA(cudaStreamWaitEvent(((dpt__native_stream *)native)->stream, (cudaEvent_t)event, 0));
  return 0;
}

namespace {
struct stopwatch {
  cudaEvent_t from = NULL, to = NULL;
  ~stopwatch() {
    if (from && dpt__cuda_status(cudaEventDestroy(from), "cudaEventDestroy")) return;
    if (to && dpt__cuda_status(cudaEventDestroy(to), "cudaEventDestroy")) return;
  }
};
} // namespace

int dpt__cuda_time(dpt__context *context, int (*issue)(void *data), void *data,
                   float *milliseconds) {
  cudaStream_t stream = dpt__native_stream_of(context)->stream;
  stopwatch watch;
  DPT__CUDA(cudaEventCreateWithFlags(&watch.from, cudaEventBlockingSync));
  DPT__CUDA(cudaEventCreateWithFlags(&watch.to, cudaEventBlockingSync));
  DPT__CUDA(cudaEventRecord(watch.from, stream));
  if (issue(data)) return 1;
  DPT__CUDA(cudaEventRecord(watch.to, stream));
  DPT__CUDA(cudaEventSynchronize(watch.to));
  DPT__CUDA(cudaEventElapsedTime(milliseconds, watch.from, watch.to));
  return 0;
}

int dpt__cuda_passed(cudaEvent_t event, int *passed) {
  *passed = 0;
  if (dpt__cuda_settle()) return 1;
  cudaError_t error = cudaEventQuery(event);
  *passed = error == cudaSuccess;
  if (error != cudaErrorNotReady) return dpt__cuda_status(error, "cudaEventQuery");
  (void)cudaGetLastError(); /* libraries check the last error after their launches */
  return 0;
}

static int event_query(void *event, int *passed) {
  return dpt__cuda_passed((cudaEvent_t)event, passed);
}

static int timer_elapsed(void *from, void *to, double *nanoseconds) {
  float milliseconds;
  if (dpt__cuda_settle()) return 1;
  DPT__CUDA(cudaEventElapsedTime(&milliseconds, (cudaEvent_t)from, (cudaEvent_t)to));
  *nanoseconds = (double)milliseconds * 1e6;
  return 0;
}

/* Polls first: a thread that sleeps in the driver wakes 100 to 200 us late (H200). */
static int event_synchronize(void *event) {
  int passed;
  if (dpt__cuda_services->poll(event_query, event, &passed)) return 1;
  if (passed) return 0;
  if (dpt__cuda_settle()) return 1;
  DPT__CUDA(cudaEventSynchronize((cudaEvent_t)event));
  return 0;
}

/* ---- faults ---- */

int dpt__cuda_stream_fault(void *native, uint64_t *number, const char **name) {
  dpt__fault_record *at = ((dpt__native_stream *)native)->fault;
  if (!__atomic_load_n(&at->whole, __ATOMIC_ACQUIRE)) return 0;
  dpt__fault_record f = *at;
  *number = f.number;
  *name = f.name;
  at->whole = 0;
  __atomic_store_n(&at->code, (int)DPT__KERNEL_FAULT_NONE, __ATOMIC_RELEASE);
  char index[DPT__INDEX_TEXT];
  dpt__index_text(index, f.value, f.read);
  switch (f.code) {
  case DPT__KERNEL_FAULT_DIVISOR:
    return dpt__cuda_fail("a divisor is 0, which is invalid for integers");
  case DPT__KERNEL_FAULT_ROW:
    return dpt__cuda_fail("argument 'indices' has %s at element %lld, wanted 1 to %lld", index,
                          f.position, f.limit);
  case DPT__KERNEL_FAULT_CLASS:
    return dpt__cuda_fail("argument 'target' has class %s at element %lld, wanted 1 to %lld", index,
                          f.position, f.limit);
  case DPT__KERNEL_FAULT_MASK:
    return dpt__cuda_fail("the mask names %lld elements, there are %lld", f.value, f.limit);
  case DPT__KERNEL_FAULT_CHANGED:
    return dpt__cuda_fail("the tensor was modified during the call");
  case DPT__KERNEL_FAULT_INDEX:
  default:
    return dpt__cuda_fail("index %s is out of range, dimension %lld has %lld elements", index,
                          f.position, f.limit);
  }
}

/* ---- graphs ---- */

/* Relaxed mode: other threads may allocate while this stream captures. */
static int capture_begin(void *native) {
  dpt__native_stream *q = (dpt__native_stream *)native;
  DPT__CUDA(cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeRelaxed));
  q->captures = true;
  return 0;
}

static int capture_end(void *native, void **out) {
  dpt__native_stream *q = (dpt__native_stream *)native;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t work = NULL;
  q->captures = false;
  DPT__CUDA(cudaStreamEndCapture(q->stream, &graph));
  int status = dpt__cuda_status(cudaGraphInstantiate(&work, graph, 0), "cudaGraphInstantiate");
  status |= dpt__cuda_status(cudaGraphDestroy(graph), "cudaGraphDestroy");
  *out = work;
  return status;
}

static int graph_launch(void *native, void *graph) {
  DPT__CUDA(cudaGraphLaunch((cudaGraphExec_t)graph, ((dpt__native_stream *)native)->stream));
  return 0;
}

static void graph_free(void *graph) {
  if (dpt__cuda_settle() ||
      dpt__cuda_status(cudaGraphExecDestroy((cudaGraphExec_t)graph), "cudaGraphExecDestroy"))
    return; /* the graph of a failed device is lost with it */
}

void dpt__cuda_streams(dpt__backend *backend) {
  backend->enter = dpt__cuda_enter;
  backend->stream_new = stream_new;
  backend->event_record = event_record;
  backend->timer_record = timer_record;
  backend->timer_elapsed = timer_elapsed;
  backend->stream_wait_event = stream_wait_event;
  backend->event_query = event_query;
  backend->event_synchronize = event_synchronize;
  backend->stream_fault = dpt__cuda_stream_fault;
  backend->capture_begin = capture_begin;
  backend->capture_end = capture_end;
  backend->graph_launch = graph_launch;
  backend->graph_free = graph_free;
}
