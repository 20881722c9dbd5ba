/* backend.c: the host backend: host memory and host devices.
 *
 * Invariant: kernel NAME of kernels.def is `dpt__host_NAME`, in a file of this folder.
 */
#include "host/kernels.h"
#include "ops/blas.h"
#include "ops/blas_library.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Aligns to 64 bytes: a cache line, and the widest vector register. Large blocks use huge pages,
 * which makes strided walks several times faster (fewer address translations) and first touches
 * cheap. posix_memalign fails where aligned_alloc may end the process under a sanitizer. */
static int backend_memory_alloc(int index, size_t bytes, void **p) {
  const size_t huge = 2 << 20;
  if (posix_memalign(p, bytes >= 2 * huge ? huge : 64, bytes)) *p = NULL;
  if (*p && bytes >= 2 * huge) madvise(*p, bytes & ~(huge - 1), MADV_HUGEPAGE);
  return 0;
}

static void backend_memory_free(int index, void *p, size_t bytes) { free(p); }

static void backend_pinned_free(void *p, size_t bytes) { free(p); }

static int backend_count(int *n) {
  *n = 1;
  return 0;
}

static int backend_properties(int index, dpt_device_info *info, int64_t *memory) {
  *info = (dpt_device_info){.name = "host device",
                            .integrated = 1,
                            .warp = 1,
                            .block_threads = 1,
                            .overlap = 1,
                            .map_host = 1};
  *memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return 0;
}

/* Opens a BLAS for kernels that compute products. All but gemm open it even if these arguments do
 * not need one. All of these may ask for temporary memory, as prepare requires. */
static int backend_prepare(enum dpt__kernel kernel, const char *fn, const void *args) {
  switch (kernel) {
  case DPT__KERNEL_gemm:
    return dpt__gemm_asks_blas(args) ? dpt__blas_open(fn) : 0;
  case DPT__KERNEL_linear:
  case DPT__KERNEL_convolution:
  case DPT__KERNEL_rnn_forward:
  case DPT__KERNEL_rnn_data:
  case DPT__KERNEL_rnn_weight:
    return dpt__blas_open(fn);
  default:
    return 0;
  }
}

const dpt__backend dpt__host = {
    .abi = DPT__BACKEND_ABI,
    .name = "host",
    .kernels =
        {
#define DPT_KERNEL(name, why) [DPT__KERNEL_##name] = dpt__host_##name,
#include "device/kernels.def"
#undef DPT_KERNEL
        },
    .asks = DPT__BIT(gemm) | DPT__BIT(reduce) | DPT__BIT(reduce_all) | DPT__BIT(pair) |
            DPT__BIT(sort) | DPT__BIT(masked) | DPT__BIT(nonzero) | DPT__BIT(histogram) |
            DPT__BIT(linear) | DPT__BIT(convolution) | DPT__BIT(maxpool) | DPT__BIT(avgpool) |
            DPT__BIT(softmax) | DPT__BIT(plane_sum) | DPT__BIT(batchnorm) |
            DPT__BIT(batchnorm_backward) | DPT__BIT(norm) | DPT__BIT(norm_backward) |
            DPT__BIT(attention) | DPT__BIT(lookup_backward) | DPT__BIT(lookup_renorm) |
            DPT__BIT(loss) | DPT__BIT(multilabel) | DPT__BIT(upsample) | DPT__BIT(pad) |
            DPT__BIT(prelu) | DPT__BIT(lrn) | DPT__BIT(rnn_forward) | DPT__BIT(rnn_data) |
            DPT__BIT(rnn_weight),
    .reduced = DPT__BIT(linear) | DPT__BIT(convolution) | DPT__BIT(plane_sum) | DPT__BIT(maxpool) |
               DPT__BIT(avgpool) | DPT__BIT(softmax) | DPT__BIT(batchnorm) |
               DPT__BIT(batchnorm_backward) | DPT__BIT(norm) | DPT__BIT(norm_backward) |
               DPT__BIT(attention) | DPT__BIT(dropout_mask) | DPT__BIT(lookup) |
               DPT__BIT(lookup_backward) | DPT__BIT(lookup_renorm) | DPT__BIT(nll) |
               DPT__BIT(multimargin) | DPT__BIT(multilabel) | DPT__BIT(upsample) | DPT__BIT(pad) |
               DPT__BIT(prelu) | DPT__BIT(sgd) | DPT__BIT(adam) | DPT__BIT(sgd_mixed) |
               DPT__BIT(adam_mixed) | DPT__BIT(step_count) | DPT__BIT(scale_by) |
               DPT__BIT(rnn_forward) | DPT__BIT(rnn_data) | DPT__BIT(rnn_weight),
    .prepare = backend_prepare,
    .count = backend_count,
    .properties = backend_properties,
    .memory_alloc = backend_memory_alloc,
    .memory_free = backend_memory_free,
    .pinned_alloc = backend_memory_alloc,
    .pinned_free = backend_pinned_free,
};
