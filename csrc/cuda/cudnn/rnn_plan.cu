/* rnn_plan.cu: descriptors of recurrent networks, sizes and places (rnn_plan.h has the rules). */
#include "cuda/cudnn/rnn_plan.h"

#include <cstdlib>
#include <pthread.h>

static int destroy(dpt__rnn_layer_plan *plan) {
  const dpt__cudnn_functions *call = plan->call;
  if (plan->rnn) DPT__CUDNN(call->cudnnDestroyRNNDescriptor(plan->rnn));
  if (plan->x) DPT__CUDNN(call->cudnnDestroyRNNDataDescriptor(plan->x));
  if (plan->y) DPT__CUDNN(call->cudnnDestroyRNNDataDescriptor(plan->y));
  if (plan->h) DPT__CUDNN(call->cudnnDestroyTensorDescriptor(plan->h));
  if (plan->c) DPT__CUDNN(call->cudnnDestroyTensorDescriptor(plan->c));
  return 0;
}

dpt__rnn_layer_plan::~dpt__rnn_layer_plan() {
  if (destroy(this)) return; /* nobody is left to hear of it */
}

namespace {

static_assert((int)DPT_RNN_RELU == (int)CUDNN_RNN_RELU, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_TANH == (int)CUDNN_RNN_TANH, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_LSTM == (int)CUDNN_LSTM, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_GRU == (int)CUDNN_GRU, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_NO_BIAS == (int)CUDNN_RNN_NO_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_INPUT_BIAS == (int)CUDNN_RNN_SINGLE_INP_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_DOUBLE_BIAS == (int)CUDNN_RNN_DOUBLE_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_RECURRENT_BIAS == (int)CUDNN_RNN_SINGLE_REC_BIAS, "a bias mode, too");

cudnnDataType_t type_of(int type) { return type == DPT_F32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_DOUBLE; }

/* Vectors of `columns` for every step of every sequence; behind their ends cuDNN writes zeros. */
int describe_sequences(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int64_t columns,
                       const int *lengths, cudnnRNNDataDescriptor_t *data) {
  double zero = 0; /* the bits of a float's 0 as well */
  cudnnRNNDataLayout_t layout = a->rnn.batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
                                                   : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
  DPT__CUDNN(call->cudnnCreateRNNDataDescriptor(data));
  DPT__CUDNN(call->cudnnSetRNNDataDescriptor(*data, type_of(a->type), layout, a->T, a->B,
                                             (int)columns, lengths, &zero));
  return 0;
}

int describe_state(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int columns,
                   cudnnTensorDescriptor_t *state) {
  const int size[3] = {a->rnn.directions, a->B, columns}, step[3] = {a->B * columns, columns, 1};
  DPT__CUDNN(call->cudnnCreateTensorDescriptor(state));
  DPT__CUDNN(call->cudnnSetTensorNdDescriptor(*state, type_of(a->type), 3, size, step));
  return 0;
}

int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

} // namespace

int dpt__rnn_describe(const dpt__cudnn_functions *call, const dpt_rnn *r, int type, int tf32,
                      int layer, dpt__rnn_layer_plan *plan) {
  cudnnMathType_t math = type == DPT_F32 && tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  plan->call = call;
  DPT__CUDNN(call->cudnnCreateRNNDescriptor(&plan->rnn));
  DPT__CUDNN(call->cudnnSetRNNDescriptor_v8(
      plan->rnn, CUDNN_RNN_ALGO_STANDARD, (cudnnRNNMode_t)r->cell, (cudnnRNNBiasMode_t)r->bias,
      r->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
      r->skip_input && !layer ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, type_of(type), type_of(type),
      math, (int32_t)dpt__rnn_input(r, layer), r->hidden, dpt__rnn_width(r), 1, NULL,
      CUDNN_RNN_PADDED_IO_ENABLED));
  return 0;
}

int dpt__rnn_describe_data(const dpt__rnn_args *a, int layer, dpt__rnn_layer_plan *plan) {
  const dpt_rnn *r = &a->rnn;
  int64_t columns = r->directions * dpt__rnn_width(r), input = dpt__rnn_input(r, layer);
  if ((int64_t)a->T * a->B * most(most(columns, input), r->hidden) > INT32_MAX)
    return dpt__cuda_fail("rnn: %d steps of %d sequences of %lld columns are more than cuDNN can "
                          "count: take smaller batches",
                          (int)a->T, (int)a->B, (long long)most(columns, input));
  int *all = a->ragged ? NULL : (int *)malloc((size_t)a->B * sizeof *all);
  if (!a->ragged && !all) return dpt__cuda_fail("rnn: no host memory for %d lengths", (int)a->B);
  for (int b = 0; all && b < a->B; b++) all[b] = a->T;
  const int *lengths = all ? all : a->lengths;
  int failed = describe_sequences(plan->call, a, input, lengths, &plan->x) ||
               describe_sequences(plan->call, a, columns, lengths, &plan->y);
  free(all);
  if (failed || describe_state(plan->call, a, dpt__rnn_width(r), &plan->h)) return 1;
  return r->cell == DPT_RNN_LSTM ? describe_state(plan->call, a, r->hidden, &plan->c) : 0;
}

static int make_layer(const dpt__cudnn_functions *call, cudnnHandle_t handle,
                      const dpt__rnn_args *a, bool kept, int layer, dpt__rnn_layer_plan *plan) {
  cudnnForwardMode_t mode = kept ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  if (dpt__rnn_describe(call, &a->rnn, a->type, a->tf32, layer, plan) ||
      dpt__rnn_describe_data(a, layer, plan))
    return 1;
  DPT__CUDNN(call->cudnnGetRNNWeightSpaceSize(handle, plan->rnn, &plan->weight));
  DPT__CUDNN(call->cudnnGetRNNTempSpaceSizes(handle, plan->rnn, mode, plan->x, &plan->work,
                                             &plan->reserve));
  return 0;
}

int dpt__rnn_plan_make(const dpt__cudnn_functions *call, cudnnHandle_t handle,
                       const dpt__rnn_args *a, bool kept, dpt__rnn_plan *plan) {
  plan->args = a;
  plan->between = dpt__rnn_round((size_t)a->T * a->B * a->rnn.directions * dpt__rnn_width(&a->rnn) *
                                 dpt__rnn_element(a->type));
  if (make_layer(call, handle, a, kept, 0, &plan->first)) return 1;
  return a->rnn.layers > 1 ? make_layer(call, handle, a, kept, 1, &plan->other) : 0;
}

/* ---- questions of the caller's thread, beside what the streams do ---- */

namespace {

enum { MOST_DEVICES = 256 };
pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
cudnnHandle_t handles[MOST_DEVICES]; /* under that lock; they only answer questions */

/* ask(cuDNN's functions, a handle of the device), one thread at a time. */
template <typename F> int with_handle(int index, F ask) {
  const dpt__cudnn_functions *call = dpt__cudnn_open();
  if (!call) return 1;
  if (index < 0 || index >= MOST_DEVICES) return dpt__cuda_fail("there is no GPU %d", index);
  dpt__visit visit(index);
  if (visit.failed) return 1;
  pthread_mutex_lock(&asking);
  int failed =
      !handles[index] && dpt__cudnn_status(call->cudnnCreate(&handles[index]), "cudnnCreate");
  if (!failed) failed = ask(call, handles[index]);
  pthread_mutex_unlock(&asking);
  return failed;
}

int layer_bytes(const dpt__cudnn_functions *call, cudnnHandle_t handle, const dpt_rnn *r, int type,
                int layer, dpt__rnn_layer_plan *plan) {
  if (dpt__rnn_describe(call, r, type, 0, layer, plan)) return 1;
  DPT__CUDNN(call->cudnnGetRNNWeightSpaceSize(handle, plan->rnn, &plan->weight));
  return 0;
}

/* Bytes of the weight spaces of the layers before `layer`. */
int bytes_before(const dpt__cudnn_functions *call, cudnnHandle_t handle, const dpt_rnn *r, int type,
                 int layer, size_t *bytes) {
  dpt__rnn_plan plan;
  *bytes = 0;
  if (layer > 0 && layer_bytes(call, handle, r, type, 0, &plan.first)) return 1;
  if (layer > 1 && layer_bytes(call, handle, r, type, 1, &plan.other)) return 1;
  *bytes = plan.weight_at(layer);
  return 0;
}

int size(int index, const dpt_rnn *r, int type, int64_t *elements) {
  return with_handle(index, [&](const dpt__cudnn_functions *call, cudnnHandle_t handle) {
    size_t bytes;
    if (bytes_before(call, handle, r, type, r->layers, &bytes)) return 1;
    *elements = (int64_t)(bytes / dpt__rnn_element(type));
    return 0;
  });
}

/* Where what lies at `address` begins, in elements, and its last two sizes; 0 where it is NULL. */
int place(const dpt__cudnn_functions *call, cudnnTensorDescriptor_t tensor, const char *base,
          const void *address, int type, int64_t *first, int64_t *rows, int64_t *columns) {
  *first = *rows = *columns = 0;
  if (!address) return 0;
  cudnnDataType_t data;
  int ndim, sizes[3] = {1, 1, 1}, steps[3];
  DPT__CUDNN(call->cudnnGetTensorNdDescriptor(tensor, 3, &data, &ndim, sizes, steps));
  if (!sizes[0] || !sizes[1] || !sizes[2]) return 0;
  size_t bytes = (size_t)((const char *)address - base), element = dpt__rnn_element(type);
  if (ndim != 3 || sizes[0] != 1 || steps[1] != sizes[2] || bytes % element)
    return dpt__cuda_fail("cudnnGetRNNWeightParams: %d dimensions, %dx%dx%d with steps %d and %d, "
                          "%zu bytes from the begin: this is not the layout that dpt expects",
                          ndim, sizes[0], sizes[1], sizes[2], steps[1], steps[2], bytes);
  *first = (int64_t)(bytes / element), *rows = sizes[1], *columns = sizes[2];
  return 0;
}

int find(int index, const dpt_rnn *r, int type, int pseudo_layer, int id, dpt_rnn_part *part) {
  return with_handle(index, [&](const dpt__cudnn_functions *call, cudnnHandle_t handle) {
    int layer = pseudo_layer / r->directions;
    dpt__rnn_layer_plan plan;
    /* cuDNN adds to the address and does not look at what is there. */
    char *base = (char *)((uintptr_t)1 << 30);
    void *matrix_at = NULL, *bias_at = NULL;
    int64_t columns;
    size_t before;
    if (bytes_before(call, handle, r, type, layer, &before) ||
        layer_bytes(call, handle, r, type, layer, &plan))
      return 1;
    cudnnTensorDescriptor_t &matrix = plan.h, &bias = plan.c; /* they end with it */
    DPT__CUDNN(call->cudnnCreateTensorDescriptor(&matrix));
    DPT__CUDNN(call->cudnnCreateTensorDescriptor(&bias));
    DPT__CUDNN(call->cudnnGetRNNWeightParams(handle, plan.rnn, pseudo_layer % r->directions,
                                             plan.weight, base, id, matrix, &matrix_at, bias,
                                             &bias_at));
    if (place(call, matrix, base, matrix_at, type, &part->matrix, &part->rows, &part->columns) ||
        place(call, bias, base, bias_at, type, &part->bias, &part->biases, &columns))
      return 1;
    part->biases *= columns; /* one of the two is 1 */
    int64_t first = (int64_t)(before / dpt__rnn_element(type));
    if (part->rows) part->matrix += first;
    if (part->biases) part->bias += first;
    return 0;
  });
}

int reserve(int index, const dpt__rnn_args *args, int64_t *bytes) {
  return with_handle(index, [&](const dpt__cudnn_functions *call, cudnnHandle_t handle) {
    dpt__rnn_plan plan;
    if (dpt__rnn_plan_make(call, handle, args, true, &plan)) return 1;
    *bytes = (int64_t)plan.reserve();
    return 0;
  });
}

} // namespace

const dpt__rnn_library dpt__cuda_rnn = {size, find, reserve};
