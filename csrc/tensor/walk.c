/* walk.c: common rows of several operands, and overlap of two operands.
 *
 * Invariant: see walk.h. The split works from the innermost dimension outwards: each operand is a
 * list of (size, stride) runs, merged as far as its own strides allow. The smallest of the
 * operands' current innermost runs becomes one dimension of the walk and must divide the others.
 */
#include "tensor/walk.h"
#include "tensor/tensor.h"
#include <stdlib.h>
#include <string.h>

typedef struct runs {
  int n;
  int64_t size[DPT_MAXDIM], stride[DPT_MAXDIM]; /* innermost first */
} runs;

static void walk_merge(runs *out, const dpt_tensor *t) {
  out->n = 0;
  for (int d = t->ndim_ - 1; d >= 0; d--) {
    int last = out->n - 1;
    if (t->size_[d] == 1) continue;
    if (last >= 0 && t->stride_[d] == out->size[last] * out->stride[last]) {
      out->size[last] *= t->size_[d];
    } else {
      out->size[out->n] = t->size_[d];
      out->stride[out->n++] = t->stride_[d];
    }
  }
}

static void walk_single_row(dpt__walk *walk, int64_t count) {
  walk->ndim = 1;
  walk->size[0] = count;
  for (int k = 0; k < walk->noperand; k++) walk->stride[k][0] = 1;
}

static void walk_swap(int64_t *list, int i, int j) {
  int64_t x = list[i];
  list[i] = list[j];
  list[j] = x;
}

static void walk_reverse(int64_t *list, int n) {
  for (int i = 0; i < n / 2; i++) walk_swap(list, i, n - 1 - i);
}

int dpt__walk_start(dpt__walk *walk, int n, const dpt_tensor *const *operands) {
  runs run[DPT__OPERANDS];
  int at[DPT__OPERANDS] = {0}, plain = 1;
  int64_t count = dpt__count(operands[0]);
  walk->noperand = n;
  walk->serial = 0;
  for (int k = 0; k < n; k++) {
    const dpt_tensor *t = operands[k];
    walk->dtype[k] = dpt__type(t);
    walk->data[k] = t->storage_ ? dpt__at(t) : NULL;
    plain = plain && dpt__contiguous(t);
  }
  walk_single_row(walk, count);
  if (plain || count <= 1) return 0;
  for (int k = 0; k < n; k++) walk_merge(&run[k], operands[k]);
  walk->ndim = 0;
  for (;;) {
    int64_t cut = INT64_MAX;
    for (int k = 0; k < n; k++)
      if (at[k] < run[k].n && run[k].size[at[k]] < cut) cut = run[k].size[at[k]];
    if (cut == INT64_MAX) break;
    if (walk->ndim == DPT_MAXDIM) return 1;
    int d = walk->ndim++;
    walk->size[d] = cut;
    for (int k = 0; k < n; k++) {
      int64_t *size = &run[k].size[at[k]], *stride = &run[k].stride[at[k]];
      if (*size % cut) return 1;
      walk->stride[k][d] = *stride;
      *size /= cut;
      *stride *= cut;
      if (*size == 1) at[k]++;
    }
  }
  walk_reverse(walk->size, walk->ndim);
  for (int k = 0; k < n; k++) walk_reverse(walk->stride[k], walk->ndim);
  return 0;
}

static void walk_swap_dims(dpt__walk *walk, int i, int j) {
  walk_swap(walk->size, i, j);
  for (int k = 0; k < walk->noperand; k++) walk_swap(walk->stride[k], i, j);
}

/* Merges adjacent dimensions that are contiguous in every operand. */
static void walk_merge_dims(dpt__walk *walk) {
  int last = 0;
  for (int d = 1; d < walk->ndim; d++) {
    int one = 1;
    for (int k = 0; k < walk->noperand; k++)
      one = one && walk->stride[k][last] == walk->size[d] * walk->stride[k][d];
    if (one)
      walk->size[last] *= walk->size[d];
    else
      walk->size[++last] = walk->size[d];
    for (int k = 0; k < walk->noperand; k++) walk->stride[k][last] = walk->stride[k][d];
  }
  walk->ndim = last + 1;
}

void dpt__walk_sort(dpt__walk *walk) {
  dpt__walk sorted;
  int64_t inner = 0;
  if (walk->ndim == 1) {
    walk->serial = walk->stride[0][0] == 0 && walk->size[0] > 1;
    return;
  }
  sorted = *walk;
  for (int i = 1; i < sorted.ndim; i++)
    for (int d = i; d > 0 && sorted.stride[0][d] > sorted.stride[0][d - 1]; d--)
      walk_swap_dims(&sorted, d, d - 1);
  for (int d = sorted.ndim - 1; d >= 0; d--) {
    if (sorted.stride[0][d] <= inner) {
      walk->serial = 1;
      return;
    }
    inner += (sorted.size[d] - 1) * sorted.stride[0][d];
  }
  walk_merge_dims(&sorted);
  *walk = sorted;
}

void dpt__walk_check_serial(dpt__walk *walk) {
  dpt__walk sorted = *walk;
  dpt__walk_sort(&sorted);
  walk->serial = sorted.serial;
}

void dpt__walk_at(const dpt__walk *walk, dpt__cursor *cursor, int64_t first, int64_t count) {
  cursor->n = 0;
  cursor->left = count;
  for (int k = 0; k < walk->noperand; k++) cursor->data[k] = walk->data[k];
  for (int d = walk->ndim - 1; d >= 0 && count > 0; d--) {
    cursor->at[d] = first % walk->size[d];
    first /= walk->size[d];
    for (int k = 0; k < walk->noperand; k++)
      cursor->data[k] +=
          cursor->at[d] * walk->stride[k][d] * (int64_t)dpt__dtype_size(walk->dtype[k]);
  }
}

int dpt__walk_row(const dpt__walk *walk, dpt__cursor *cursor) {
  if (cursor->left == 0) return 0;
  int64_t ahead = cursor->n;
  for (int d = walk->ndim - 1; ahead > 0; d--) {
    /* Steps `ahead` positions in dimension d; past its end, returns to its start and steps one in
     * d - 1. */
    int64_t move = ahead;
    cursor->at[d] += ahead;
    ahead = 0;
    if (cursor->at[d] == walk->size[d]) {
      move -= walk->size[d];
      cursor->at[d] = 0;
      ahead = 1;
    }
    for (int k = 0; k < walk->noperand; k++)
      cursor->data[k] += move * walk->stride[k][d] * (int64_t)dpt__dtype_size(walk->dtype[k]);
  }
  int64_t row = walk->size[walk->ndim - 1] - cursor->at[walk->ndim - 1];
  cursor->n = row < cursor->left ? row : cursor->left;
  cursor->left -= cursor->n;
  return 1;
}

/* ---- overlap -------------------------------------------------------------------------------- */

static int64_t walk_extent(const runs *run, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) sum += (run->size[i] - 1) * run->stride[i];
  return sum;
}

static void walk_sort_runs(runs *run) {
  for (int i = 1; i < run->n; i++)
    for (int d = i; d > 0 && run->stride[d] < run->stride[d - 1]; d--) {
      walk_swap(run->size, d, d - 1);
      walk_swap(run->stride, d, d - 1);
    }
}

/* Returns true if index differences below the sizes of runs 0 .. n-1 can sum up to a distance. */
static int walk_can_sum_to(const runs *run, int n, int64_t distance) {
  if (n == 0) return distance == 0;
  int64_t stride = run->stride[n - 1], last = run->size[n - 1] - 1, inner = walk_extent(run, n - 1);
  if (stride == 0) return walk_can_sum_to(run, n - 1, distance);
  int64_t low = (distance - inner) / stride - 1, high = (distance + inner) / stride + 1;
  if (low < -last) low = -last;
  if (high > last) high = last;
  if (high - low > 3) return 1; /* the strides interleave: too many combinations to try */
  for (int64_t i = low; i <= high; i++)
    if (llabs(distance - i * stride) <= inner && walk_can_sum_to(run, n - 1, distance - i * stride))
      return 1;
  return 0;
}

/* A dimension overlaps others unless its stride exceeds the extent of all dimensions of smaller
 * stride. */
int dpt_shared_dimension(const dpt_tensor *t) {
  int first = -1;
  for (int d = 0; d < t->ndim_; d++) {
    int64_t reach = 0, stride = t->stride_[d], least = d;
    for (int k = t->ndim_ - 1; k >= 0; k--) {
      if (k == d || t->size_[k] < 2 || t->stride_[k] + (k < d) > stride) continue;
      reach += (t->size_[k] - 1) * t->stride_[k];
      if (k < least) least = k;
    }
    if (t->size_[d] > 1 && stride <= reach && (first < 0 || least < first)) first = (int)least;
  }
  return first;
}

int dpt__overlap(const dpt_tensor *r, const dpt_tensor *a) {
  runs x, y;
  if (!r->storage_ || r->storage_ != a->storage_ || dpt__count(r) == 0 || dpt__count(a) == 0)
    return 0;
  walk_merge(&x, r);
  walk_merge(&y, a);
  if (r->offset_ > a->offset_ + walk_extent(&y, y.n) ||
      a->offset_ > r->offset_ + walk_extent(&x, x.n))
    return 0;
  int same = x.n == y.n && memcmp(x.size, y.size, sizeof(int64_t) * (size_t)x.n) == 0 &&
             memcmp(x.stride, y.stride, sizeof(int64_t) * (size_t)x.n) == 0;
  if (!same) return 1;
  if (r->offset_ == a->offset_) return 0;
  walk_sort_runs(&x);
  return walk_can_sum_to(&x, x.n, r->offset_ - a->offset_);
}
