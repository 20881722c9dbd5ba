/* library_spec.cu: tests the search for NVIDIA's libraries (rows C1 and C2 of docs/user-issues.md).
 *
 * Invariant: a missing library is reported with every file that was tried and the loader's error
 * for each; later calls return the same result.
 */
#include "cuda/library.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static char said[1024];
static int failures;

static int fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return 1;
}
static const char *message(void) { return said; }
static const dpt__services services = {fail, message, NULL, NULL};
const dpt__services *dpt__cuda_services = &services;
int dpt__cuda_status(cudaError_t error, const char *call) {
  return error == cudaSuccess ? 0 : fail("%s", call);
}

static void check(bool good, const char *what) {
  if (good) return;
  failures++;
  printf("library_spec: %s (message: %s)\n", what, said);
}
static bool tells(const char *part) { return strstr(said, part) != NULL; }

static int takes;
static int take(dpt__library *library) {
  void *function;
  takes++;
  return dpt__library_find(library, "cos", &function);
}

static dpt__library missing = {
    "NoSuch", "DPT_NO_SUCH", "libdpt_no_such.so.7",    "no/lib", "/built/no.so",
    NULL,     take,          PTHREAD_MUTEX_INITIALIZER};
static dpt__library second = {"Second",
                              "DPT_SECOND",
                              "libdpt_no_such.so.7",
                              "no/lib",
                              "",
                              NULL,
                              take,
                              PTHREAD_MUTEX_INITIALIZER,
                              NULL,
                              0,
                              0,
                              NULL,
                              "libm.so.6"};
static dpt__library chosen = {"Chosen", "DPT_CHOSEN", "libm.so.6", "no/lib",
                              "",       NULL,         take,        PTHREAD_MUTEX_INITIALIZER};

int main(void) {
  setenv("CUDA_HOME", "/home/of/cuda", 1);
  setenv("DPT_CHOSEN", "/nowhere/libm.so.6", 1);
  unsetenv("DPT_NO_SUCH");
  unsetenv("DPT_SECOND");
  for (int round = 0; round < 2; round++) {
    check(dpt__library_open(&missing), "a library that is missing");
    check(tells("NoSuch") && tells("DPT_NO_SUCH"), "C1: who, and what names another file");
    check(tells("libdpt_no_such.so.7: cannot open shared object file"), "C1: what the loader says");
    check(tells("/../../no/lib/libdpt_no_such.so.7: cannot"), "C1: beside the runtime");
    check(tells("/built/no.so: cannot"), "C1: where the build found it");
    check(tells("/home/of/cuda/lib64/libdpt_no_such.so.7: cannot"), "C1: in the toolkit");
    said[0] = 0;
  }
  check(!takes, "nothing was taken of it");
  check(!dpt__library_open(&second) && takes == 1, "C2: the other name serves");
  check(dpt__library_open(&chosen) && tells("/nowhere/libm.so.6: cannot"), "the chosen one alone");
  check(dpt__library_version(&second, 1, 2) && tells("version 1"), "C2: another version");
  return failures != 0;
}
