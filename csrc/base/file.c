/* file.c: functions missing in Lua's io library, for lua/dpt/file: reads and writes of memory
 * blocks without a Lua string, single bytes, the bytes left, a new file that replaces another one.
 *
 * Invariant: `file` is a FILE of Lua's io library (LuaJIT passes its handle as one), which opens
 * and closes it; a caller never reads after a write, or writes after a read, without a seek
 * between. A file that is to replace another has an exclusive lock as long as its creator lives.
 * Messages name no function: the caller prepends its own name.
 */
#define _GNU_SOURCE /* O_PATH */
#include "base/status.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

/* Returns the text of errno as the end of a sentence; valid until the thread's next call. */
static const char *file_reason(void) {
  static _Thread_local char text[128];
  snprintf(text, sizeof text, "%s", strerror(errno));
  text[0] = (char)tolower((unsigned char)text[0]);
  return text;
}

int64_t dpt_file_read(void *file, void *data, int64_t n) {
  size_t got = fread(data, 1, (size_t)n, file);
  if (got == (size_t)n || !ferror(file)) return (int64_t)got;
  dpt__set_message("%s", file_reason());
  return -1;
}

/* Writes n bytes, or the contents of the buffer (data NULL), with SIGPIPE blocked in this thread,
 * and removes the SIGPIPE that the write caused. Returns 0 on success, else errno is set. */
static int file_write_blocked(FILE *file, const void *data, size_t n) {
  sigset_t one, pending, old;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &one, &old);
  int failed = data ? fwrite(data, 1, n, file) < n : fflush(file) != 0;
  int reason = errno;
  if (failed && reason == EPIPE) {
    __fpurge(file); /* otherwise closing the file would try again */
    while (!sigismember(&pending, SIGPIPE) && sigtimedwait(&one, NULL, &(struct timespec){0}) < 0 &&
           errno == EINTR) {}
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = reason;
  return failed;
}

int dpt_file_write(void *file, const void *data, int64_t n) {
  errno = 0;
  int is_buffered = __fpending(file) + (size_t)n < __fbufsize(file);
  /* a program whose standard output is closed by its reader ends by SIGPIPE, as usual */
  int failed = is_buffered || fileno(file) <= STDERR_FILENO
                   ? fwrite(data, 1, (size_t)n, file) < (size_t)n
                   : file_write_blocked(file, data, (size_t)n);
  if (!failed) return 0;
  return dpt__fail("%s", errno ? file_reason() : "the file is not open for writing");
}

int dpt_file_flush(void *file) {
  if (!__fpending(file)) return 0;
  int failed =
      fileno(file) <= STDERR_FILENO ? fflush(file) != 0 : file_write_blocked(file, NULL, 0);
  return failed ? dpt__fail("%s", file_reason()) : 0;
}

int dpt_file_byte(void *file) { return getc(file); }

void dpt_file_unread(void *file, int byte) {
  if (byte >= 0) ungetc(byte, file);
}

int64_t dpt_file_left(void *file) {
  struct stat status;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  int64_t here = (int64_t)ftello(file);
  if (here < 0) return -1;
  return here < status.st_size ? (int64_t)status.st_size - here : 0;
}

/* Returns true if the descriptor refers to the file at path. */
static int file_is_at(int descriptor, const char *path) {
  struct stat ours, there;
  return fstat(descriptor, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

/* Removes the file of a process that was killed while it saved: its lock is free. Returns true if
 * it did. */
static int file_remove_leftover(const char *name) {
  int descriptor = open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return 0;
  int dead = flock(descriptor, LOCK_EX | LOCK_NB) == 0 && file_is_at(descriptor, name);
  if (dead) unlink(name);
  close(descriptor);
  return dead;
}

/* Creates a file of that name with its lock; returns its descriptor, or -1. */
static int file_make_locked(const char *name) {
  int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  /* before it was locked, another process may have taken the file for that of a killed process */
  int failed = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!failed && file_is_at(descriptor, name)) return descriptor;
  close(descriptor);
  errno = EEXIST;
  return -1;
}

static void number_name(char *name, int length, int i) {
  snprintf(name + length, 32, ".dpt-%d.tmp", i);
}

int dpt_file_replacement(const char *path, char *target, char *name, int64_t capacity,
                         int *descriptor) {
  struct stat status;
  int there = stat(path, &status) == 0;
  char *real = there ? realpath(path, NULL) : NULL;
  int length = snprintf(target, (size_t)capacity, "%s", real ? real : path);
  free(real);
  *descriptor = -1;
  if (length < 0 || length + 32 > capacity) {
    return dpt__fail("the path has %d bytes, wanted less than %lld", length,
                     (long long)capacity - 32);
  }
  memcpy(name, target, (size_t)length + 1);
  if (there && !S_ISREG(status.st_mode)) return 0;
  if (there && access(target, W_OK) != 0)
    return dpt__fail("cannot write %s: %s", target, file_reason());
  int i = 0;
  while (1) {
    number_name(name, length, i);
    *descriptor = file_make_locked(name);
    if (*descriptor >= 0 || errno != EEXIST || i > 1000) break;
    if (!file_remove_leftover(name)) i++;
  }
  if (*descriptor < 0) return dpt__fail("cannot write %s: %s", target, file_reason());
  for (int k = i + 1; number_name(name, length, k), access(name, F_OK) == 0; k++)
    file_remove_leftover(name);
  number_name(name, length, i);
  /* file systems without permissions reject this, which does no harm */
  if (there && fchmod(*descriptor, status.st_mode & 07777) != 0) errno = 0;
  return 0;
}

static void *file_close(void *descriptor) {
  close((int)(intptr_t)descriptor);
  return NULL;
}

/* Closes the last reference to a file that was replaced. The system then frees its contents, 100
 * MiB in 12 ms: a thread waits for that, not the script. */
static void file_close_async(int descriptor) {
  sigset_t all, old;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failed = pthread_create(&thread, NULL, file_close, (void *)(intptr_t)descriptor);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (failed)
    close(descriptor);
  else
    pthread_detach(thread);
}

int dpt_file_replace(int descriptor, const char *name, const char *target, int durable) {
  if (durable && fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS && errno != EROFS)
    return dpt__fail("cannot write %s: %s", target, file_reason());
  struct stat status;
  int large = stat(target, &status) == 0 && status.st_size >= LARGE;
  int replaced = large ? open(target, O_PATH | O_CLOEXEC) : -1;
  if (rename(name, target) != 0) {
    int failed = dpt__fail("cannot replace %s: %s", target, file_reason());
    if (replaced >= 0) close(replaced);
    return failed;
  }
  if (replaced >= 0) file_close_async(replaced);
  close(descriptor);
  return 0;
}

void dpt_file_drop(int descriptor, const char *name) {
  if (descriptor < 0) return;
  unlink(name);
  close(descriptor);
}
