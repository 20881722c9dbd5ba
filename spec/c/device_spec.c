/* device_spec.c: tests values of DPT_DEVICES, each in a child process, the current device and
 * stream of threads, fork and Ctrl-C. */
#define _GNU_SOURCE /* posix_openpt */
#include "device/device.h"
#include "device/plugin.h"

#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Runs the test in a child with DPT_DEVICES=text (NULL: unset). Returns its exit status, or 128
 * plus the signal that ended it. */
static int in_child(const char *text, int (*test)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    check_failures = 0;
    if (text)
      setenv("DPT_DEVICES", text, 1);
    else
      unsetenv("DPT_DEVICES");
    int status = test();
    fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT) printf("signal %d\n", WTERMSIG(status));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int counts_devices(void) {
  int expected = -1, count = -2;
  OK(dpt_device_expected(&expected));
  OK(dpt_device_count(&count));
  CHECK(expected == count && *dpt_device_report());
  return check_failures ? 255 : count;
}

static int is_rejected(void) {
  int count;
  CHECK(dpt_device_expected(&count) != 0);
  for (int i = 0; i < 2; i++) FAILS(dpt_device_count(&count), "DPT_DEVICES: got '");
  FAILS(dpt_device_set(1), "wanted host:N");
  dpt_storage *storage;
  FAILS(dpt_storage_new(&storage, DPT_F32 | DPT_ON_DEVICE, 1), "wanted host:N");
  /* It can still be corrected. */
  OK(dpt_devices_set("host:3"));
  OK(dpt_device_count(&count));
  CHECK(count == 3);
  return check_end();
}

/* While a variable is invalid, every call is rejected; the variables after it are read once it has
 * been corrected. */
static int bad_variable(void) {
  int count;
  setenv("DPT_FAULT", "threads:1", 1);
  setenv("DPT_CACHE", "off", 1);
  for (int i = 0; i < 2; i++) FAILS(dpt_device_count(&count), "DPT_FAULT: got 'threads:1'");
  setenv("DPT_FAULT", "malloc:1", 1);
  OK(dpt_device_count(&count));
  CHECK(!dpt_memory_cached());
  dpt_storage *storage;
  FAILS(dpt_storage_new(&storage, DPT_F32 | DPT_ON_DEVICE, 1), "out of memory");
  return check_end();
}

#ifdef DPT_WITH_EMULATED
/* The second device cannot be created: the first one is removed. */
static int half_a_list(void) {
  int count;
  for (int i = 0; i < 2; i++) FAILS(dpt_device_count(&count), "there is no GPU 300");
  CHECK(dpt__device_count() == 0);
  OK(dpt_devices_set("host:3"));
  OK(dpt_device_count(&count));
  CHECK(count == 3);
  for (int i = 1; i <= 3; i++) CHECK(dpt__device_at(i)->backend == &dpt__host);
  return check_end();
}

/* A plugin's table is filled only once, since threads read it. */
static int plugin_is_loaded_once(void) {
  const dpt__backend *one = NULL, *two = NULL;
  OK(dpt__plugin_load("emulated", &one));
  if (check_failures) return 1;
  const char *name = one->name;
  ((dpt__backend *)one)->name = "changed";
  OK(dpt__plugin_load("emulated", &two));
  CHECK(one == two && !strcmp(two->name, "changed"));
  ((dpt__backend *)one)->name = name;
  return check_end();
}
#endif

static int has_none(void) {
  int count = 1;
  OK(dpt_device_count(&count));
  CHECK(count == 0);
  FAILS(dpt_device_set(1), "there is no device (DPT_DEVICES=none)");
  dpt_storage *storage;
  FAILS(dpt_storage_new(&storage, DPT_F32 | DPT_ON_DEVICE, 1), "no device");
  OK(dpt_storage_new(&storage, DPT_F32, 1));
  dpt_storage_release(storage);
  return check_end();
}

static int wants_cuda(void) {
  int count;
  freopen("/dev/null", "w", stderr);
  OK(dpt_device_count(&count));
  const char *report = dpt_device_report(); /* without the plugin, or with it but without a GPU */
  CHECK(strstr(report, "libdpt_cuda.so") || strstr(report, "no NVIDIA driver"));
  return check_failures ? 255 : count;
}

static int setting_late_is_rejected(void) {
  FAILS(dpt_devices_set("host"), "dpt.setDevices: got 'host'");
  OK(dpt_devices_set("host:2"));
  OK(dpt_devices_set("host:4"));
  int count = 0;
  OK(dpt_device_count(&count));
  CHECK(count == 4);
  FAILS(dpt_devices_set("host:2"), "before the first use");
  OK(dpt_device_count(&count));
  CHECK(count == 4);
  return check_end();
}

static void *sees_its_own(void *arg) {
  int device = 0, stream = -1;
  OK(dpt_device_get(&device));
  OK(dpt_stream_get(0, &stream));
  CHECK(device == 1 && stream == 0);
  OK(dpt_device_set(3));
  return NULL;
}

static int current_is_per_thread(void) {
  OK(dpt_device_set(2));
  OK(dpt_stream_reserve(2, 0));
  OK(dpt_stream_set(0, 2));
  pthread_t thread;
  pthread_create(&thread, NULL, sees_its_own, NULL);
  pthread_join(thread, NULL);
  int device = 0, stream = -1;
  OK(dpt_device_get(&device));
  CHECK(device == 2);
  for (int d = 1; d <= 3; d++) {
    OK(dpt_stream_get(d, &stream));
    CHECK(stream == 2);
  }
  FAILS(dpt_device_set(0), "there is no device 0, wanted 1 to ");
  FAILS(dpt_device_set(4), "setDevice: there is no device 4, wanted 1 to 3");
  OK(dpt_device_get(&device));
  CHECK(device == 2);
  return check_end();
}

static int inner_child_is_rejected(void) {
  int count;
  FAILS(dpt_device_count(&count), "do not survive fork");
  FAILS(dpt_stream_sleep(1), "fork");
  dpt_storage *storage;
  FAILS(dpt_storage_new(&storage, DPT_F32 | DPT_ON_DEVICE, 1), "fork");
  FAILS(dpt_device_synchronize(-1), "fork");
  OK(dpt_storage_new(&storage, DPT_F32, 1000));
  dpt_storage_release(storage);
  return check_end();
}

static int fork_is_reported(void) {
  OK(dpt_stream_sleep(0));
  dpt_storage *storage = NULL;
  OK(dpt_storage_new(&storage, DPT_F32 | DPT_ON_DEVICE, 1));
  CHECK(in_child("host:3", inner_child_is_rejected) == 0);
  OK(dpt_device_synchronize(-1));
  dpt_storage_release(storage);
  return check_end();
}

/* 64 idle devices use no CPU time, on any number of cores. */
static int idles(void) {
  for (int d = 1; d <= 64; d++) {
    OK(dpt_device_set(d));
    OK(dpt_stream_sleep(0));
  }
  OK(dpt_device_synchronize(-1));
  /* Work queued before may end late; a thread that spins does so in every interval. */
  double best = 1, user, system, user_before, system_before;
  for (int i = 0; i < 20 && best >= 0.002; i++) {
    dpt_cpu_time(&user_before, &system_before);
    dpt__sleep(200000000);
    dpt_cpu_time(&user, &system);
    double used = user - user_before + system - system_before;
    if (used < best) best = used;
  }
  if (!CHECK(best < 0.002)) printf("%g s of 0.2 s\n", best);
  return check_end();
}

static int names_the_limit(void) {
  struct rlimit limit = {1, 1};
  OK(dpt_stream_sleep(0));
  setrlimit(RLIMIT_NPROC, &limit);
  if (setuid(65534))
    return check_end(); /* root is exempt from the limit, and only root can become another user */
  OK(dpt_device_set(2));
  FAILS(dpt_stream_sleep(0), "stream 0 of device 2: its thread can not start");
  CHECK(strstr(dpt_message(), "RLIMIT_NPROC (ulimit -u) is 1") != NULL);
  OK(dpt_device_synchronize(-1));
  return check_end();
}

static int is_interrupted(void) {
  OK(dpt_interrupt_install());
  OK(dpt_stream_sleep(20000)); /* ThreadSanitizer delivers the signal after it */
  if (!fork()) {               /* must not call devices */
    usleep(100000);
    kill(getppid(), SIGINT);
    _exit(0);
  }
  OK(dpt_device_synchronize(-1));
  return 1;
}

/* Runs in a child whose stdin is a terminal. Ctrl-C restores the settings saved at installation. */
static int changes_terminal(void) {
  struct termios raw;
  OK(dpt_interrupt_install());
  CHECK(!tcgetattr(STDIN_FILENO, &raw));
  raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
  CHECK(!tcsetattr(STDIN_FILENO, TCSANOW, &raw));
  CHECK(!tcgetattr(STDIN_FILENO, &raw) && !(raw.c_lflag & (ECHO | ICANON)));
  if (!check_failures) raise(SIGINT);
  return 1;
}

static void terminal_is_restored(void) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY), old = dup(STDIN_FILENO);
  if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return; /* none here */
  int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  struct termios before, after;
  CHECK(dup2(other, STDIN_FILENO) == STDIN_FILENO && !tcgetattr(other, &before));
  CHECK(before.c_lflag & ECHO);
  CHECK(in_child(NULL, changes_terminal) == 128 + SIGINT);
  CHECK(!tcgetattr(other, &after) && after.c_lflag == before.c_lflag);
  dup2(old, STDIN_FILENO);
  close(old);
  close(other);
  close(terminal);
}

static void own_handler(int number) { _exit(42); }

static int own_handler_stays(void) {
  /* This handler belongs to the program, like an interpreter's, so it is replaced ... */
  signal(SIGINT, own_handler);
  OK(dpt_interrupt_install());
  struct sigaction action;
  sigaction(SIGINT, NULL, &action);
  CHECK(action.sa_handler != own_handler);
  /* ... and that of a library is not. */
  void (*library)(int) = (void (*)(int))(uintptr_t)exit;
  signal(SIGINT, library);
  OK(dpt_interrupt_install());
  sigaction(SIGINT, NULL, &action);
  CHECK(action.sa_handler == library);
  signal(SIGINT, SIG_IGN);
  OK(dpt_interrupt_install());
  sigaction(SIGINT, NULL, &action);
  CHECK(action.sa_handler == SIG_IGN);
  return check_end();
}

/* "cuda" selects every GPU, but in a rank only the GPU of its local rank. */
static int gpus_of_ranks(void) {
  dpt__device_list list;
  unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  OK(dpt__device_list_parse("DPT_DEVICES", "cuda", &list));
  CHECK(list.every);
  dpt__device_list_take(&list, 4);
  CHECK(list.count == 4 && list.unit[3] == 3);
  setenv("SLURM_LOCALID", "0", 1); /* as in a batch script */
  dpt__device_list_take(&list, 4);
  CHECK(list.count == 4);
  setenv("SLURM_STEP_ID", "0", 1);
  setenv("SLURM_LOCALID", "3", 1);
  dpt__device_list_take(&list, 4);
  CHECK(list.count == 1 && list.unit[0] == 3);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "5", 1);
  dpt__device_list_take(&list, 4);
  CHECK(list.count == 1 && list.unit[0] == 1);
  return check_failures;
}

int main(void) {
  CHECK(in_child(NULL, gpus_of_ranks) == 0);
  CHECK(in_child("host:1", counts_devices) == 1);
  CHECK(in_child("host:7", counts_devices) == 7);
  CHECK(in_child("host:200", counts_devices) == 200);
  CHECK(in_child(NULL, counts_devices) == 2);
  CHECK(in_child("", counts_devices) == 2);
  CHECK(in_child("none", has_none) == 0);
  CHECK(in_child("cuda", wants_cuda) == 2);
  CHECK(in_child("cuda:0,2,3", wants_cuda) == 3);
  const char *nonsense[] = {"host",       "host:",
                            "host:0",     "host:257",
                            "host:-1",    "host:2x",
                            "hots:2",     "cuda:",
                            "cuda:0,",    "cuda:x",
                            "nonsense",   " host:2",
                            "emulated:0", "host:99999999999999999999"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
    if (!CHECK(in_child(nonsense[i], is_rejected) == 0)) puts(nonsense[i]);
  CHECK(in_child("host:2", bad_variable) == 0);
#ifdef DPT_WITH_EMULATED
  CHECK(in_child("emulated:0,300", half_a_list) == 0);
  CHECK(in_child("none", plugin_is_loaded_once) == 0);
#endif
  CHECK(in_child("none", setting_late_is_rejected) == 0);
  CHECK(in_child("host:3", current_is_per_thread) == 0);
  CHECK(in_child("host:2", fork_is_reported) == 0);
  CHECK(in_child("host:64", idles) == 0);
  CHECK(in_child("host:2", is_interrupted) == 128 + SIGINT);
  CHECK(in_child("host:2", own_handler_stays) == 0);
  terminal_is_restored();
  CHECK(in_child("host:2", names_the_limit) == 0);
  return check_end();
}
