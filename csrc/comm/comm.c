/* comm.c: selects transports by name; checks operands and clears summands for all of them. */
#include "comm/comm.h"

#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* All transports, the one that is always available first. */
static const dpt__transport *const transports[] = {&dpt__transport_copy, &dpt__transport_nccl};

int dpt_comm_use(const char *name) {
  for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
    if (strcmp(name, transports[i]->name)) continue;
    if (atomic_load(&dpt__transport_chosen) == transports[i]) return 0;
    DPT__TRY(transports[i]->available());
    atomic_store(&dpt__transport_chosen, transports[i]);
    return 0;
  }
  return dpt__fail("dpt_comm_use: there is no transport '%.40s', wanted copy or nccl", name);
}

const char *dpt_comm_transport(void) { return atomic_load(&dpt__transport_chosen)->name; }

/* Checks `groups` groups of n tensors against model[0 .. n-1]; each group must be on one device. */
static int comm_check(const char *fn, int64_t n, const dpt_tensor *const *model, int64_t groups,
                      const dpt_tensor *const *list) {
  for (int64_t i = 0; i < n * groups; i++) {
    const dpt_tensor *t = list[i], *first = list[i / n * n];
    if (!dpt__is_device(t->kind_) || !t->storage_)
      return dpt__fail("%s: tensor %lld is a %s%s, wanted a non-empty device tensor", fn,
                       (long long)i + 1, dpt__describe(t),
                       dpt__is_device(t->kind_) ? "" : " in host memory");
    if (t->storage_->device != first->storage_->device)
      return dpt__fail(
          "%s: tensor %lld is on device %d, wanted device %d, that of the first tensor of its list",
          fn, (long long)i + 1, t->storage_->device, first->storage_->device);
    if (t->kind_ != model[i % n]->kind_ || dpt__count(t) != dpt__count(model[i % n]))
      return dpt__fail("%s: tensor %lld is a %s, wanted the type and number of elements of a %s",
                       fn, (long long)i + 1, dpt__describe(t), dpt__describe(model[i % n]));
    if (!dpt__contiguous(t))
      return dpt__fail("%s: tensor %lld, a %s, is not contiguous", fn, (long long)i + 1,
                       dpt__describe(t));
  }
  return 0;
}

static dpt__row comm_row(int64_t n, const dpt_tensor *const *t) { return (dpt__row){n, t, 0}; }

/* Allocates `more` + `count` rows; row more + c has the n tensors from list[c * n] on. */
static dpt__row *comm_rows(const char *fn, int64_t more, int64_t count, int64_t n,
                           const dpt_tensor *const *list) {
  dpt__row *rows = malloc(sizeof *rows * (size_t)(more + count));
  if (!rows) dpt__no_memory("%s: no host memory", fn);
  for (int64_t c = 0; rows && c < count; c++) rows[more + c] = comm_row(n, list + c * n);
  return rows;
}

/* Checks that list[0 .. n-1] and `flat` are of one type, and that `flat` has as many elements as
 * all of them. */
static int comm_check_flat(const char *fn, int64_t n, const dpt_tensor *const *list,
                           const dpt_tensor *flat) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    count += dpt__count(list[i]);
    if (list[i]->kind_ != list[0]->kind_)
      return dpt__fail("%s: tensor %lld is a %s, wanted the type of tensor 1, %s", fn,
                       (long long)i + 1, dpt__describe(list[i]), dpt__kind_name(list[0]->kind_));
  }
  DPT__TRY(comm_check(fn, 1, &flat, 1, &flat));
  if (flat->kind_ != list[0]->kind_ || dpt__count(flat) != count)
    return dpt__fail("%s: the flat tensor is a %s, wanted a %s of %lld elements", fn,
                     dpt__describe(flat), dpt__kind_name(list[0]->kind_), (long long)count);
  return 0;
}

/* flat: each copy is one tensor. */
static int comm_broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                          const dpt_tensor *const *to, int flat) {
  if (n < 1 || copies < 1) return 0;
  DPT__TRY(dpt__devices_ready("broadcast"));
  DPT__TRY(comm_check("broadcast", n, src, 1, src));
  if (!flat) DPT__TRY(comm_check("broadcast", n, src, copies, to));
  for (int64_t c = 0; flat && c < copies; c++)
    DPT__TRY(comm_check_flat("broadcast", n, src, to[c]));
  dpt__row *rows = comm_rows("broadcast", 0, copies, flat ? 1 : n, to);
  if (!rows) return 1;
  int status = atomic_load(&dpt__transport_chosen)->broadcast(comm_row(n, src), copies, rows);
  free(rows);
  return status;
}

int dpt_comm_broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                       dpt_tensor *const *out) {
  return comm_broadcast(n, src, copies, (const dpt_tensor *const *)out, 0);
}

int dpt_comm_broadcast_flat(int64_t n, const dpt_tensor *const *src, int64_t copies,
                            dpt_tensor *const *out) {
  return comm_broadcast(n, src, copies, (const dpt_tensor *const *)out, 1);
}

/* Sets the row to 0, run by run. */
static int comm_clear_row(dpt__row row) {
  char *start;
  for (int64_t count;; dpt__row_advance(&row, count)) {
    DPT__TRY(dpt__row_run(&row, INT64_MAX, NULL, &start, &count));
    if (!count) return 0;
    dpt_tensor run = *row.t[0];
    run.offset_ += row.first;
    run.ndim_ = 1;
    run.size_[0] = count;
    run.stride_[0] = 1;
    DPT__TRY(dpt_fill(&run, 0));
  }
}

int dpt_comm_reduce(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in,
                    int add, int clear) {
  const dpt_tensor *const *to = (const dpt_tensor *const *)out;
  if (n < 1 || sources < 1) return 0;
  DPT__TRY(dpt__devices_ready("reduceAdd"));
  DPT__TRY(comm_check("reduceAdd", n, to, 1, to));
  DPT__TRY(comm_check("reduceAdd", n, to, sources, (const dpt_tensor *const *)in));
  add = !!add;
  dpt__row *rows = comm_rows("reduceAdd", add, sources, n, (const dpt_tensor *const *)in);
  if (!rows) return 1;
  if (add) rows[0] = comm_row(n, to);
  int status = atomic_load(&dpt__transport_chosen)->reduce(comm_row(n, to), add + sources, rows);
  for (int64_t s = 0; clear && !status && s < sources; s++) status = comm_clear_row(rows[add + s]);
  free(rows);
  return status;
}

int dpt_comm_reduce_flat(dpt_tensor *out, int64_t n, int64_t sources, const dpt_tensor *const *in) {
  const dpt_tensor *to = out;
  if (n < 1 || sources < 1) return 0;
  DPT__TRY(dpt__devices_ready("reduceAdd"));
  DPT__TRY(comm_check("reduceAdd", n, in, sources, in));
  DPT__TRY(comm_check_flat("reduceAdd", n, in, to));
  dpt__row *rows = comm_rows("reduceAdd", 0, sources, n, in);
  if (!rows) return 1;
  int status = atomic_load(&dpt__transport_chosen)->reduce(comm_row(1, &to), sources, rows);
  free(rows);
  return status;
}

/* Checks n inputs and n outputs: contiguous, of one type, the i-th of both on one device, no two i
 * on the same one. */
static int comm_check_pairs(const char *fn, int64_t n, dpt_tensor *const *out,
                            const dpt_tensor *const *in) {
  DPT__TRY(dpt__devices_ready(fn));
  for (int64_t i = 0; i < n; i++)
    for (int side = 0; side < 2; side++) {
      const dpt_tensor *t = side ? out[i] : in[i];
      const char *name = side ? "output" : "input";
      if (!dpt__is_device(t->kind_) || !t->storage_)
        return dpt__fail("%s: %s %lld is a %s%s, wanted a non-empty device tensor", fn, name,
                         (long long)i + 1, dpt__describe(t),
                         dpt__is_device(t->kind_) ? "" : " in host memory");
      if (t->kind_ != in[0]->kind_ || !dpt__contiguous(t))
        return dpt__fail("%s: %s %lld is a %s, wanted a contiguous %s", fn, name, (long long)i + 1,
                         dpt__describe(t), dpt__kind_name(in[0]->kind_));
      if (t->storage_->device != in[i]->storage_->device)
        return dpt__fail("%s: input %lld is on device %d and its output on device %d, wanted both "
                         "on the same device",
                         fn, (long long)i + 1, in[i]->storage_->device, t->storage_->device);
      for (int64_t k = 0; k < i; k++)
        if (in[k]->storage_->device == t->storage_->device)
          return dpt__fail(
              "%s: inputs %lld and %lld are both on device %d, wanted each on a different device",
              fn, (long long)k + 1, (long long)i + 1, t->storage_->device);
    }
  return 0;
}

static int comm_check_count(const char *fn, const char *name, int64_t i, const dpt_tensor *t,
                            int64_t count) {
  if (dpt__count(t) == count) return 0;
  return dpt__fail("%s: %s %lld is a %s, wanted %lld elements", fn, name, (long long)i + 1,
                   dpt__describe(t), (long long)count);
}

int dpt_comm_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  if (n < 1) return 0;
  DPT__TRY(comm_check_pairs("allReduce", n, out, in));
  for (int64_t i = 0; i < n; i++) {
    DPT__TRY(comm_check_count("allReduce", "input", i, in[i], dpt__count(in[0])));
    DPT__TRY(comm_check_count("allReduce", "output", i, out[i], dpt__count(in[0])));
  }
  return atomic_load(&dpt__transport_chosen)->all_reduce(n, out, in);
}

int dpt_comm_all_gather(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  int64_t first[DPT__MAX_DEVICES + 1] = {0};
  if (n < 1) return 0;
  DPT__TRY(comm_check_pairs("allGather", n, out, in));
  for (int64_t i = 0; i < n; i++) first[i + 1] = first[i] + dpt__count(in[i]);
  for (int64_t i = 0; i < n; i++)
    DPT__TRY(comm_check_count("allGather", "output", i, out[i], first[n]));
  return atomic_load(&dpt__transport_chosen)->all_gather(n, out, in, first);
}

int dpt_comm_reduce_scatter(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  int64_t first[DPT__MAX_DEVICES + 1] = {0};
  if (n < 1) return 0;
  DPT__TRY(comm_check_pairs("reduceScatter", n, out, in));
  for (int64_t i = 0; i < n; i++) first[i + 1] = first[i] + dpt__count(out[i]);
  for (int64_t i = 0; i < n; i++)
    DPT__TRY(comm_check_count("reduceScatter", "input", i, in[i], first[n]));
  return atomic_load(&dpt__transport_chosen)->reduce_scatter(n, out, in, first);
}
