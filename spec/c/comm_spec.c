/* comm_spec.c: tests broadcast, sums, scatter and gather between host devices, with random delays
 * in the streams: a missing event shows as a wrong value, and under ThreadSanitizer as a race.
 */
#include "comm/comm.h"
#include "device/copy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int failures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) fail(__LINE__, #condition);                                                  \
  } while (0)

static void fail(int line, const char *what) {
  fprintf(stderr, "comm_spec.c:%d: %s (%s)\n", line, what, dpt_message());
  failures++;
}

enum { DEVICES = 4, F32 = DPT_F32 | DPT_ON_DEVICE, MOST = 8 };

static dpt_tensor tensor(int device, int kind, int64_t n) {
  dpt_tensor t;
  if (device) CHECK(!dpt_device_set(device));
  CHECK(!dpt_tensor_new(&t, kind, 1, &n));
  return t;
}

static double at(const dpt_tensor *t, int64_t i) {
  double value = -1e9;
  CHECK(!dpt_get(t, i * t->stride_[t->ndim_ - 1], &value));
  return value;
}

/* Sets t[i] = base + i. */
static void count_up(dpt_tensor *t, double base) {
  for (int64_t i = 0; i < dpt_count(t); i++) CHECK(!dpt_put(t, i, base + (double)i));
}

/* Broadcasts tensors that are overwritten as soon as the call has returned, many times. */
static void test_broadcast(int64_t size) {
  enum { N = 3 };
  dpt_tensor src[N], out[(DEVICES - 1) * N];
  const dpt_tensor *from[N];
  dpt_tensor *to[(DEVICES - 1) * N];
  for (int k = 0; k < N; k++) {
    src[k] = tensor(1, F32, size + k);
    from[k] = &src[k];
    for (int c = 0; c < DEVICES - 1; c++) {
      out[c * N + k] = tensor(c + 2, F32, size + k);
      to[c * N + k] = &out[c * N + k];
    }
  }
  uint64_t before = dpt_copied_bytes();
  for (int round = 0; round < 20; round++) {
    for (int k = 0; k < N; k++) CHECK(!dpt_fill(&src[k], round * 10 + k));
    CHECK(!dpt_comm_broadcast(N, from, DEVICES - 1, to));
    for (int k = 0; k < N; k++) CHECK(!dpt_fill(&src[k], -1));
    if (round % 4 != 3) continue;
    for (int i = 0; i < (DEVICES - 1) * N; i++) {
      CHECK(at(to[i], 0) == round * 10 + i % N);
      CHECK(at(to[i], size - 1) == round * 10 + i % N);
    }
  }
  CHECK(dpt_copied_bytes() - before == 20 * (DEVICES - 1) * (3 * (uint64_t)size + 3) * 4);
  for (int k = 0; k < N; k++) dpt_tensor_free(&src[k]);
  for (int i = 0; i < (DEVICES - 1) * N; i++) dpt_tensor_free(&out[i]);
}

static void test_reduce(int kind, int64_t size, int add) {
  enum { N = 2, SOURCES = DEVICES - 1 };
  dpt_tensor out[N], in[SOURCES * N], *to[N], *from[SOURCES * N];
  for (int k = 0; k < N; k++) {
    out[k] = tensor(1, kind, size);
    to[k] = &out[k];
    for (int s = 0; s < SOURCES; s++) {
      in[s * N + k] = tensor(s + 2, kind, size);
      from[s * N + k] = &in[s * N + k];
    }
  }
  for (int round = 0; round < 6; round++) {
    for (int k = 0; k < N; k++) CHECK(!dpt_fill(to[k], round));
    for (int i = 0; i < SOURCES * N; i++) CHECK(!dpt_fill(from[i], i + 1));
    CHECK(!dpt_comm_reduce(N, to, SOURCES, from, add, round % 2));
    for (int i = 0; round % 2 == 0 && i < SOURCES * N; i++) CHECK(!dpt_fill(from[i], 50));
    for (int k = 0; k < N; k++) {
      double sum = add ? round : 0;
      for (int s = 0; s < SOURCES; s++) sum += s * N + k + 1;
      CHECK(at(to[k], 0) == sum);
      CHECK(at(to[k], size - 1) == sum);
    }
    for (int i = 0; i < SOURCES * N; i++) CHECK(at(from[i], size / 2) == (round % 2 ? 0 : 50));
  }
  for (int k = 0; k < N; k++) dpt_tensor_free(&out[k]);
  for (int i = 0; i < SOURCES * N; i++) dpt_tensor_free(&in[i]);
}

/* Copies lists of tensors, some adjacent in memory and some with gaps, into flat tensors, and sums
 * them into a flat tensor and into a list. Every element ends where it belongs, gaps stay
 * unchanged, and both sums have the same bits. */
static void test_flat(int64_t size) {
  enum { N = 5, ROOM = 3 };
  dpt_tensor store[DEVICES], part[DEVICES][N], flat[DEVICES], list[N], *to[DEVICES], *each[N];
  const dpt_tensor *from[DEVICES * N];
  int64_t count[N], total = 0;
  for (int k = 0; k < N; k++) total += count[k] = size + 7 * k;
  for (int d = 0; d < DEVICES; d++) {
    store[d] = tensor(d + 1, F32, total + N * ROOM);
    flat[d] = tensor(d + 1, F32, total);
    to[d] = &flat[d];
    CHECK(!dpt_fill(&store[d], -3));
    int64_t first = 0;
    for (int k = 0; k < N; k++) {
      part[d][k] = (dpt_tensor){.kind_ = F32};
      CHECK(!dpt_narrow(&part[d][k], &store[d], 0, first, count[k]));
      CHECK(!dpt_fill(&part[d][k], (d + 1) * 10 + k));
      from[d * N + k] = &part[d][k];
      first += count[k] + ROOM * (k % 2); /* some are adjacent */
    }
  }
  for (int k = 0; k < N; k++) {
    list[k] = tensor(2, F32, count[k]);
    each[k] = &list[k];
  }
  CHECK(!dpt_comm_broadcast_flat(N, from, DEVICES, to));
  for (int k = 0; k < N; k++) CHECK(!dpt_fill(&part[0][k], 10 + k)); /* after the broadcast */
  int64_t first = 0;
  for (int k = 0; k < N; first += count[k++])
    for (int d = 0; d < DEVICES; d++) {
      CHECK(at(to[d], first) == 10 + k);
      CHECK(at(to[d], first + count[k] - 1) == 10 + k);
    }
  CHECK(!dpt_comm_reduce_flat(to[2], N, DEVICES, from));
  CHECK(!dpt_comm_reduce(N, each, DEVICES, (dpt_tensor *const *)from, 0, 0));
  first = 0;
  for (int k = 0; k < N; first += count[k++]) {
    CHECK(at(to[2], first) == 100 + 4 * k);
    CHECK(at(to[2], first + count[k] - 1) == 100 + 4 * k);
    CHECK(at(each[k], 0) == 100 + 4 * k && at(each[k], count[k] - 1) == 100 + 4 * k);
  }
  for (int d = 0; d < DEVICES; d++) CHECK(at(&store[d], count[0] + count[1]) == -3);
  for (int k = 0; k < N; k++) dpt_tensor_free(&list[k]);
  for (int d = 0; d < DEVICES; d++) {
    for (int k = 0; k < N; k++) dpt_tensor_free(&part[d][k]);
    dpt_tensor_free(&store[d]);
    dpt_tensor_free(&flat[d]);
  }
}

/* Tests all-reduce, reduce-scatter and all-gather, with parts of different sizes. The inputs are
 * overwritten as soon as the calls have returned. */
static void test_all(int64_t size) {
  dpt_tensor in[DEVICES], out[DEVICES], part[DEVICES], whole[DEVICES];
  dpt_tensor *sums[DEVICES], *parts[DEVICES], *all[DEVICES];
  const dpt_tensor *from[DEVICES], *pieces[DEVICES];
  for (int d = 0; d < DEVICES; d++) {
    in[d] = tensor(d + 1, F32, size);
    out[d] = tensor(d + 1, F32, size);
    part[d] = tensor(d + 1, F32, d < DEVICES - 1 ? size / 5 : size - 3 * (size / 5));
    whole[d] = tensor(d + 1, F32, size);
    from[d] = &in[d];
    sums[d] = &out[d];
    pieces[d] = parts[d] = &part[d];
    all[d] = &whole[d];
  }
  for (int round = 0; round < 4; round++) {
    for (int d = 0; d < DEVICES; d++) CHECK(!dpt_fill(&in[d], round + d));
    CHECK(!dpt_comm_all_reduce(DEVICES, sums, from));
    CHECK(!dpt_comm_reduce_scatter(DEVICES, parts, from));
    CHECK(!dpt_comm_all_gather(DEVICES, all, pieces));
    for (int d = 0; d < DEVICES; d++) CHECK(!dpt_fill(&in[d], 99) && !dpt_fill(&part[d], 98));
    for (int d = 0; d < DEVICES; d++)
      for (int64_t i = 0; i<size; i += size> 100 ? size / 50 : 1) {
        CHECK(at(sums[d], i) == 4 * round + 6);
        CHECK(at(all[d], i) == 4 * round + 6);
      }
    CHECK(!dpt_comm_all_reduce(DEVICES, sums, (const dpt_tensor *const *)sums)); /* in place */
    for (int d = 0; d < DEVICES; d++)
      CHECK(at(sums[d], 0) == 16 * round + 24 && at(sums[d], size - 1) == 16 * round + 24);
  }
  for (int d = 0; d < DEVICES; d++) {
    dpt_tensor_free(&in[d]);
    dpt_tensor_free(&out[d]);
    dpt_tensor_free(&part[d]);
    dpt_tensor_free(&whole[d]);
  }
}

/* The output may be one of many inputs. */
static void test_alias(void) {
  enum { SOURCES = 40 };
  dpt_tensor in[SOURCES], *from[SOURCES];
  for (int s = 0; s < SOURCES; s++) {
    in[s] = tensor(s % DEVICES + 1, F32, 70);
    from[s] = &in[s];
    CHECK(!dpt_fill(from[s], s));
  }
  CHECK(!dpt_comm_reduce(1, &from[37], SOURCES, from, 0, 0));
  CHECK(at(from[37], 0) == 780 && at(from[37], 69) == 780);
  for (int s = 0; s < SOURCES; s++) dpt_tensor_free(&in[s]);
}

/* Many inputs are added in order and in a wider type: 2^24 + 1 + 1 ... is exact at the end. */
static void test_order(void) {
  enum { SOURCES = 41 };
  dpt_tensor in[SOURCES], *from[SOURCES], out = tensor(1, F32, 5), *to = &out;
  for (int s = 0; s < SOURCES; s++) {
    in[s] = tensor(s % DEVICES + 1, F32, 5);
    from[s] = &in[s];
    CHECK(!dpt_fill(from[s], s ? 1 : 16777216));
  }
  CHECK(!dpt_comm_reduce(1, &to, 31, from, 0, 0));
  CHECK(at(to, 4) == 16777246);
  /* more inputs than a kernel takes: rounded once in between, always at the same input */
  CHECK(!dpt_comm_reduce(1, &to, SOURCES, from, 0, 0));
  CHECK(at(to, 4) == 16777256);
  for (int s = 0; s < SOURCES; s++) dpt_tensor_free(&in[s]);
  dpt_tensor_free(&out);
}

/* Scatters a tensor, overwrites it at once, and gathers the parts; along both dimensions. */
static void test_split(int source, int kind) {
  int64_t size[2] = {7, 5}, rows[2][DEVICES] = {{3, 0, 2, 2}, {2, 1, 1, 1}};
  int32_t devices[DEVICES] = {1, 2, 3, 4};
  dpt_tensor src, back = {.kind_ = F32}, part[DEVICES] = {{0}}, *to[DEVICES];
  for (int i = 0; i < DEVICES; i++) {
    part[i].kind_ = F32;
    to[i] = &part[i];
  }
  if (source) CHECK(!dpt_device_set(source));
  CHECK(!dpt_tensor_new(&src, kind, 2, size));
  for (int dim = 0; dim < 2; dim++)
    for (int round = 0; round < 6; round++) {
      count_up(&src, round);
      CHECK(!dpt_comm_scatter(DEVICES, to, devices, rows[dim], &src, dim));
      CHECK(!dpt_fill(&src, -5));
      CHECK(dim || part[1].ndim_ == 0);
      CHECK(!dpt_comm_gather(&back, 2, DEVICES, (const dpt_tensor *const *)to, dim));
      for (int i = 0; i < DEVICES; i++)
        if (part[i].ndim_) CHECK(!dpt_fill(to[i], -7));
      CHECK(back.ndim_ == 2 && back.size_[0] == 7 && back.size_[1] == 5);
      CHECK(dpt_tensor_device(&back) == 2);
      for (int i = 0; i < 35; i++) CHECK(at(&back, i) == round + i);
    }
  for (int i = 0; i < DEVICES; i++) dpt_tensor_free(&part[i]);
  dpt_tensor_free(&src);
  dpt_tensor_free(&back);
}

/* Scatters a large host tensor to all devices and gathers it. Its memory has been read, or written,
 * when the calls return, even if one of the copies fails. */
static void test_host(void) {
  int64_t size[2] = {DEVICES, 300000}, rows[DEVICES] = {1, 1, 1, 1}, all = DEVICES * size[1];
  int32_t devices[DEVICES] = {1, 2, 3, 4};
  dpt_tensor src, back = {.kind_ = DPT_F32}, part[DEVICES] = {{0}}, *to[DEVICES];
  const dpt_tensor *const *from = (const dpt_tensor *const *)to;
  for (int i = 0; i < DEVICES; i++) {
    part[i].kind_ = F32;
    to[i] = &part[i];
  }
  CHECK(!dpt_tensor_new(&src, DPT_F32, 2, size));
  float *data = dpt_tensor_data(&src);
  for (int round = 0; round < 4; round++) {
    if (round % 2) CHECK(!dpt_device_synchronize(-1)); /* no pending work */
    for (int64_t i = 0; i < all; i++) data[i] = (float)(i + round);
    CHECK(!dpt_comm_scatter(DEVICES, to, devices, rows, &src, 0));
    memset(data, 0, (size_t)all * sizeof *data);
    CHECK(!dpt_comm_gather(&back, 0, DEVICES, from, 0));
    const float *got = dpt_tensor_data(&back);
    int64_t wrong = 0;
    for (int64_t i = 0; i < all; i++) wrong += got[i] != (float)(i + round);
    CHECK(wrong == 0);
  }
  for (int nth = 1; nth <= DEVICES; nth++)
    for (int gather = 0; gather < 2; gather++) {
      char fault[32];
      CHECK(!dpt_device_synchronize(-1));
      snprintf(fault, sizeof fault, "copy:%d", nth);
      CHECK(!dpt_fault_set(fault));
      int failed = gather ? dpt_comm_gather(&back, 0, DEVICES, from, 0)
                          : dpt_comm_scatter(DEVICES, to, devices, rows, &src, 0);
      CHECK(failed && strstr(dpt_message(), "DPT_FAULT"));
      CHECK(!dpt_fault_set(""));
      CHECK(!dpt_device_synchronize(-1)); /* was raised already */
    }
  for (int i = 0; i < DEVICES; i++) dpt_tensor_free(&part[i]);
  dpt_tensor_free(&src);
  dpt_tensor_free(&back);
}

static void expect(int status, const char *part) { CHECK(status && strstr(dpt_message(), part)); }

static void test_errors(void) {
  dpt_tensor a = tensor(1, F32, 4), b = tensor(2, F32, 5), host = tensor(0, DPT_F32, 4);
  dpt_tensor c = tensor(2, DPT_F64 | DPT_ON_DEVICE, 4), d = tensor(2, F32, 4);
  const dpt_tensor *from[] = {&a}, *mixed[] = {&a, &d}, *plain[] = {&host};
  dpt_tensor *to[] = {&b};
  expect(dpt_comm_broadcast(1, from, 1, to), "tensor 1 is a torch.CudaTensor of size 5");
  to[0] = &c;
  expect(dpt_comm_broadcast(1, from, 1, to), "torch.CudaDoubleTensor");
  to[0] = &d;
  expect(dpt_comm_broadcast(1, plain, 1, to), "in host memory");
  expect(dpt_comm_broadcast(2, mixed, 1, to), "tensor 2 is on device 2, wanted device 1");
  CHECK(!dpt_comm_broadcast(1, from, 1, to));
  int32_t devices[] = {1, 2};
  int64_t rows[] = {2, 1};
  dpt_tensor *two[] = {&a, &d};
  expect(dpt_comm_scatter(2, two, devices, rows, &b, 0), "3 entries together");
  expect(dpt_comm_scatter(2, two, devices, rows, &b, 1),
         "dimension 2 is out of range of a torch.CudaTensor");
  int64_t wide[] = {2, 3};
  dpt_tensor m, out = {.kind_ = F32};
  CHECK(!dpt_tensor_new(&m, F32, 2, wide));
  const dpt_tensor *join[] = {&a, &m};
  expect(dpt_comm_gather(&out, 1, 2, join, 0), "part 2 is a torch.CudaTensor of size 2x3");
  expect(dpt_comm_use("pigeon"), "no transport 'pigeon'");
  expect(dpt_comm_use("nccl"), "NCCL");
  CHECK(!strcmp(dpt_comm_transport(), "copy"));
  dpt_tensor_free(&a);
  dpt_tensor_free(&b);
  dpt_tensor_free(&c);
  dpt_tensor_free(&d);
  dpt_tensor_free(&m);
  dpt_tensor_free(&host);
}

/* A copy that fails in a queue raises once, at the next wait, and the next call works. The fault is
 * in the n-th copy of a sum in which all devices take part. */
static void test_fault(int64_t size, int nth) {
  dpt_tensor in[DEVICES], *from[DEVICES], out = tensor(1, F32, size), *to = &out;
  char fault[32];
  for (int d = 0; d < DEVICES; d++) {
    in[d] = tensor(d + 1, F32, size);
    from[d] = &in[d];
    CHECK(!dpt_fill(from[d], d));
  }
  CHECK(!dpt_device_synchronize(-1));
  snprintf(fault, sizeof fault, "copy:%d", nth);
  CHECK(!dpt_fault_set(fault));
  int failed = dpt_comm_reduce(1, &to, DEVICES, from, 0, 0) || dpt_device_synchronize(-1);
  CHECK(failed && strstr(dpt_message(), "reduceAdd") && strstr(dpt_message(), "DPT_FAULT"));
  CHECK(!dpt_fault_set(""));
  CHECK(!dpt_device_synchronize(-1));
  CHECK(!dpt_comm_reduce(1, &to, DEVICES, from, 0, 0));
  CHECK(at(to, size - 1) == 6);
  snprintf(fault, sizeof fault, "copy:%d", nth);
  CHECK(!dpt_fault_set(fault));
  failed = dpt_comm_all_reduce(DEVICES, from, (const dpt_tensor *const *)from) ||
           dpt_device_synchronize(-1);
  CHECK(failed && strstr(dpt_message(), "allReduce") && !strstr(dpt_message(), "reduceAdd"));
  CHECK(!dpt_fault_set(""));
  CHECK(!dpt_device_synchronize(-1));
  CHECK(!dpt_fault_set("copy:1"));
  failed = dpt_comm_broadcast(1, (const dpt_tensor *const *)&to, DEVICES - 1, from + 1) ||
           dpt_device_synchronize(-1);
  CHECK(failed && strstr(dpt_message(), "broadcast"));
  CHECK(!dpt_fault_set(""));
  CHECK(!dpt_device_synchronize(-1));
  CHECK(!dpt_comm_broadcast(1, (const dpt_tensor *const *)&to, DEVICES - 1, from + 1));
  CHECK(at(from[3], size - 1) == 6);
  for (int d = 0; d < DEVICES; d++) dpt_tensor_free(&in[d]);
  dpt_tensor_free(&out);
}

/* Several threads run collectives on their own tensors at the same time, on the same streams. */
static void *run_thread(void *unused) {
  test_reduce(F32, 3000, 1);
  test_flat(900);
  test_all(20000);
  return unused;
}

static void test_threads(void) {
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) CHECK(!pthread_create(&thread[i], NULL, run_thread, NULL));
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
}

int main(void) {
  CHECK(!dpt_devices_set("host:4"));
  int n = 0;
  CHECK(!dpt_device_count(&n) && n == DEVICES);
  for (int delay = 0; delay < 4; delay++) {
    CHECK(!dpt_delay_set((uint64_t)delay));
    test_broadcast(5);
    test_broadcast(70000);
    for (int add = 0; add < 2; add++) {
      test_reduce(F32, 9, add);
      test_reduce(F32, 150000, add);
      test_reduce(F32, 200001, add); /* enough for all devices to take part */
      for (int dtype = 0; dtype < DPT_NDTYPE; dtype++) test_reduce(dtype | DPT_ON_DEVICE, 9, add);
    }
    test_order();
    test_alias();
    test_flat(11);
    test_flat(70000);
    test_all(13);
    test_all(40000);
    test_threads();
    test_split(1, F32);
    test_split(3, F32);
    for (int dtype = 0; dtype < DPT_NDTYPE; dtype++) test_split(2, dtype | DPT_ON_DEVICE);
    test_split(0, DPT_F32);
    test_host();
    test_errors();
    test_fault(100, 2);
    test_fault(400000, 1 + delay * 5);
  }
  CHECK(!dpt_device_synchronize(-1));
  if (!failures) printf("comm_spec: all passed\n");
  return failures != 0;
}
