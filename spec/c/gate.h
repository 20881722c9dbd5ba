/* gate.h: blocks a stream until the test opens the gate. Invariant: what a test asserts while a
 * gate is closed does not depend on the machine's speed; code that waits for the stream by mistake
 * hangs. */
#ifndef DPT_SPEC_GATE_H
#define DPT_SPEC_GATE_H
#include "check.h"
#include "device/device.h"
#include "device/stream.h"

#include <stdatomic.h>

typedef struct gate {
  atomic_int open;
} gate;

static inline int gate_run(dpt__context *context, const void *args) {
  gate *g;
  memcpy(&g, args, sizeof g);
  while (!atomic_load(&g->open)) dpt__sleep(1000000);
  return 0;
}

/* Closes the gate and queues it on the current stream of a device. */
static inline void gate_close(gate *g, int device) {
  atomic_store(&g->open, 0);
  OK(dpt__stream_push(dpt__current_stream(device), gate_run, "gate", &g, sizeof g));
}

static inline void gate_open(gate *g) { atomic_store(&g->open, 1); }
#endif
