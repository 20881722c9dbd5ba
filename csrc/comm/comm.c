/* comm.c: transports by name, and what they have in common: checks and clearing. */
#include "comm/comm.h"

#include "device/device.h"

#include <string.h>

static int no_nccl(void) {
  return dpt__fail("NCCL was asked for, but this build of dpt has no NCCL: tensors travel between "
                   "devices by copies");
}

/* Every transport, the one that is always there first. */
static const dpt__transport nccl = {.name = "nccl", .available = no_nccl};
static const dpt__transport *const transports[] = {&dpt__transport_copy, &nccl};
static _Atomic(const dpt__transport *) chosen = &dpt__transport_copy;

int dpt_comm_use(const char *name) {
  for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
    if (strcmp(name, transports[i]->name)) continue;
    DPT__TRY(transports[i]->available());
    atomic_store(&chosen, transports[i]);
    return 0;
  }
  return dpt__fail("dpt_comm_use: there is no transport '%.40s', wanted copy or nccl", name);
}

const char *dpt_comm_transport(void) { return atomic_load(&chosen)->name; }

/* A list of groups of n tensors like model[0 .. n-1], each group on one device. */
static int check(const char *fn, int64_t n, const dpt_tensor *const *model, int64_t groups,
                 const dpt_tensor *const *list) {
  char one[DPT__TEXT], other[DPT__TEXT];
  for (int64_t i = 0; i < n * groups; i++) {
    const dpt_tensor *t = list[i], *first = list[i / n * n];
    if (!dpt__is_device(t->kind_) || !t->store_)
      return dpt__fail("%s: tensor %lld is a %s%s, wanted elements on a device", fn,
                       (long long)i + 1, dpt__describe(one, t),
                       dpt__is_device(t->kind_) ? "" : " in host memory");
    if (t->store_->device != first->store_->device)
      return dpt__fail("%s: tensor %lld is on device %d, wanted device %d as the first of its list",
                       fn, (long long)i + 1, t->store_->device, first->store_->device);
    if (t->kind_ != model[i % n]->kind_ || dpt__count(t) != dpt__count(model[i % n]))
      return dpt__fail("%s: tensor %lld is a %s, wanted the type and count of %s", fn,
                       (long long)i + 1, dpt__describe(one, t), dpt__describe(other, model[i % n]));
    if (!dpt__contiguous(t))
      return dpt__fail("%s: tensor %lld, a %s, is not contiguous", fn, (long long)i + 1,
                       dpt__describe(one, t));
  }
  return 0;
}

int dpt_comm_broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                       dpt_tensor *const *out) {
  if (n < 1 || copies < 1) return 0;
  DPT__TRY(dpt__devices_ready("broadcast"));
  DPT__TRY(check("broadcast", n, src, 1, src));
  DPT__TRY(check("broadcast", n, src, copies, (const dpt_tensor *const *)out));
  return atomic_load(&chosen)->broadcast(n, src, copies, out);
}

int dpt_comm_reduce(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in,
                    int add, int clear) {
  if (n < 1 || sources < 1) return 0;
  const dpt_tensor *const *model = (const dpt_tensor *const *)out;
  DPT__TRY(dpt__devices_ready("reduceAdd"));
  DPT__TRY(check("reduceAdd", n, model, 1, model));
  DPT__TRY(check("reduceAdd", n, model, sources, (const dpt_tensor *const *)in));
  DPT__TRY(atomic_load(&chosen)->reduce(n, out, sources, in, add));
  for (int64_t i = 0; clear && i < n * sources; i++) DPT__TRY(dpt_fill(in[i], 0));
  return 0;
}
