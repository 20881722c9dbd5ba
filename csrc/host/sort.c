/* sort.c: sort, topk, kthvalue and mode along a dimension, in host memory.
 *
 * Invariant: a slice becomes (key, position) items whose keys are unsigned numbers in the elements'
 * order. Items are sorted by key, stably: short slices by insertion sort, long ones by radix sort
 * on the key's bytes, the lowest first (bytes in which all keys agree are skipped). The first few
 * of many are found with a heap of that size, which visits the elements in order. One slice is one
 * task.
 */
#include "ops/sort.h"
#include "base/isa.h"
#include "base/number.h"
#include "host/kernels.h"

#include <string.h>

typedef struct item {
  uint64_t key;
  int64_t at;
} item;

enum {
  SHORT = 40,  /* slices up to this length are sorted by insertion */
  FEW = 256,   /* items of a heap at most, which ... */
  RARE = 8,    /* ... pays off if k is at most n / RARE */
  PIECE = 256, /* elements that a heap examines together */
  PARALLEL = 8192
};

#define SIGN ((uint64_t)1 << 63)
#define BODY "host/sort_keys.inc.c"
#include "host/all_types.inc.c"

typedef void keys_fn(const void *data, int64_t n, int64_t stride, int64_t at, uint64_t flip,
                     item *out);
static keys_fn *const keys[DPT_NDTYPE] = {DPT__BY_DTYPE(keys)};

static inline int sort_before(item a, item b) {
  return a.key < b.key || (a.key == b.key && a.at < b.at);
}

static void sort_insertion(item *x, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    item v = x[i];
    int64_t j = i;
    for (; j > 0 && x[j - 1].key > v.key; j--) x[j] = x[j - 1];
    x[j] = v;
  }
}

/* Sorts x; spare holds as many items. */
static void sort_by_bytes(item *x, item *spare, int64_t n) {
  int64_t count[8][256] = {{0}};
  int shift[8], bytes = 0;
  item *from = x, *to = spare;
  uint64_t differ = 0;
  for (int64_t i = 0; i < n; i++) differ |= x[i].key ^ x[0].key;
  for (int b = 0; b < 64; b += 8)
    if (differ >> b & 255) shift[bytes++] = b;
  for (int64_t i = 0; i < n; i++)
    for (int b = 0; b < bytes; b++) count[b][x[i].key >> shift[b] & 255]++;
  for (int b = 0; b < bytes; b++) {
    int64_t *c = count[b], sum = 0;
    for (int j = 0; j < 256; j++) {
      int64_t here = c[j];
      c[j] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; i++) to[c[from[i].key >> shift[b] & 255]++] = from[i];
    item *swap = from;
    from = to;
    to = swap;
  }
  if (from != x) memcpy(x, from, (size_t)n * sizeof *x);
}

/* Sifts down the root of a heap of k items, whose root is the last in order. */
static void sort_sink(item *heap, int64_t k) {
  item v = heap[0];
  int64_t i = 0;
  for (int64_t child = 1; child < k; child = 2 * i + 1) {
    if (child + 1 < k && sort_before(heap[child], heap[child + 1])) child++;
    if (!sort_before(v, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = v;
}

/* Stores the first k items of the sorted slice in x[0 .. k). */
static void sort_first_few(const dpt__sort_args *g, const char *a, uint64_t flip, item *x) {
  int64_t n = g->n, k = g->k, step = g->a_stride * (int64_t)dpt__dtype_size(g->dtype);
  /* The first k in reverse order are a heap. */
  keys[g->dtype](a, k, g->a_stride, 0, flip, x);
  sort_insertion(x, k);
  for (int64_t i = 0; i < k / 2; i++) {
    item v = x[i];
    x[i] = x[k - 1 - i];
    x[k - 1 - i] = v;
  }
  for (int64_t i = k, m; i < n; i += m) {
    m = dpt__min(PIECE, n - i);
    keys[g->dtype](a + i * step, m, g->a_stride, i, flip, x + k);
    for (item *p = x + k; p < x + k + m; p++) {
      if (p->key >= x[0].key) continue; /* of equal keys the first stays */
      x[0] = *p;
      sort_sink(x, k);
    }
  }
  for (int64_t left = k; left > 1; left--) {
    item last = x[0];
    x[0] = x[left - 1];
    sort_sink(x, left - 1);
    x[left - 1] = last;
  }
}

static int64_t sort_most_frequent(const item *x, int64_t n) {
  int64_t best = 0, most = 0, run = 0;
  for (int64_t i = 0; i < n; i++) {
    run++;
    if (i + 1 < n && x[i + 1].key == x[i].key) continue;
    if (run > most) most = run, best = i;
    run = 0;
  }
  return best;
}

static void sort_slice(const dpt__sort_args *g, int64_t i, item *x) {
  int64_t at[DPT__SLICE_OPERANDS], n = g->n;
  size_t width = dpt__dtype_size(g->dtype);
  dpt__slice_at(&g->slices, i, at);
  const char *a = (const char *)g->a + (size_t)at[0] * width;
  char *r = (char *)g->r + (size_t)at[1] * width;
  int64_t *idx = g->idx + at[2], first = 0, many = 1;
  uint64_t flip = g->descending ? UINT64_MAX : 0;
  int64_t limit = n / RARE < FEW ? n / RARE : FEW;
  if (g->mode == DPT__SORT_some && g->k < n && (g->k <= SHORT || g->k <= limit)) {
    sort_first_few(g, a, flip, x);
  } else {
    keys[g->dtype](a, n, g->a_stride, 0, flip, x);
    if (n <= SHORT)
      sort_insertion(x, n);
    else
      sort_by_bytes(x, x + n, n);
  }
  if (g->mode == DPT__SORT_all) many = n;
  if (g->mode == DPT__SORT_some) many = g->k;
  if (g->mode == DPT__SORT_kth) first = g->k - 1;
  if (g->mode == DPT__SORT_mode) first = sort_most_frequent(x, n);
  for (int64_t j = 0; j < many; j++) {
    int64_t from = x[first + j].at;
    idx[j * g->idx_stride] = from + 1;
    memcpy(r + j * g->r_stride * (int64_t)width, a + from * g->a_stride * (int64_t)width, width);
  }
}

int dpt__host_sort(dpt__context *context, const void *args) {
  const dpt__sort_args *g = args;
  int threads = g->slices.count * g->n > PARALLEL ? context->threads : 1;
  if (threads > g->slices.count) threads = (int)g->slices.count;
  int64_t items = g->n > SHORT ? 2 * g->n : g->n;
  item *x = dpt__scratch(context, (size_t)(threads * items) * sizeof *x);
  if (context->measures) return 0;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    int64_t end = g->slices.count * (t + 1) / threads;
    for (int64_t i = g->slices.count * t / threads; i < end; i++) sort_slice(g, i, x + t * items);
  }
  return 0;
}
