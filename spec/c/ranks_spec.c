/* ranks_spec.c: tests collectives of host and device tensors. Run alone it is a world of one rank;
 * `mpirun -n N` runs N ranks. Under ThreadSanitizer it checks the threads of a rank: the caller,
 * those of devices, the stream that calls MPI, and the watchdog.
 */
#include "check.h"
#include "dpt.h"

enum { ROUNDS = 200, COUNT = 1000 };

static dpt_world_info world;

static void all_reduce(int group, dpt_tensor *t, uint64_t *number) {
  dpt_collective call = {
      .what = DPT_RANKS_ALL_REDUCE, .how = DPT_RANKS_SUM, .group = group, .name = "t"};
  OK(dpt_collective_run(&call, NULL, t, number));
}

static void on_device(int device) {
  dpt_tensor t;
  int64_t n = COUNT;
  uint64_t number;
  double value;
  OK(dpt_device_set(device));
  OK(dpt_tensor_new(&t, DPT_F32 | DPT_ON_DEVICE, 1, &n));
  for (int i = 0; i < ROUNDS; i++) {
    OK(dpt_fill(&t, 1));
    all_reduce(0, &t, &number);
    if (i % 7 == 0) {
      OK(dpt_get(&t, COUNT - 1, &value));
      CHECK(value == world.size);
    }
    dpt_collective_done(number);
  }
  OK(dpt_collective_wait(number));
  CHECK(dpt_collective_done(number));
  dpt_tensor_free(&t);
}

static void on_host(void) {
  dpt_tensor t;
  int64_t n = COUNT;
  uint64_t number;
  double value;
  int group, rank, size, list[64];
  for (int i = 0; i < world.size; i++) list[i] = world.size - 1 - i;
  OK(dpt_world_group(world.size, list, &group));
  OK(dpt_world_group_rank(group, &rank, &size));
  CHECK(rank == world.size - 1 - world.rank && size == world.size);
  for (int i = 0; i < ROUNDS; i++) {
    OK(dpt_tensor_new(&t, i % DPT_NDTYPE, 1, &n));
    OK(dpt_fill(&t, 2));
    all_reduce(i % 2 ? group : 0, &t, &number);
    OK(dpt_get(&t, 0, &value));
    CHECK(value == 2 * world.size);
    dpt_tensor_free(&t);
  }
}

/* Every rank sends to the next one and receives from the previous one. */
static void around(int kind) {
  dpt_tensor sent, got;
  int64_t n = COUNT;
  uint64_t number;
  double value;
  int next = (world.rank + 1) % world.size, before = (world.rank + world.size - 1) % world.size;
  OK(dpt_tensor_new(&sent, kind, 1, &n) || dpt_tensor_new(&got, kind, 1, &n));
  for (int i = 0; i < ROUNDS && world.size > 1; i++) {
    dpt_transfer both[] = {{&sent, next, i, 0}, {&got, before, i, 1}};
    OK(dpt_fill(&sent, world.rank + i));
    OK(dpt_collective_exchange(0, 2, both, NULL, &number));
    if (i % 7 == 0) {
      OK(dpt_get(&got, COUNT - 1, &value));
      CHECK(value == before + i);
    }
  }
  OK(dpt_stream_synchronize(1, 0));
  dpt_tensor_free(&sent);
  dpt_tensor_free(&got);
}

/* Creates groups, uses and releases them: the numbers of released groups are reused. */
static void in_groups(void) {
  dpt_tensor t;
  int64_t n = COUNT;
  uint64_t number;
  int group, most = 0, list[64];
  for (int i = 0; i < world.size; i++) list[i] = i;
  OK(dpt_tensor_new(&t, DPT_F32 | DPT_ON_DEVICE, 1, &n));
  OK(dpt_fill(&t, 0));
  for (int i = 0; i < ROUNDS; i++) {
    OK(dpt_world_group(world.size, list, &group));
    if (group > most) most = group;
    all_reduce(group, &t, &number);
    dpt_world_group_release(group);
  }
  CHECK(most < 8);
  OK(dpt_collective_wait(number));
  dpt_tensor_free(&t);
}

int main(void) {
  OK(dpt_devices_set("host:2"));
  OK(dpt_world_join(&world));
  on_device(1);
  on_host();
  on_device(2);
  dpt_sleep(0.2); /* lets the watchdog check */
  on_host();
  OK(dpt_device_set(1));
  around(DPT_F32);
  around(DPT_F32 | DPT_ON_DEVICE);
  in_groups();
  return check_end();
}
