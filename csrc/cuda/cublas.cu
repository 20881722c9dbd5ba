/* cublas.cu: opens cuBLAS and creates handles (the rules are in cublas.h). */
#include "cuda/cublas.h"

#include "cuda/group.h"

namespace {

dpt__cublas_functions functions;

int take(dpt__library *library) {
  int major;
#define DPT_FUNCTION(name)                                                                         \
  if (dpt__library_find(library, #name, (void **)&functions.name)) return 1;
#include "cuda/cublas.def"
#undef DPT_FUNCTION
  DPT__CUBLAS(functions.cublasGetProperty(MAJOR_VERSION, &major));
  return dpt__library_version(library, major, CUBLAS_VER_MAJOR);
}

#ifdef DPT_EMULATED
const void *const brought = (const void *)&cublasGetProperty;
#else
const void *const brought = NULL;
#endif
dpt__library library = {"cuBLAS",
                        "DPT_CUBLAS",
                        DPT__SONAME("libcublas.so.", CUBLAS_VER_MAJOR),
                        DPT__SONAME("cu", CUBLAS_VER_MAJOR) "/lib",
                        "",
                        brought,
                        take,
                        PTHREAD_MUTEX_INITIALIZER};

/* NVIDIA's recommendation for Hopper, and enough for older GPUs. */
enum : size_t { WORKSPACE = 32 << 20 };

int create(cublasHandle_t *handle) {
  dpt__apart_from_groups apart; /* cublasCreate allocates and frees memory */
  DPT__CUBLAS(functions.cublasCreate_v2(handle));
  return 0;
}

/* The caller owns the handle and the workspace, even if this fails. */
int prepare(dpt__context *context, cublasHandle_t *handle, void **workspace) {
  if (dpt__library_open(&library) || create(handle)) return 1;
  if (context->backend->memory_alloc(context->unit, WORKSPACE, workspace)) return 1;
  if (!*workspace)
    return dpt__cuda_fail("out of memory: %zu bytes wanted as cuBLAS's workspace", WORKSPACE);
  /* set the stream first: cublasSetStream resets the workspace */
  DPT__CUBLAS(functions.cublasSetStream_v2(*handle, dpt__native_stream_of(context)->stream));
  DPT__CUBLAS(functions.cublasSetWorkspace_v2(*handle, *workspace, WORKSPACE));
  /* reduced types accumulate in float, even in split-K */
  int math = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  DPT__CUBLAS(functions.cublasSetMathMode(*handle, (cublasMath_t)math));
  return 0;
}

int make(dpt__context *context) {
  cublasHandle_t handle = NULL;
  void *workspace = NULL;
  int failed = prepare(context, &handle, &workspace);
  if (!failed) dpt__native_stream_of(context)->cublas = handle;
  /* report the first failure only */
  if (failed && handle) (void)functions.cublasDestroy_v2(handle);
  if (failed && workspace) context->backend->memory_free(context->unit, workspace, WORKSPACE);
  return failed;
}

} // namespace

int dpt__cublas_status(cublasStatus_t status, const char *call) {
  if (status == CUBLAS_STATUS_SUCCESS) return 0;
  return dpt__library_fail(call, functions.cublasGetStatusName(status),
                           functions.cublasGetStatusString(status));
}

int dpt__cublas_begin(dpt__context *context, dpt__cublas *cublas) {
  dpt__native_stream *native = dpt__native_stream_of(context);
  if (!native->cublas && make(context)) return 1;
  cublas->call = &functions;
  cublas->handle = (cublasHandle_t)native->cublas;
  return 0;
}
