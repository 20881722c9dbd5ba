/* handle.h: cuDNN: its functions, and a handle for each native stream.
 *
 * Invariant: a handle, and what is kept for its native stream, is used by its native stream's
 * thread alone, so nothing locks. What other threads ask about a device, its desk answers, under a
 * lock. Scalars are read from host memory when a function is called.
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

/* What a native stream has of cuDNN. */
struct dpt__cudnn {
  cudnnHandle_t handle;
  dpt__plans<dpt__cudnn_conv_plan> convolutions;
  dpt__plans<dpt__cudnn_rnn_plan> networks;
};

/* cuDNN's functions, opened at the first call; NULL leaves an error message. */
const dpt__cudnn_functions *dpt__cudnn_open(void);
/* The same and, for the running kernel, its native stream's handle. */
int dpt__cudnn_begin(dpt__context *context, const dpt__cudnn_functions **call, dpt__cudnn **cudnn);

/* Of a device, for the threads that launch. */
struct dpt__cudnn_desk {
  std::mutex lock;
  cudnnHandle_t handle;
  dpt__plans<dpt__conv_need> convolutions;
  dpt__plans<dpt__cudnn_rnn_plan> networks;
};
/* The desk of device `index`, locked for as long as *guard lives. */
int dpt__cudnn_ask(int index, const dpt__cudnn_functions **call, dpt__cudnn_desk **desk,
                   std::unique_lock<std::mutex> *guard);

/* Whether cuDNN says that there is no such operation, rather than that something went wrong. */
static inline bool dpt__cudnn_rejected(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED ||
         CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_BAD_PARAM;
}

/* 0, or an error message that names the call. */
int dpt__cudnn_status(cudnnStatus_t status, const char *call);
#define DPT__CUDNN(call)                                                                           \
  do {                                                                                             \
    if (dpt__cudnn_status((call), #call)) return 1;                                                \
  } while (0)

#endif
