/* attention.cu: scaled dot-product attention: cuBLAS's products of blocks of queries and all keys
 * that they see, and a kernel that turns scores into weights.
 *
 * Invariant: temporary memory grows with the number of queries and of keys, never with their
 * product. Scores and sums of gradients are floats or doubles, weights have the operands' type. The
 * queries of a block depend on the sizes of one sequence alone, and blocks add to the gradients of
 * keys and values in order. A key that takes no part has weight 0, whatever its score is. Dropout
 * of the weight of query l and key s in head h uses the Philox word of element (h, l, s) of its row
 * of the batch, as on the host.
 */
#include "cuda/gemm.h"
#include "cuda/nn/row.h"
extern "C" {
#include "base/philox.h"
#include "ops/map.h"
}

#include <utility>

namespace {

enum : int64_t {
  SCORES = 1 << 22, /* of a block, unless one query of all heads has more */
  ALIGN = 8,        /* rows of scores begin at multiples of it */
  TILE = 64,        /* rows of a block are a multiple of it, if there are as many */
  CAUSAL = 128,     /* the most rows of a causal block, or 1 / PART of all rows if that is more */
  PART = 8
};
enum { MOST = 2 * DPT__BLOCK }; /* the most threads of a block of dpt__row_block */
const size_t SHARED = DPT__BLOCK * sizeof(double);

/* Queries l to l + rows - 1 of all heads of some sequences. They see the first `keys` keys; a row
 * of scores has `width` elements, the last ones unused. */
struct block {
  int64_t n, sequences, l, rows, keys, width;
};

/* Returns the number of keys that query l sees. */
__host__ __device__ inline int64_t seen(const dpt__attention_args &a, int64_t l) {
  const int64_t offset = a.options.offset;
  if (!a.options.causal || offset >= a.S) return a.S;
  if (offset < -l) return 0;
  return l + offset + 1 < a.S ? l + offset + 1 : a.S;
}

/* ---- kernels: a row of scores is a query's ---- */

/* The running thread's query. T: the operands' type. */
template <typename T> struct query {
  typedef typename dpt__wide<T>::type V;
  const dpt__attention_args &a;
  bool here; /* false for a row past the end */
  int64_t n, h, l, number, keys;
  const void *mask; /* of key 0, or NULL */
  __device__ query(const dpt__attention_args &a, const block &b, int64_t row) : a(a) {
    const int64_t heads = row / b.rows;
    here = heads < b.sequences * a.H;
    n = b.n + heads / a.H;
    h = heads % a.H;
    l = b.l + row % b.rows;
    number = (n * a.H + h) * a.L + l;
    keys = here ? seen(a, l) : 0;
    mask = at<uint8_t>(a.mask, a.mask_at);
    if (a.mask_type != DPT_U8) mask = at<T>(a.mask, a.mask_at);
  }
  /* Returns the query's row of an operand. */
  template <typename E> __device__ const E *at(const void *operand, const dpt__heads &by) const {
    return operand ? (const E *)operand + (n * by.batch + h * by.head + l * by.row) : NULL;
  }
  /* Applies the mask to the score of key s; -INFINITY: it takes no part. */
  __device__ __forceinline__ V masked(V score, int64_t s) const {
    if (s >= keys) return V(-INFINITY);
    if (!mask) return score;
    if (a.mask_type == DPT_U8)
      return ((const uint8_t *)mask)[s * a.mask_column] ? score : V(-INFINITY);
    return score + dpt__load(((const T *)mask)[s * a.mask_column]);
  }
  /* Sets dropout's factors of the weights of keys s to s + DPT__PACK - 1. */
  __device__ __forceinline__ void drop(int64_t s, V *factor) const {
    enum { WORDS = 4 };
    static_assert(WORDS == (int)DPT__PACK, "a pack has words of at most two blocks");
    const uint64_t at = (((uint64_t)(a.options.draw.first_row + n) * a.H + h) * a.L + l) * a.S + s;
    const uint64_t seed = dpt__draw_seed(&a.options.draw),
                   offset = dpt__draw_offset(&a.options.draw);
    const uint64_t keep = (uint64_t)((1 - a.options.dropout) * 4294967296.0);
    const V kept = (V)(1 / (1 - a.options.dropout));
    const int skew = (int)(at % WORDS);
    uint32_t words[2 * WORDS] = {};
    dpt__philox_at(seed, offset, at / WORDS, words);
    if (skew) dpt__philox_at(seed, offset, at / WORDS + 1, words + WORDS);
    DPT_UNROLL
    for (int i = 0; i < WORDS; i++) {
      uint32_t word = words[i];
      DPT_UNROLL
      for (int k = 1; k < WORDS; k++) word = skew == k ? words[i + k] : word;
      factor[i] = word < keep ? kept : V(0);
    }
  }
};

template <typename T, typename V>
__device__ __forceinline__ void put(T *to, int64_t at, int n, const dpt__pack<V> &pack) {
  dpt__pack_store(to + at, dpt__pack_narrow<T>(pack), n, n >= DPT__PACK);
}

/* Computes weights and save; weights may be the scores. */
template <typename T>
__global__ void __launch_bounds__(MOST, 2)
    weigh(dpt__attention_args a, block b, const void *scores, T *weights) {
  typedef typename dpt__wide<T>::type V;
  typedef dpt__pack<V> pack;
  DPT_SHARED(double, shared);
  const bool drops = a.options.dropout > 0;
  const dpt__row<V> r(b.sequences * a.H * b.rows, b.width, true);
  const query<T> q(a, b, r.number);
  const V none = V(-INFINITY);
  V max = none;
  r.each(scores, NULL, none, [&](const pack &x, const pack &, int, int64_t at) {
    for (int i = 0; i < DPT__PACK; i++)
      max = dpt__larger()(max, q.masked(x.v[i], at - r.offset + i));
  });
  max = dpt__block_reduce_x(max, dpt__larger(), (V *)shared);
  double sum = 0;
  r.each(scores, NULL, none, [&](const pack &x, const pack &, int, int64_t at) {
    for (int i = 0; i < DPT__PACK; i++) {
      const V y = q.masked(x.v[i], at - r.offset + i);
      sum += y == none ? V(0) : exp(y - max);
    }
  });
  sum = dpt__block_reduce_x(sum, dpt__plus(), shared);
  if (q.here && threadIdx.x == 0) {
    ((V *)a.save)[2 * q.number] = max;
    ((V *)a.save)[2 * q.number + 1] = (V)log(sum);
  }
  const V scale = (V)(1 / sum);
  r.each(scores, NULL, none, [&](const pack &x, const pack &, int n, int64_t at) {
    if (n <= 0) return;
    pack w;
    V factor[DPT__PACK];
    if (drops) q.drop(at - r.offset, factor);
    for (int i = 0; i < DPT__PACK; i++) {
      const V y = q.masked(x.v[i], at - r.offset + i);
      w.v[i] = y == none ? V(0) : exp(y - max) * scale;
      if (drops) w.v[i] *= factor[i];
    }
    put(weights, at, n, w);
  });
}

/* Computes the weights and the gradients of the scores from scores and gradients of weights; the
 * results may be these. */
template <typename T>
__global__ void __launch_bounds__(MOST, 2)
    weigh_backward(dpt__attention_args a, block b, const void *scores, const void *gweights,
                   T *weights, T *gscores) {
  typedef typename dpt__wide<T>::type V;
  typedef dpt__pack<V> pack;
  DPT_SHARED(double, shared);
  const bool drops = a.options.dropout > 0;
  const dpt__row<V> r(b.sequences * a.H * b.rows, b.width, true);
  const query<T> q(a, b, r.number);
  const V none = V(-INFINITY);
  const T *out = q.template at<T>(a.out, a.out_at), *gout = q.template at<T>(a.gout, a.gout_at);
  double sum = 0;
  for (int64_t v = threadIdx.x; v < (q.here ? a.V : 0); v += blockDim.x)
    sum += (double)dpt__load(out[v]) * dpt__load(gout[v]);
  const V dot = (V)dpt__block_reduce_x(sum, dpt__plus(), shared);
  const V *save = (const V *)a.save + 2 * q.number;
  const V max = q.here ? save[0] : V(0), logarithm = q.here ? save[1] : V(0);
  r.each(scores, gweights, V(0), [&](const pack &x, const pack &g, int n, int64_t at) {
    if (n <= 0) return;
    pack w, d;
    V factor[DPT__PACK];
    if (drops) q.drop(at - r.offset, factor);
    for (int i = 0; i < DPT__PACK; i++) {
      const V y = q.masked(x.v[i], at - r.offset + i), kept = drops ? factor[i] : V(1);
      const V weight = exp(y - max - logarithm);
      w.v[i] = y == none ? V(0) : weight * kept;
      d.v[i] = y == none ? V(0) : weight * (g.v[i] * kept - dot);
    }
    put(weights, at, n, w);
    put(gscores, at, n, d);
  });
}

unsigned blocks_of(const dpt__attention_args *a, const block &b, dim3 threads) {
  return (unsigned)((b.sequences * a->H * b.rows + threads.y - 1) / threads.y);
}

/* ---- operands ---- */

/* Elements of an operand: sequences, groups, heads of a group, rows, columns. */
struct view {
  int type;
  char *data;
  int64_t size[5], stride[5];
};

view view_of(const dpt__attention_args *a, const void *data, const dpt__heads &at, int64_t heads,
             int64_t rows, int64_t cols) {
  return {a->type,
          (char *)data,
          {a->N, a->G, heads, rows, cols},
          {at.batch, at.head * heads, at.head, at.row, 1}};
}

/* Returns a part of dimension d. */
view part(view v, int d, int64_t first, int64_t count) {
  if (v.data) v.data += first * v.stride[d] * (int64_t)dpt__dtype_size(v.type);
  v.size[d] = count;
  return v;
}

view part(const view &v, const block &b) {
  return part(part(v, 0, b.n, b.sequences), 3, b.l, b.rows);
}

/* Returns a contiguous view in temporary memory, of like's sizes. */
view dense(dpt__context *context, int type, const view &like) {
  view v = like;
  int64_t count = 1;
  v.type = type;
  for (int d = 4; d >= 0; count *= v.size[d--]) v.stride[d] = count;
  v.data = (char *)dpt__scratch(context, (size_t)count * dpt__dtype_size(type));
  return v;
}

int copy(dpt__context *context, const view &to, const view &from) {
  if (to.data == from.data) return 0;
  return dpt__cuda_copy(context, 5, to.size, to.type, to.data, to.stride, from.type, from.data,
                        from.stride);
}

int clear(dpt__context *context, const view &v) {
  struct dpt__fill_args fill = {};
  fill.walk.noperand = 1;
  fill.walk.ndim = 5;
  for (int d = 0; d < 5; d++) fill.walk.size[d] = v.size[d], fill.walk.stride[0][d] = v.stride[d];
  fill.walk.data[0] = v.data;
  fill.walk.dtype[0] = v.type;
  return dpt__cuda_fill(context, &fill);
}

/* Returns true if a batch of products can use v in place: its matrices, which have the rows of a
 * group's heads, are equally far apart, and so are the rows. */
bool folds(const view &v) {
  for (int d = 0; d < 4; d += 2)
    if (v.size[d] > 1 && v.size[d + 1] > 1 && v.stride[d] != v.size[d + 1] * v.stride[d + 1])
      return false;
  return true;
}

/* Replaces *v by a contiguous copy unless products can use `sequences` of it at a time in place. */
int fold(dpt__context *context, int64_t sequences, view *v) {
  if (folds(part(*v, 0, 0, sequences))) return 0;
  const view from = *v;
  *v = dense(context, from.type, from);
  return copy(context, *v, from);
}

/* A matrix of each group. */
struct matrix {
  const view &v;
  int64_t rows, cols, row, col, batch;
  matrix(const view &v, bool transposed) : v(v) {
    rows = v.size[2] * v.size[3], cols = v.size[4];
    row = v.size[3] > 1 ? v.stride[3] : v.stride[2], col = 1;
    batch = v.size[1] > 1 ? v.stride[1] : v.stride[0];
    if (!transposed) return;
    std::swap(rows, cols);
    std::swap(row, col);
  }
};
matrix same(const view &v) { return matrix(v, false); }
matrix turned(const view &v) { return matrix(v, true); }

/* c = beta * c + alpha * a * b */
int multiply(dpt__context *context, const dpt__attention_args *args, double alpha, const matrix &a,
             const matrix &b, double beta, const view &result) {
  const matrix c(result, false);
  const size_t used = context->used;
  dpt__gemm_args g = {};
  g.dtype = a.v.type, g.c_dtype = result.type;
  g.fixed = args->deterministic, g.tf32 = args->tf32;
  g.m = c.rows, g.n = c.cols, g.k = a.cols;
  g.batch = result.size[0] * result.size[1];
  g.alpha = alpha, g.beta = beta;
  g.a = a.v.data, g.a_row = a.row, g.a_col = a.col, g.a_batch = a.batch;
  g.b = b.v.data, g.b_row = b.row, g.b_col = b.col, g.b_batch = b.batch;
  g.c = result.data, g.c_row = c.row, g.c_col = c.col, g.c_batch = c.batch;
  const int status = dpt__cuda_gemm(context, &g);
  context->used = used;
  return status;
}

/* ---- passes ---- */

/* A call: its operands, and the largest block. */
struct call {
  dpt__context *context;
  const dpt__attention_args *a;
  int type, wide;
  block most;
  view q, k, v, out;

  call(dpt__context *context, const dpt__attention_args *a) : context(context), a(a), most() {
    const int64_t heads = a->G ? a->H / a->G : 0;
    type = a->type, wide = dpt__compute_dtype(type);
    q = view_of(a, a->q, a->q_at, heads, a->L, a->E);
    k = view_of(a, a->k, a->k_at, 1, a->S, a->E);
    v = view_of(a, a->v, a->v_at, 1, a->S, a->V);
    out = view_of(a, a->out, a->out_at, heads, a->L, a->V);
    if (!any()) return;
    const int64_t width = width_of(a->S), row = a->H * (width ? width : 1);
    int64_t rows = SCORES / row, causal = a->L / PART > CAUSAL ? a->L / PART : CAUSAL;
    if (a->options.causal && rows > causal) rows = causal;
    if (rows > TILE) rows -= rows % TILE;
    rows = rows < 1 ? 1 : rows < a->L ? rows : a->L;
    int64_t sequences = SCORES / (row * rows);
    sequences = sequences < 1 ? 1 : sequences < a->N ? sequences : a->N;
    most = {0, sequences, 0, rows, a->S, width};
  }
  bool any() const { return a->N && a->H && a->L; }
  static int64_t width_of(int64_t keys) { return (keys + ALIGN - 1) / ALIGN * ALIGN; }

  void *scratch(int dtype) const {
    const int64_t count = most.sequences * a->H * most.rows * most.width;
    return dpt__scratch(context, (size_t)count * dpt__dtype_size(dtype));
  }
  /* Returns the view of a block's scores, weights or their gradients. */
  view scores(const block &b, int dtype, void *data) const {
    const int64_t heads = a->H / a->G, rows = heads * b.rows * b.width;
    return {dtype,
            (char *)data,
            {b.sequences, a->G, heads, b.rows, b.keys},
            {a->G * rows, rows, b.rows * b.width, b.width, 1}};
  }
  view keys(const view &operand, const block &b) const {
    return part(part(operand, 0, b.n, b.sequences), 3, 0, b.keys);
  }
  /* Calls f(block) for one after the other until one fails; f's temporary memory is freed. */
  template <typename F> int each(F f) const {
    if (!any()) return 0;
    for (int64_t n = 0; n < a->N; n += most.sequences)
      for (int64_t l = 0; l < a->L; l += most.rows) {
        block b = {n, most.sequences, l, most.rows, 0, 0};
        if (a->N - n < b.sequences) b.sequences = a->N - n;
        if (a->L - l < b.rows) b.rows = a->L - l;
        b.keys = seen(*a, l + b.rows - 1);
        b.width = width_of(b.keys);
        const size_t used = context->used;
        if (f(b)) return 1;
        context->used = used;
      }
    return 0;
  }
};

int forward(dpt__context *context, const dpt__attention_args *a) {
  call c(context, a);
  void *scores = c.scratch(c.wide), *weights = c.type == c.wide ? scores : c.scratch(c.type);
  if (fold(context, c.most.sequences, &c.k) || fold(context, c.most.sequences, &c.v)) return 1;
  return c.each([&](const block &b) -> int {
    view q = part(c.q, b);
    const view out = part(c.out, b), sums = folds(out) ? out : dense(context, c.type, out);
    if (fold(context, b.sequences, &q) ||
        multiply(context, a, a->options.scale, same(q), turned(c.keys(c.k, b)), 0,
                 c.scores(b, c.wide, scores)))
      return 1;
    const int status = dpt__of_stored_real(c.type, [&](auto zero) {
      typedef decltype(zero) T;
      auto kernel = weigh<T>;
      const dim3 threads = dpt__row_block(b.width);
      return DPT_LAUNCH_COOPERATIVE(kernel, blocks_of(a, b, threads), threads, SHARED, context, *a,
                                    b, scores, (T *)weights);
    });
    return status ||
           multiply(context, a, 1, same(c.scores(b, c.type, weights)), same(c.keys(c.v, b)), 0,
                    sums) ||
           copy(context, out, sums);
  });
}

int backward(dpt__context *context, const dpt__attention_args *a) {
  call c(context, a);
  const int64_t heads = c.q.size[2];
  const bool reduced = c.type != c.wide;
  void *scores = c.scratch(c.wide), *gweights = c.scratch(c.wide);
  void *weights = reduced ? c.scratch(c.type) : scores;
  void *gscores = reduced ? c.scratch(c.type) : gweights;
  const view all_gq = view_of(a, a->gq, a->gq_at, heads, a->L, a->E);
  const view all_gout = view_of(a, a->gout, a->gout_at, heads, a->L, a->V);
  const view gk = view_of(a, a->gk, a->gk_at, 1, a->S, a->E);
  const view gv = view_of(a, a->gv, a->gv_at, 1, a->S, a->V);
  auto sums_of = [&](const view &v) {
    return !reduced && folds(part(v, 0, 0, c.most.sequences)) ? v : dense(context, c.wide, v);
  };
  const view k_sums = sums_of(gk), v_sums = sums_of(gv);
  if (fold(context, c.most.sequences, &c.k) || fold(context, c.most.sequences, &c.v) ||
      clear(context, k_sums) || clear(context, v_sums))
    return 1;
  const int failed = c.each([&](const block &b) -> int {
    view q = part(c.q, b), gout = part(all_gout, b);
    const view gq = part(all_gq, b), q_sums = folds(gq) ? gq : dense(context, c.type, gq);
    if (fold(context, b.sequences, &q) || fold(context, b.sequences, &gout) ||
        multiply(context, a, a->options.scale, same(q), turned(c.keys(c.k, b)), 0,
                 c.scores(b, c.wide, scores)) ||
        multiply(context, a, 1, same(gout), turned(c.keys(c.v, b)), 0,
                 c.scores(b, c.wide, gweights)))
      return 1;
    const int status = dpt__of_stored_real(c.type, [&](auto zero) {
      typedef decltype(zero) T;
      auto kernel = weigh_backward<T>;
      const dim3 threads = dpt__row_block(b.width);
      return DPT_LAUNCH_COOPERATIVE(kernel, blocks_of(a, b, threads), threads, SHARED, context, *a,
                                    b, scores, gweights, (T *)weights, (T *)gscores);
    });
    const view w = c.scores(b, c.type, weights), g = c.scores(b, c.type, gscores);
    return status || multiply(context, a, 1, turned(w), same(gout), 1, c.keys(v_sums, b)) ||
           multiply(context, a, a->options.scale, turned(g), same(q), 1, c.keys(k_sums, b)) ||
           multiply(context, a, a->options.scale, same(g), same(c.keys(c.k, b)), 0, q_sums) ||
           copy(context, gq, q_sums);
  });
  return failed || copy(context, gk, k_sums) || copy(context, gv, v_sums);
}

} // namespace

int dpt__cuda_attention(dpt__context *context, const void *args) {
  const dpt__attention_args *a = (const dpt__attention_args *)args;
  return (a->backward ? backward : forward)(context, a);
}
