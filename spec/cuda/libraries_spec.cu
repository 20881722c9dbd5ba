/* libraries_spec.cu: tests cuBLAS, cuDNN and NCCL without a GPU: they can be opened, export all
 * listed functions, compute the same output sizes as dpt, and report errors.
 *
 * Invariant: it runs without a driver. Exit status 0: success.
 */
#include "cuda/cublas.h"
#include "cuda/cudnn/graph.h"
#include "cuda/cudnn/rnn_plan.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

static char said[1024];
static int fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return 1;
}
static const char *message(void) { return said; }
static int take_memory(int, size_t, void **p) {
  static char memory;
  *p = &memory;
  return 0;
}
static dpt__services services;
const dpt__services *dpt__cuda_services = &services;
int dpt__cuda_status(cudaError_t error, const char *call) {
  return error == cudaSuccess ? 0 : fail("%s", call);
}
int dpt__cuda_passed(cudaEvent_t, int *) { return fail("no event is asked about here"); }

int dpt__cuda_time(dpt__context *, int (*)(void *), void *, float *) {
  return fail("nothing is measured here");
}

static int wrong, checks;
#define CHECK(condition)                                                                           \
  (checks++, (condition)                                                                           \
                 ? (void)0                                                                         \
                 : (void)(wrong++, printf("line %d: %s; %s\n", __LINE__, #condition, said)))

static const int32_t types[] = {DPT_F32, DPT_F64, DPT_F16, DPT_BF16};

/* Returns a convolution as described by csrc/nn/convolution.c. */
static struct dpt__convolution_args args_of(int ndim, int64_t groups, int64_t kernel,
                                            int64_t stride, int64_t pad, int64_t dilation) {
  struct dpt__convolution_args a = {};
  a.type = DPT_F32;
  a.ndim = ndim;
  a.N = 3;
  a.I = 4 * groups;
  a.O = 6 * groups;
  a.groups = groups;
  for (int d = 0; d < 3; d++) {
    bool used = d >= 3 - ndim;
    int64_t in = used ? 17 + d : 1, k = used ? kernel + d % 2 : 1;
    a.slide.in[d] = in;
    a.slide.kernel[d] = k;
    a.slide.stride[d] = used ? stride : 1;
    a.slide.pad[d] = used ? pad : 0;
    a.slide.dilation[d] = used ? dilation : 1;
    int64_t room = in + 2 * a.slide.pad[d] - (a.slide.dilation[d] * (k - 1) + 1);
    a.slide.out[d] = room / a.slide.stride[d] + 1;
  }
  return a;
}

static void check_sizes(const dpt__cudnn_functions *f, const struct dpt__convolution_args *a) {
  dpt__conv_key key = dpt__conv_key_of(a);
  dpt__cudnn_conv_plan *plan = NULL;
  CHECK(!dpt__conv_describe(f, &key, &plan));
  if (!plan) return;
  CHECK(plan->works);
  int ndim = (int)key.ndim, size[5] = {};
  CHECK(!dpt__cudnn_status(
      f->cudnnGetConvolutionNdForwardOutputDim(plan->conv, plan->in, plan->weight, ndim + 2, size),
      "cudnnGetConvolutionNdForwardOutputDim"));
  CHECK(size[0] == a->N && size[1] == a->O);
  for (int d = 0; d < ndim; d++) CHECK(size[2 + d] == a->slide.out[3 - ndim + d]);
  dpt__conv_drop(f, plan);
}

static void cudnn(void) {
  const dpt__cudnn_functions *f = dpt__cudnn_open();
  CHECK(f != NULL);
  if (!f) return;
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int64_t groups = 1; groups <= 3; groups += 2)
      for (int64_t kernel = 1; kernel <= 3; kernel++)
        for (int64_t stride = 1; stride <= 3; stride++)
          for (int64_t pad = 0; pad <= 4; pad += 2)
            for (int64_t dilation = 1; dilation <= 2; dilation++) {
              struct dpt__convolution_args a = args_of(ndim, groups, kernel, stride, pad, dilation);
              for (int32_t type : types) {
                a.type = type;
                check_sizes(f, &a);
              }
            }
  /* a convolution that cuDNN rejects gets a plan that is marked as not working, without an error */
  struct dpt__convolution_args a = args_of(2, 1, 3, 1, 0, 1);
  a.N = 0;
  dpt__conv_key key = dpt__conv_key_of(&a), other = dpt__conv_key_of(&a);
  dpt__cudnn_conv_plan *plan = NULL;
  CHECK(!memcmp(&key, &other, sizeof key));
  CHECK(!dpt__conv_describe(f, &key, &plan) && !plan->works);
  if (plan) dpt__conv_drop(f, plan);
  CHECK(dpt__conv_weight_bytes(&key) == 6 * 4 * 3 * 4 * sizeof(float));
  /* gradients that are floats beside reduced types have another plan, which adds them itself */
  a.type = a.param_type = DPT_BF16;
  a.N = 3;
  a.pass = DPT__PASS_WEIGHT;
  for (bool aside : {false, true}) {
    if (aside) a.param_type = DPT_F32;
    key = dpt__conv_key_of(&a);
    CHECK(!dpt__conv_describe(f, &key, &plan) && plan->works && plan->aside == aside);
    CHECK(dpt__conv_weight_bytes(&key) == 6 * 4 * 3 * 4 * (aside ? sizeof(float) : 2));
    if (plan) dpt__conv_drop(f, plan);
  }
}

#if CUDNN_VERSION >= 91900
/* A GPU, for cuDNN's heuristics, which need its description only. */
static const char gpu[] =
    "{\"cudaDeviceId\":0,\"deviceVer\":900,\"deviceName\":\"NVIDIA H100\",\"driverVer\":13000,"
    "\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
    "\"regsPerBlock\":65536,\"multiProcessorCount\":132,\"warpSize\":32,"
    "\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":232448,"
    "\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,"
    "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"pciDeviceId\":0,"
    "\"totalGlobalMem\":85000000000,\"smClockRateKHz\":1980000,\"memClockRateKHz\":2600000,"
    "\"l2CacheSize\":52428800,\"isTccDriver\":0,\"supportCoopLaunch\":1}";
static cudnnBackendDescriptor_t gpu_of(const dpt__cudnn_functions *f) {
  static cudnnBackendDescriptor_t made;
  if (made) return made;
  CHECK(!f->cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made));
  CHECK(!f->cudnnBackendSetAttribute(made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                     CUDNN_TYPE_CHAR, sizeof gpu, gpu));
  CHECK(!f->cudnnBackendFinalize(made));
  return made;
}

/* Sets an attribute, but the description of a GPU instead of a handle. */
static cudnnStatus_t set_without_handle(cudnnBackendDescriptor_t at,
                                        cudnnBackendAttributeName_t name,
                                        cudnnBackendAttributeType_t type, int64_t count,
                                        const void *values) {
  const dpt__cudnn_functions *f = dpt__cudnn_open();
  cudnnBackendDescriptor_t device = gpu_of(f);
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
    return f->cudnnBackendSetAttribute(at, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
  cudnnStatus_t status = f->cudnnBackendSetAttribute(at, name, type, count, values);
  if (!status && name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
    status = f->cudnnBackendSetAttribute(at, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
  return status;
}

/* Counts the descriptors that exist. */
static int descriptors;
static cudnnStatus_t create_counted(cudnnBackendDescriptorType_t type,
                                    cudnnBackendDescriptor_t *at) {
  descriptors++;
  return dpt__cudnn_open()->cudnnBackendCreateDescriptor(type, at);
}
static cudnnStatus_t destroy_counted(cudnnBackendDescriptor_t at) {
  descriptors--;
  return dpt__cudnn_open()->cudnnBackendDestroyDescriptor(at);
}

/* Nothing runs without a GPU. */
static cudnnStatus_t execute(cudnnHandle_t, cudnnBackendDescriptor_t plan,
                             cudnnBackendDescriptor_t pack) {
  return plan && pack ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/* Returns true if the engine has a property. */
static bool has_note(const dpt__conv_graph &g, int wanted) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  dpt__descriptor engine(dpt__cudnn_open(), CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t at = engine.handle();
  CHECK(g.config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &at) == 1);
  int64_t n = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes,
                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  CHECK(n >= 0);
  for (int64_t i = 0; i < n; i++)
    if (notes[i] == wanted) return true;
  return false;
}

/* The graph interface accepts the descriptors of a convolution and has engines for it. Returns the
 * number of those that round to TF32. */
static int check_engines(const dpt__cudnn_functions *f, const dpt__conv_key *key) {
  enum { MOST = 8 };
  dpt__conv_graph list[MOST];
  int n = dpt__graph_find(f, NULL, key, 1 << 30, list, MOST), rounding = 0;
  CHECK(n > 0);
  for (int i = 0; i < n; i++) {
    CHECK(list[i].memory >= 0 && list[i].memory <= 1 << 30);
    CHECK(!dpt__graph_run(f, NULL, &list[i], {(void *)256, (void *)512, (void *)1024, NULL, 0}));
    CHECK(!has_note(list[i], CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    CHECK(!has_note(list[i], CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
    CHECK(!has_note(list[i], CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
    bool rounds = key->type == DPT_F32 && has_note(list[i], CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    CHECK(!rounds || key->tf32);
    rounding += rounds;
  }
  return rounding;
}

static void engines(void) {
  if (!dpt__cudnn_open()) return;
  dpt__cudnn_functions f = *dpt__cudnn_open();
  f.cudnnBackendSetAttribute = set_without_handle;
  f.cudnnBackendCreateDescriptor = create_counted;
  f.cudnnBackendDestroyDescriptor = destroy_counted;
  f.cudnnBackendExecute = execute;
  int rounding = 0;
  for (int i = 0; i < 3 * 2 * 4 * 3 * 2 * 2 * 2; i++) {
    struct dpt__convolution_args a =
        args_of(1 + i % 3, 1 + i / 3 % 2 * 2, 3 - i / 144 % 2 * 2, 2 - i / 144 % 2, 1, 1 + i / 288);
    a.type = types[i / 6 % 4];
    dpt__conv_key key = dpt__conv_key_of(&a);
    CHECK(!key.graph); /* off by default */
    key.pass = i / 24 % 3;
    key.tf32 = i / 72 % 2;
    for (key.graph = (int64_t)dpt__dtype_size(a.type); key.graph <= 16; key.graph *= 2)
      rounding += check_engines(&f, &key);
  }
  CHECK(rounding > 0 && !descriptors);
  /* for no images there is no engine */
  dpt__conv_graph none;
  struct dpt__convolution_args a = args_of(2, 1, 3, 1, 0, 1);
  dpt__conv_key key = dpt__conv_key_of(&a);
  key.N = 0;
  key.graph = 16;
  CHECK(!dpt__graph_find(&f, NULL, &key, 1 << 30, &none, 1));
  /* addresses */
  CHECK(dpt__graph_alignment((void *)256, (void *)64, (void *)32) == 16);
  CHECK(dpt__graph_alignment((void *)256, (void *)68, (void *)32) == 4);
  CHECK(dpt__graph_alignment((void *)24, (void *)64, NULL) == 8);
}
#endif

/* Counts created and destroyed descriptors, and replaces the two queries that need a handle, which
 * cannot exist without a GPU. */
static int made, ended;
template <typename T> static cudnnStatus_t (*create_of)(T *);
template <typename T> static cudnnStatus_t (*destroy_of)(T);
template <typename T> static cudnnStatus_t create(T *descriptor) {
  made++;
  return create_of<T>(descriptor);
}
template <typename T> static cudnnStatus_t destroy(T descriptor) {
  ended++;
  return destroy_of<T>(descriptor);
}
template <typename T> static void count(cudnnStatus_t (**make)(T *), cudnnStatus_t (**end)(T)) {
  create_of<T> = *make;
  destroy_of<T> = *end;
  *make = create<T>;
  *end = destroy<T>;
}
static cudnnStatus_t weight_space(cudnnHandle_t, cudnnRNNDescriptor_t, size_t *bytes) {
  *bytes = 100;
  return CUDNN_STATUS_SUCCESS;
}
static cudnnStatus_t temporary_space(cudnnHandle_t, cudnnRNNDescriptor_t, cudnnForwardMode_t,
                                     cudnnRNNDataDescriptor_t, size_t *work, size_t *kept) {
  *work = 0;
  *kept = 256;
  return CUDNN_STATUS_SUCCESS;
}

/* Checks that cuDNN accepts all networks and data that csrc/rnn/rnn.c accepts, and reuses plans. */
static void check_network(const dpt__cudnn_functions *f, dpt__rnn_args *a) {
  static dpt__plans<dpt__cudnn_rnn_plan> plans;
  dpt__cudnn_rnn_plan *plan = NULL, *again = NULL;
  CHECK(!dpt__cudnn_rnn_plan_of(&plans, f, NULL, a, true, &plan));
  if (!plan) return;
  CHECK((plan->first.c != NULL) == (a->rnn.cell == DPT_RNN_LSTM));
  CHECK(plans.count <= DPT__PLANS);
  int before = made;
  CHECK(!dpt__cudnn_rnn_plan_of(&plans, f, NULL, a, true, &again) && again == plan);
  a->ragged = !a->ragged;
  CHECK(!dpt__cudnn_rnn_plan_of(&plans, f, NULL, a, true, &again) && again == plan);
  CHECK(plan->lengths[0] == (a->ragged ? a->lengths[0] : a->T));
  CHECK(made == before);
}

static void recurrent(void) {
  enum { B = 3 };
  if (!dpt__cudnn_open()) return;
  dpt__cudnn_functions f = *dpt__cudnn_open();
  count(&f.cudnnCreateRNNDescriptor, &f.cudnnDestroyRNNDescriptor);
  count(&f.cudnnCreateRNNDataDescriptor, &f.cudnnDestroyRNNDataDescriptor);
  count(&f.cudnnCreateTensorDescriptor, &f.cudnnDestroyTensorDescriptor);
  f.cudnnGetRNNWeightSpaceSize = weight_space;
  f.cudnnGetRNNTempSpaceSizes = temporary_space;
  dpt__rnn_args *a = (dpt__rnn_args *)calloc(1, sizeof *a + B * sizeof(int32_t));
  CHECK(a != NULL);
  if (!a) return;
  const int32_t lengths[B] = {2, 5, 1};
  memcpy(a->lengths, lengths, sizeof lengths);
  a->T = 5;
  a->B = B;
  for (int i = 0; i < 4 * 4 * 2 * 2 * 2 * 4 * 2 * 2; i++) {
    dpt_rnn &net = a->rnn;
    net.cell = i % 4;
    net.bias = i / 4 % 4;
    net.directions = 1 + i / 16 % 2;
    net.skip_input = i / 32 % 2;
    net.batch_first = i / 64 % 2;
    net.layers = 2;
    net.hidden = 6;
    net.input = net.skip_input ? 6 : 7;
    net.projection = net.cell == DPT_RNN_LSTM && i % 3 ? 4 : 0;
    a->type = types[i / 128 % 4];
    a->ragged = i / 512 % 2;
    a->tf32 = i / 1024 % 2;
    check_network(&f, a);
  }
  CHECK(made > ended && ended > 0); /* more than a cache's capacity */
  /* the parts of a reserve are consecutive */
  dpt__cudnn_rnn_plan plan = {};
  plan.key.layers = 3;
  plan.first.reserve = 300;
  plan.other.reserve = 256;
  plan.first.weight = plan.other.weight = 100;
  plan.between = 512;
  CHECK(plan.weight_at(2) == 200 && plan.reserve_at(3) == 1024 && plan.given_at(1) == 1536);
  CHECK(plan.read_at(1) == plan.given_at(1) && plan.reserve() == 2048);
  plan.key.drops = 1;
  CHECK(plan.read_at(0) == 2048 && plan.reserve() == 3072);
  free(a);
}

/* Without a GPU, creating a handle fails with an error message; with a GPU, nothing is tested. */
static void handles(void) {
  dpt__native_stream native = {};
  dpt__context context = {};
  dpt__backend backend = {};
  dpt__cublas cublas;
  const dpt__cudnn_functions *f;
  dpt__cudnn *cudnn;
  int n;
  backend.memory_alloc = take_memory;
  context.backend = &backend;
  context.native_stream = &native;
  if (cudaGetDeviceCount(&n) == cudaSuccess && n > 0) return;
  CHECK(dpt__cublas_begin(&context, &cublas) == 1);
  CHECK(strstr(said, "cublasCreate_v2: ") == said && strstr(said, "CUBLAS_STATUS_NOT_INITIALIZED"));
  CHECK(dpt__cudnn_begin(&context, &f, &cudnn) == 1);
  CHECK(strstr(said, "cudnnCreate: ") == said && strstr(said, "CUDNN_STATUS_"));
  CHECK(!native.cublas && !native.cudnn);
}

/* Without a driver, creating a communicator fails with an error, and abort returns. */
static void nccl(void) {
  const dpt__collectives *c = &dpt__cuda_collectives;
  int unit[2] = {0, 1}, ready = 0, devices = 0;
  void *group = NULL;
  CHECK(!c->open());
  CHECK(!c->open());
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return;
  char id[DPT__COLLECTIVES_ID];
  int status = c->new_id(id) || c->join(id, 2, 0, 2, unit, &group);
  for (int polls = 0; !status && !ready && polls < 1000; polls++) {
    struct timespec pause = {0, 10000000};
    status = c->state(group, &ready);
    nanosleep(&pause, NULL);
  }
  CHECK(status);
  CHECK(strstr(said, "nccl") || strstr(said, "cuda"));
  printf("without a driver: %s\n", said);
  c->abort();
}

int main() {
  services.fail = fail;
  services.message = message;
  cudnn();
#if CUDNN_VERSION >= 91900
  engines();
#endif
  recurrent();
  handles();
  nccl();
  printf("%d checks, %d failed\n", checks, wrong);
  return wrong != 0;
}
