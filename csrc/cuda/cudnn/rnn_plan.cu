/* rnn_plan.cu: descriptors of recurrent networks, sizes and offsets (rules in rnn_plan.h). */
#include "cuda/cudnn/rnn_plan.h"

#include <cstdlib>
#include <new>

static int rnn_plan_destroy(dpt__rnn_layer_plan *plan) {
  const dpt__cudnn_functions *call = plan->call;
  if (plan->rnn) DPT__CUDNN(call->cudnnDestroyRNNDescriptor(plan->rnn));
  if (plan->x) DPT__CUDNN(call->cudnnDestroyRNNDataDescriptor(plan->x));
  if (plan->y) DPT__CUDNN(call->cudnnDestroyRNNDataDescriptor(plan->y));
  if (plan->h) DPT__CUDNN(call->cudnnDestroyTensorDescriptor(plan->h));
  if (plan->c) DPT__CUDNN(call->cudnnDestroyTensorDescriptor(plan->c));
  return 0;
}

dpt__rnn_layer_plan::~dpt__rnn_layer_plan() {
  if (rnn_plan_destroy(this)) return; /* no caller is left to report to */
}

dpt__cudnn_rnn_plan::~dpt__cudnn_rnn_plan() { free(lengths); }

namespace {

static_assert((int)DPT_RNN_RELU == (int)CUDNN_RNN_RELU, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_TANH == (int)CUDNN_RNN_TANH, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_LSTM == (int)CUDNN_LSTM, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_GRU == (int)CUDNN_GRU, "a cell has cuDNN's number");
static_assert((int)DPT_RNN_NO_BIAS == (int)CUDNN_RNN_NO_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_INPUT_BIAS == (int)CUDNN_RNN_SINGLE_INP_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_DOUBLE_BIAS == (int)CUDNN_RNN_DOUBLE_BIAS, "a bias mode, too");
static_assert((int)DPT_RNN_RECURRENT_BIAS == (int)CUDNN_RNN_SINGLE_REC_BIAS, "a bias mode, too");

int describe(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int layer,
             dpt__rnn_layer_plan *plan) {
  const dpt_rnn *r = &a->rnn;
  cudnnMathType_t math = dpt__is_reduced(a->type)        ? CUDNN_TENSOR_OP_MATH
                         : a->type == DPT_F32 && a->tf32 ? CUDNN_DEFAULT_MATH
                                                         : CUDNN_FMA_MATH;
  plan->call = call;
  DPT__CUDNN(call->cudnnCreateRNNDescriptor(&plan->rnn));
  DPT__CUDNN(call->cudnnSetRNNDescriptor_v8(
      plan->rnn, CUDNN_RNN_ALGO_STANDARD, (cudnnRNNMode_t)r->cell, (cudnnRNNBiasMode_t)r->bias,
      r->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
      r->skip_input && !layer ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, dpt__cudnn_type(a->type),
      dpt__cudnn_type(dpt__compute_dtype(a->type)), math, (int32_t)dpt__rnn_input(r, layer),
      r->hidden, dpt__rnn_width(r), 1, NULL, CUDNN_RNN_PADDED_IO_ENABLED));
  return 0;
}

int describe_state(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int columns,
                   cudnnTensorDescriptor_t *state) {
  const int size[3] = {a->rnn.directions, a->B, columns}, stride[3] = {a->B * columns, columns, 1};
  DPT__CUDNN(call->cudnnCreateTensorDescriptor(state));
  DPT__CUDNN(call->cudnnSetTensorNdDescriptor(*state, dpt__cudnn_type(a->type), 3, size, stride));
  return 0;
}

int64_t columns_of(const dpt__rnn_args *a) { return a->rnn.directions * dpt__rnn_width(&a->rnn); }

int describe_data(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int layer,
                  dpt__rnn_layer_plan *plan) {
  const dpt_rnn *r = &a->rnn;
  int64_t input = dpt__rnn_input(r, layer), most = columns_of(a);
  if (most < input) most = input;
  if ((int64_t)a->T * a->B * (most < r->hidden ? r->hidden : most) > INT32_MAX)
    return dpt__cuda_fail(
        "%d steps of %d sequences of %lld columns exceed cuDNN's limits: use smaller batches",
        (int)a->T, (int)a->B, (long long)most);
  DPT__CUDNN(call->cudnnCreateRNNDataDescriptor(&plan->x));
  DPT__CUDNN(call->cudnnCreateRNNDataDescriptor(&plan->y));
  if (describe_state(call, a, dpt__rnn_width(r), &plan->h)) return 1;
  return r->cell == DPT_RNN_LSTM ? describe_state(call, a, r->hidden, &plan->c) : 0;
}

/* Describes vectors of `columns` for every step of every sequence; cuDNN writes zeros past their
 * ends. */
int set_sequences(const dpt__cudnn_functions *call, const dpt__rnn_args *a, int64_t columns,
                  const int32_t *lengths, cudnnRNNDataDescriptor_t data) {
  double zero = 0; /* also the bits of the other types' 0 */
  cudnnRNNDataLayout_t layout = a->rnn.batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
                                                   : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
  DPT__CUDNN(call->cudnnSetRNNDataDescriptor(data, dpt__cudnn_type(a->type), layout, a->T, a->B,
                                             (int)columns, lengths, &zero));
  return 0;
}

/* Sets the descriptors to args' lengths, or to whole sequences, unless they match already. */
int set_lengths(const dpt__cudnn_functions *call, const dpt__rnn_args *a, bool ragged,
                dpt__cudnn_rnn_plan *plan) {
  int32_t *set = plan->lengths;
  bool same = set != NULL;
  for (int b = 0; same && b < a->B; b++) same = set[b] == (ragged ? a->lengths[b] : a->T);
  if (same) return 0;
  plan->lengths = NULL; /* in case this fails halfway */
  if (!set) set = (int32_t *)malloc((size_t)a->B * sizeof *set);
  if (!set) return dpt__cuda_fail("no host memory for %d lengths", (int)a->B);
  for (int b = 0; b < a->B; b++) set[b] = ragged ? a->lengths[b] : a->T;
  int failed = 0;
  for (int layer = 0; layer < plan->layers() && layer < 2 && !failed; layer++)
    failed = set_sequences(call, a, dpt__rnn_input(&a->rnn, layer), set, plan->at(layer).x) ||
             set_sequences(call, a, columns_of(a), set, plan->at(layer).y);
  if (failed)
    free(set);
  else
    plan->lengths = set;
  return failed;
}

int make(const dpt__cudnn_functions *call, cudnnHandle_t handle, const dpt__rnn_args *a,
         dpt__cudnn_rnn_plan *plan) {
  cudnnForwardMode_t mode = plan->key.kept ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  bool data = plan->key.T > 0;
  for (int layer = 0; layer < plan->layers() && layer < 2; layer++) {
    dpt__rnn_layer_plan *l = &plan->at(layer);
    if (describe(call, a, layer, l) || (data && describe_data(call, a, layer, l))) return 1;
    DPT__CUDNN(call->cudnnGetRNNWeightSpaceSize(handle, l->rnn, &l->weight));
  }
  if (!data) return 0;
  /* whole sequences need the most memory, so the plan serves all lengths */
  if (set_lengths(call, a, false, plan)) return 1;
  for (int layer = 0; layer < plan->layers() && layer < 2; layer++) {
    dpt__rnn_layer_plan *l = &plan->at(layer);
    DPT__CUDNN(call->cudnnGetRNNTempSpaceSizes(handle, l->rnn, mode, l->x, &l->work, &l->reserve));
  }
  plan->between = dpt__rnn_round((size_t)a->T * a->B * columns_of(a) * dpt__dtype_size(a->type));
  return 0;
}

} // namespace

dpt__rnn_key dpt__rnn_key_of(const dpt__rnn_args *a, bool kept) {
  const dpt_rnn *r = &a->rnn;
  return {r->cell,          r->bias,  r->directions, r->skip_input, r->batch_first,
          r->layers,        r->input, r->hidden,     r->projection, r->dropout > 0,
          (int64_t)a->type, a->tf32,  kept,          a->T,          a->B};
}

int dpt__cudnn_rnn_plan_of(dpt__plans<dpt__cudnn_rnn_plan> *plans, const dpt__cudnn_functions *call,
                           cudnnHandle_t handle, const dpt__rnn_args *a, bool kept,
                           dpt__cudnn_rnn_plan **result) {
  dpt__rnn_key key = dpt__rnn_key_of(a, kept);
  dpt__cudnn_rnn_plan *plan = plans->find(key);
  if (!plan) {
    plan = new (std::nothrow) dpt__cudnn_rnn_plan();
    if (!plan) return dpt__cuda_fail("no host memory for a plan");
    plan->key = key;
    if (make(call, handle, a, plan)) {
      delete plan;
      return 1;
    }
    plans->keep(plan, [](dpt__cudnn_rnn_plan *old) { delete old; });
  }
  *result = plan;
  return a->T ? set_lengths(call, a, a->ragged, plan) : 0;
}

/* ---- queries by the launching thread ---- */

int dpt__rnn_query(int index, const dpt__rnn_args *args, bool kept, dpt__rnn_answer *answer) {
  dpt__cudnn_desk *desk;
  if (dpt__cudnn_acquire(index, &answer->call, &desk, &answer->guard)) return 1;
  dpt__visit visit(index);
  answer->handle = desk->handle;
  return visit.failed || dpt__cudnn_rnn_plan_of(&desk->networks, answer->call, desk->handle, args,
                                                kept, &answer->plan);
}

namespace {

/* Arguments without data. */
dpt__rnn_args weights_of(const dpt_rnn *r, int type) {
  dpt__rnn_args args = {};
  args.rnn = *r;
  args.type = type;
  return args;
}

int size(int index, const dpt_rnn *r, int type, int64_t *elements) {
  dpt__rnn_args args = weights_of(r, type);
  dpt__rnn_answer of;
  if (dpt__rnn_query(index, &args, true, &of)) return 1;
  *elements = (int64_t)(of.plan->weight_at(r->layers) / dpt__dtype_size(type));
  return 0;
}

/* Returns the offset of `address`, in elements, and its last two sizes; 0 if it is NULL. */
int offset_of(const dpt__cudnn_functions *call, cudnnTensorDescriptor_t tensor, const char *base,
              const void *address, int type, int64_t *first, int64_t *rows, int64_t *columns) {
  *first = *rows = *columns = 0;
  if (!address) return 0;
  cudnnDataType_t data;
  int ndim, sizes[3] = {1, 1, 1}, strides[3];
  DPT__CUDNN(call->cudnnGetTensorNdDescriptor(tensor, 3, &data, &ndim, sizes, strides));
  if (!sizes[0] || !sizes[1] || !sizes[2]) return 0;
  size_t bytes = (size_t)((const char *)address - base), element = dpt__dtype_size(type);
  if (ndim != 3 || sizes[0] != 1 || strides[1] != sizes[2] || bytes % element)
    return dpt__cuda_fail(
        "cudnnGetRNNWeightParams: %d dimensions, %dx%dx%d with strides %d and %d, "
        "%zu bytes from the start: this is not the layout that dpt expects",
        ndim, sizes[0], sizes[1], sizes[2], strides[1], strides[2], bytes);
  *first = (int64_t)(bytes / element), *rows = sizes[1], *columns = sizes[2];
  return 0;
}

int find(int index, const dpt_rnn *r, int type, int pseudo_layer, int id, dpt_rnn_part *part) {
  dpt__rnn_args args = weights_of(r, type);
  dpt__rnn_answer of;
  if (dpt__rnn_query(index, &args, true, &of)) return 1;
  const dpt__cudnn_functions *call = of.call;
  int layer = pseudo_layer / r->directions;
  dpt__rnn_layer_plan parts, &l = of.plan->at(layer);
  /* cuDNN computes from the address and does not dereference it. */
  char *base = (char *)((uintptr_t)1 << 30);
  void *matrix_at = NULL, *bias_at = NULL;
  int64_t columns;
  cudnnTensorDescriptor_t &matrix = parts.h, &bias = parts.c; /* freed by its destructor */
  dpt__visit visit(index);
  if (visit.failed) return 1;
  parts.call = call;
  DPT__CUDNN(call->cudnnCreateTensorDescriptor(&matrix));
  DPT__CUDNN(call->cudnnCreateTensorDescriptor(&bias));
  DPT__CUDNN(call->cudnnGetRNNWeightParams(of.handle, l.rnn, pseudo_layer % r->directions, l.weight,
                                           base, id, matrix, &matrix_at, bias, &bias_at));
  if (offset_of(call, matrix, base, matrix_at, type, &part->matrix, &part->rows, &part->columns) ||
      offset_of(call, bias, base, bias_at, type, &part->bias, &part->biases, &columns))
    return 1;
  part->biases *= columns; /* one of the two factors is 1 */
  int64_t first = (int64_t)(of.plan->weight_at(layer) / dpt__dtype_size(type));
  if (part->rows) part->matrix += first;
  if (part->biases) part->bias += first;
  return 0;
}

int reserve(int index, const dpt__rnn_args *args, int64_t *bytes) {
  dpt__rnn_answer of;
  if (dpt__rnn_query(index, args, true, &of)) return 1;
  *bytes = (int64_t)of.plan->reserve();
  return 0;
}

} // namespace

const dpt__rnn_library dpt__cuda_rnn = {size, find, reserve};
