/* handle.h: cuDNN: its functions, and a handle for each native stream.
 *
 * Invariant: only its native stream's thread uses a handle and its plans, so nothing locks. For
 * queries by other threads, each device has a second handle and its own plans (the desk), guarded
 * by a lock. Scalars are read from host memory when a function is called.
 */
#ifndef DPT_CUDA_CUDNN_HANDLE_H
#define DPT_CUDA_CUDNN_HANDLE_H
#include "cuda/cudnn/cache.h"
#include "cuda/library.h"

#include <cudnn.h>
#include <mutex>

struct dpt__cudnn_functions {
#define DPT_FUNCTION(name) decltype(&::name) name;
#include "cuda/cudnn/cudnn.def"
#undef DPT_FUNCTION
};

struct dpt__cudnn_conv_plan; /* plan.h */
struct dpt__conv_need;
struct dpt__cudnn_rnn_plan; /* rnn_plan.h */

/* The cuDNN state of a native stream. */
struct dpt__cudnn {
  cudnnHandle_t handle;
  dpt__plans<dpt__cudnn_conv_plan> convolutions;
  dpt__plans<dpt__cudnn_rnn_plan> networks;
};

/* Returns cuDNN's functions, opened at the first call; fails with NULL and a message. */
const dpt__cudnn_functions *dpt__cudnn_open(void);
/* Returns the functions and the handle of the running kernel's native stream. */
int dpt__cudnn_begin(dpt__context *context, const dpt__cudnn_functions **call, dpt__cudnn **cudnn);

/* The cuDNN state of a device, for threads that launch. */
struct dpt__cudnn_desk {
  std::mutex lock;
  cudnnHandle_t handle;
  dpt__plans<dpt__conv_need> convolutions;
  dpt__plans<dpt__cudnn_rnn_plan> networks;
};
/* Returns the desk of device `index`, locked for the lifetime of *guard. */
int dpt__cudnn_acquire(int index, const dpt__cudnn_functions **call, dpt__cudnn_desk **desk,
                       std::unique_lock<std::mutex> *guard);

/* Returns cuDNN's name of a real element type. */
static inline cudnnDataType_t dpt__cudnn_type(int64_t dtype) {
  switch (dtype) {
  case DPT_F16:
    return CUDNN_DATA_HALF;
  case DPT_BF16:
    return CUDNN_DATA_BFLOAT16;
  case DPT_F32:
    return CUDNN_DATA_FLOAT;
  case DPT_F64:
    return CUDNN_DATA_DOUBLE;
  }
  static_assert(DPT_NDTYPE == 9, "every real type has a name");
  return (cudnnDataType_t)-1; /* cuDNN refuses it */
}

/* Returns true if cuDNN does not support an operation, as opposed to an error. */
static inline bool dpt__cudnn_rejected(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED ||
         CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_BAD_PARAM;
}

/* Returns 0, or fails with a message that names the call. */
int dpt__cudnn_status(cudnnStatus_t status, const char *call);
#define DPT__CUDNN(call)                                                                           \
  do {                                                                                             \
    if (dpt__cudnn_status((call), #call)) return 1;                                                \
  } while (0)

#endif
