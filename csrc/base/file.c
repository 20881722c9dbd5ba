/* file.c: what Lua's io library lacks for the file room: blocks of memory read and written without
 * a Lua string between, single bytes, how much is left, a new file that shall replace another.
 *
 * What must stay true: `file` is a FILE of Lua's io library (LuaJIT passes its handle as one),
 * which opens and closes it; a caller never reads after a write, or writes after a read, without a
 * seek between.
 */
#include "base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t dpt_file_read(void *file, void *data, int64_t n) {
  return (int64_t)fread(data, 1, (size_t)n, file);
}

int dpt_file_write(void *file, const void *data, int64_t n) {
  errno = 0;
  if (fwrite(data, 1, (size_t)n, file) == (size_t)n) return 0;
  return dpt__fail("write: %lld bytes could not be written: %s", (long long)n,
                   errno ? strerror(errno) : "the file is not open for writing");
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

int dpt_file_replacement(const char *path, char *target, char *name, int64_t room) {
  struct stat status;
  int there = stat(path, &status) == 0;
  char *real = there ? realpath(path, NULL) : NULL;
  int length = snprintf(target, (size_t)room, "%s", real ? real : path);
  free(real);
  if (length < 0 || length + 32 > room) {
    return dpt__fail("save: the path has %d bytes, wanted less than %lld", length,
                     (long long)room - 32);
  }
  strcpy(name, target);
  if (there && !S_ISREG(status.st_mode)) return 0;
  int descriptor = -1;
  for (int i = 0; i < 1000 && descriptor < 0; i++) {
    snprintf(name + length, 32, ".%ld.%d.tmp", (long)getpid(), i);
    descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) return dpt__fail("save: cannot write '%s': %s", target, strerror(errno));
  /* a file system without permissions refuses this, and nothing is lost by that */
  if (there && fchmod(descriptor, status.st_mode & 07777) != 0) errno = 0;
  close(descriptor);
  return 0;
}
