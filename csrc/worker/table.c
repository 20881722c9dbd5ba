/* table.c: hashes and vecs of numbers, strings, tensors and other shared objects, which several Lua
 * states use concurrently.
 *
 * Invariant: a table's entries are only accessed under its lock, and nothing but reference counters
 * is called while it is held: removed values are released after unlocking. A hash keeps its entries
 * in insertion order. A removed entry leaves a gap until the entries are rebuilt, which only an
 * insertion does, so a traversal that only removes entries skips none.
 */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  int type;
  int64_t size;
  union {
    double number;
    void *bytes; /* a string's bytes, or a tensor's struct */
    dpt_shared *shared;
  } is;
} table_value;

typedef struct {
  uint64_t code;
  int64_t next; /* next entry of the bucket; -1: none */
  table_value key, value;
} table_entry;

typedef struct {
  int is_vec;
  dpt__mutex lock;
  int64_t length DPT__GUARDED_BY(lock); /* entries, without gaps */
  int64_t used DPT__GUARDED_BY(lock);   /* entries and gaps */
  int64_t space DPT__GUARDED_BY(lock);
  table_value *values DPT__GUARDED_BY(lock);  /* of a vec */
  table_entry *entries DPT__GUARDED_BY(lock); /* of a hash */
  int64_t *buckets DPT__GUARDED_BY(lock);     /* (space) */
} table;

enum { LEAST_SPACE = 8 };
#define TABLE_MOST ((int64_t)1 << 40)

static void table_drop(table_value *v) {
  if (v->type == DPT_TENSOR) dpt_storage_release(((dpt_tensor *)v->is.bytes)->storage_);
  if (v->type == DPT_TENSOR || v->type == DPT_STRING) free(v->is.bytes);
  if (v->type == DPT_SHARED) dpt_shared_release(v->is.shared);
  v->type = DPT_NIL;
}

/* Frees a table without its lock: the last reference is gone. */
static void table_end(void *content) DPT__UNPROVED {
  table *t = content;
  for (int64_t i = 0; i < t->used; i++) {
    if (t->is_vec) {
      table_drop(&t->values[i]);
    } else {
      table_drop(&t->entries[i].key);
      table_drop(&t->entries[i].value);
    }
  }
  free(t->values);
  free(t->entries);
  free(t->buckets);
  dpt__mutex_destroy(&t->lock);
  free(t);
}

int dpt_table_new(dpt_shared **shared, int kind) {
  dpt__assert(kind == DPT_HASH || kind == DPT_VEC);
  table *t = calloc(1, sizeof *t);
  if (t) {
    t->is_vec = kind == DPT_VEC;
    dpt__mutex_init(&t->lock, NULL);
  }
  return dpt__shared_new(shared, kind, t, table_end);
}

/* Makes a copy that the table owns. */
static int table_copy_value(table_value *to, const dpt_value *from) {
  to->type = from->type;
  to->size = from->size;
  if (from->type == DPT_NUMBER || from->type == DPT_BOOLEAN) {
    to->is.number = from->number == 0 ? 0 : from->number; /* -0 is 0 */
  } else if (from->type == DPT_STRING || from->type == DPT_TENSOR) {
    to->is.bytes = malloc((size_t)from->size + 1);
    if (!to->is.bytes)
      return dpt__no_memory("tds: no host memory for %lld bytes", (long long)from->size);
    memcpy(to->is.bytes, from->bytes, (size_t)from->size);
    if (from->type == DPT_TENSOR) dpt_storage_retain(((dpt_tensor *)to->is.bytes)->storage_);
  } else if (from->type == DPT_SHARED) {
    to->is.shared = from->shared;
    dpt_shared_retain(from->shared);
  }
  return 0;
}

static void table_show(const table_value *from, dpt_value *to) {
  to->type = from->type;
  to->size = from->size;
  if (from->type == DPT_NUMBER || from->type == DPT_BOOLEAN) {
    to->number = from->is.number;
  } else if (from->type == DPT_SHARED) {
    to->shared = from->is.shared;
    dpt_shared_retain(to->shared);
  } else if (from->type != DPT_NIL && from->size <= to->space) {
    memcpy(to->bytes, from->is.bytes, (size_t)from->size);
    if (from->type == DPT_TENSOR) dpt_storage_retain(((dpt_tensor *)to->bytes)->storage_);
  }
}

static const table_value table_nil = {.type = DPT_NIL};

static uint64_t table_code(const table_value *key) {
  uint64_t code = 14695981039346656037u + (uint64_t)key->type;
  const unsigned char *bytes = key->type == DPT_STRING ? key->is.bytes : (const void *)&key->is;
  const int64_t n = key->type == DPT_STRING ? key->size : (int64_t)sizeof key->is;
  for (int64_t i = 0; i < n; i++) code = (code ^ bytes[i]) * 1099511628211u;
  return code ^ code >> 29;
}

static int table_same(const table_value *a, const table_value *b) {
  if (a->type != b->type) return 0;
  if (a->type == DPT_STRING)
    return a->size == b->size && !memcmp(a->is.bytes, b->is.bytes, (size_t)a->size);
  return a->type == DPT_SHARED ? a->is.shared == b->is.shared : a->is.number == b->is.number;
}

/* Returns a key in the table's form, which owns nothing. */
static table_value table_borrow_key(const dpt_value *key) {
  table_value v = {.type = key->type, .size = key->size};
  if (key->type == DPT_STRING)
    v.is.bytes = key->bytes;
  else if (key->type == DPT_SHARED)
    v.is.shared = key->shared;
  else
    v.is.number = key->number == 0 ? 0 : key->number;
  return v;
}

/* Returns the index of the key's entry, or -1. */
static int64_t table_find(const table *t, const table_value *key, uint64_t code)
    DPT__REQUIRES(t->lock) {
  if (t->space == 0) return -1;
  int64_t i = t->buckets[code & (uint64_t)(t->space - 1)];
  while (i >= 0 && !(t->entries[i].code == code && table_same(&t->entries[i].key, key)))
    i = t->entries[i].next;
  return i;
}

static void table_link(table *t, int64_t i) DPT__REQUIRES(t->lock) {
  int64_t *bucket = &t->buckets[t->entries[i].code & (uint64_t)(t->space - 1)];
  t->entries[i].next = *bucket;
  *bucket = i;
}

/* Makes space for one more entry: removes the gaps, or doubles the space. */
static int table_grow(table *t) DPT__REQUIRES(t->lock) {
  if (t->used < t->space) return 0;
  const int64_t space = t->length * 2 < LEAST_SPACE ? LEAST_SPACE
                        : t->length > t->space / 2  ? t->space * 2
                                                    : t->space;
  table_entry *entries = malloc((size_t)space * sizeof *entries);
  int64_t *buckets = malloc((size_t)space * sizeof *buckets);
  if (!entries || !buckets) {
    free(entries);
    free(buckets);
    return dpt__no_memory("tds.Hash: no host memory for %lld entries", (long long)space);
  }
  int64_t n = 0;
  for (int64_t i = 0; i < t->used; i++)
    if (t->entries[i].value.type != DPT_NIL) entries[n++] = t->entries[i];
  free(t->entries);
  free(t->buckets);
  t->entries = entries;
  t->buckets = buckets;
  t->space = space;
  t->used = n;
  for (int64_t i = 0; i < space; i++) buckets[i] = -1;
  for (int64_t i = 0; i < n; i++) table_link(t, i);
  return 0;
}

/* Sets or removes an entry. old: receives a key and a value to drop after unlocking. */
static int table_put(table *t, const dpt_value *key, table_value *value, table_value old[2])
    DPT__REQUIRES(t->lock) {
  const table_value look = table_borrow_key(key);
  const uint64_t code = table_code(&look);
  int64_t i = table_find(t, &look, code);
  if (value->type == DPT_NIL) {
    if (i < 0) return 0;
    table_entry *e = &t->entries[i];
    int64_t *link = &t->buckets[code & (uint64_t)(t->space - 1)];
    while (*link != i) link = &t->entries[*link].next;
    *link = e->next;
    old[0] = e->key;
    old[1] = e->value;
    e->key = e->value = table_nil;
    t->length--;
    return 0;
  }
  if (i < 0) {
    DPT__TRY(table_grow(t));
    i = t->used;
    DPT__TRY(table_copy_value(&t->entries[i].key, key));
    t->entries[i].code = code;
    t->entries[i].value = table_nil;
    t->used++;
    t->length++;
    table_link(t, i);
  }
  old[1] = t->entries[i].value;
  t->entries[i].value = *value;
  return 0;
}

/* Makes a vec at least n long; new elements are nil. */
static int table_reserve(table *t, int64_t n) DPT__REQUIRES(t->lock) {
  if (n > TABLE_MOST)
    return dpt__fail("tds.Vec: got %lld elements, which is too many", (long long)n);
  if (n > t->space) {
    const int64_t space = n < LEAST_SPACE ? LEAST_SPACE : n > t->space * 2 ? n : t->space * 2;
    table_value *values = realloc(t->values, (size_t)space * sizeof *values);
    if (!values)
      return dpt__no_memory("tds.Vec: no host memory for %lld elements", (long long)space);
    t->values = values;
    t->space = space;
  }
  for (int64_t i = t->used; i < n; i++) t->values[i] = table_nil;
  if (n > t->used) t->length = t->used = n;
  return 0;
}

int dpt_table_get(dpt_shared *shared, const dpt_value *key, dpt_value *value) {
  table *t = dpt__shared_content(shared);
  dpt__lock(&t->lock);
  const table_value *found = &table_nil;
  if (t->is_vec) {
    if (key->number >= 0 && key->number < (double)t->used) found = &t->values[(int64_t)key->number];
  } else {
    const table_value look = table_borrow_key(key);
    const int64_t i = table_find(t, &look, table_code(&look));
    if (i >= 0) found = &t->entries[i].value;
  }
  table_show(found, value);
  dpt__unlock(&t->lock);
  return 0;
}

int dpt_table_set(dpt_shared *shared, const dpt_value *key, const dpt_value *value) {
  table *t = dpt__shared_content(shared);
  table_value kept, old[2] = {table_nil, table_nil};
  DPT__TRY(table_copy_value(&kept, value));
  dpt__lock(&t->lock);
  int status;
  if (t->is_vec) {
    const int64_t i = (int64_t)key->number;
    status = table_reserve(t, i + 1);
    if (!status) {
      old[1] = t->values[i];
      t->values[i] = kept;
    }
  } else {
    status = table_put(t, key, &kept, old);
  }
  dpt__unlock(&t->lock);
  if (status) table_drop(&kept);
  table_drop(&old[0]);
  table_drop(&old[1]);
  return status;
}

int dpt_table_next(dpt_shared *shared, int64_t *at, dpt_value *key, dpt_value *value) {
  table *t = dpt__shared_content(shared);
  dpt__lock(&t->lock);
  int64_t i = *at;
  while (i < t->used && t->entries[i].value.type == DPT_NIL) i++;
  if (i < t->used) {
    table_show(&t->entries[i].key, key);
    table_show(&t->entries[i].value, value);
    *at = i + 1;
  } else {
    *at = -1;
  }
  dpt__unlock(&t->lock);
  return 0;
}

int64_t dpt_table_length(dpt_shared *shared) {
  table *t = dpt__shared_content(shared);
  dpt__lock(&t->lock);
  const int64_t n = t->length;
  dpt__unlock(&t->lock);
  return n;
}

int dpt_vec_insert(dpt_shared *shared, int64_t at, const dpt_value *value) {
  table *t = dpt__shared_content(shared);
  table_value kept;
  DPT__TRY(table_copy_value(&kept, value));
  dpt__lock(&t->lock);
  const int64_t behind = at < t->used ? t->used - at : 0;
  int status = table_reserve(t, (at < t->used ? t->used : at) + 1);
  if (!status) {
    memmove(t->values + at + 1, t->values + at, (size_t)behind * sizeof *t->values);
    t->values[at] = kept;
  }
  dpt__unlock(&t->lock);
  if (status) table_drop(&kept);
  return status;
}

int dpt_vec_remove(dpt_shared *shared, int64_t at) {
  table *t = dpt__shared_content(shared);
  table_value old = table_nil;
  dpt__lock(&t->lock);
  if (at < t->used) {
    old = t->values[at];
    memmove(t->values + at, t->values + at + 1, (size_t)(t->used - at - 1) * sizeof *t->values);
    t->length = --t->used;
  }
  dpt__unlock(&t->lock);
  table_drop(&old);
  return 0;
}

/* Resizes a vec. Removes excess elements one by one, so that each is released without the lock. */
int dpt_vec_resize(dpt_shared *shared, int64_t size) {
  table *t = dpt__shared_content(shared);
  for (;;) {
    table_value old = table_nil;
    dpt__lock(&t->lock);
    const int is_longer = t->used > size;
    int status = 0;
    if (is_longer) {
      old = t->values[t->used - 1];
      t->length = --t->used;
    } else {
      status = table_reserve(t, size);
    }
    dpt__unlock(&t->lock);
    table_drop(&old);
    if (!is_longer) return status;
  }
}
