/* handle.cu: opens cuDNN and creates handles (the rules are in handle.h). */
#include "cuda/cudnn/handle.h"

#include "cuda/group.h"

#include <cstdlib>

namespace {

dpt__cudnn_functions functions;

int take(dpt__library *library) {
#define DPT_FUNCTION(name)                                                                         \
  if (dpt__library_find(library, #name, (void **)&functions.name)) return 1;
#include "cuda/cudnn/cudnn.def"
#undef DPT_FUNCTION
  return dpt__library_version(library, (int)(functions.cudnnGetVersion() / 10000), CUDNN_MAJOR);
}

#ifdef DPT_EMULATED
const void *const brought = (const void *)&cudnnGetVersion;
#else
const void *const brought = NULL;
#endif
dpt__library library = {"cuDNN",
                        "DPT_CUDNN",
                        DPT__SONAME("libcudnn.so.", CUDNN_MAJOR),
                        "cudnn/lib",
                        DPT_CUDNN_FILE,
                        brought,
                        take,
                        PTHREAD_MUTEX_INITIALIZER};

int create(cudnnHandle_t *handle) {
  dpt__apart_from_groups apart; /* cudnnCreate allocates and frees memory */
  return dpt__cudnn_status(functions.cudnnCreate(handle), "cudnnCreate");
}

int make(dpt__native_stream *native) {
  dpt__cudnn *cudnn = (dpt__cudnn *)calloc(1, sizeof *cudnn);
  if (!cudnn) return dpt__cuda_fail("no host memory for cuDNN's handle");
  if (create(&cudnn->handle) ||
      dpt__cudnn_status(functions.cudnnSetStream(cudnn->handle, native->stream),
                        "cudnnSetStream")) {
    /* report the first failure only */
    if (cudnn->handle) (void)functions.cudnnDestroy(cudnn->handle);
    free(cudnn);
    return 1;
  }
  native->cudnn = cudnn;
  return 0;
}

enum { MOST_DEVICES = 256 };
dpt__cudnn_desk desks[MOST_DEVICES];

} // namespace

int dpt__cudnn_status(cudnnStatus_t status, const char *call) {
  if (status == CUDNN_STATUS_SUCCESS) return 0;
  char text[300] = "";
  functions.cudnnGetLastErrorString(text, sizeof text);
  return dpt__library_fail(call, functions.cudnnGetErrorString(status), text);
}

const dpt__cudnn_functions *dpt__cudnn_open(void) {
  return dpt__library_open(&library) ? NULL : &functions;
}

int dpt__cudnn_begin(dpt__context *context, const dpt__cudnn_functions **call, dpt__cudnn **cudnn) {
  dpt__native_stream *native = dpt__native_stream_of(context);
  if (!native->cudnn && (!dpt__cudnn_open() || make(native))) return 1;
  *call = &functions;
  *cudnn = (dpt__cudnn *)native->cudnn;
  return 0;
}

int dpt__cudnn_acquire(int index, const dpt__cudnn_functions **call, dpt__cudnn_desk **desk,
                       std::unique_lock<std::mutex> *guard) {
  *call = dpt__cudnn_open();
  if (!*call) return 1;
  if (index < 0 || index >= MOST_DEVICES) return dpt__cuda_fail("there is no GPU %d", index);
  *desk = &desks[index];
  *guard = std::unique_lock<std::mutex>((*desk)->lock);
  if ((*desk)->handle) return 0;
  dpt__visit visit(index);
  return visit.failed || create(&(*desk)->handle);
}
