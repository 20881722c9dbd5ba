/* file_spec.c: tests numbers as text, failing reads and writes, and files that replace others. */
#include "base/reduced.h"
#include "check.h"
#include "dpt.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void numbers(void) {
  static const char text[] = " 12 -7\t+3\n9007199254740993 1e3 x";
  int64_t longs[8], used = sizeof text - 1;
  CHECK(dpt_text_read(NULL, text, &used, DPT_I64, longs, 5) == 5);
  CHECK(longs[0] == 12 && longs[1] == -7 && longs[2] == 3 && longs[3] == 9007199254740993);
  CHECK(longs[4] == 1 && text[used] == 'e');

  static const char reals[] = "0.1 -inf nan 1e-3 .5 0x10 1-2";
  double doubles[8];
  float floats[8];
  int64_t all = sizeof reals - 1;
  used = all;
  CHECK(dpt_text_read(NULL, reals, &used, DPT_F64, doubles, 8) == 8 && used == all);
  CHECK(doubles[0] == 0.1 && doubles[1] == -INFINITY && isnan(doubles[2]) && doubles[3] == 1e-3);
  CHECK(doubles[4] == 0.5 && doubles[5] == 16 && doubles[6] == 1 && doubles[7] == -2);
  used = all;
  CHECK(dpt_text_read(NULL, reals, &used, DPT_F32, floats, 1) == 1 && floats[0] == 0.1f);
#define X(id, type, suffix, ...)                                                                   \
  type suffix[8];                                                                                  \
  used = 0;                                                                                        \
  CHECK(dpt_text_read(NULL, reals, &used, id, suffix, 8) == 0 && used == 0);                       \
  used = 3; /* "0.1" */                                                                            \
  CHECK(dpt_text_read(NULL, reals, &used, id, suffix, 8) == 1 &&                                   \
        suffix[0].bits == dpt__##suffix##_from_double(0.1).bits);
  DPT_REDUCED_DTYPES(X)
#undef X
  int16_t shorts[2] = {5, 6};
  used = all;
  CHECK(dpt_text_read(NULL, "word", &used, DPT_I16, shorts, 2) == 0 && shorts[1] == 6);
  CHECK(dpt_text_read(NULL, NULL, &used, DPT_F64, doubles, 8) == 0);
  CHECK(dpt_text_read(NULL, text, &used, DPT_U8, doubles, 8) == 0);
  CHECK(dpt_text_read(NULL, text, &used, 99, doubles, 8) == 0);

  char many[200]; /* the length of a number is limited */
  memset(many, '1', sizeof many);
  used = sizeof many;
  CHECK(dpt_text_read(NULL, many, &used, DPT_F64, doubles, 1) == 1 && used == 63);
}

static int exists(const char *path) { return access(path, F_OK) == 0; }

static void put(int descriptor, const char *text) {
  CHECK(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
}

static void replacements(void) {
  char folder[] = "/tmp/dpt_file_XXXXXX", path[100], target[512], name[512], other[512], got[10];
  int one, two, dead;
  CHECK(mkdtemp(folder) != NULL);
  snprintf(path, sizeof path, "%s/model", folder);

  OK(dpt_file_replacement(path, target, name, sizeof name, &one));
  CHECK(strcmp(target, path) == 0 && exists(name) && !exists(path));
  /* a second replacement gets another name while the first is in progress */
  OK(dpt_file_replacement(path, target, other, sizeof other, &two));
  CHECK(strcmp(name, other) != 0 && exists(name) && exists(other));
  put(one, "one");
  put(two, "two");
  OK(dpt_file_replace(two, other, target, 1));
  OK(dpt_file_replace(one, name, target, 0));
  FILE *file = fopen(path, "r");
  CHECK(file && fgets(got, sizeof got, file) && strcmp(got, "one") == 0);
  fclose(file);
  CHECK(!exists(name) && !exists(other));

  /* abandoned files are removed, here two of them */
  for (int i = 0; i < 2; i++) {
    snprintf(other, sizeof other, "%s.dpt-%d.tmp", path, i);
    dead = open(other, O_WRONLY | O_CREAT, 0600);
    CHECK(dead >= 0);
    close(dead);
  }
  OK(dpt_file_replacement(path, target, name, sizeof name, &one));
  CHECK(!exists(other) && strstr(name, ".dpt-0.tmp"));
  dpt_file_drop(one, name);
  CHECK(!exists(name) && exists(path));

  CHECK(chmod(path, 0640) == 0);
  OK(dpt_file_replacement(path, target, name, sizeof name, &one));
  OK(dpt_file_replace(one, name, target, 0));
  struct stat status;
  CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0640);

  OK(dpt_file_replacement("/dev/null", target, name, sizeof name, &one));
  CHECK(one == -1 && strcmp(name, "/dev/null") == 0);
  FAILS(dpt_file_replacement("/nowhere/at/all", target, name, sizeof name, &one), "cannot write");
  FAILS(dpt_file_replacement(path, target, name, 20, &one), "wanted less than");
  OK(dpt_file_replacement(path, target, name, sizeof name, &one));
  FAILS(dpt_file_replace(one, name, "/nowhere/at/all", 1), "cannot replace");
  dpt_file_drop(one, name);
  CHECK(!exists(name) && unlink(path) == 0 && rmdir(folder) == 0);
}

static int descriptors(void) {
  int n = 0;
  for (int i = 0; i < 256; i++) n += fcntl(i, F_GETFD) >= 0;
  return n;
}

/* A thread closes large files that were replaced, a while after the call. */
static void large_replacements(void) {
  char path[] = "/tmp/dpt_file_XXXXXX", target[512], name[512];
  int one = mkstemp(path);
  CHECK(one >= 0 && ftruncate(one, 4 << 20) == 0);
  close(one);
  int before = descriptors();
  for (int i = 0; i < 20; i++) {
    OK(dpt_file_replacement(path, target, name, sizeof name, &one));
    CHECK(ftruncate(one, 4 << 20) == 0);
    if (i == 10) CHECK(unlink(path) == 0); /* no file to replace */
    OK(dpt_file_replace(one, name, target, 0));
  }
  OK(dpt_file_replacement(path, target, name, sizeof name, &one));
  CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
  FAILS(dpt_file_replace(one, name, target, 0), "cannot replace");
  dpt_file_drop(one, name);
  for (int patience = 5000; descriptors() > before && patience > 0; patience--) usleep(1000);
  CHECK(descriptors() == before && rmdir(path) == 0);
}

static int is_pending(void) {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, SIGPIPE);
}

/* Failed reads and writes report the reason; writing to a pipe without a reader sends no signal. */
static void failures(void) {
  char bytes[8] = "1234567";
  int ends[2];
  FILE *folder = fopen("/tmp", "r"), *full = fopen("/dev/full", "w");
  CHECK(folder && full && pipe(ends) == 0);
  CHECK(dpt_file_read(folder, bytes, 8) == -1 && strcmp(dpt_message(), "is a directory") == 0);
  setvbuf(full, NULL, _IONBF, 0);
  FAILS(dpt_file_write(full, bytes, 8), "no space left on device");
  static char many[1 << 16];
  FILE *writer = fdopen(ends[1], "w"), *buffered = fdopen(dup(ends[1]), "w");
  CHECK(writer && buffered);
  setvbuf(writer, NULL, _IONBF, 0);
  OK(dpt_file_write(writer, bytes, 8));
  OK(dpt_file_write(buffered, bytes, 8));
  OK(dpt_file_flush(buffered));
  close(ends[0]);
  sigset_t one, old;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  for (int blocked = 0; blocked < 2; blocked++) {
    FAILS(dpt_file_write(writer, bytes, 8), "broken pipe");
    OK(dpt_file_write(buffered, bytes, 8));
    FAILS(dpt_file_flush(buffered), "broken pipe");
    OK(dpt_file_flush(buffered));
    FAILS(dpt_file_write(buffered, many, sizeof many), "broken pipe");
    CHECK(!is_pending());
    sigprocmask(SIG_BLOCK, &one, &old);
    CHECK(sigismember(&old, SIGPIPE) == blocked);
  }
  raise(SIGPIPE); /* a signal of the caller stays pending */
  FAILS(dpt_file_write(writer, bytes, 8), "broken pipe");
  CHECK(is_pending());
  sigtimedwait(&one, NULL, &(struct timespec){0});
  fclose(writer);
  fclose(buffered);
  fclose(full);
  fclose(folder);
}

int main(void) {
  numbers();
  failures();
  replacements();
  large_replacements();
  return check_end();
}
