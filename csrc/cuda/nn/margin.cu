/* margin.cu: MultiMargin and MultiLabelMargin: losses that compare the classes of a row.
 *
 * Invariant: sums are in double, in an order that depends on sizes alone; terms are counted in
 * integers. A class out of range is reported as a fault that names it; its row has no loss and no
 * gradient.
 */
#include "cuda/element.h"
#include "cuda/nn/classes.h"
#include "cuda/sums.h"
extern "C" {
#include "nn/kernels.h"
}

namespace {

constexpr int WARP = 32, WARPS = DPT__SUM_THREADS / WARP;

/* Returns the weight of one class of one row; N may be 0. */
double share_of(int average, int64_t N, int64_t C) {
  return 1.0 / (double)(average && N ? N * C : C);
}

/* One warp per row. */
template <typename T> struct multimargin {
  enum { SUMS = 1 };
  dpt__multimargin_args a;
  dpt__class_fault fault;
  double share;
  __device__ void add(double *sum) const {
    int lane = (int)threadIdx.x % WARP;
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    for (; row < a.N; row += (int64_t)gridDim.x * WARPS) sum[0] += add_row(row, lane);
  }
  __device__ double add_row(int64_t row, int lane) const {
    const T *in = (const T *)a.in + row * a.C, *weight = (const T *)a.weight;
    T *gin = a.gin ? (T *)a.gin + row * a.C : NULL;
    int64_t wanted = dpt__index_at(a.target, a.target_type, row);
    if (fault.rejects(wanted, row)) {
      for (int64_t c = lane; gin && c < a.C; c += WARP) gin[c] = T(0);
      return 0;
    }
    wanted--;
    double w = weight ? (double)weight[wanted] : 1, sum = 0, own = 0;
    double limit = a.margin - (double)in[wanted];
    for (int64_t c = lane; c < a.C; c += WARP) {
      if (c == wanted) continue;
      double z = limit + (double)in[c], slope = 0;
      if (z > 0) {
        sum += w * (a.p == 1 ? z : z * z);
        slope = w * share * (a.p == 1 ? 1 : 2 * z);
        own -= slope;
      }
      if (gin) gin[c] = (T)slope;
    }
    if (gin) {
      own = dpt__warp_sum(own);
      if (lane == 0) gin[wanted] = (T)own;
    }
    return sum;
  }
  __device__ void finish(const double *sum) const {
    if (a.out) *(T *)a.out = (T)(sum[0] * share);
  }
};

/* One block per row. tally (C per block): the number of times each class is a label. */
template <typename T> struct multilabel {
  enum { SUMS = 1 };
  dpt__multilabel_args a;
  dpt__class_fault fault;
  double share;
  int *tallies;
  __device__ int64_t label(int64_t row, int64_t l) const {
    return dpt__index_at(a.target, a.target_type, row * a.C + l);
  }
  /* Tallies the row's labels and returns their number; 0 if one is out of range. */
  __device__ int64_t tally_row(int64_t row, int *tally) const {
    __shared__ long long labels, bad;
    if (threadIdx.x == 0) labels = bad = a.C;
    for (int64_t c = threadIdx.x; c < a.C; c += blockDim.x) tally[c] = 0;
    __syncthreads();
    for (int64_t l = threadIdx.x; l < a.C; l += blockDim.x)
      if (label(row, l) == 0) {
        atomicMin(&labels, (long long)l);
        break;
      }
    __syncthreads();
    int64_t n = labels;
    for (int64_t l = threadIdx.x; l < n; l += blockDim.x) {
      int64_t wanted = label(row, l);
      if (fault.rejects(wanted, row * a.C + l)) {
        atomicMin(&bad, (long long)l);
      } else {
        atomicAdd(&tally[wanted - 1], 1);
      }
    }
    __syncthreads();
    if (bad < n) n = 0;
    __syncthreads(); /* before the next row overwrites them */
    return n;
  }
  __device__ static double apart(const T *in, int64_t wanted, int64_t c) {
    return 1 - (double)in[wanted] + (double)in[c];
  }
  __device__ void add(double *sum) const {
    int *tally = tallies + blockIdx.x * a.C;
    for (int64_t row = blockIdx.x; row < a.N; row += gridDim.x) {
      const T *in = (const T *)a.in + row * a.C;
      T *gin = a.gin ? (T *)a.gin + row * a.C : NULL;
      int64_t labels = tally_row(row, tally);
      for (int64_t c = threadIdx.x; c < a.C; c += blockDim.x) {
        if (labels && tally[c]) continue;
        int64_t terms = 0;
        for (int64_t l = 0; l < labels; l++) {
          double z = apart(in, label(row, l) - 1, c);
          if (z <= 0) continue; /* NaN is counted */
          sum[0] += z;
          terms++;
        }
        if (gin) gin[c] = (T)((double)terms * share);
      }
      if (gin && labels) push_labels(in, tally, gin);
      __syncthreads(); /* before the next row's tally */
    }
  }
  /* Computes the labels' gradients, with a warp for each. */
  __device__ void push_labels(const T *in, const int *tally, T *gin) const {
    int lane = (int)threadIdx.x % WARP;
    for (int64_t wanted = threadIdx.x / WARP; wanted < a.C; wanted += WARPS) {
      if (!tally[wanted]) continue;
      double terms = 0; /* a count: exact */
      for (int64_t c = lane; c < a.C; c += WARP)
        if (!tally[c] && !(apart(in, wanted, c) <= 0)) terms++;
      terms = dpt__warp_sum(terms);
      if (lane == 0) gin[wanted] = (T)(-terms * (double)tally[wanted] * share);
    }
  }
  __device__ void finish(const double *sum) const {
    if (a.out) *(T *)a.out = (T)(sum[0] * share);
  }
};

} // namespace

int dpt__cuda_multimargin(dpt__context *context, const void *args) {
  const dpt__multimargin_args &a = *(const dpt__multimargin_args *)args;
  return dpt__of_real(a.type, [&](auto zero) {
    multimargin<decltype(zero)> f = {a, dpt__class_fault_of(context, a),
                                     share_of(a.average, a.N, a.C)};
    return dpt__sum(context, f, dpt__sum_blocks(a.N * WARP));
  });
}

int dpt__cuda_multilabel(dpt__context *context, const void *args) {
  const dpt__multilabel_args &a = *(const dpt__multilabel_args *)args;
  unsigned blocks = (unsigned)(a.N < 1 ? 1 : a.N < DPT__SUM_BLOCKS ? a.N : DPT__SUM_BLOCKS);
  int *tallies = (int *)dpt__scratch(context, (size_t)blocks * (size_t)a.C * sizeof *tallies);
  return dpt__of_real(a.type, [&](auto zero) {
    multilabel<decltype(zero)> f = {a, dpt__class_fault_of(context, a),
                                    share_of(a.average, a.N, a.C), tallies};
    return dpt__sum(context, f, blocks);
  });
}
