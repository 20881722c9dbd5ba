/* emulation_spec.cu: tests the emulation's results, and that it detects faults planted in kernels.
 *
 * Invariant: each faulty kernel runs in a child process, which must die of the fault; kernels
 * without a fault return the right numbers. Always built with ASan.
 */
#include "cuda/cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static char said[512];
static int fail(const char *format, ...) {
  snprintf(said, sizeof said, "%s", format);
  return 1;
}
static const char *message(void) { return said; }
static const dpt__services services = {fail, message, NULL, NULL};
const dpt__services *dpt__cuda_services = &services;
int dpt__cuda_status(cudaError_t error, const char *call) {
  return error == cudaSuccess ? 0 : fail(call);
}
int dpt__cuda_launched(dpt__context *, const char *kernel, cudaError_t status) {
  return dpt__cuda_status(status, kernel);
}

enum { N = 1000, BLOCK = 256 };

__global__ void add_one(float *x, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += 1;
}
/* Has an off-by-one bound. */
__global__ void add_one_beyond(float *x, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) x[i] += 1;
}

/* Computes the sum of a block. waits: the number of barriers, of two, that the kernel has. */
__global__ void sum(const float *x, float *out, int n, int waits) {
  DPT_SHARED(float, part);
  int t = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + t;
  part[t] = i < n ? x[i] : 0;
  if (waits > 0) __syncthreads();
  for (int half = (int)blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    if (waits > 1) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

/* Computes the sum with warp operations. */
__global__ void sum_by_warps(const float *x, float *out, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  float v = i < n ? x[i] : 0;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&out[blockIdx.x], v);
}

/* Deadlocks: half of the threads wait at a barrier, the others in a warp operation. */
__global__ void wait_in_a_branch(float *x) {
  if (threadIdx.x < 16) __syncthreads();
  x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
}

static dpt__native_stream native;
static dpt__context context;

static int total_is_right(const std::vector<float> &parts, float wanted) {
  float total = 0;
  for (float p : parts) total += p;
  return total == wanted;
}

static int plain() {
  float *x = (float *)calloc(N, sizeof *x);
  int status = DPT_LAUNCH(add_one, (N + BLOCK - 1) / BLOCK, BLOCK, 0, &context, x, N);
  for (int i = 0; i < N; i++) status |= x[i] != 1;
  free(x);
  return status;
}

static int beyond() {
  float *x = (float *)calloc(N, sizeof *x);
  return DPT_LAUNCH(add_one_beyond, (N + BLOCK) / BLOCK, BLOCK, 0, &context, x, N);
}

static int sums(int waits) {
  std::vector<float> x(N), parts(4);
  for (int i = 0; i < N; i++) x[i] = (float)(i % 7);
  float wanted = 0;
  for (float v : x) wanted += v;
  if (DPT_LAUNCH_COOPERATIVE(sum, 4, BLOCK, BLOCK * sizeof(float), &context, x.data(), parts.data(),
                             N, waits))
    return 1;
  return !total_is_right(parts, wanted);
}
static int with_barriers() { return sums(2); }
static int without_inner_barrier() { return sums(1); }
static int without_barriers() { return sums(0); }

static int warps() {
  std::vector<float> x(N, 2), parts(4);
  if (DPT_LAUNCH_COOPERATIVE(sum_by_warps, 4, BLOCK, 0, &context, x.data(), parts.data(), N))
    return 1;
  return !total_is_right(parts, 2 * N);
}

static int branch() {
  std::vector<float> x(32, 1);
  return DPT_LAUNCH_COOPERATIVE(wait_in_a_branch, 1, 32, 0, &context, x.data());
}

static int barrier_in_plain() {
  std::vector<float> x(N), parts(4);
  return DPT_LAUNCH(sum, 4, BLOCK, BLOCK * sizeof(float), &context, x.data(), parts.data(), N, 2);
}

static int too_many_threads() {
  float x[1];
  return !DPT_LAUNCH(add_one, 1, 2048, 0, &context, x, 1);
}

static int default_queue() {
  float x[1];
  dpt__native_stream none = {};
  dpt__context on_default = {};
  on_default.native_stream = &none;
  return !DPT_LAUNCH(add_one, 1, 1, 0, &on_default, x, 1);
}

static int other_device() {
  float x[1];
  return cudaSetDevice(1) || !DPT_LAUNCH(add_one, 1, 1, 0, &context, x, 1);
}

/* ---- asynchronous queues ---- */

__global__ void set_late(float *x, float value) {
  usleep(20000);
  *x = value;
}
__global__ void copy_one(const float *from, float *to) { *to = *from; }

static dpt__context on_another_queue() {
  static dpt__native_stream other;
  dpt__context own = context;
  setenv("DPT_EMULATED_ASYNC", "1", 1);
  if (cudaStreamCreateWithPriority(&other.stream, cudaStreamNonBlocking, 0)) abort();
  own.native_stream = &other;
  return own;
}

/* Returns 0 if the second queue has read the value that the first one wrote late. */
static int reads_late(bool waits) {
  float *x, y = 0;
  cudaEvent_t event;
  dpt__context second = on_another_queue();
  cudaStream_t stream = dpt__native_stream_of(&second)->stream;
  if (cudaMalloc((void **)&x, 2 * sizeof *x) || cudaEventCreateWithFlags(&event, 0)) return 2;
  x[0] = x[1] = 0;
  if (DPT_LAUNCH(set_late, 1, 1, 0, &context, x, 5) || cudaEventRecord(event, native.stream) ||
      cudaEventQuery(event) != cudaErrorNotReady)
    return 2;
  (void)cudaGetLastError();
  if (waits && cudaStreamWaitEvent(stream, event, 0)) return 2;
  if (DPT_LAUNCH(copy_one, 1, 1, 0, &second, x, x + 1) ||
      cudaMemcpyAsync(&y, x + 1, sizeof y, cudaMemcpyDefault, stream))
    return 2;
  return y != 5;
}
static int with_wait() { return reads_late(true); }
static int without_wait() { return reads_late(false); }

static int host_memory() {
  float *x, in = 7, out = 0;
  (void)on_another_queue();
  if (cudaMalloc((void **)&x, sizeof *x) || DPT_LAUNCH(set_late, 1, 1, 0, &context, x, 5) ||
      cudaMemcpyAsync(x, &in, sizeof in, cudaMemcpyDefault, native.stream))
    return 2;
  in = 8;
  if (cudaMemcpyAsync(&out, x, sizeof out, cudaMemcpyDefault, native.stream)) return 2;
  return out != 7;
}

static int freed() {
  float *x;
  (void)on_another_queue();
  return cudaMalloc((void **)&x, sizeof *x) || DPT_LAUNCH(set_late, 1, 1, 0, &context, x, 5) ||
         cudaFree(x);
}

/* Returns true if f, in a child process with a queue of its own, ends with status 0. The parent has
 * no queue: its thread could hold a lock while it is forked. */
static int succeeds(int (*f)()) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return -1;
  if (!child) {
    if (!freopen("/dev/null", "w", stderr)) _exit(3);
    if (cudaStreamCreateWithPriority(&native.stream, cudaStreamNonBlocking, 0)) _exit(3);
    _exit(f() ? 2 : 0);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main() {
  context.native_stream = &native;
  const struct {
    const char *name;
    int (*run)();
    int good;
  } cases[] = {
      {"a plain kernel", plain, 1},
      {"a read and write behind the end", beyond, 0},
      {"a sum with barriers", with_barriers, 1},
      {"a sum without the inner barrier", without_inner_barrier, 0},
      {"a sum without barriers", without_barriers, 0},
      {"a sum with shuffles and atomics", warps, 1},
      {"a barrier that not all threads reach", branch, 0},
      {"a barrier in a kernel launched as plain", barrier_in_plain, 0},
      {"a block of too many threads is refused", too_many_threads, 1},
      {"a launch on the default stream is rejected", default_queue, 1},
      {"a launch on another device's stream is rejected", other_device, 1},
      {"a queue that waits for another one's event", with_wait, 1},
      {"a queue that does not wait for it", without_wait, 0},
      {"host memory is read and written when a copy returns", host_memory, 1},
      {"memory is freed after the kernels that use it", freed, 1},
  };
  int wrong = 0;
  for (const auto &c : cases) {
    if (succeeds(c.run) == c.good) continue;
    printf("%s: wanted it to %s\n", c.name, c.good ? "work" : "be found");
    wrong++;
  }
  return wrong;
}
