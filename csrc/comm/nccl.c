/* nccl.c: the transport that uses NCCL for sums and broadcasts, or the equivalent library of the
 * devices' backend.
 *
 * Invariant: results are those of the transport that copies, except that sums of floats have the
 * library's order and precision. Operations that the library lacks, and sums whose bits are
 * guaranteed (deterministic mode), therefore use copies. So do tensors in many small pieces,
 * because copies can be queued as lists of pieces. Ranks are the devices sorted by number.
 */
#include "comm/communicators.h"

#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>

/* least average bytes of a row's pieces; elements of a test */
enum { PIECE = 1 << 16, TEST = 1024 };

/* The devices of one operation and the calls to issue on them. */
typedef struct operation {
  const char *fn;
  int n;
  int device[DPT__MAX_DEVICES];
  dpt__stream *stream[DPT__MAX_DEVICES];
  dpt__batch batch;
} operation;

static int nccl_by_number(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Prepares an operation on n devices; *can = 0: they must use copies. */
static int nccl_begin(operation *j, const char *fn, int64_t n, const int *device, int *can) {
  *can = 0;
  j->fn = fn;
  j->n = 0;
  for (int64_t i = 0; i < n && j->n < DPT__MAX_DEVICES; i++) j->device[j->n++] = device[i];
  if (j->n < n) return 0;
  qsort(j->device, (size_t)j->n, sizeof *j->device, nccl_by_number);
  for (int i = 0; i < j->n; i++) {
    if (i && j->device[i] == j->device[i - 1]) return 0;
    j->stream[i] = dpt__current_stream(j->device[i]);
  }
  DPT__TRY(dpt__communicator_of(j->n, j->device, &j->batch.communicator));
  j->batch.ranks = j->n;
  j->batch.calls = 0;
  *can = j->batch.communicator != NULL;
  return 0;
}

static int nccl_rank_of(const operation *j, int device) {
  const int *found = bsearch(&device, j->device, (size_t)j->n, sizeof device, nccl_by_number);
  return (int)(found - j->device);
}

static int nccl_flush(operation *j) {
  DPT__TRY(dpt__communicator_run(j->fn, j->stream, &j->batch));
  j->batch.calls = 0;
  return 0;
}

/* Adds a call; *buffers: its ranks' buffers, all NULL. */
static int nccl_add(operation *j, enum dpt__collective what, int dtype, int root, int64_t count,
                    dpt__buffers **buffers) {
  dpt__batch *b = &j->batch;
  if (b->calls == DPT__CALLS || (b->calls + 1) * b->ranks > DPT__BUFFERS) DPT__TRY(nccl_flush(j));
  *buffers = b->buffers + b->calls * b->ranks;
  for (int i = 0; i < b->ranks; i++) (*buffers)[i] = (dpt__buffers){NULL, NULL};
  b->call[b->calls++] = (dpt__collective_call){what, dtype, root, count, DPT__OP_SUM};
  return 0;
}

static int nccl_use(operation *j, int rank, const dpt_tensor *t) {
  dpt__block *block = t->storage_->block; /* NULL: no bytes */
  return block ? dpt__block_use(block, j->stream[rank]) : 0;
}

/* Returns the address of element `first` of a tensor. */
static char *nccl_at(const dpt_tensor *t, int64_t first) {
  return (char *)dpt__at(t) + (size_t)first * dpt__dtype_size(dpt__type(t));
}

/* ---- rows ---- */

/* Sets *run to the number of next elements that are contiguous in memory in all n rows, which the
 * streams of an operation (or NULL) use; 0 at the end. */
static int nccl_next_run(const operation *j, int n, dpt__row *const *rows, char **start,
                         int64_t *run) {
  *run = dpt__row_count(rows[0], INT64_MAX);
  for (int i = 0; i < n && *run; i++) {
    dpt__stream *stream = j ? j->stream[nccl_rank_of(j, dpt__row_device(rows[i]))] : NULL;
    DPT__TRY(dpt__row_run(rows[i], *run, stream, &start[i], run));
  }
  return 0;
}

/* Returns true if the rows have few runs for their bytes, so that sending them is worthwhile. */
static int nccl_has_few_runs(int n, const dpt__row *rows) {
  dpt__row own[DPT__MAX_DEVICES + 1], *list[DPT__MAX_DEVICES + 1];
  char *start[DPT__MAX_DEVICES + 1];
  uint64_t most = dpt__row_bytes(&rows[0]) / PIECE, runs = 0;
  for (int i = 0; i < n; i++) {
    own[i] = rows[i];
    list[i] = &own[i];
  }
  for (int64_t run; !nccl_next_run(NULL, n, list, start, &run) && run;) {
    if (++runs > 1 && runs > most) return 0;
    for (int i = 0; i < n; i++) dpt__row_advance(list[i], run);
  }
  return 1;
}

/* Issues a collective run by run. rows[0] is the root's row, or the destination of the sum besides
 * the root's own row, which is then rows[own]. */
static int nccl_issue_rows(operation *j, enum dpt__collective what, int n, dpt__row *rows,
                           int own) {
  dpt__row *list[DPT__MAX_DEVICES + 1];
  char *start[DPT__MAX_DEVICES + 1];
  int root = nccl_rank_of(j, dpt__row_device(&rows[0]));
  for (int i = 0; i < n; i++) list[i] = &rows[i];
  for (int64_t run;;) {
    dpt__buffers *buffers;
    DPT__TRY(nccl_next_run(j, n, list, start, &run));
    if (!run) return nccl_flush(j);
    int dtype = dpt__type(rows[0].t[0]);
    int64_t count = what == DPT__REDUCE ? run : run * (int64_t)dpt__dtype_size(dtype);
    DPT__TRY(nccl_add(j, what, dtype, root, count, &buffers));
    for (int i = 0; i < n; i++) {
      int rank = nccl_rank_of(j, dpt__row_device(&rows[i]));
      if (what == DPT__BROADCAST)
        buffers[rank] = (dpt__buffers){start[i], start[i]};
      else if (i)
        buffers[rank].from = start[i];
      dpt__row_advance(list[i], run);
    }
    if (what == DPT__REDUCE) buffers[root] = (dpt__buffers){start[own], start[0]};
  }
}

static int nccl_broadcast(dpt__row src, int64_t copies, const dpt__row *out) {
  operation j;
  dpt__row rows[DPT__MAX_DEVICES + 1] = {src};
  int device[DPT__MAX_DEVICES] = {dpt__row_device(&src)}, can = copies < DPT__MAX_DEVICES;
  for (int64_t c = 0; can && c < copies; c++) {
    rows[c + 1] = out[c];
    device[c + 1] = dpt__row_device(&out[c]);
  }
  if (can && nccl_has_few_runs((int)copies + 1, rows))
    DPT__TRY(nccl_begin(&j, "broadcast", copies + 1, device, &can));
  else
    can = 0;
  if (!can) return dpt__transport_copy.broadcast(src, copies, out);
  dpt__copied_add(dpt__row_bytes(&src) * (uint64_t)copies);
  DPT__TRY(nccl_issue_rows(&j, DPT__BROADCAST, (int)copies + 1, rows, 0));
  for (int64_t c = 0; c < copies; c++) dpt__row_written(&out[c]);
  return 0;
}

/* Returns true if NCCL can sum the row. */
static int nccl_is_summed(const dpt__row *row) {
  for (int64_t i = 0; i < row->n; i++)
    if (!dpt__dtype_in_nccl(dpt__type(row->t[i]))) return 0;
  return !dpt_deterministic_get();
}

static int nccl_reduce(dpt__row out, int64_t sources, const dpt__row *in) {
  operation j;
  dpt__row rows[DPT__MAX_DEVICES + 1] = {out};
  int device[DPT__MAX_DEVICES], own = 0, can = sources <= DPT__MAX_DEVICES && nccl_is_summed(&out);
  for (int64_t s = 0; can && s < sources; s++) {
    rows[s + 1] = in[s];
    device[s] = dpt__row_device(&in[s]);
    if (device[s] == dpt__row_device(&out)) own = (int)s + 1;
  }
  if (can && own && nccl_has_few_runs((int)sources + 1, rows))
    DPT__TRY(nccl_begin(&j, "reduceAdd", sources, device, &can));
  else
    can = 0;
  if (!can) return dpt__transport_copy.reduce(out, sources, in);
  dpt__copied_add(dpt__row_bytes(&out) * (uint64_t)(sources - 1));
  DPT__TRY(nccl_issue_rows(&j, DPT__REDUCE, (int)sources + 1, rows, own));
  dpt__row_written(&out);
  return 0;
}

/* ---- one tensor per device ---- */

/* Prepares an operation on the devices of the tensors, and records that their streams use them. */
static int nccl_begin_all(operation *j, const char *fn, int64_t n, dpt_tensor *const *out,
                          const dpt_tensor *const *in, int *can) {
  int device[DPT__MAX_DEVICES] = {0};
  for (int64_t i = 0; i < n; i++) device[i] = in[i]->storage_->device;
  DPT__TRY(nccl_begin(j, fn, n, device, can));
  for (int64_t i = 0; *can && i < n; i++) {
    DPT__TRY(nccl_use(j, nccl_rank_of(j, device[i]), in[i]));
    DPT__TRY(nccl_use(j, nccl_rank_of(j, device[i]), out[i]));
  }
  return 0;
}

static int nccl_end_all(operation *j, int64_t n, dpt_tensor *const *out, uint64_t elements) {
  dpt__copied_add(elements * (uint64_t)(n - 1) * dpt__dtype_size(dpt__type(out[0])));
  DPT__TRY(nccl_flush(j));
  for (int64_t i = 0; i < n; i++) dpt__written(out[i]);
  return 0;
}

/* *can = 0: nothing was done. */
static int nccl_try_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                               int *can) {
  operation j;
  dpt__buffers *buffers;
  int64_t count = dpt__count(in[0]);
  DPT__TRY(nccl_begin_all(&j, "allReduce", n, out, in, can));
  if (!*can || !count) return 0;
  DPT__TRY(nccl_add(&j, DPT__ALL_REDUCE, dpt__type(in[0]), 0, count, &buffers));
  for (int64_t i = 0; i < n; i++)
    buffers[nccl_rank_of(&j, in[i]->storage_->device)] =
        (dpt__buffers){dpt__at(in[i]), dpt__at(out[i])};
  return nccl_end_all(&j, n, out, 2 * (uint64_t)count);
}

static int nccl_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in) {
  dpt__row row = {1, &in[0], 0};
  int can = nccl_is_summed(&row);
  if (can) DPT__TRY(nccl_try_all_reduce(n, out, in, &can));
  return can ? 0 : dpt__transport_copy.all_reduce(n, out, in);
}

/* Returns true if the parts are of equal size and in the order of the ranks. */
static int nccl_is_even(const operation *j, int64_t n, const dpt_tensor *const *in,
                        const int64_t *first) {
  for (int64_t i = 0; i < n; i++)
    if (first[i] != i * first[1] || j->device[i] != in[i]->storage_->device) return 0;
  return first[n] == n * first[1];
}

static int nccl_all_gather(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                           const int64_t *first) {
  operation j;
  dpt__buffers *buffers;
  int64_t size = (int64_t)dpt__dtype_size(dpt__type(in[0]));
  int can;
  DPT__TRY(nccl_begin_all(&j, "allGather", n, out, in, &can));
  if (!can) return dpt__transport_copy.all_gather(n, out, in, first);
  if (nccl_is_even(&j, n, in, first) && first[1]) {
    DPT__TRY(nccl_add(&j, DPT__ALL_GATHER, DPT_U8, 0, first[1] * size, &buffers));
    for (int64_t i = 0; i < n; i++) buffers[i] = (dpt__buffers){dpt__at(in[i]), dpt__at(out[i])};
    return nccl_end_all(&j, n, out, (uint64_t)first[n]);
  }
  for (int64_t s = 0; s < n; s++) { /* one call for each part */
    int root = nccl_rank_of(&j, in[s]->storage_->device);
    if (first[s + 1] == first[s]) continue;
    DPT__TRY(
        nccl_add(&j, DPT__BROADCAST, DPT_U8, root, (first[s + 1] - first[s]) * size, &buffers));
    for (int64_t i = 0; i < n; i++) {
      void *to = nccl_at(out[i], first[s]);
      buffers[nccl_rank_of(&j, out[i]->storage_->device)] =
          (dpt__buffers){i == s ? dpt__at(in[s]) : to, to};
    }
  }
  return nccl_end_all(&j, n, out, (uint64_t)first[n]);
}

static int nccl_reduce_scatter(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in,
                               const int64_t *first) {
  operation j;
  dpt__row row = {1, &in[0], 0};
  dpt__buffers *buffers;
  int can = nccl_is_summed(&row), dtype = dpt__type(in[0]);
  if (can) DPT__TRY(nccl_begin_all(&j, "reduceScatter", n, out, in, &can));
  if (!can) return dpt__transport_copy.reduce_scatter(n, out, in, first);
  if (nccl_is_even(&j, n, in, first) && first[1]) {
    DPT__TRY(nccl_add(&j, DPT__REDUCE_SCATTER, dtype, 0, first[1], &buffers));
    for (int64_t i = 0; i < n; i++) buffers[i] = (dpt__buffers){dpt__at(in[i]), dpt__at(out[i])};
    return nccl_end_all(&j, n, out, (uint64_t)first[n]);
  }
  for (int64_t s = 0; s < n; s++) {
    int root = nccl_rank_of(&j, out[s]->storage_->device);
    if (first[s + 1] == first[s]) continue;
    DPT__TRY(nccl_add(&j, DPT__REDUCE, dtype, root, first[s + 1] - first[s], &buffers));
    for (int64_t i = 0; i < n; i++)
      buffers[nccl_rank_of(&j, in[i]->storage_->device)].from = nccl_at(in[i], first[s]);
    buffers[root].to = dpt__at(out[s]);
  }
  return nccl_end_all(&j, n, out, (uint64_t)first[n]);
}

/* ---- availability ---- */

/* Sums the numbers 1 to n, one per device, and checks every device's result. */
static int nccl_sum_of(int n, dpt_tensor *t) {
  dpt_tensor *all[DPT__MAX_DEVICES];
  int can;
  for (int i = 0; i < n; i++) {
    all[i] = &t[i];
    DPT__TRY(dpt_fill(all[i], i + 1));
  }
  DPT__TRY(nccl_try_all_reduce(n, all, (const dpt_tensor *const *)all, &can));
  if (!can) return dpt__fail("its devices have no communicator");
  for (int i = 0; i < n; i++)
    for (int64_t k = 0; k < TEST; k += TEST - 1) {
      double value, wanted = n * (n + 1) / 2;
      DPT__TRY(dpt_get(all[i], k, &value));
      if (value != wanted)
        return dpt__fail("device %d got %g, wanted %g", all[i]->storage_->device, value, wanted);
    }
  return 0;
}

/* Runs a small sum over devices, on their communication streams, within
 * dpt__communicators_limit. */
static int nccl_test(int n, const int *device) {
  dpt_tensor t[DPT__MAX_DEVICES] = {{0}};
  const int64_t count = TEST;
  int before, status = 0;
  DPT__TRY(dpt_device_get(&before));
  dpt__communicate(1);
  for (int i = 0; i < n && !status; i++)
    status = !dpt__communication_stream(device[i]) || dpt_device_set(device[i]) ||
             dpt_tensor_new(&t[i], DPT_F32 | DPT_ON_DEVICE, 1, &count);
  if (!status) status = nccl_sum_of(n, t);
  for (int i = 0; i < n; i++) dpt_tensor_free(&t[i]);
  dpt__communicate(0);
  return dpt_device_set(before) || status;
}

/* Returns 1 with an error message if devices *a and *b cannot sum. */
static int nccl_find_pair(int n, int *a, int *b) {
  for (*a = 1; *a < n; ++*a)
    for (*b = *a + 1; *b <= n; ++*b)
      if (!dpt__communicators_open() && nccl_test(2, (int[]){*a, *b})) return 1;
  return 0;
}

static int nccl_reject(const char *reason) {
  return dpt__fail("NCCL was asked for, but %s: tensors travel between devices by copies", reason);
}

/* Tests all devices and, if that fails, every pair of them. */
static int nccl_test_all(int n) {
  int device[DPT__MAX_DEVICES] = {0}, a = 1, b = 2;
  char reason[640], text[800];
  for (int i = 0; i < n; i++) device[i] = i + 1;
  if (!nccl_test(n, device)) return 0;
  snprintf(reason, sizeof reason, "%s", dpt_message());
  if (n == 2 || (n > 2 && nccl_find_pair(n, &a, &b)))
    snprintf(text, sizeof text,
             "a test sum of devices %d and %d failed: %s (if peer-to-peer copies between the two "
             "are at fault, set NCCL_P2P_DISABLE=1)",
             a, b, n == 2 ? reason : dpt_message());
  else
    snprintf(text, sizeof text, "a test sum of %d device%s failed%s: %s", n, n > 1 ? "s" : "",
             n > 1 ? ", though every two of them can sum" : "", reason);
  return nccl_reject(text);
}

/* Fails if two logical devices are one GPU. */
static int nccl_check_distinct(int n) {
  char text[160];
  for (int a = 1; a <= n; a++)
    for (int b = a + 1; b <= n; b++)
      if (dpt__device_at(a)->index == dpt__device_at(b)->index) {
        snprintf(text, sizeof text, "devices %d and %d are one GPU, which NCCL does not take", a,
                 b);
        return nccl_reject(text);
      }
  return 0;
}

static int nccl_available(void) {
  char text[1024];
  DPT__TRY(dpt__devices_ready("use"));
  int n = dpt__device_count();
  if (!n) return nccl_reject("there is no device");
  const dpt__backend *backend = dpt__device_at(1)->backend;
  if (!backend->collectives) {
    snprintf(text, sizeof text, "%s devices have none", backend->name);
    return nccl_reject(text);
  }
  DPT__TRY(nccl_check_distinct(n));
  if (dpt__communicators_open()) {
    snprintf(text, sizeof text, "%s", dpt_message());
    return nccl_reject(text);
  }
  dpt__communicators_testing(1);
  int status = nccl_test_all(n);
  dpt__communicators_testing(0);
  return status;
}

const dpt__transport dpt__transport_nccl = {
    "nccl",          nccl_available,  nccl_broadcast,     nccl_reduce,
    nccl_all_reduce, nccl_all_gather, nccl_reduce_scatter};
