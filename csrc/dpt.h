/* dpt.h: the public C interface of libdpt.
 *
 * Invariant: the text between the two marks is plain C declarations, no macros, since LuaJIT's FFI
 * reads this very text (the build compiles it into the library, dpt_cdef() returns it). Every
 * function that can fail returns 0, or nonzero and leaves one error message in dpt_message() of
 * the calling thread: it names the function, the argument, what it got and what it wanted.
 * Dimensions and indices are counted from 0 here; Lua's 1-based numbers are translated in lua/dpt.
 * Tensor arguments named r, out, gin, gw ... are results; `const` ones are only read.
 */
#ifndef DPT_H
#define DPT_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* ---- base ---------------------------------------------------------------------------------- */

/* The message of the last failure on this thread; "" if there was none. */
const char *dpt_message(void);
/* The count of what this thread has queued, done or drawn, as long as the thread lives; and whether
 * the function that has just failed, before which the count was that, lacked memory and has done
 * nothing yet: then the caller may free some and call it again. */
const uint32_t *dpt_effects(void);
int dpt_may_retry(uint32_t before);
/* "1.0.0", and the text between the marks of this header. */
const char *dpt_version(void);
const char *dpt_cdef(void);

/* Element types, in the order of the one list in base/dtype.h. */
enum { DPT_U8, DPT_I8, DPT_I16, DPT_I32, DPT_I64, DPT_F16, DPT_F32, DPT_F64, DPT_NDTYPE };

/* Clocks in seconds: since some fixed moment (never goes back), since 1970; the CPU time that this
 * process used. dpt_cores: CPU cores that this process may run on. */
double dpt_clock(void);
double dpt_epoch(void);
void dpt_cpu_time(double *user, double *system);
void dpt_sleep(double seconds);
int dpt_cores(void);
/* The columns of the terminal at a file descriptor, 80 if it does not know them; 0: no terminal. */
int dpt_terminal(int descriptor);
/* 0: there is nothing at path, 1: a file, 2: a folder. */
int dpt_path_kind(const char *path);
/* The names in a folder, each followed by a '/'; the path of the current folder. NULL: failed. The
 * text is valid until the same thread calls one of the two again. */
const char *dpt_folder_list(const char *path);
const char *dpt_cwd(void);
int dpt_folder_make(const char *path);
int dpt_folder_remove(const char *path);
/* value NULL: the variable goes away. */
int dpt_setenv(const char *name, const char *value);
/* Files of Lua's io library, which LuaJIT passes as FILE pointers: bytes read (less than n: the
 * end; -1: failed), n bytes written, what the buffer holds written, one byte (-1: the end) and back
 * again, bytes up to the end (-1: not known, as of a pipe). Messages are reasons without a
 * function's name. A write to a pipe whose reader has gone fails, and drops the buffer. */
int64_t dpt_file_read(void *file, void *data, int64_t n);
int dpt_file_write(void *file, const void *data, int64_t n);
int dpt_file_flush(void *file);
int dpt_file_byte(void *file);
void dpt_file_unread(void *file, int byte);
int64_t dpt_file_left(void *file);
/* Reads up to n numbers as text, elements of a type from i16 on, from a file or, where that is
 * NULL, from `size` bytes in memory (becomes how many were used); how many there were. */
int64_t dpt_text_read(void *file /* or NULL */, const void *bytes /* or NULL */,
                      int64_t *size /* or NULL */, int dtype, void *to, int64_t n);
/* A file that is to replace the one at path at once. replacement: target: path without symbolic
 * links; name: a new, empty file beside it, open as `descriptor`, or target itself where that is no
 * regular file (a pipe; descriptor is -1 then). Both texts have `size` bytes. What a killed
 * process left there is removed. replace: what was written to name by now is on the disk (if
 * durable), then at target, and the descriptor is closed; drop: name and descriptor go away. */
int dpt_file_replacement(const char *path, char *target, char *name, int64_t size, int *descriptor);
int dpt_file_replace(int descriptor, const char *name, const char *target, int durable);
void dpt_file_drop(int descriptor, const char *name);
/* The libraries that dpt computes with, a line each: "name version"; opens the BLAS, which is left
 * out where there is none. */
const char *dpt_libraries(void);
/* Measures for about 0.1 s how fast one core is, in 10^9 operations on floats a second: the BLAS's
 * product of two matrices, and at most: multiply-adds in the widest registers, without memory;
 * *isa: the name of that instruction set. */
int dpt_blas_speed(double *product, double *peak, const char **isa);

/* ---- tensor -------------------------------------------------------------------------------- */

enum { DPT_MAXDIM = 12, DPT_ON_DEVICE = 8 };

/* Counted memory of one element type on the host or on one device; device/storage.h has its rules.
 */
typedef struct dpt_storage dpt_storage;

/* A view of a storage, by value: whoever made it owns one reference to storage_ (dpt_tensor_free
 * releases it). Field names end in _ so that none hides a Lua method. kind_ is the element type,
 * plus DPT_ON_DEVICE for device memory; it never changes after birth. ndim_ 0 means no elements
 * (Torch7's empty tensor), whatever storage_ is. Strides count elements. */
typedef struct dpt_tensor {
  dpt_storage *storage_;
  int64_t offset_; /* offset of the first element in the storage, from 0 */
  int32_t kind_;
  int32_t ndim_;
  int64_t size_[12];
  int64_t stride_[12];
} dpt_tensor;

/* Views and sizes. Dimensions and indices are from 0. `out` is a zeroed tensor whose kind_ is set,
 * an older tensor of the same kind (its reference is given back), or the very tensor that is looked
 * at. A view shares the storage. Nothing is changed where a function fails. */

/* r: a fresh contiguous tensor, elements not set; on devices: on the current one. Whatever r held
 * is not looked at. ndim 0: empty, without storage. */
int dpt_tensor_new(dpt_tensor *r, int kind, int ndim, const int64_t *size);
/* Releases the reference; the tensor is empty afterwards and may be used again. */
void dpt_tensor_free(dpt_tensor *t);
/* r becomes another view of a's elements. */
int dpt_tensor_set(dpt_tensor *r, const dpt_tensor *a);
/* r becomes a view of storage (NULL: empty) from element first; stride NULL or negative entries:
 * contiguous. A storage that is too small grows, as in Torch7. */
int dpt_set_storage(dpt_tensor *r, dpt_storage *storage, int64_t first, int ndim,
                    const int64_t *size, const int64_t *stride);
/* Torch7's resize: the same sizes (and strides, where given) change nothing; else r is contiguous
 * (or has the given strides; negative ones: contiguous) and its storage grows if too small. */
int dpt_resize(dpt_tensor *r, int ndim, const int64_t *size);
int dpt_resize_strided(dpt_tensor *r, int ndim, const int64_t *size, const int64_t *stride);
int dpt_resize_as(dpt_tensor *r, const dpt_tensor *a);
/* The same, where memory that r lacks comes from a's device, whatever the current one is. */
int dpt_resize_beside(dpt_tensor *r, int ndim, const int64_t *size, const dpt_tensor *a);
/* Elements first .. first+n-1 of a dimension. */
int dpt_narrow(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t first, int64_t n);
/* Slice i of a dimension, which goes away; t has two dimensions or more. */
int dpt_select(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t i);
int dpt_transpose(dpt_tensor *out, const dpt_tensor *t, int dim1, int dim2);
/* Dimension d of out is dimension order[d] of t; order has t's dimension count. */
int dpt_permute(dpt_tensor *out, const dpt_tensor *t, const int32_t *order);
/* Windows of n elements every `step` of a dimension; the window is the new last dimension. */
int dpt_unfold(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t n, int64_t step);
/* Dimensions of size 1 are repeated by a stride of 0; ndim must be t's. */
int dpt_expand(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Other sizes over the elements of a contiguous tensor; one of them may be -1. */
int dpt_view(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Without dimensions of size 1 (one stays if all are), or without dimension dim if its size is 1.
 */
int dpt_squeeze(dpt_tensor *out, const dpt_tensor *t);
int dpt_squeeze_dim(dpt_tensor *out, const dpt_tensor *t, int dim);
/* With a new dimension of size 1 before dimension dim. */
int dpt_unsqueeze(dpt_tensor *out, const dpt_tensor *t, int dim);
/* A view of t if it is contiguous, else of a contiguous copy. */
int dpt_contiguous(dpt_tensor *out, const dpt_tensor *t);
/* out: a contiguous copy in fresh memory on t's device. */
int dpt_clone(dpt_tensor *out, const dpt_tensor *t);

int64_t dpt_count(const dpt_tensor *t); /* elements */
int dpt_is_contiguous(const dpt_tensor *t);
int dpt_is_same_size(const dpt_tensor *a, const dpt_tensor *b);
int dpt_is_set_to(const dpt_tensor *a, const dpt_tensor *b); /* the same view of one storage */
/* The same of n tensors and as many structs that were copied of them; a NULL counts as the same. */
int dpt_are_set_to(int n, const dpt_tensor *const *a, const dpt_tensor *b);
/* The first of the dimensions along which places of t may be one element (expanded, windows that
 * overlap), from 0; -1: there are none. */
int dpt_shared_dimension(const dpt_tensor *t);
int dpt_tensor_device(const dpt_tensor *t); /* from 1; 0: host memory or no storage */
/* The first element in host memory; NULL: a device tensor or no storage. */
void *dpt_tensor_data(const dpt_tensor *t);

/* The element `offset` elements from t's first one (the sum of index * stride_); rejected outside
 * the storage. On devices it waits for the current stream (get) or is queued there (put). A number
 * becomes an integer as wherever one is given (fill, indexFill, scatter ...): truncated, by way of
 * 32 bits (64 for 64-bit elements); what does not fit into these is their least integer. */
int dpt_get(const dpt_tensor *t, int64_t offset, double *value);
int dpt_put(dpt_tensor *t, int64_t offset, double value);
/* The same by dimensions, with a check of every index. */
int dpt_get_at(const dpt_tensor *t, int n, const int64_t *index, double *value);
int dpt_put_at(dpt_tensor *t, int n, const int64_t *index, double value);
/* How many of n numbers are NaNs with bits of their own: LuaJIT keeps the types of its values in
 * such bits, and takes them for other values, at once or after arithmetic (which makes signalling
 * NaNs quiet and changes signs). to: becomes the numbers with all NaNs made plain. All functions
 * here that return a number return a plain one. */
int64_t dpt_plain(const double *from, int64_t n, double *to /* or NULL */);

/* ---- fill, copy, pointwise ----------------------------------------------------------------- */

/* Every element becomes value (converted as in dpt_put). r is not resized. */
int dpt_fill(dpt_tensor *r, double value);
/* r = a, element by element in row-major order; equal counts, any types, any sides: host and
 * device, device and device. r is not resized. Host memory has been read or written when it
 * returns. */
int dpt_copy(dpt_tensor *r, const dpt_tensor *a);
/* The same, but page-locked host memory may still be in use when it returns: the current stream of
 * the device side orders it. */
int dpt_copy_async(dpt_tensor *r, const dpt_tensor *a);

/* Pointwise operations by name: ops/map.def lists them with their operands, numbers and types.
 * dpt_op returns the number of a name for the dpt_map calls, -1 if there is none.
 * r is resized to a's size; a, b and c have equal counts, not necessarily equal sizes; r may be an
 * operand. All are of one kind, except that r of a comparison may be a ByteTensor kind. p and q are
 * the operation's numbers: integer types truncate them first.
 */
int dpt_op(const char *name);
int dpt_map1(int op, dpt_tensor *r, const dpt_tensor *a, double p, double q);
int dpt_map2(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, double p, double q);
int dpt_map3(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, const dpt_tensor *c,
             double p, double q);

/* ---- ops ----------------------------------------------------------------------------------- */

/* Operations on tensors of any element type unless said otherwise, on the host or on one device.
 * Index tensors (idx) are Long tensors of the same device and count from 1, as Torch7's; given as
 * input, an index tensor of another element type is rejected. On the host a bad index is an
 * error before anything is written; on a device it is found by the work itself and comes back at
 * the next wait. Results are resized, except where it says "not resized". Non-contiguous operands
 * are legal; a result may be the operand itself. Half computes through float. */

/* Reductions, by name: sum prod mean var std norm max min all any. dpt_reduction returns the number
 * of a name, -1 if there is none. p: for var and std 0 divides by n-1, 1 by n; for norm the
 * exponent; otherwise unused. mean var std norm: float and double (and half); all any: bytes.
 * Accumulators are wide, the order of additions is fixed: it depends on the sizes and strides
 * alone, never on the number of threads. max and min: the first of equals, NaN wins. */
int dpt_reduction(const char *name);
/* Over dimension dim, which is kept at size 1. Integers wrap to their type. idx: NULL, or gets the
 * positions (from 1) for max and min; resized like r. */
int dpt_reduce(int op, dpt_tensor *r, dpt_tensor *idx /* or NULL */, const dpt_tensor *a, int dim,
               double p);
/* Over everything, wide, into *value; on a device waits for the operand's stream alone. Over no
 * elements, here and by dimension: sum 0, prod 1, norm 0, all 1, any 0, the others raise. */
int dpt_reduce_all(int op, const dpt_tensor *a, double p, double *value);
/* Sum of a*b, and the p-norm of a - b, over tensors of one type and equal counts. */
int dpt_dot(const dpt_tensor *a, const dpt_tensor *b, double *value);
int dpt_dist(const dpt_tensor *a, const dpt_tensor *b, double p, double *value);
/* torch.equal: 1 where sizes and all elements are equal. */
int dpt_equal(const dpt_tensor *a, const dpt_tensor *b, int *value);
int dpt_trace(const dpt_tensor *a, double *value);

/* The k-th smallest (k from 1) along dim, the most frequent value (the smallest of those, at
 * its last index), with indices; both kept at size 1. median is kthvalue with k = (n + 1) / 2. */
int dpt_kthvalue(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim);
int dpt_mode(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim);
/* Sorted along dim (equals keep their order, NaN counts as largest); the k largest or smallest, in
 * order (sorted 1) or in any order. */
int dpt_sort(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim, int descending);
int dpt_topk(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim, int largest,
             int sorted);

/* Running sums and products along dim. */
int dpt_cumsum(dpt_tensor *r, const dpt_tensor *a, int dim);
int dpt_cumprod(dpt_tensor *r, const dpt_tensor *a, int dim);
/* Slices of dimension dim whose p-norm exceeds max_norm are scaled to it. Float, double, half. */
int dpt_renorm(dpt_tensor *r, const dpt_tensor *a, double p, int dim, double max_norm);
/* Cross products along dim, of size 3; dim -1: the first dimension of size 3. */
int dpt_cross(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, int dim);
/* Counts of equal bins between min and max (both 0: the least and greatest element) over
 * everything, and row by row of a 2-D tensor. Float and double. */
int dpt_histc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max);
int dpt_bhistc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max);
/* Lower and upper triangle of a matrix up to and from its k-th diagonal; a diagonal as a vector, or
 * a vector as a diagonal. */
int dpt_tril(dpt_tensor *r, const dpt_tensor *a, int64_t k);
int dpt_triu(dpt_tensor *r, const dpt_tensor *a, int64_t k);
int dpt_diag(dpt_tensor *r, const dpt_tensor *a, int64_t k);

/* index: r = the slices of a along dim that idx (1-D) names. indexCopy, indexAdd (in the order of
 * idx), indexFill write to such slices of r (not resized). */
int dpt_index(dpt_tensor *r, const dpt_tensor *a, int dim, const dpt_tensor *idx);
int dpt_index_copy(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a);
int dpt_index_add(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a);
int dpt_index_fill(dpt_tensor *r, int dim, const dpt_tensor *idx, double value);
/* gather: r[i][j] = a[i][idx[i][j]] for dim 1, and so on; r has idx's size (not resized). scatter,
 * scatterAdd, scatter of a number: r[i][idx[i][j]] = a[i][j] (not resized), in the order of idx. */
int dpt_gather(dpt_tensor *r, const dpt_tensor *a, int dim, const dpt_tensor *idx);
int dpt_scatter(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a);
int dpt_scatter_add(dpt_tensor *r, int dim, const dpt_tensor *idx, const dpt_tensor *a);
int dpt_scatter_fill(dpt_tensor *r, int dim, const dpt_tensor *idx, double value);
/* Masks are Byte tensors of the other operand's count. select returns a vector (on a device it
 * waits: its size depends on the mask); copy takes a's elements in order, a may have more. */
int dpt_masked_select(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *mask);
int dpt_masked_copy(dpt_tensor *r, const dpt_tensor *mask, const dpt_tensor *a);
int dpt_masked_fill(dpt_tensor *r, const dpt_tensor *mask, double value);
/* r (Long, n x dimensions): the positions of elements other than 0, from 1. Waits on a device. */
int dpt_nonzero(dpt_tensor *r, const dpt_tensor *a);

/* r = from, from + step, ... to; a result of that count keeps its sizes. n numbers evenly from
 * `from` to `to` (their powers of ten), float and double. An n x m matrix with ones on the
 * diagonal. */
int dpt_range(dpt_tensor *r, double from, double to, double step);
int dpt_linspace(dpt_tensor *r, double from, double to, int64_t n);
int dpt_logspace(dpt_tensor *r, double from, double to, int64_t n);
int dpt_eye(dpt_tensor *r, int64_t n, int64_t m);
/* n tensors of one type joined along dim (-1: the last); empty ones are skipped; dim may be one
 * more than they have (joined along a new dimension). r is none of them. */
int dpt_cat(dpt_tensor *r, int n, const dpt_tensor *const *list, int dim);

/* Products of any element type; halves sum in float. r = beta * m + alpha * (a times b): r is
 * resized to m's size unless it is m itself; beta 0 does not read m, so that the product alone is
 * dpt_addmm(r, 0, r, 1, a, b). In deterministic mode a row of addmm does not depend on the
 * other rows of a. */
int dpt_addmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
              const dpt_tensor *b); /* m NxM, a NxK, b KxM */
int dpt_addmv(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
              const dpt_tensor *b); /* m N, a NxM, b M */
int dpt_addr(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
             const dpt_tensor *b); /* m NxM, a N, b M */
int dpt_addbmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
               const dpt_tensor *b); /* m NxM, a BxNxK, b BxKxM: the sum of the products */
int dpt_baddbmm(dpt_tensor *r, double beta, const dpt_tensor *m, double alpha, const dpt_tensor *a,
                const dpt_tensor *b); /* m BxNxM, a BxNxK, b BxKxM */

/* torch.conv2, xcorr2 (ndim 2), conv3, xcorr3 (ndim 3): planes of ndim dimensions. a and k of ndim
 * dimensions; of ndim + 1: plane by plane, as Torch7; k of ndim + 2: the sum over input planes for
 * each output plane. full: 1 'F', 0 'V'; flip: 1 convolution, 0 correlation. */
int dpt_conv(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *k, int ndim, int full, int flip);

/* Torch7's generator, MT19937: the same numbers for the same seed. One generator must not be used
 * by two threads at once. A new one is seeded at random. */
typedef struct dpt_generator dpt_generator;
int dpt_generator_new(dpt_generator **g);
void dpt_generator_free(dpt_generator *g);
void dpt_generator_copy(dpt_generator *g, const dpt_generator *from);
void dpt_generator_manual_seed(dpt_generator *g, uint64_t seed);
uint64_t dpt_generator_seed(dpt_generator *g); /* seeds at random, returns the seed */
uint64_t dpt_generator_initial_seed(const dpt_generator *g);
/* The whole state in a host Byte tensor. */
int dpt_generator_get(const dpt_generator *g, dpt_tensor *r);
int dpt_generator_set(dpt_generator *g, const dpt_tensor *state);
/* Every device has a Philox state (seed, offset), from 1: 0 means the current device. Whatever
 * draws on a device, dropout too, moves its offset by one; with the state everything is drawn
 * again. */
int dpt_device_manual_seed(int device, uint64_t seed);
void dpt_devices_manual_seed(uint64_t seed); /* all; does not set devices up */
int dpt_device_seed(int device, uint64_t *seed);
int dpt_device_initial_seed(int device, uint64_t *seed);
int dpt_device_rng_get(int device, dpt_tensor *r);
int dpt_device_rng_set(int device, const dpt_tensor *state);

/* What one draw is keyed by: element i of a tensor, in row-major order, has the Philox words of
 * position first_row * (elements of a row) + i under (seed, offset). live_: of a draw that a graph
 * captured, where the device finds what is to be added to seed and offset. */
typedef struct dpt_draw {
  uint64_t seed, offset;
  int64_t first_row;
  const uint64_t *live_;
} dpt_draw;
/* The next draw for a tensor like that, which has so many rows (0: none): of its device, which
 * moves on, or with a seed from g. Nothing is drawn for an empty tensor. */
int dpt_draw_next(dpt_draw *draw, const dpt_tensor *like, dpt_generator *g, int64_t rows);

/* The draws of n replicas in one pass. make: what all begin with, the state of `device`, which is
 * the first replica's; the caller fills in the rest. From enter to leave, which may be nested, the
 * calling thread draws on its current device as this replica: tensors of its rows as one device
 * would have drawn them in the whole batch, others as no other replica. Afterwards `device` is as
 * far as the replica that drew most. Seeding in a pass ends it for the device. */
typedef struct dpt_pass {
  uint64_t seed, offset;
  int64_t first_row, rows; /* the replica's in the batch; rows 0: not known */
  int32_t device, replica; /* replica 0: it is alone */
} dpt_pass;
int dpt_pass_make(dpt_pass *pass, int device);
int dpt_pass_enter(const dpt_pass *pass);
void dpt_pass_leave(void);

/* The same for host tensors: until the next call what this thread draws for a tensor of `rows`
 * rows, or as many for each of them, are the numbers that one of `total` rows would get from row
 * `first` on, and the generator goes on behind all of these. Tensors of other sizes get theirs as
 * ever. total 0: every tensor does. */
void dpt_rows_set(int64_t first, int64_t rows, int64_t total);
/* A number by which states of generators can be compared. */
double dpt_generator_hash(const dpt_generator *g);

/* Distributions, by name, with a and b: random (integers; no bounds: a > b; a .. b otherwise),
 * uniform (a, b), normal (mean, deviation), exponential (rate), cauchy (median, sigma), logNormal
 * (mean, deviation), geometric (p to go on), bernoulli (p). uniform normal exponential cauchy
 * logNormal: float, double, half. Host tensors draw from g, in row-major order; device tensors from
 * the state of their device (g is not looked at). Sizes stay. */
int dpt_distribution(const char *name);
int dpt_random(int distribution, dpt_tensor *r, dpt_generator *g, double a, double b);
double dpt_random_number(int distribution, dpt_generator *g, double a, double b);
/* Element i is 1 with probability p[i]; p: float or double of r's count. */
int dpt_bernoulli(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p);
int dpt_randperm(dpt_tensor *r, dpt_generator *g, int64_t n); /* 1 .. n */
/* n draws of 1 .. C with probabilities p (C or NxC, real, not normalised) into r (Long, n or Nxn).
 * On a device it waits, to reject bad probabilities. */
int dpt_multinomial(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p, int64_t n,
                    int replacement);
/* Tables for draws in constant time (J Long, q of p's type; p real, not normalised), and draws of
 * 1 .. n into r (Long, not resized). J counts from 1, on devices from 0, as Torch7's and cutorch's
 * did. On devices both are computed on the host, so they wait. */
int dpt_multinomial_alias_setup(dpt_tensor *J, dpt_tensor *q, const dpt_tensor *p);
int dpt_multinomial_alias(dpt_tensor *r, dpt_generator *g, const dpt_tensor *J,
                          const dpt_tensor *q);

/* LAPACK on float and double matrices; device tensors are computed on the host, so these wait.
 * Options are Torch7's letters. A singular matrix is an error, and so are inf and NaN in what
 * symeig, eig and svd iterate on, and NaN in potrf; others pass them on. */
int dpt_gesv(dpt_tensor *x, dpt_tensor *lu, const dpt_tensor *b, const dpt_tensor *a);
int dpt_trtrs(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a,
              const char *uplo, const char *trans, const char *diag);
int dpt_gels(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a);
int dpt_inverse(dpt_tensor *r, const dpt_tensor *a);
/* e: eigenvalues in ascending order; v: eigenvectors in columns (job 'V') or a's leavings. */
int dpt_symeig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job,
               const char *uplo);
/* e: n x 2, real and imaginary parts; v is left alone with job 'N'. */
int dpt_eig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job);
/* a = u * diag(s) * v^T; job 'S' or 'A'. */
int dpt_svd(dpt_tensor *u, dpt_tensor *s, dpt_tensor *v, const dpt_tensor *a, const char *job);
int dpt_potrf(dpt_tensor *r, const dpt_tensor *a, const char *uplo);
int dpt_potri(dpt_tensor *r, const dpt_tensor *a, const char *uplo);
int dpt_potrs(dpt_tensor *x, const dpt_tensor *b, const dpt_tensor *a, const char *uplo);
/* piv: an Int tensor, from 1. */
int dpt_pstrf(dpt_tensor *r, dpt_tensor *piv, const dpt_tensor *a, const char *uplo, double tol);
int dpt_qr(dpt_tensor *q, dpt_tensor *r, const dpt_tensor *a);
int dpt_geqrf(dpt_tensor *r, dpt_tensor *tau, const dpt_tensor *a);
int dpt_orgqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau);
int dpt_ormqr(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *tau, const dpt_tensor *c,
              const char *side, const char *trans);

/* ---- nn ------------------------------------------------------------------------------------ */

/* Layer operations on float and double tensors, all of one kind, on the host or on one device
 * (there also on halfs, which are computed in float); index and target tensors (idx, target) may be
 * of any element type on the same device and hold Torch7's numbers, counted from 1. Results (first,
 * not const) are resized; gin has the size of in; gradients of parameters (gw, gb, gweight ...) are
 * not resized and are added to, times scale.
 * "(N) x" means that a batch dimension may be missing. Non-contiguous operands are legal. Empty
 * batches are legal: outputs are empty, sums get nothing. NULL stands where a doc comment allows.
 */

/* Sums of products have one order (linear), and convolutions take one image at a time, so that a
 * row's output and gradInput do not depend on the other rows of its batch. Process-wide; its value
 * at the call counts, also for work that runs later. Starts as DPT_DETERMINISTIC says. */
void dpt_deterministic_set(int on);
int dpt_deterministic_get(void);
/* Whether GPUs may round the operands of float products and convolutions to 10 bits (TF32), which
 * is several times as fast. Off at first; process-wide; its value at the call counts. */
void dpt_tf32_set(int on);
int dpt_tf32_get(void);

/* nn.Linear. in (N)xI, weight OxI, bias O or NULL, out (N)xO: out = in * weight^T + bias. */
int dpt_linear_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                       const dpt_tensor *bias /* or NULL */);
int dpt_linear_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *weight);
/* gw += scale * gout^T * in; gb (may be NULL) += scale * the sum of gout's rows. */
int dpt_linear_backward_weight(dpt_tensor *gw, dpt_tensor *gb /* or NULL */, const dpt_tensor *in,
                               const dpt_tensor *gout, double scale);

/* How convolution and pooling slide: entries 0 .. ndim-1 from the outermost spatial dimension
 * (2-D: height, width; 3-D: time, height, width). Zeroed fields mean: groups 1, stride 1, pad 0,
 * dilation 1, adjust 0. */
typedef struct dpt_window {
  int32_t ndim;       /* 1, 2 or 3 */
  int32_t groups;     /* convolution: I and O are cut into that many independent groups */
  int32_t transposed; /* convolution: nn.SpatialFullConvolution; weight is Ix(O/groups)xK */
  int32_t ceil;       /* pooling: round output sizes up */
  int32_t count_pad;  /* average pooling: padding counts in the divisor */
  int32_t search;     /* convolution on a GPU: how cuDNN's algorithm is chosen, see below */
  int64_t kernel[3], stride[3], pad[3], dilation[3];
  int64_t adjust[3]; /* transposed convolution: added to the output size */
} dpt_window;
/* Bits of dpt_window.search. BENCHMARK: algorithms are measured at the first use of a shape
 * (cuDNN's heuristics choose otherwise). FASTEST: a workspace may have as much memory as is free
 * (otherwise at most 1 GiB and half of what is free). VERBOSE: the choice is printed on stderr. */
enum { DPT_SEARCH_BENCHMARK = 1, DPT_SEARCH_FASTEST = 2, DPT_SEARCH_VERBOSE = 4 };

/* Convolution (cross-correlation), 1-D to 3-D. in (N)xIxS, weight Ox(I/groups)xK or any shape of
 * equal count and first size (SpatialConvolutionMM), bias O or NULL, out (N)xOxS'. */
int dpt_conv_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                     const dpt_tensor *bias /* or NULL */, const dpt_window *window);
/* Of `in` only the size (gin's) counts. */
int dpt_conv_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                           const dpt_tensor *weight, const dpt_window *window);
/* gw or gb may be NULL. */
int dpt_conv_backward_weight(dpt_tensor *gw /* or NULL */, dpt_tensor *gb /* or NULL */,
                             const dpt_tensor *in, const dpt_tensor *gout, const dpt_window *window,
                             double scale);

/* Max pooling, dilation allowed, pad at most kernel/2. in (N)xCxS; idx (a LongTensor kind) gets
 * Torch7's indices: the position of the maximum within its plane, from 1. */
int dpt_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                        const dpt_window *window);
/* The same with windows that tile the plane: sizes size[0 .. ndim-1] of the output. */
int dpt_adaptive_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
/* Fractional max pooling (SpatialFractionalMaxPooling): windows of window->kernel, their positions
 * drawn from samples, (N)xCxndim numbers in [0, 1): the first is the innermost dimension's, as in
 * Torch7. Output sizes are size[0 .. ndim-1]. */
int dpt_fractional_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                                   const dpt_tensor *samples, const dpt_window *window,
                                   const int64_t *size);
/* Backward of all three: gin = 0; gin[idx] += gout, plane by plane; ndim spatial dimensions. */
int dpt_maxpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_tensor *idx, int ndim);
/* nn.SpatialMaxUnpooling: out (planes of size[0 .. ndim-1]) = 0; out[idx] = in; and its gradient.
 */
int dpt_maxunpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *idx, int ndim,
                          const int64_t *size);
int dpt_maxunpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *idx,
                           int ndim);

/* Average pooling: in (N)xCxS. count_pad as Torch7's default, 0 as setCountExcludePad. */
int dpt_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_window *window);
int dpt_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_window *window);
int dpt_adaptive_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
int dpt_adaptive_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim);

/* SoftMax (log 0) and LogSoftMax (log 1) over the first dimension of 1-D and 3-D tensors, over the
 * second of 2-D and 4-D ones. */
int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log);
int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log);

/* Batch normalization of in NxC or NxCxS over N and S. weight and bias C or both NULL. Training:
 * save_mean and save_std (resized to C) get the batch's mean and 1/sqrt(var + eps), running_mean
 * and running_var become (1-momentum)*running + momentum*batch (unbiased variance). Otherwise the
 * running values normalize and nothing else is written. */
int dpt_batchnorm_forward(dpt_tensor *out, dpt_tensor *save_mean, dpt_tensor *save_std,
                          dpt_tensor *running_mean, dpt_tensor *running_var, const dpt_tensor *in,
                          const dpt_tensor *weight /* or NULL */,
                          const dpt_tensor *bias /* or NULL */, int train, double momentum,
                          double eps);
/* gin, gweight and gbias may each be NULL; weight may be NULL. */
int dpt_batchnorm_backward(dpt_tensor *gin /* or NULL */, dpt_tensor *gweight /* or NULL */,
                           dpt_tensor *gbias /* or NULL */, const dpt_tensor *in,
                           const dpt_tensor *gout, const dpt_tensor *weight /* or NULL */,
                           const dpt_tensor *running_mean, const dpt_tensor *running_var,
                           const dpt_tensor *save_mean, const dpt_tensor *save_std, int train,
                           double scale, double eps);

/* Dropout's mask (not resized): each element becomes `value` with probability 1-p, else 0. It
 * depends on the draw and the element's position in it alone: the same on every kind of device and
 * for every split of a batch along dimension 0. */
int dpt_dropout_mask(dpt_tensor *mask, const dpt_draw *draw, double p, double value);

/* nn.LookupTable. weight VxD; idx of any shape, numbers from 1; out is idx's size x D. */
int dpt_lookup_forward(dpt_tensor *out, const dpt_tensor *weight, const dpt_tensor *idx);
/* gw[idx] += scale * gout (divided by the count of the index within idx with by_frequency), in the
 * order of idx; rows of index `padding` (0: none) get nothing. */
int dpt_lookup_backward(dpt_tensor *gw, const dpt_tensor *idx, const dpt_tensor *gout,
                        int64_t padding, int by_frequency, double scale);
/* Rows of weight named by idx whose p-norm exceeds max_norm are scaled down to it. */
int dpt_lookup_renorm(dpt_tensor *weight, const dpt_tensor *idx, double max_norm, double p);

/* Losses leave their value in out, a tensor of one element (on a device: still in flight). */

/* ClassNLLCriterion and SpatialClassNLLCriterion: in C, NxC or NxCxHxW of log-probabilities, target
 * 1, N or NxHxW; weight C or NULL; total (resized to 1) gets the sum of weights, which average
 * divides by; targets equal to ignore (counted from 1 like them; -100 by default) do not count. A
 * class out of range is an error, on devices at the next wait. */
int dpt_nll_forward(dpt_tensor *out, dpt_tensor *total, const dpt_tensor *in,
                    const dpt_tensor *target, const dpt_tensor *weight /* or NULL */, int average,
                    int64_t ignore);
int dpt_nll_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                     const dpt_tensor *weight /* or NULL */, const dpt_tensor *total, int average,
                     int64_t ignore);

/* Pointwise losses, by name: mse abs smoothl1 bce (weight) softmargin distkl l1 (no target) margin
 * hinge (both: p is the margin). dpt_loss returns the number of a name, -1 if there is none.
 * out = sum over elements of f(in, target) * weight; average divides by the element count.
 * target has in's element count; weight too, or it is NULL. */
int dpt_loss(const char *name);
int dpt_loss_forward(int loss, dpt_tensor *out, const dpt_tensor *in,
                     const dpt_tensor *target /* or NULL */, const dpt_tensor *weight /* or NULL */,
                     int average, double p);
int dpt_loss_backward(int loss, dpt_tensor *gin, const dpt_tensor *in,
                      const dpt_tensor *target /* or NULL */,
                      const dpt_tensor *weight /* or NULL */, int average, double p);
/* MultiMarginCriterion: in (N)xC, target N, p 1 or 2, weight C or NULL. */
int dpt_multimargin_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                            const dpt_tensor *weight /* or NULL */, int average, int p,
                            double margin);
int dpt_multimargin_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                             const dpt_tensor *weight /* or NULL */, int average, int p,
                             double margin);
/* MultiLabelMarginCriterion: in (N)xC, target of in's size: labels, ended by a 0. */
int dpt_multilabel_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                           int average);
int dpt_multilabel_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                            int average);

/* Upsampling of in (N)xCxS, ndim 1 to 3: nearest by a whole factor; linear (ndim 2, corners
 * aligned) to a size. Of `in` only the size (gin's) counts. */
int dpt_upsample_nearest_forward(dpt_tensor *out, const dpt_tensor *in, int ndim, int64_t factor);
int dpt_upsample_nearest_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim, int64_t factor);
int dpt_upsample_linear_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                const int64_t *size);
int dpt_upsample_linear_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                 int ndim);

/* Padding of the last ndim dimensions of in, below[d] before and above[d] after (negative: crop,
 * zeros only). */
enum { DPT_PAD_ZERO, DPT_PAD_REFLECT, DPT_PAD_REPLICATE };
int dpt_pad_forward(dpt_tensor *out, const dpt_tensor *in, int mode, int ndim, const int64_t *below,
                    const int64_t *above);
int dpt_pad_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in, int mode,
                     int ndim, const int64_t *below, const int64_t *above);

/* PReLU: weight 1 (shared) or C for in C, NxC, NxCxS, NxCxHxW (Torch7's rule). */
int dpt_prelu_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight);
int dpt_prelu_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                            const dpt_tensor *weight);
int dpt_prelu_backward_weight(dpt_tensor *gw, const dpt_tensor *gout, const dpt_tensor *in,
                              double scale);

/* SpatialCrossMapLRN: in (N)xCxHxW; denom (resized) keeps k + alpha/size * the sum of squares. */
int dpt_lrn_forward(dpt_tensor *out, dpt_tensor *denom, const dpt_tensor *in, int64_t size,
                    double alpha, double beta, double k);
int dpt_lrn_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                     const dpt_tensor *out, const dpt_tensor *denom, int64_t size, double alpha,
                     double beta);

/* Optimizer steps: one pass over vectors of equal count. As in optim.*, the weight decay stays in
 * the gradient g. sgd: g += decay*x; v = momentum*v + keep*g (keep = 1 - dampening; first != 0:
 * v = g); x -= rate * v, or rate * (g += momentum*v) with nesterov. v is NULL without momentum.
 * rates and decays (vectors, or NULL) multiply rate and replace decay. */
int dpt_sgd_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v /* or NULL */,
                 const dpt_tensor *rates /* or NULL */, const dpt_tensor *decays /* or NULL */,
                 double rate, double decay, double momentum, double keep, int nesterov, int first);
/* g += decay*x; m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g*g;
 * x -= rate * m / (sqrt(v) + eps); rate is the bias-corrected step size. rates and decays as for
 * sgd. */
int dpt_adam_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                  const dpt_tensor *rates /* or NULL */, const dpt_tensor *decays /* or NULL */,
                  double rate, double decay, double beta1, double beta2, double eps);

/* ---- rnn ----------------------------------------------------------------------------------- */

/* Recurrent networks over whole sequences, as cuDNN defines them (and PyTorch with it). A network
 * has `layers` layers of `directions` directions; "pseudo-layer" layer * directions + direction,
 * from 0, names one of them. H is `hidden`; O, the width of h, is `projection` of an LSTM that has
 * one, else H; I is `input` in the first layer, else directions * O. With s the logistic function:
 *   RELU, TANH  h' = f(W0 x + R1 h + b)
 *   LSTM        i = s(0, 4), f = s(1, 5), g = tanh(2, 6), o = s(3, 7) of such sums;
 *               c' = f c + i g; h' = o tanh(c'), or matrix 8 times that with a projection
 *   GRU         r = s(0, 3), z = s(1, 4), n = tanh(W2 x + b2 + r (R5 h + b5)); h' = (1-z) n + z h
 * The numbers are cuDNN's linLayerIDs: those of matrices on the input come first, then those on h,
 * each with a bias of its own (`bias` says which of the two kinds there is).
 */
enum { DPT_RNN_RELU, DPT_RNN_TANH, DPT_RNN_LSTM, DPT_RNN_GRU };
enum { DPT_RNN_NO_BIAS, DPT_RNN_INPUT_BIAS, DPT_RNN_DOUBLE_BIAS, DPT_RNN_RECURRENT_BIAS };

typedef struct dpt_rnn {
  int32_t cell, bias;
  int32_t directions;  /* 1, or 2: the second one reads from the end; y has both */
  int32_t skip_input;  /* 1: the first layer has no input matrices, x itself is what they return */
  int32_t batch_first; /* x, y and their gradients are BxTxI, not TxBxI */
  int32_t layers, input, hidden;
  int32_t projection; /* 0: none */
  /* Elements of what one layer passes to the next become 0 with that probability, or are divided by
   * 1 - dropout: where forward keeps a reserve; by the draw's words for row first_row + sequence
   * and index (layer * T + step) * directions * O + column. Backward wants the draw of its forward.
   */
  dpt_draw draw;
  double dropout;
} dpt_rnn;

/* The weights of a network are one vector, whose layout is a matter of the device and the element
 * type: two tensors that differ in either may hold the same weights at different offsets, and there
 * may be gaps. size: how many elements a weight like `weight` has, of which only the element type
 * and the device count (the current one where it is empty). find: where matrix or bias `id` of a
 * pseudo-layer lies. */
typedef struct dpt_rnn_part {
  int64_t matrix, rows, columns; /* first element, from 0; rows 0: there is no such matrix */
  int64_t bias, biases;          /* likewise; biases 0: there is none */
} dpt_rnn_part;
int dpt_rnn_size(const dpt_rnn *rnn, const dpt_tensor *weight, int64_t *elements);
int dpt_rnn_find(const dpt_rnn *rnn, const dpt_tensor *weight, int pseudo_layer, int id,
                 dpt_rnn_part *part);

/* y: TxBx(directions*O) from x: TxBxI (or batch first). h0, hn: (layers*directions)xBxO; c0, cn,
 * of an LSTM alone: (layers*directions)xBxH; no h0 or c0: zeros. weight: a vector of dpt_rnn_size
 * elements. lengths: a LongTensor in host memory, how many steps each of the B sequences has, 1 to
 * T in any order; none: all have T. Behind its end a sequence is not looked at, y is 0 there, and
 * hn and cn are those of its last step; without steps hn is h0 and cn c0. reserve: a ByteTensor on
 * the same device, resized: what the backward functions need of this forward; none: inference.
 * Float and double; half on devices. */
int dpt_rnn_forward(dpt_tensor *y, dpt_tensor *hn /* or NULL */, dpt_tensor *cn /* or NULL */,
                    dpt_tensor *reserve /* or NULL */, const dpt_rnn *rnn, const dpt_tensor *x,
                    const dpt_tensor *h0 /* or NULL */, const dpt_tensor *c0 /* or NULL */,
                    const dpt_tensor *weight, const dpt_tensor *lengths /* or NULL */);
/* Gradients by x, h0 and c0 from those by y, hn and cn (none: zeros), of a forward that left
 * `reserve` and had the same other operands. Once for each forward: reserve is changed. */
int dpt_rnn_backward_data(dpt_tensor *gx, dpt_tensor *gh0 /* or NULL */,
                          dpt_tensor *gc0 /* or NULL */, dpt_tensor *reserve, const dpt_rnn *rnn,
                          const dpt_tensor *y, const dpt_tensor *gy,
                          const dpt_tensor *ghn /* or NULL */, const dpt_tensor *gcn /* or NULL */,
                          const dpt_tensor *h0 /* or NULL */, const dpt_tensor *c0 /* or NULL */,
                          const dpt_tensor *weight, const dpt_tensor *lengths /* or NULL */);
/* gw += scale * gradient by weight, after dpt_rnn_backward_data with the same reserve. */
int dpt_rnn_backward_weight(dpt_tensor *gw, const dpt_rnn *rnn, const dpt_tensor *x,
                            const dpt_tensor *h0 /* or NULL */, const dpt_tensor *y,
                            const dpt_tensor *lengths /* or NULL */, dpt_tensor *reserve,
                            double scale);

/* ---- device -------------------------------------------------------------------------------- */

/* Devices are numbered from 1; where a function takes a device, 0 is the current one. Streams of a
 * device are numbered from 0, its default stream; -1 is this thread's current one. */

/* What the devices are: "host:4", "none", "cuda", "cuda:0,2", "emulated:2", as DPT_DEVICES; an
 * error after the first use of a device. */
int dpt_devices_set(const char *spec);
/* How many devices there are, or will be: unlike the others, this call does not set them up. */
int dpt_device_expected(int *n);
int dpt_device_count(int *n);
/* Fails if there is no device; fn: the function that the message names. */
int dpt_device_check(const char *fn);
int dpt_device_get(int *device);
int dpt_device_set(int device);
/* What a device is, in CUDA's words; threads: how many it computes with (multiprocessors of a GPU).
 * From clock (kHz) on: what only a GPU has, 0 on host devices. */
typedef struct dpt_device_info {
  const char *name;
  int32_t threads, major, minor, integrated, warp, block_threads, overlap, map_host, compute_mode;
  int32_t clock, timeout, block_registers, pci_bus, pci_device, pci_domain, texture, texture_linear;
  int64_t pitch, block_shared, texture_alignment, constant;
} dpt_device_info;
int dpt_device_properties(int device, dpt_device_info *info);
/* One line: what the devices are and why. */
const char *dpt_device_report(void);
/* How many GPUs this machine has for dpt, whatever the devices are; the versions of CUDA's runtime
 * and driver. If there is none: an error message with the reason. */
int dpt_gpu_count(int *n, int *runtime, int *driver);
/* The versions that the devices use; 0 and 0 on host devices. */
int dpt_device_versions(int *runtime, int *driver);
/* Waits for every stream of the device, of all devices if it is -1; reports a kept error. */
int dpt_device_synchronize(int device);

/* Every device has at least n streams beside its default one; blocking ones are ordered with the
 * default stream. */
int dpt_stream_reserve(int n, int nonblocking);
int dpt_stream_count(int *n); /* without the default one */
/* This thread's current stream of a device (0: of every device). */
int dpt_stream_set(int device, int stream);
int dpt_stream_get(int device, int *stream);
int dpt_stream_synchronize(int device, int stream);
/* How many pieces of queued work have failed since the start: whoever relies on work that it queued
 * and did not wait for can see that some was not done. */
uint64_t dpt_failures(void);
/* How often the process has waited for queued work so far, also where that was done already. A copy
 * from host memory is not counted: it waits for no work but its own. */
uint64_t dpt_waits(void);
/* For tests: keeps the current device's current stream busy that long. */
int dpt_stream_sleep(double milliseconds);

/* Work that is captured once and then replayed as a whole, where the current device can. From begin
 * to end what this thread queues on its current stream of that device is noted and not done; it can
 * not wait, nor use another stream: each such call fails. launch does it all again, on the memory
 * it was captured with, after what is queued on the current stream and before what will be; random
 * numbers are drawn anew. free: in any state. reject: an error message in fn's name if this thread
 * captures. */
typedef struct dpt_graph dpt_graph;
int dpt_graph_supported(int *yes);
int dpt_graph_begin(dpt_graph **graph);
int dpt_graph_end(dpt_graph *graph);
int dpt_graph_launch(dpt_graph *graph);
void dpt_graph_free(dpt_graph *graph /* or NULL */);
int dpt_graph_capturing(void);
int dpt_graph_reject(const char *fn, const char *why);

/* Everything that was queued on a stream up to now; all zero: nothing. */
typedef struct dpt_event {
  int32_t device_, stream_;
  uint64_t number_;
} dpt_event;
int dpt_event_record(dpt_event *event, int device, int stream);
int dpt_event_wait(const dpt_event *event); /* the caller waits */
int dpt_event_query(const dpt_event *event, int *done);
/* Later work of that stream waits, the caller does not. */
int dpt_stream_wait_event(int device, int stream, const dpt_event *event);

/* r: size elements of a kind, not set; on devices: on the current one. Counted: born with one
 * reference. Any thread may release, no release waits. */
int dpt_storage_new(dpt_storage **r, int kind, int64_t size);
int dpt_storage_new_pinned(dpt_storage **r, int kind, int64_t size); /* page-locked host memory */
/* Elements first .. first+size-1 of another storage, which lives on as long and can not be resized
 * from now on. */
int dpt_storage_view(dpt_storage **r, dpt_storage *parent, int64_t first, int64_t size);
/* Over size elements of host memory at data, which dpt never frees and which must live longer; and
 * over a file, or, if memory is not 0, over the shared memory object of that name, which is removed
 * with the storage. shared: writes go to the file, which is made or grown to size elements; else
 * they stay here. size < 0: as many as the file has. Neither can be resized. */
int dpt_storage_over(dpt_storage **r, int kind, void *data /* or NULL */, int64_t size);
int dpt_storage_map(dpt_storage **r, int kind, const char *path, int shared, int memory,
                    int64_t size);
void dpt_storage_retain(dpt_storage *storage);
void dpt_storage_release(dpt_storage *storage);
/* Keeps the contents as far as they fit; on a device the current stream copies them. A storage that
 * others hold keeps its memory where it gets smaller, since their tensors may reach all of it. */
int dpt_storage_resize(dpt_storage *storage, int64_t size);
int64_t dpt_storage_size(const dpt_storage *storage);
int dpt_storage_kind(const dpt_storage *storage);
int dpt_storage_device(const dpt_storage *storage); /* 0: host memory */
int dpt_storage_pinned(const dpt_storage *storage);
void *dpt_storage_data(const dpt_storage *storage);
/* A number that grows whenever an operation writes to the storage; so two equal numbers say that
 * nothing has been written in between. */
uint64_t dpt_storage_writes(const dpt_storage *storage);
/* Bytes of live host storages (page-locked ones aside), and of all devices' live storages. */
int64_t dpt_host_live_bytes(void);
int64_t dpt_device_live_bytes(void);
/* Lua's collector does not see this memory: whoever allocates for a Lua state asks first whether a
 * collection is due before size more elements of a kind, collects if so, and reports it. At the
 * soft limit, which is a quarter above what was live after the last collection and at least 256 MiB
 * above it, and twice the heap (its bytes after the collection), every thread that allocates
 * collects once. A thread that has taken as much itself collects alone. */
int dpt_collect_due(int kind, int64_t size);
void dpt_collect_done(int64_t heap);

/* Bytes of a device: of live storages, of memory that is kept for later ones, the most that were
 * live, the limit (0: none), all that the device has, all that this process could still have live;
 * how often tensors took memory, and the allocator from the system. Temporary memory: cached. */
typedef struct dpt_memory_stats {
  int64_t live, cached, peak, limit, total, left, blocks, segments;
} dpt_memory_stats;
int dpt_memory_stats_get(int device, dpt_memory_stats *stats);
int dpt_memory_peak_reset(int device);
int dpt_memory_limit_set(int device, int64_t bytes); /* 0: no limit */
/* 0 where DPT_CACHE=off: no memory is kept. */
int dpt_memory_cached(void);
/* Frees memory that is kept for later; waits for the work that still uses it. */
int dpt_memory_empty_cache(int device);
/* Bytes that went from one device to another since the start. */
uint64_t dpt_copied_bytes(void);
/* Whether a device reaches another's memory (0: the current device); all do that can until a script
 * says no, which waits for both. Copies between two of which one does not reach the other go
 * through host memory. */
int dpt_peer_set(int from, int to, int on);
int dpt_peer_get(int from, int to, int *on);
/* Whether operations may have operands on different devices: no (0) until a script says yes. The
 * device of the first operand, the result, then reads the others' memory. */
int dpt_peer_kernels_set(int on);
int dpt_peer_kernels_get(void);

/* OpenMP threads of operations on host tensors, on this thread. */
int dpt_threads_set(int n);
int dpt_threads_get(void);
/* The calling thread computes in the background from now on: another that wakes gets its core at
 * once, and gives it back when both had the same share (SCHED_BATCH, and a long slice where the
 * kernel has that: Linux 6.12). What the system does not know is left out. */
void dpt_thread_batch(void);

/* Ctrl-C ends the process from now on also in compiled Lua, in a wait and in a kernel, with the
 * terminal as it is now. A handler of the script's own is left alone. */
int dpt_interrupt_install(void);
/* Ctrl-C ends by an error what Lua runs, as soon as interpreted code runs, and a second one within
 * two seconds the process (on: 1); or the process at once (0). */
int dpt_interrupt_prompt(int on);

/* What streams do, item by item, from start to stop, in at most n records; stop waits until all
 * that was queued meanwhile has run. Times are dpt_clock's in nanoseconds. label: of this thread:
 * what records of it get, a number of label_new (0: no more are to be had). span: what this thread
 * has done since `begin` (now), named by a label. records: valid until the next start; *lost: for
 * which there was none. */
enum {
  DPT_TRACE_ITEM,        /* a kernel: of the item `number` of that device's stream */
  DPT_TRACE_WAIT,        /* the stream waits for the item `other` of another */
  DPT_TRACE_RENDEZVOUS,  /* an item of several streams together */
  DPT_TRACE_COPY,        /* an item that copies from another device */
  DPT_TRACE_THREAD_WAIT, /* the thread waits for the item `other` */
  DPT_TRACE_MEMORY, /* the block at address `number` is taken or (bytes < 0) given back; `other`:
                     * the device's live bytes then */
  DPT_TRACE_SPAN
};
typedef struct dpt_trace_record {
  int64_t queued_, begin_, end_;
  const char *name_;
  uint64_t number_, other_;
  int64_t bytes_;
  int32_t size_[4]; /* of the first operand; 0 from behind its last dimension on */
  int16_t device_, stream_, other_device_, other_stream_; /* stream -1: for communication */
  uint32_t label_;
  uint16_t thread_;
  uint8_t kind_, whole_;
} dpt_trace_record;
int dpt_trace_start(int64_t n);
int dpt_trace_stop(void);
const dpt_trace_record *dpt_trace_records(int64_t *n, int64_t *lost);
const int *dpt_trace_on(void); /* not 0: a trace runs */
uint32_t *dpt_trace_label(void);
uint32_t dpt_trace_label_new(const char *text);
const char *dpt_trace_label_text(uint32_t number);
double dpt_trace_now(void);
void dpt_trace_span(double begin, uint32_t what);

/* As DPT_FAULT ("thread:3|malloc:7|copy:2"; "" ends it), DPT_DELAY (0 ends it), DPT_LINK ("1GB/s";
 * "" ends it). */
int dpt_fault_set(const char *spec);
int dpt_delay_set(uint64_t seed);
int dpt_link_set(const char *speed);

/* ---- comm ---------------------------------------------------------------------------------- */

/* Tensors between devices. The work is queued on the current stream of every device that takes part
 * and ordered by events; nothing waits (host tensors excepted: they have been read or written on
 * return). Lists of n tensors; those of one list lie on one device. */

/* Chooses the transport by name: "copy" is always there; if another one is missing the message
 * says why, and the choice stays. The name of the one in use. */
int dpt_comm_use(const char *name);
const char *dpt_comm_transport(void);
/* out[c * n + k] = src[k] for every c < copies: contiguous, equal counts and types. The devices
 * work at once. */
int dpt_comm_broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                       dpt_tensor *const *out);
/* out[k] = in[k] + in[n + k] + in[2 * n + k] ..., `sources` summands in this order, in a wide
 * accumulator; add: out's own value is the first summand; clear: the `in` are 0 afterwards.
 * Contiguous, equal counts and types. */
int dpt_comm_reduce(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in,
                    int add, int clear);
/* As the two above, between a list and a flat tensor with the elements of the list's tensors one
 * after the other (of one type): out[c] = src[0], src[1] ...; out = the sum over s of in[s * n],
 * in[s * n + 1] ... */
int dpt_comm_broadcast_flat(int64_t n, const dpt_tensor *const *src, int64_t copies,
                            dpt_tensor *const *out);
int dpt_comm_reduce_flat(dpt_tensor *out, int64_t n, int64_t sources, const dpt_tensor *const *in);
/* n tensors of one type, each on a device of its own, and for each of them a result on its device,
 * which in the first function may be the tensor itself; contiguous. all_reduce: every out[i] = the
 * sum of all in. all_gather: every out[i] = in[0], in[1] ... one after the other. reduce_scatter:
 * the sum of all in, cut into out[0], out[1] ..., whose counts say where. */
int dpt_comm_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
int dpt_comm_all_gather(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
int dpt_comm_reduce_scatter(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
/* Sums the gradients of several replicas, each on one device, while they are still being computed:
 * as dpt_comm_reduce with add and clear into those of replica 0, a bucket at a time and on streams
 * of its own. Bucket b has counts[b] tensors of each replica; tensors holds buckets x replicas x
 * these. Replicas and buckets are counted from 0. In a step: begin; bucket_ready, from any
 * thread, when everything that a replica adds to a bucket is queued on its device's current stream
 * (the last replica's call queues the sum); finish queues what is left and makes the current
 * streams wait for all of it. Replicas from `used` on have nothing to add. invalidate comes before
 * a replica adds more to a ready bucket: the current stream waits for the sum if it is queued, and
 * the bucket is summed again at the end. cancel ends a step that failed: what is queued is waited
 * for. Sums may go on to other processes: flush queues what is left; between send with begin = 1,
 * for a summed bucket, and begin = 0 the caller's thread works behind the sum, on the same streams,
 * and nobody may add to that bucket any more (invalidate fails). */
typedef struct dpt_reducer dpt_reducer;
enum { DPT_BUCKET_OPEN, DPT_BUCKET_SUMMED, DPT_BUCKET_SENT };
int dpt_reducer_new(dpt_reducer **r, int64_t buckets, const int64_t *counts, int64_t replicas,
                    dpt_tensor *const *tensors);
void dpt_reducer_free(dpt_reducer *r /* or NULL */);
int dpt_reducer_begin(dpt_reducer *r, int64_t used);
int dpt_reducer_bucket_ready(dpt_reducer *r, int64_t replica, int64_t bucket);
int dpt_reducer_invalidate(dpt_reducer *r, int64_t replica, int64_t bucket);
int dpt_reducer_flush(dpt_reducer *r);
int dpt_reducer_state(dpt_reducer *r, int64_t bucket);
int dpt_reducer_send(dpt_reducer *r, int64_t bucket, int begin);
int dpt_reducer_finish(dpt_reducer *r);
int dpt_reducer_cancel(dpt_reducer *r);
/* out[i] = the next rows[i] entries of src along dim, 0 of them: empty. Resized; one without memory
 * gets it on devices[i] (0: the host). src is of any type, on the host or on a device. */
int dpt_comm_scatter(int64_t n, dpt_tensor *const *out, const int32_t *devices, const int64_t *rows,
                     const dpt_tensor *src, int dim);
/* out = the tensors joined along dim, empty ones skipped; resized; without memory it gets it on
 * `device` (0: the host). */
int dpt_comm_gather(dpt_tensor *out, int device, int64_t n, const dpt_tensor *const *in, int dim);

/* ---- worker -------------------------------------------------------------------------------- */

/* Threads with a Lua state each, the mail between them and their owner (the state that made them),
 * and objects that several states may hold. A mail is bytes, and references to counted objects,
 * which it keeps alive until it is freed. */
typedef struct dpt_workers dpt_workers;
typedef struct dpt_shared dpt_shared;
enum { DPT_REFERENCE_STORAGE, DPT_REFERENCE_SHARED };
typedef struct dpt_reference {
  void *object;
  int64_t kind;
} dpt_reference;
/* tag: the sender's number; an answer has its job's. ended: the worker died before it answered,
 * bytes are the message why. */
typedef struct dpt_mail {
  const char *bytes;
  int64_t size, tag;
  int32_t worker, ended;
} dpt_mail;

/* n threads that each run `boot` (Lua source, with the worker's number as its argument). Each owes
 * an answer at once: that it has started; its tag is the worker's number. */
int dpt_workers_new(dpt_workers **workers, int n, const char *boot, int64_t size);
/* Queues a job for one worker (from 1), or for the first that is free (0). */
int dpt_workers_send(dpt_workers *workers, int worker, int64_t tag, const void *bytes, int64_t size,
                     const dpt_reference *references /* or NULL */, int count);
/* Waits for the next answer; fails where none is due. The caller frees the mail. */
int dpt_workers_receive(dpt_workers *workers, dpt_mail **mail);
void dpt_mail_free(dpt_mail *mail);
/* Jobs for that worker alone (0: for any) that none has begun. */
int64_t dpt_workers_waiting(dpt_workers *workers, int worker);
/* Every worker ends after the job that it is at; stop waits for that, free does not. Jobs that were
 * not begun are dropped. */
void dpt_workers_stop(dpt_workers *workers);
void dpt_workers_free(dpt_workers *workers);
/* For the thread of a worker: its number (0: another thread); the next job (NULL: it is to end);
 * the answer to it, or that it has started. */
int dpt_worker_number(void);
dpt_mail *dpt_worker_receive(void);
int dpt_worker_answer(const void *bytes, int64_t size,
                      const dpt_reference *references /* or NULL */, int count);

/* Mutexes, conditions and counters (a tally is tds's). new returns a reference (queues and tables
 * have a new of their own), find another one to an object of that kind that is alive; ids are never
 * used again. */
enum { DPT_MUTEX, DPT_CONDITION, DPT_COUNTER, DPT_QUEUE, DPT_HASH, DPT_VEC, DPT_TALLY };
int dpt_shared_new(dpt_shared **shared, int kind);
int dpt_shared_find(dpt_shared **shared, int kind, int64_t id);
int64_t dpt_shared_id(const dpt_shared *shared);
int dpt_shared_kind(const dpt_shared *shared);
void dpt_shared_retain(dpt_shared *shared);
void dpt_shared_release(dpt_shared *shared);
/* A thread that locks twice, or unlocks what it has not locked, gets an error. wait needs the
 * mutex locked. */
int dpt_mutex_lock(dpt_shared *mutex);
int dpt_mutex_unlock(dpt_shared *mutex);
int dpt_condition_wait(dpt_shared *condition, dpt_shared *mutex);
void dpt_condition_wake(dpt_shared *condition, int all);
/* add: the new value. */
int64_t dpt_counter_add(dpt_shared *counter, int64_t n);
int64_t dpt_counter_get(dpt_shared *counter);
void dpt_counter_set(dpt_shared *counter, int64_t value);
/* A queue of at most `size` mails: put waits while it is full, take while it is empty; the taker
 * frees the mail. share: 1 if tensors in it are to be shared, which the senders look at. */
int dpt_queue_new(dpt_shared **shared, int64_t size, int share);
int dpt_queue_put(dpt_shared *queue, const void *bytes, int64_t size,
                  const dpt_reference *references /* or NULL */, int count);
dpt_mail *dpt_queue_take(dpt_shared *queue);
void dpt_queue_about(dpt_shared *queue, int64_t *about); /* size, share, length */

/* What hashes and vecs hold. number: also a boolean's, 0 or 1; bytes: of a string or of a tensor's
 * struct, `size` of them. In a result bytes has space for `space` bytes; where that is less than
 * size, nothing was copied, and a reference that a result holds (of a tensor, a shared object) was
 * taken for the caller only if it was. */
enum { DPT_NIL, DPT_NUMBER, DPT_BOOLEAN, DPT_STRING, DPT_TENSOR, DPT_SHARED };
typedef struct dpt_value {
  int type;
  double number;
  void *bytes;
  int64_t size, space;
  dpt_shared *shared;
} dpt_value;
/* kind: DPT_HASH or DPT_VEC. */
int dpt_table_new(dpt_shared **shared, int kind);
/* Each call is one step for all threads. A hash has keys of all types but nil, NaN and tensors, a
 * vec indices from 0; nil takes an entry of a hash away. next: the entry at *at or behind it; *at
 * becomes where the one after it may be, -1: there was none. */
int dpt_table_get(dpt_shared *table, const dpt_value *key, dpt_value *value);
int dpt_table_set(dpt_shared *table, const dpt_value *key, const dpt_value *value);
int dpt_table_next(dpt_shared *hash, int64_t *at, dpt_value *key, dpt_value *value);
int64_t dpt_table_length(dpt_shared *table);
/* Indices from 0: what is at `at` or behind it moves; beyond the end a vec grows by nils. */
int dpt_vec_insert(dpt_shared *vec, int64_t at, const dpt_value *value);
int dpt_vec_remove(dpt_shared *vec, int64_t at);
int dpt_vec_resize(dpt_shared *vec, int64_t size);

/* ---- ranks: the processes of a job that mpirun or srun started ---- */

typedef struct dpt_world_info {
  int rank, size, local_rank, local_size; /* local: among those of this host */
  const char *library;                    /* "" for a world of one rank */
} dpt_world_info;

/* Sets the program that this rank's record names; to be called before the ranks are joined. */
void dpt_world_program(const char *name);
/* Joins the other ranks at the first call. */
int dpt_world_join(dpt_world_info *info);
/* *group = the number of a group of ranks; every rank of the world calls it, with the same list.
 * Group 0 is all ranks. At most 1,024 exist at once. */
int dpt_world_group(int n, const int *ranks, int *group);
/* Releases a group, which this rank does not use any more. It is freed, and its number used again,
 * when a group is made after all ranks of the world have released it. */
void dpt_world_group_release(int group);
int dpt_world_group_rank(int group, int *rank /* -1: not in it */, int *size);
/* How collectives of device tensors travel in a group; every rank of the group calls it.
 * *transport: "nccl", "page-locked" (over the library that connects the ranks), "mpi" (that library
 * reads the devices' memory) or "none" (one rank); *why: if not nccl. */
int dpt_world_transport(int group, const char **transport, const char **why);
/* This rank's script has raised: all ranks end with that message. */
int dpt_world_failed(const char *why);

/* What a rank has recorded of its last operations (the flight recorder). */
typedef struct dpt_flight_entry {
  uint64_t number, group;   /* of the group's operations, from 1; a hash of the group's ranks */
  int64_t began, ended;     /* nanoseconds of the host's clock; ended 0: not */
  int what;                 /* DPT_RANKS_BARRIER ... */
  char name[64], text[160]; /* text: the operation in words */
} dpt_flight_entry;
typedef struct dpt_flight {
  int rank, size, pid, state; /* state: 0 starting, 1 running, 2 failed, 3 and 4 its script ended */
  int64_t beat, count;        /* when the rank was alive last, by that clock; entries */
  char host[64], text[2048];  /* text: why it failed */
  char program[64];           /* the end of its name; "": not known */
  double alive;               /* the same as beat, in seconds since 1970 */
} dpt_flight;
enum { DPT_FLIGHT_ENTRIES = 1024 };
/* Reads a record of that file: the oldest entry first. */
int dpt_flight_read(const char *path, dpt_flight *flight, dpt_flight_entry *entries);
/* The folder of records. */
const char *dpt_flight_folder(void);

enum {
  DPT_RANKS_BARRIER,
  DPT_RANKS_ALL_REDUCE,
  DPT_RANKS_REDUCE,
  DPT_RANKS_BROADCAST,
  DPT_RANKS_ALL_GATHER,
  DPT_RANKS_REDUCE_SCATTER,
  DPT_RANKS_GATHER,
  DPT_RANKS_SCATTER,
  DPT_RANKS_SEND,
  DPT_RANKS_RECEIVE,
  DPT_RANKS_EXCHANGE,  /* dpt_collective_exchange alone */
  DPT_RANKS_ALL_TO_ALL /* rank i gets each rank's i-th part, in the order of ranks */
};
enum { DPT_RANKS_SUM, DPT_RANKS_MIN, DPT_RANKS_MAX, DPT_RANKS_MEAN };
enum { DPT_RANKS_WIDE, DPT_RANKS_HALVES, DPT_RANKS_BFLOAT16 };

/* One operation of a group, which all its ranks call in the same order; send and receive: two of
 * them. in and out are contiguous, of one type and on one side; NULL where a rank reads or writes
 * nothing, or writes where it reads (out alone: all_reduce, reduce, broadcast). The whole is n
 * times as long as a part: out of all_gather and of gather's root, in of reduce_scatter and of
 * scatter's root, both of all_to_all. Host tensors: done on return. Device tensors: queued, in the
 * order of their current stream; now: those of host devices are done on return, too. */
typedef struct dpt_collective {
  int what, how, root, group,
      tag, /* root: the other rank of send and receive; by the group's order */
      now;
  int wire;         /* all_reduce: numbers travel as they are, as halves or as bfloat16 */
  unsigned layout;  /* a hash of the sizes of the tensors that are joined; one tensor: 0 */
  const char *name; /* of what travels, for messages; or NULL */
} dpt_collective;
int dpt_collective_run(const dpt_collective *call, const dpt_tensor *in /* or NULL */,
                       dpt_tensor *out /* or NULL */, uint64_t *number);
/* A message of an exchange. */
typedef struct dpt_transfer {
  dpt_tensor *tensor;      /* contiguous; receives: it is written */
  int rank, tag, receives; /* rank: the other one, by the group's order */
} dpt_transfer;
/* Sends and receives n messages at once, so that no order of the ranks' calls can deadlock: the
 * other end of each is an exchange, send or receive of that rank. The tensors are all of the host,
 * or all of devices of one backend. */
int dpt_collective_exchange(int group, int n, const dpt_transfer *transfers, const char *name,
                            uint64_t *number);
/* Whether operation `number` of this process is done; waits for it and raises what it met. */
int dpt_collective_done(uint64_t number);
int dpt_collective_wait(uint64_t number);

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
