/* text.c: reads numbers as text, from a FILE or from memory, as C's scanf does.
 *
 * Invariant: a number ends at the first byte that cannot belong to it, and that byte is left for
 * the next read; Long integers are never converted to double.
 */
#include "base/dtype.h"
#include "base/reduced.h"
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 63 };

/* The source of bytes: file, or memory if that is NULL. */
struct source {
  FILE *file;
  const unsigned char *at, *end;
};

static int text_next(struct source *from) {
  if (from->file) return getc_unlocked(from->file);
  return from->at < from->end ? *from->at++ : -1;
}

static void text_unread(struct source *from, int byte) {
  if (byte < 0) return;
  if (from->file)
    ungetc(byte, from->file);
  else
    from->at--;
}

static int text_is_part(int byte, int real) {
  if (byte >= '0' && byte <= '9') return 1;
  return real && (byte == '.' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'));
}

/* Reads the bytes of the next number; a sign is only allowed first, or after the e of an
 * exponent. */
static void text_read_word(struct source *from, int real, char *word) {
  int byte = text_next(from), before = 'e', n = 0;
  while (byte == ' ' || (byte >= '\t' && byte <= '\r')) byte = text_next(from);
  while (n < LONGEST) {
    int sign = (byte == '+' || byte == '-') && (before | 32) == 'e' && (n == 0 || real);
    if (!sign && !text_is_part(byte, real)) break;
    word[n++] = (char)byte;
    before = byte;
    byte = text_next(from);
  }
  text_unread(from, byte);
  word[n] = 0;
}

/* Convert a word to a number of each class; *end points to the rest. */
#define X(id, type, suffix, ...)                                                                   \
  static type text_##suffix(const char *word, char **end) { return (type)strtoll(word, end, 10); }
DPT_INTEGER_DTYPES(X)
#undef X
#define X(id, type, suffix, ...)                                                                   \
  static type text_##suffix(const char *word, char **end) {                                        \
    return dpt__##suffix##_from_double(strtod(word, end));                                         \
  }
DPT_REDUCED_DTYPES(X)
#undef X
static float text_f32(const char *word, char **end) { return strtof(word, end); }
static double text_f64(const char *word, char **end) { return strtod(word, end); }

int64_t dpt_text_read(void *file, const void *bytes, int64_t *size, int dtype, void *to,
                      int64_t n) {
  struct source from = {file, bytes, size ? (const unsigned char *)bytes + *size : NULL};
  char word[LONGEST + 1], *end = word;
  int64_t got = 0;
  if (dtype < DPT_I16 || dtype >= DPT_NDTYPE || (!file && (!bytes || !size))) return 0;
  if (file) flockfile(file);
  for (; got < n; got++) {
    text_read_word(&from, dpt__is_real(dtype), word);
    switch (dtype) {
#define X(id, type, suffix, ...)                                                                   \
  case id:                                                                                         \
    ((type *)to)[got] = text_##suffix(word, &end);                                                 \
    break;
      DPT_DTYPES(X)
#undef X
    }
    if (end == word || *end) break;
  }
  if (file)
    funlockfile(file);
  else
    *size = from.at - (const unsigned char *)bytes;
  return got;
}
