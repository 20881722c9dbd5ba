/* planted.cpp: faults of the plugin, selected by name with DPT_EMULATED_FAULT; planted_spec.lua
 * names the spec that detects each.
 *
 *   wait        a stream does not wait for an event of another stream
 *   read        the host does not wait for an event before it reads
 *   reuse       a query of an event always reports completion, so blocks are reused too early
 *   collective  a query of a collective always reports completion
 *   order       a communicator's collective does not wait for another communicator's
 *   context     an allocation creates a context on device 0
 *   peer        devices that are not peers report that they are
 */
#include "cuda/cuda.h"
#include "queue.h"

#include <cstdlib>

namespace {

dpt__backend sound; /* before a fault is planted */

int over(void *, int *done) {
  *done = 1;
  return 0;
}

int issue(void *communicator, void *const *streams, int n, const dpt__collective_call *call,
          const dpt__buffers *buffers) {
  emulation::skips_waits = true;
  int status = sound.collectives->issue(communicator, streams, n, call, buffers);
  emulation::skips_waits = false;
  return status;
}

int alloc(int index, size_t bytes, void **p) {
  int own;
  int status = sound.memory_alloc(index, bytes, p);
  DPT__CUDA(cudaGetDevice(&own));
  DPT__CUDA(cudaSetDevice(0));
  DPT__CUDA(cudaSetDevice(own));
  return status;
}

int peer(int, int, int on, int *reached) {
  *reached = on;
  return 0;
}

} // namespace

namespace emulation {
void plant(dpt__backend *backend);
}

void emulation::plant(dpt__backend *backend) {
  static dpt__collectives collectives;
  const char *fault = getenv("DPT_EMULATED_FAULT");
  if (!fault) return;
  sound = *backend;
  collectives = *backend->collectives;
  backend->collectives = &collectives;
  auto is = [=](const char *name) { return strcmp(fault, name) == 0; };
  if (is("wait")) backend->stream_wait_event = [](void *, void *) { return 0; };
  if (is("read")) backend->event_synchronize = [](void *) { return 0; };
  if (is("reuse")) backend->event_query = over;
  if (is("collective")) collectives.query = over;
  if (is("order")) collectives.issue = issue;
  if (is("context")) backend->memory_alloc = alloc;
  if (is("peer")) backend->peer = peer;
}
