/* peer.c: queries backends, and caches their answers (see peer.h). */
#include "device/peer.h"

#include "device/device.h"

enum { NOT_ASKED, REACHED, REJECTED };
static atomic_uchar known[DPT__MAX_DEVICES][DPT__MAX_DEVICES];

static int peer_change(dpt__device *from, dpt__device *to, int on, int *reached) {
  *reached = on;
  if (from->backend->peer) DPT__TRY(from->backend->peer(from->index, to->index, on, reached));
  atomic_store(&known[from->number - 1][to->number - 1], *reached ? REACHED : REJECTED);
  return 0;
}

int dpt__peer_enable_access(int from, int to, int *reached) {
  int state = atomic_load_explicit(&known[from - 1][to - 1], memory_order_relaxed);
  *reached = state == REACHED;
  if (state != NOT_ASKED) return 0;
  return peer_change(dpt__device_at(from), dpt__device_at(to), 1, reached);
}

int dpt_peer_set(int from, int to, int on) {
  dpt__device *a, *b;
  int reached;
  const char *fn = "setPeerToPeerAccess";
  DPT__TRY(dpt__device_find(fn, from, &a));
  DPT__TRY(dpt__device_find(fn, to, &b));
  DPT__TRY(dpt_device_synchronize(a->number));
  DPT__TRY(dpt_device_synchronize(b->number));
  DPT__TRY(peer_change(a, b, on, &reached));
  if (on && !reached)
    return dpt__fail("%s: device %d has no way to the memory of device %d", fn, a->number,
                     b->number);
  return 0;
}

int dpt_peer_get(int from, int to, int *on) {
  dpt__device *a, *b;
  DPT__TRY(dpt__device_find("getPeerToPeerAccess", from, &a));
  DPT__TRY(dpt__device_find("getPeerToPeerAccess", to, &b));
  return dpt__peer_enable_access(a->number, b->number, on);
}

static atomic_int kernels;

int dpt_peer_kernels_set(int on) {
  atomic_store(&kernels, !!on);
  return 0;
}

int dpt__peer_kernels(void) { return atomic_load_explicit(&kernels, memory_order_relaxed); }
int dpt_peer_kernels_get(void) { return dpt__peer_kernels(); }

int dpt__peers(int a, int b) {
  int there, back;
  return !dpt__peer_enable_access(a, b, &there) && !dpt__peer_enable_access(b, a, &back) && there &&
         back;
}
