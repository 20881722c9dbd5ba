/* bytes.cu: copies bytes: within a device, between devices, from and to host memory. */
#include "cuda/cuda.h"
extern "C" {
#include "device/bytes.h"
}

int dpt__cuda_copy_bytes(dpt__context *context, const void *args) {
  const dpt__copy_bytes_args *a = (const dpt__copy_bytes_args *)args;
  for (int i = 0; i < a->count; i++)
    DPT__CUDA(cudaMemcpyAsync(a->piece[i].to, a->piece[i].from, a->piece[i].bytes,
                              cudaMemcpyDefault, dpt__native_stream_of(context)->stream));
  return 0;
}
