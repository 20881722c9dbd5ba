/* reads.inc.h: what an element of a result reads along one dimension, on every backend: a window,
 * two elements to interpolate, or an element of what was padded.
 *
 * Invariant: included with Index, the type of numbers to compute in (wide enough for the sums and
 * products below). Without an include guard: on a GPU it is read for narrow and wide numbers.
 */
typedef struct range { /* elements first .. end-1; an average divides by the product of counts */
  Index first, end, count;
} range;
typedef struct tap { /* two elements and their weights */
  Index at[2];
  double weight[2];
} tap;

/* Window o of dimension d; count_pad counts padding but, as Torch7, not what lies beyond it. */
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

/* Positions in n elements that become m are floats for all types, as Torch7's. */
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

/* The element of n that stands at position `at`, which may be in the padding; -1: a zero. */
static DPT__EVERYWHERE inline Index padded(int mode, Index n, Index at) {
  if (mode == DPT_PAD_REFLECT)
    at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
  else if (mode == DPT_PAD_REPLICATE)
    at = at < 0 ? 0 : at >= n ? n - 1 : at;
  return at < 0 || at >= n ? -1 : at;
}
