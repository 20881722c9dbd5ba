/* peer.c: which devices reach each other's memory.
 *
 * What must stay true: all do until a script says no. Only copies use that, until a script says
 * that kernels may. Copies between two devices of which one may
 * not reach the other go through host memory, with the same result; on host devices, where every
 * thread reaches everything, they do so for the tests' sake.
 */
#include "device/copy.h"
#include "device/device.h"

static atomic_uchar refused[DPT__MAX_DEVICES][DPT__MAX_DEVICES];

static int find(const char *fn, int from, int to, atomic_uchar **entry) {
  dpt__device *a, *b;
  DPT__TRY(dpt__device_find(fn, from, &a));
  DPT__TRY(dpt__device_find(fn, to, &b));
  *entry = &refused[a->number - 1][b->number - 1];
  return 0;
}

int dpt_peer_set(int from, int to, int on) {
  atomic_uchar *entry;
  DPT__TRY(find("setPeerToPeerAccess", from, to, &entry));
  atomic_store(entry, !on);
  return 0;
}

int dpt_peer_get(int from, int to, int *on) {
  atomic_uchar *entry;
  DPT__TRY(find("getPeerToPeerAccess", from, to, &entry));
  *on = !atomic_load(entry);
  return 0;
}

static atomic_int kernels;

int dpt_peer_kernels_set(int on) {
  atomic_store(&kernels, !!on);
  return 0;
}

int dpt__peer_kernels(void) { return atomic_load_explicit(&kernels, memory_order_relaxed); }
int dpt_peer_kernels_get(void) { return dpt__peer_kernels(); }

int dpt__peers(int a, int b) {
  return !atomic_load_explicit(&refused[a - 1][b - 1], memory_order_relaxed) &&
         !atomic_load_explicit(&refused[b - 1][a - 1], memory_order_relaxed);
}
