/* ranks_spec.c: collectives of host and device tensors. Run alone it is a world of one rank;
 * `mpirun -n N` makes it N. Under ThreadSanitizer it looks at the threads of a rank: the caller's,
 * those of devices, the stream's that calls MPI, the watchdog's.
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
  OK(dpt_tensor_new(&t, DPT_F32, 1, &n));
  for (int i = 0; i < ROUNDS; i++) {
    OK(dpt_fill(&t, 2));
    all_reduce(i % 2 ? group : 0, &t, &number);
    OK(dpt_get(&t, 0, &value));
    CHECK(value == 2 * world.size);
  }
  dpt_tensor_free(&t);
}

/* Every rank sends to the next one and receives from the one before. */
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

/* Groups that are used and released: the numbers of the freed ones are given again. */
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
  dpt_sleep(0.2); /* the watchdog looks */
  on_host();
  OK(dpt_device_set(1));
  around(DPT_F32);
  around(DPT_F32 | DPT_ON_DEVICE);
  in_groups();
  return check_end();
}
