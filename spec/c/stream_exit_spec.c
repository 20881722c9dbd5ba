/* stream_exit_spec.c: tests processes that exit while kernels are queued on their streams: queued
 * kernels are dropped, running ones are awaited, and under ThreadSanitizer the exit has no race. */
#include "device/device.h"

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { STREAMS = 2, PROCESSES = 30, FILLS = 200, COUNT = 20000 };

static void queue_and_exit(void) {
  static dpt_tensor tensors[STREAMS];
  int64_t size = COUNT;
  OK(dpt_devices_set("host:1"));
  OK(dpt_stream_reserve(STREAMS - 1, 1));
  for (int s = 0; s < STREAMS; s++) {
    OK(dpt_stream_set(1, s));
    OK(dpt_tensor_new(&tensors[s], DPT_F32 | DPT_ON_DEVICE, 1, &size));
    for (int i = 0; i < FILLS; i++) OK(dpt_fill(&tensors[s], i));
  }
  exit(check_end());
}

int main(void) {
  for (int i = 0; i < PROCESSES; i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) queue_and_exit();
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
  }
  return check_end();
}
