/* kernels.h: arguments of the layer kernels (device/kernels.def lists the kernels).
 *
 * Invariant: plain sizes, numbers and raw pointers into contiguous memory of element type `type`:
 * DPT_F32, DPT_F64, or, if the backend says so (`reduced`), a reduced type. Then parameters, their
 * gradients and statistics have `param_type`, which is `type` or DPT_F32. The generic function has
 * checked everything except values inside tensors. Indices and targets have their own types and are
 * counted from 1. Pointers to results may be NULL if the comment says so. Comments next to pointers
 * give their shapes.
 */
#ifndef DPT_NN_KERNELS_H
#define DPT_NN_KERNELS_H
#include "base/element.h"

/* The sliding window of convolution and pooling over up to three dimensions; missing outer ones
 * are 1. */
struct dpt__slide {
  int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
};
static DPT__EVERYWHERE inline int64_t dpt__volume(const int64_t size[3]) {
  return size[0] * size[1] * size[2];
}
/* Returns the first position first, first + dilation ... that is not negative. */
static inline int64_t dpt__slide_first(int64_t first, int64_t dilation) {
  return first < 0 ? first + (-first + dilation - 1) / dilation * dilation : first;
}

/* The passes of linear layers and convolutions. */
enum { DPT__PASS_FORWARD, DPT__PASS_DATA, DPT__PASS_WEIGHT };
/* FORWARD: out = in * weight^T + bias; DATA: in = out * weight; WEIGHT: weight += scale * out^T *
 * in, bias += scale * sum of out's rows. The bias may be NULL. */
struct dpt__linear_args {
  int32_t type, param_type, deterministic, tf32, pass; /* param_type: of WEIGHT's gradients */
  int64_t B, I, O;
  double scale;
  void *in, *out, *weight, *bias; /* (B, I), (B, O), (O, I), (O) */
};
/* A convolution from `in` (N, I, S) to `out` (N, O, S'). FORWARD writes out, DATA writes in; both
 * add bias, unless NULL, to what they write (a transposed convolution's forward is DATA). WEIGHT
 * adds scale * gradient to weight. */
struct dpt__convolution_args {
  int32_t type, param_type;                        /* param_type: of WEIGHT's gradients */
  int32_t deterministic, tf32, search, pass, ndim; /* search: of dpt_window */
  int64_t N, I, O, groups;
  struct dpt__slide slide; /* entries 3-ndim .. 2 are used */
  double scale;
  void *in, *out, *weight; /* (N, I, S), (N, O, S'), (O, I/groups, K) */
  const void *bias;        /* (O) for FORWARD, (I) for DATA, or NULL */
};
/* gb (C) += scale * sum of gout (N, C, S) over N and S */
struct dpt__plane_sum_args {
  int32_t type, param_type;
  int64_t N, C, S;
  double scale;
  const void *gout;
  void *gb;
};

/* Pools planes of size in to planes of size out; adaptive: window i covers floor(i*in/out) up to
 * ceil((i+1)*in/out). idx receives the position of the maximum in its plane, from 1. */
struct dpt__maxpool_args {
  int32_t type, adaptive;
  int64_t planes;
  struct dpt__slide slide;
  const void *in;      /* (planes, in) */
  const void *samples; /* (planes, fractional) or NULL: fractional max pooling */
  int64_t fractional;  /* dimensions covered by samples */
  void *out;           /* (planes, out) */
  int64_t *idx;        /* (planes, out) */
};
/* Gathers: to[i] = from[idx[i]]. If `scatters` is set: to = 0, then to[idx[i]] = from[i], or
 * to[idx[i]] += from[i] if `adds` is set. Each plane has `small` indices and, on the side that they
 * select from, `large` elements. */
struct dpt__unpool_args {
  int32_t type, scatters, adds;
  int64_t planes, small, large;
  const void *from;
  const int64_t *idx;
  void *to;
};
struct dpt__avgpool_args {
  int32_t type, adaptive, count_pad, backward;
  int64_t planes;
  struct dpt__slide slide;
  void *in, *out; /* forward reads in and writes out; backward reads out and writes in */
};

/* Softmax over C, for N images of S positions. */
struct dpt__softmax_args {
  int32_t type, log;
  int64_t N, C, S;
  const void *in, *gout;
  void *out, *gin; /* gin: not NULL in backward, which reads gout and out */
};

struct dpt__batchnorm_args {
  int32_t type, param_type, train; /* param_type: of all with C elements */
  int64_t N, C, S;
  double momentum, eps;
  const void *in, *weight, *bias; /* (N, C, S), (C) or NULL */
  void *out, *save_mean, *save_std, *running_mean, *running_var;
};
struct dpt__batchnorm_backward_args {
  int32_t type, param_type, train; /* as above */
  int64_t N, C, S;
  double scale, eps;
  const void *in, *gout, *weight, *mean, *deviation; /* saved, or running mean and variance */
  void *gin, *gweight, *gbias;                       /* may be NULL */
};

/* in is (rows, K, S); row r has the parameters (groups, K)[r % groups]. save: (rows, 2), the mean
 * (0 if rms) and 1 / sqrt(variance + eps), of the type that kernels compute in. */
struct dpt__norm_args {
  int32_t type, param_type, rms; /* param_type: of weight and bias */
  int64_t rows, groups, K, S;
  double eps;
  const void *in, *weight, *bias; /* weight and bias may be NULL */
  void *out, *save;
};
struct dpt__norm_backward_args {
  int32_t type, param_type, rms;
  int64_t rows, groups, K, S;
  double scale;
  const void *in, *gout, *weight, *save;
  void *gin, *gweight, *gbias; /* may be NULL */
};

/* Strides of an operand (N, heads, rows, columns); columns are adjacent, except a mask's. */
struct dpt__heads {
  int64_t batch, head, row;
};
/* dpt_attention_forward; backward reads out and save. q, k, v, out and their gradients have
 * strides; save is contiguous. */
struct dpt__attention_args {
  int32_t type, mask_type, backward, deterministic, tf32; /* mask_type: bytes, or type */
  int64_t N, H, G, L, S, E, V;
  dpt_attention options;
  struct dpt__heads q_at, k_at, v_at, out_at, gq_at, gk_at, gv_at, gout_at, mask_at;
  int64_t mask_column;   /* stride */
  const void *q, *k, *v; /* (N, H, L, E), (N, G, S, E), (N, G, S, V) */
  const void *mask;      /* or NULL */
  void *out, *save;      /* (N, H, L, V), (N, H, L, 2) */
  const void *gout;      /* like out */
  void *gq, *gk, *gv;    /* like q, k, v */
};

struct dpt__dropout_mask_args {
  int32_t type;
  int64_t n, first; /* elements; the position of the first one in the draw */
  double p, value;
  dpt_draw draw;
  void *mask;
};

/* Returns element i of any type; integers beyond 2^53 are rounded. */
DPT__EVERYWHERE static inline double dpt__index_number(const void *p, int type, int64_t i) {
  switch (type) {
#define X(id, element, ...)                                                                        \
  case id:                                                                                         \
    return dpt__get_element(id, (const element *)p + i);
    DPT_DTYPES(X)
#undef X
  }
  return 0;
}
/* Returns an index or a class of any element type, truncated toward zero. Returns INT64_MIN for NaN
 * and reals beyond 9e15. */
DPT__EVERYWHERE static inline int64_t dpt__index_at(const void *p, int type, int64_t i) {
  switch (type) {
#define X(id, integer, ...)                                                                        \
  case id:                                                                                         \
    return ((const integer *)p)[i];
    DPT_INTEGER_DTYPES(X)
#undef X
  }
  double v = dpt__index_number(p, type, i);
  return v > -9e15 && v < 9e15 ? (int64_t)v : INT64_MIN;
}

/* idx: n indices of type index_type */
struct dpt__lookup_args {
  int32_t type, index_type;
  int64_t n, V, D;
  const void *weight, *idx;
  void *out; /* (n, D) */
};
struct dpt__lookup_backward_args {
  int32_t type, param_type, index_type, by_frequency; /* param_type: of gw */
  int64_t n, V, D, padding;
  double scale;
  const void *idx, *gout;
  void *gw; /* (V, D) */
};
struct dpt__lookup_renorm_args {
  int32_t type, index_type;
  int64_t n, V, D;
  double max_norm, p;
  const void *idx;
  void *weight;
};

/* N images of S positions with C classes; target N*S */
struct dpt__nll_args {
  int32_t type, target_type, average;
  int64_t N, C, S, ignore;
  const void *in, *target, *weight; /* weight (C) or NULL */
  void *out, *total, *gin; /* out, total (1); gin: not NULL in backward, which reads total */
};
enum dpt__loss {
#define DPT_LOSS(name, target, value, gradient) DPT__LOSS_##name,
#include "nn/loss.def"
#undef DPT_LOSS
  DPT__NLOSS
};
/* If gin is NULL the loss is written to out, otherwise its gradient to gin. */
struct dpt__loss_args {
  int32_t type, loss, average;
  int64_t n;
  double p;
  const void *in, *target, *weight; /* (n); target and weight may be NULL */
  void *out, *gin;                  /* out (1) */
};
/* out and gin: as in dpt__loss_args */
struct dpt__multimargin_args {
  int32_t type, target_type, average, p;
  int64_t N, C;
  double margin;
  const void *in, *target, *weight;
  void *out, *gin;
};
struct dpt__multilabel_args {
  int32_t type, target_type, average;
  int64_t N, C;
  const void *in, *target;
  void *out, *gin;
};

/* Used in both directions: backward reads out and writes in. */
struct dpt__upsample_args {
  int32_t type, linear, backward;
  int64_t planes, insize[3], outsize[3];
  void *in, *out;
};
struct dpt__pad_args {
  int32_t type, mode, backward;
  int64_t planes, insize[3], outsize[3], below[3];
  void *in, *out;
};

/* weight: 1 (shared) or C */
struct dpt__prelu_args {
  int32_t type, param_type, shared; /* param_type: of gw */
  int64_t N, C, S;
  double scale;
  const void *in, *gout, *weight;
  void *out, *gin, *gw; /* the one that is not NULL is computed */
};

struct dpt__lrn_args {
  int32_t type;
  int64_t N, C, S, size;
  double alpha, beta, k;
  const void *in, *gout;
  void *out, *denom, *gin; /* gin: not NULL in backward, which reads the others */
};

struct dpt__sgd_args {
  int32_t type, nesterov, first;
  int64_t n;
  double rate, decay, momentum, keep;
  /* In both steps, if x and g have a reduced type, g is only read, and the others are floats. */
  void *x, *g, *v;            /* v may be NULL */
  const void *rates, *decays; /* may be NULL */
};
struct dpt__adam_args {
  int32_t type, decoupled;
  int64_t n;
  double rate, decay, beta1, beta2, eps;
  double base; /* decoupled: the factor of the decay, the learning rate without its correction */
  void *x, *g, *m, *v, *vmax; /* vmax may be NULL */
  const void *rates, *decays; /* may be NULL */
};
/* Steps that write the first elements of x, floats, to a copy of a reduced type, rounded. */
struct dpt__step_copy {
  int32_t type;
  int64_t n; /* 0: no copy */
  void *to;
};
/* Steps with a loss scaler, whose numbers and counts the kernels read; NULL: none. */
struct dpt__step_scaler {
  const double *scaler, *count;
};
struct dpt__sgd_mixed_args {
  struct dpt__sgd_args step;
  struct dpt__step_copy copy;
  struct dpt__step_scaler scaler;
};
struct dpt__adam_mixed_args {
  struct dpt__adam_args step;
  struct dpt__step_copy copy;
  struct dpt__step_scaler scaler;
};

/* Counts a step with a scaler and computes its numbers (nn/scaler.h). */
struct dpt__step_count_args {
  int32_t type /* unused */, adam, decoupled, has_velocity;
  double rate, rate_decay, beta1, beta2, eps;
  const double *scaler;
  double *count;
};
struct dpt__scaler_step_args {
  int32_t type;
  double growth, backoff, every, *scaler;
  void *norm; /* (1) */
};
/* r = x * factor; x may be r */
struct dpt__scale_by_args {
  int32_t type;
  int64_t n;
  const void *x;
  const double *factor;
  void *r;
};

#endif
