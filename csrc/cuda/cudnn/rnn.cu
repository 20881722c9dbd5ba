/* rnn.cu: recurrent networks by cuDNN, layer by layer (the rules are in rnn_plan.h).
 *
 * Invariant: cuDNN sees only addresses as aligned as those it would allocate; other operands are
 * copied through temporary memory, in the order of the native stream. A result's padding is cleared
 * before cuDNN writes, whether or not cuDNN clears it. Lengths are read from the arguments, which
 * live until the kernel function returns.
 */
#include "cuda/cudnn/rnn_plan.h"
#include "cuda/element.h"
#include "cuda/nn/nn.h"
extern "C" {
#include "rnn/dropout.h"
}

namespace {

enum : uintptr_t { DATA_ALIGN = 16, WEIGHT_ALIGN = 64 };

/* A running kernel. */
struct run {
  dpt__context *context;
  const dpt__rnn_args *a;
  const dpt__cudnn_functions *call;
  cudnnHandle_t handle;
  cudaStream_t stream;
  dpt__cudnn_rnn_plan *plan; /* the native stream's, or the desk's if the context measures */
  dpt__rnn_answer answer;
  size_t width; /* bytes of an element */
  int64_t rows, columns;
  void *work;
  struct { /* results of the layer to copy to their destinations */
    void *to;
    const void *from;
    size_t bytes;
  } late[4];
  int nlate;
};

void *take(run *r, size_t bytes) { return dpt__scratch(r->context, bytes); }

bool aligned(const void *p, uintptr_t align) { return (uintptr_t)p % align == 0; }

int begin(run *r, dpt__context *context, const void *args, bool kept) {
  dpt__cudnn *cudnn;
  r->context = context;
  r->a = (const dpt__rnn_args *)args;
  if (context->measures) {
    if (dpt__rnn_query(context->unit, r->a, kept, &r->answer)) return 1;
    r->plan = r->answer.plan;
  } else {
    if (dpt__cudnn_begin(context, &r->call, &cudnn)) return 1;
    r->handle = cudnn->handle;
    r->stream = dpt__native_stream_of(context)->stream;
    if (dpt__cudnn_rnn_plan_of(&cudnn->networks, r->call, r->handle, r->a, kept, &r->plan))
      return 1;
  }
  if (r->a->reserve && (size_t)r->a->reserve_bytes < r->plan->reserve())
    return dpt__cuda_fail(
        "argument 'reserve' has the wrong size: cuDNN requires %zu bytes, got %lld",
        r->plan->reserve(), (long long)r->a->reserve_bytes);
  if (!aligned(r->a->reserve, WEIGHT_ALIGN))
    return dpt__cuda_fail("argument 'reserve' does not begin at the start of its storage, wanted a "
                          "tensor with its own storage");
  r->width = dpt__dtype_size(r->a->type);
  r->rows = (int64_t)r->a->T * r->a->B;
  r->columns = r->a->rnn.directions * dpt__rnn_width(&r->a->rnn);
  size_t most =
      r->plan->first.work > r->plan->other.work ? r->plan->first.work : r->plan->other.work;
  r->work = most ? take(r, most) : NULL;
  r->nlate = 0;
  return 0;
}

/* Sets *to to p, or to an aligned copy of it; NULL stays NULL. */
int read_from(run *r, void *p, size_t bytes, uintptr_t align, void **to) {
  *to = p;
  if (aligned(p, align)) return 0;
  *to = take(r, bytes);
  if (r->context->measures) return 0;
  DPT__CUDA(cudaMemcpyAsync(*to, p, bytes, cudaMemcpyDeviceToDevice, r->stream));
  return 0;
}

/* Sets *to to p, or to aligned memory that finish() copies to p. */
void write_to(run *r, void *p, size_t bytes, void **to) {
  *to = p;
  if (aligned(p, DATA_ALIGN)) return;
  *to = take(r, bytes);
  r->late[r->nlate++] = {p, *to, bytes};
}

int finish(run *r) {
  for (int i = 0; i < r->nlate && !r->context->measures; i++)
    DPT__CUDA(cudaMemcpyAsync(r->late[i].to, r->late[i].from, r->late[i].bytes,
                              cudaMemcpyDeviceToDevice, r->stream));
  r->nlate = 0;
  return 0;
}

/* Clears the padding of a sequence before cuDNN writes to it. */
int clear_padding(run *r, void *p, int64_t columns) {
  if (!r->a->ragged) return 0;
  return dpt__cuda_clear(r->context, p, (size_t)(r->rows * columns) * r->width);
}

size_t state_bytes(const run *r, int64_t columns) {
  return (size_t)r->a->rnn.directions * r->a->B * columns * r->width;
}
/* Returns a layer's part of the states of all layers; NULL if these are NULL. */
void *state_of(const run *r, void *all, int layer, int64_t columns) {
  return all ? (char *)all + layer * state_bytes(r, columns) : NULL;
}
int read_state(run *r, void *all, int layer, int64_t columns, void **to) {
  return read_from(r, state_of(r, all, layer, columns), state_bytes(r, columns), DATA_ALIGN, to);
}
void write_state(run *r, void *all, int layer, int64_t columns, void **to) {
  write_to(r, state_of(r, all, layer, columns), state_bytes(r, columns), to);
}

int read_weight(run *r, int layer, void **to) {
  return read_from(r, (char *)r->a->weight + r->plan->weight_at(layer), r->plan->at(layer).weight,
                   WEIGHT_ALIGN, to);
}

char *reserve_of(const run *r, int layer) {
  return r->a->reserve ? (char *)r->a->reserve + r->plan->reserve_at(layer) : NULL;
}

/* ---- dropout ---- */

/* Multiplies by the mask: to = from * mask, with a thread for each block of words in a row; columns
 * may begin and end within a block. */
template <typename T>
__global__ void drop_kernel(dpt_rnn rnn, T *to, const T *from, int64_t T_, int64_t B, int layer,
                            int64_t columns, int64_t blocks) {
  int64_t threads = (int64_t)gridDim.x * blockDim.x, count = T_ * B * blocks;
  uint64_t keep = dpt__rnn_keep(&rnn);
  typedef typename dpt__wide<T>::type V;
  double kept = 1 / (1 - rnn.dropout);
  for (int64_t i = dpt__thread<int64_t>(); i < count; i += threads) {
    int64_t row = i / blocks;
    int64_t t = rnn.batch_first ? row % T_ : row / B, b = rnn.batch_first ? row / T_ : row % B;
    int64_t first = dpt__rnn_position(layer, T_, t, columns),
            block = first / 4 + (i - row * blocks);
    uint32_t words[4];
    dpt__rnn_words(&rnn, b, block, words);
    for (int w = 0; w < 4; w++) {
      int64_t column = block * 4 + w - first, at = row * columns + column;
      V factor = (V)(words[w] < keep ? kept : 0);
      if (column >= 0 && column < columns)
        to[at] = dpt__store<T>::from(dpt__load(from[at]) * factor);
    }
  }
}

int drop(run *r, void *to, const void *from, int layer) {
  int64_t blocks = r->columns / 4 + 2; /* the most that a row can span */
  return dpt__of_stored_real(r->a->type, [&](auto zero) {
    typedef decltype(zero) T;
    auto kernel = drop_kernel<T>;
    return DPT_LAUNCH(kernel, dpt__blocks(r->rows * blocks), DPT__BLOCK, 0, r->context, r->a->rnn,
                      (T *)to, (const T *)from, (int64_t)r->a->T, (int64_t)r->a->B, layer,
                      r->columns, blocks);
  });
}

/* ---- the three passes ---- */

int forward_layer(run *r, int layer, const void *x, void *y) {
  dpt__rnn_layer_plan &l = r->plan->at(layer);
  const dpt__rnn_args *a = r->a;
  int64_t O = dpt__rnn_width(&a->rnn), H = a->rnn.hidden;
  void *w, *h0, *c0, *hn, *cn;
  if (read_weight(r, layer, &w) || read_state(r, a->h0, layer, O, &h0) ||
      read_state(r, a->c0, layer, H, &c0) || clear_padding(r, y, r->columns))
    return 1;
  write_state(r, a->hn, layer, O, &hn);
  write_state(r, a->cn, layer, H, &cn);
  if (r->context->measures) return finish(r);
  cudnnForwardMode_t mode = a->reserve ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  DPT__CUDNN(r->call->cudnnRNNForward(r->handle, l.rnn, mode, NULL, l.x, x, l.y, y, l.h, h0, hn,
                                      l.c, c0, cn, l.weight, w, l.work, r->work,
                                      a->reserve ? l.reserve : 0, reserve_of(r, layer)));
  return finish(r);
}

int data_layer(run *r, int layer, const void *y, const void *gy, void *gx, int64_t columns) {
  dpt__rnn_layer_plan &l = r->plan->at(layer);
  const dpt__rnn_args *a = r->a;
  int64_t O = dpt__rnn_width(&a->rnn), H = a->rnn.hidden;
  void *w, *h0, *c0, *ghn, *gcn, *gh0, *gc0;
  if (read_weight(r, layer, &w) || read_state(r, a->h0, layer, O, &h0) ||
      read_state(r, a->c0, layer, H, &c0) || read_state(r, a->ghn, layer, O, &ghn) ||
      read_state(r, a->gcn, layer, H, &gcn) || clear_padding(r, gx, columns))
    return 1;
  write_state(r, a->gh0, layer, O, &gh0);
  write_state(r, a->gc0, layer, H, &gc0);
  if (r->context->measures) return finish(r);
  DPT__CUDNN(r->call->cudnnRNNBackwardData_v8(r->handle, l.rnn, NULL, l.y, y, gy, l.x, gx, l.h, h0,
                                              ghn, gh0, l.c, c0, gcn, gc0, l.weight, w, l.work,
                                              r->work, l.reserve, reserve_of(r, layer)));
  return finish(r);
}

template <typename T, typename P>
__global__ void add_kernel(P *to, const T *from, double scale, int64_t n) {
  for (int64_t i = dpt__thread<int64_t>(); i < n; i += dpt__grid_threads<int64_t>())
    to[i] = dpt__store<P>::from(dpt__load(to[i]) +
                                (typename dpt__wide<T>::type)scale * dpt__load(from[i]));
}

/* cuDNN accumulates, has no scale and one type for all tensors; with a scale other than 1, or a
 * gradient of floats beside a reduced type, it adds to temporary memory. */
int weight_layer(run *r, int layer, const void *x, const void *y) {
  dpt__rnn_layer_plan &l = r->plan->at(layer);
  const dpt__rnn_args *a = r->a;
  char *to = (char *)a->gw + r->plan->weight_at(layer) / r->width * dpt__dtype_size(a->param_type);
  bool aside = a->scale != 1 || a->param_type != a->type || !aligned(to, WEIGHT_ALIGN);
  void *h0, *sum = aside ? take(r, l.weight) : to;
  if (read_state(r, a->h0, layer, dpt__rnn_width(&a->rnn), &h0) ||
      (aside && dpt__cuda_clear(r->context, sum, l.weight)))
    return 1;
  if (r->context->measures) return 0;
  DPT__CUDNN(r->call->cudnnRNNBackwardWeights_v8(r->handle, l.rnn, CUDNN_WGRAD_MODE_ADD, NULL, l.x,
                                                 x, l.h, h0, l.y, y, l.weight, sum, l.work, r->work,
                                                 l.reserve, reserve_of(r, layer)));
  if (!aside) return 0;
  return dpt__of_types(a->type, a->param_type, [&](auto zero, auto param) {
    typedef decltype(zero) T;
    typedef decltype(param) P;
    auto kernel = add_kernel<T, P>;
    int64_t n = (int64_t)(l.weight / sizeof zero);
    return DPT_LAUNCH(kernel, dpt__blocks(n), DPT__BLOCK, 0, r->context, (P *)to, (const T *)sum,
                      a->scale, n);
  });
}

/* Returns the input and the output that `layer` had in a forward pass with a reserve. */
int kept(run *r, int layer, void **x, void **y) {
  const dpt__rnn_args *a = r->a;
  char *reserve = (char *)a->reserve;
  size_t in = (size_t)(r->rows * a->rnn.input) * r->width;
  size_t out = (size_t)(r->rows * r->columns) * r->width;
  if (layer)
    *x = reserve + r->plan->read_at(layer - 1);
  else if (a->x && read_from(r, a->x, in, DATA_ALIGN, x))
    return 1;
  if (layer < r->plan->layers() - 1) {
    *y = reserve + r->plan->given_at(layer);
    return 0;
  }
  return read_from(r, a->y, out, DATA_ALIGN, y);
}

} // namespace

int dpt__cuda_rnn_forward(dpt__context *context, const void *args) {
  run r;
  if (begin(&r, context, args, ((const dpt__rnn_args *)args)->reserve != NULL)) return 1;
  const dpt__rnn_args *a = r.a;
  void *x, *y, *turns[2] = {NULL, NULL};
  if (read_from(&r, a->x, (size_t)(r.rows * a->rnn.input) * r.width, DATA_ALIGN, &x)) return 1;
  for (int layer = 0; layer < r.plan->layers(); layer++) {
    bool last = layer == r.plan->layers() - 1;
    if (last) {
      write_to(&r, a->y, (size_t)(r.rows * r.columns) * r.width, &y);
    } else if (a->reserve) {
      y = (char *)a->reserve + r.plan->given_at(layer);
    } else {
      void *&turn = turns[layer % 2];
      if (!turn) turn = take(&r, r.plan->between);
      y = turn;
    }
    if (forward_layer(&r, layer, x, y)) return 1;
    x = y;
    if (!last && a->reserve && r.plan->drops()) {
      x = (char *)a->reserve + r.plan->read_at(layer);
      if (drop(&r, x, y, layer)) return 1;
    }
  }
  return 0;
}

int dpt__cuda_rnn_data(dpt__context *context, const void *args) {
  run r;
  if (begin(&r, context, args, true)) return 1;
  const dpt__rnn_args *a = r.a;
  void *gy, *gx, *turns[2] = {NULL, NULL};
  if (read_from(&r, a->gy, (size_t)(r.rows * r.columns) * r.width, DATA_ALIGN, &gy)) return 1;
  for (int layer = r.plan->layers() - 1; layer >= 0; layer--) {
    void *x = NULL, *y;
    int64_t columns = layer ? r.columns : a->rnn.input;
    if (kept(&r, layer, &x, &y)) return 1;
    if (layer) {
      void *&turn = turns[layer % 2];
      if (!turn) turn = take(&r, r.plan->between);
      gx = turn;
    } else {
      write_to(&r, a->gx, (size_t)(r.rows * columns) * r.width, &gx);
    }
    if (data_layer(&r, layer, y, gy, gx, columns)) return 1;
    if (layer && r.plan->drops() && drop(&r, gx, gx, layer - 1)) return 1;
    gy = gx;
  }
  return 0;
}

int dpt__cuda_rnn_weight(dpt__context *context, const void *args) {
  run r;
  if (begin(&r, context, args, true)) return 1;
  for (int layer = 0; layer < r.plan->layers(); layer++) {
    void *x = NULL, *y;
    if (kept(&r, layer, &x, &y) || weight_layer(&r, layer, x, y)) return 1;
  }
  return 0;
}
