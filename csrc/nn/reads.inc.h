/* reads.inc.h: the elements that an output reads along one dimension, for every backend: a window,
 * two elements to interpolate, or the source of a padded element.
 *
 * Invariant: the including file defines Index, an integer type wide enough for the sums and
 * products below. There is no include guard: GPU code includes it for narrow and for wide integers.
 */
typedef struct range { /* elements first .. end-1; an average divides by the product of counts */
  Index first, end, count;
} range;
typedef struct tap { /* two elements and their weights */
  Index at[2];
  double weight[2];
} tap;

/* Returns window o of dimension d. count_pad includes padding in the count but, as in Torch7, not
 * elements beyond it. */
static DPT__EVERYWHERE inline range window_of(const struct dpt__slide *s, int d, Index o,
                                              int adaptive, int count_pad) {
  Index n = (Index)s->in[d], out = (Index)s->out[d], pad = (Index)s->pad[d];
  Index step = (Index)s->dilation[d];
  range r;
  if (adaptive) {
    r.first = o * n / out;
    r.end = ((o + 1) * n + out - 1) / out;
    r.count = r.end - r.first;
    return r;
  }
  r.first = o * (Index)s->stride[d] - pad;
  r.end = r.first + step * ((Index)s->kernel[d] - 1) + 1;
  r.count = (r.end < n + pad ? r.end : n + pad) - r.first;
  if (r.first < 0) r.first += (step - 1 - r.first) / step * step; /* the first inside */
  if (r.end > n) r.end = n;
  if (!count_pad) r.count = r.end - r.first;
  return r;
}

/* Returns the distance of positions when n elements become m; a float for all types, as in
 * Torch7. */
static DPT__EVERYWHERE inline float step_of(Index n, Index m) {
  return m > 1 ? (float)(n - 1) / (float)(m - 1) : 0;
}
static DPT__EVERYWHERE inline tap tap_of(Index n, Index m, Index o, int linear) {
  float position = linear ? step_of(n, m) * (float)o : 0;
  Index at = linear ? (Index)position : o / (m / n);
  if (at > n - 1) at = n - 1;
  double rest = linear ? position - (float)at : 0;
  tap t = {{at, at + (at < n - 1)}, {1 - rest, rest}};
  return t;
}

/* Returns the source of position `at` among n elements, which may be in the padding; -1: a zero. */
static DPT__EVERYWHERE inline Index padded(int mode, Index n, Index at) {
  if (mode == DPT_PAD_REFLECT)
    at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
  else if (mode == DPT_PAD_REPLICATE)
    at = at < 0 ? 0 : at >= n ? n - 1 : at;
  return at < 0 || at >= n ? -1 : at;
}
