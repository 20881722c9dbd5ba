/* dpt.h: the public C interface of libdpt.
 *
 * Invariant: the text between the two marks is plain C declarations without macros, because
 * LuaJIT's FFI parses it (the build compiles it into the library, and dpt_cdef() returns it). Every
 * function that can fail returns 0 on success. On failure it returns nonzero and sets the calling
 * thread's error message (dpt_message), which names the function and the argument, and says what it
 * got and what it wanted. Dimensions and indices count from 0 here; lua/dpt translates Lua's
 * 1-based numbers. Tensor arguments named r, out, gin, gw ... are outputs; `const` ones are inputs.
 */
#ifndef DPT_H
#define DPT_H
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* dpt: cdef begins */

/* ---- base ---------------------------------------------------------------------------------- */

/* Returns the message of the last failure on this thread, "" if there was none. */
const char *dpt_message(void);
/* dpt_effects: returns a pointer to this thread's counter of effects (work queued or done, numbers
 * drawn), which is valid as long as the thread lives. dpt_may_retry: returns true if the last call
 * failed for lack of memory and had no effect; `before` is the counter's value before that call.
 * The caller may then free memory and call the function again. */
const uint32_t *dpt_effects(void);
int dpt_may_retry(uint32_t before);
/* dpt_version returns the version ("2.1.0"), dpt_cdef the text between the marks of this header. */
const char *dpt_version(void);
const char *dpt_cdef(void);

/* Element types, in the order of the list in base/dtype.h. */
enum { DPT_U8, DPT_I8, DPT_I16, DPT_I32, DPT_I64, DPT_F16, DPT_BF16, DPT_F32, DPT_F64, DPT_NDTYPE };
/* The properties of an element type: its names in Torch7 ("Float") and in safetensors ("F32"), its
 * size in bytes, whether it is real, and the element type in which kernels compute. */
typedef struct dpt_dtype {
  const char *name, *file;
  int32_t size, real, compute;
} dpt_dtype;
const dpt_dtype *dpt_dtype_get(int dtype);

/* Clocks in seconds. dpt_clock is monotonic; dpt_epoch counts from 1970; dpt_cpu_time returns the
 * CPU time used by this process. dpt_cores returns the number of CPU cores that this process may
 * run on. */
double dpt_clock(void);
double dpt_epoch(void);
void dpt_cpu_time(double *user, double *system);
void dpt_sleep(double seconds);
int dpt_cores(void);
/* Returns the number of columns of the terminal at a file descriptor: 80 if it is unknown, 0 if the
 * descriptor is not a terminal. */
int dpt_terminal(int descriptor);
/* Returns 0 if nothing exists at path, 1 for a file, 2 for a folder. */
int dpt_path_kind(const char *path);
/* dpt_folder_list returns the names in a folder, each followed by a '/'; dpt_cwd returns the path
 * of the current folder. Both return NULL on failure. The string is valid until this thread calls
 * either function again. */
const char *dpt_folder_list(const char *path);
const char *dpt_cwd(void);
int dpt_folder_make(const char *path);
int dpt_folder_remove(const char *path);
/* Sets an environment variable; value NULL removes it. */
int dpt_setenv(const char *name, const char *value);
/* Access to files of Lua's io library, which LuaJIT passes as FILE pointers. read returns the
 * number of bytes read (less than n at the end of the file, -1 on failure), write writes n bytes,
 * flush writes the contents of the buffer, byte returns one byte (-1 at the end), unread pushes it
 * back, left returns the number of bytes up to the end (-1 if unknown, for example for a pipe).
 * Error messages contain the reason only, not the name of a function. A write to a pipe whose
 * reader is closed fails and discards the buffer. */
int64_t dpt_file_read(void *file, void *data, int64_t n);
int dpt_file_write(void *file, const void *data, int64_t n);
int dpt_file_flush(void *file);
int dpt_file_byte(void *file);
void dpt_file_unread(void *file, int byte);
int64_t dpt_file_left(void *file);
/* Reads up to n numbers as text into elements of a type from i16 on, from a file or, if that is
 * NULL, from `size` bytes in memory (*size becomes the number of bytes used). Returns the number of
 * elements read. */
int64_t dpt_text_read(void *file /* or NULL */, const void *bytes /* or NULL */,
                      int64_t *size /* or NULL */, int dtype, void *to, int64_t n);
/* Replace the file at path atomically. replacement: resolves the symbolic links of path into
 * target, creates an empty file in the same folder, opens it as `descriptor` and stores its path in
 * name. If target is not a regular file (a pipe, for example), name is target and descriptor is -1.
 * Both buffers have `size` bytes. It also removes files that killed processes left there. replace:
 * flushes the new file to the disk (if durable), renames it to target and closes the descriptor.
 * drop: removes the new file and closes the descriptor. */
int dpt_file_replacement(const char *path, char *target, char *name, int64_t size, int *descriptor);
int dpt_file_replace(int descriptor, const char *name, const char *target, int durable);
void dpt_file_drop(int descriptor, const char *name);
/* Returns the libraries that dpt computes with, one per line: "name version". Opens the BLAS;
 * without one, the list omits it. */
const char *dpt_libraries(void);
/* Measures the speed of one core for about 0.1 s, in 10^9 float operations per second. product: the
 * BLAS's product of two matrices. peak: multiply-adds in the widest registers, without memory
 * accesses. *isa: the name of that instruction set. */
int dpt_blas_speed(double *product, double *peak, const char **isa);

/* ---- tensor -------------------------------------------------------------------------------- */

enum { DPT_MAXDIM = 12, DPT_ON_DEVICE = 16 };

/* Reference-counted memory of one element type on the host or on one device; see device/storage.h
 * for its rules.
 */
typedef struct dpt_storage dpt_storage;

/* A view of a storage, passed by value. The creator of the struct owns one reference to storage_,
 * which dpt_tensor_free releases. Field names end in _ so that none hides a Lua method. kind_ is
 * the element type, plus DPT_ON_DEVICE for device memory; it never changes after creation. ndim_ 0
 * means no elements (Torch7's empty tensor), whatever storage_ is. Strides count elements. */
typedef struct dpt_tensor {
  dpt_storage *storage_;
  int64_t offset_; /* offset of the first element in the storage, from 0 */
  int32_t kind_;
  int32_t ndim_;
  int64_t size_[12];
  int64_t stride_[12];
} dpt_tensor;

/* Views and sizes. Dimensions and indices count from 0. `out` is a zeroed tensor whose kind_ is
 * set, an existing tensor of the same kind (its reference is released), or the input tensor itself.
 * A view shares the storage. A function that fails changes nothing. */

/* Initializes r to a new contiguous tensor with uninitialized elements, on the current device if
 * kind is of devices. The old value of r is ignored, not released. ndim 0: empty, without
 * storage. */
int dpt_tensor_new(dpt_tensor *r, int kind, int ndim, const int64_t *size);
/* Releases the reference. The tensor is then empty and may be used again. */
void dpt_tensor_free(dpt_tensor *t);
/* Makes r another view of a's elements. */
int dpt_tensor_set(dpt_tensor *r, const dpt_tensor *a);
/* Makes r a view of storage (NULL: empty) from element first. stride NULL or negative entries:
 * contiguous. A storage that is too small grows, as in Torch7. */
int dpt_set_storage(dpt_tensor *r, dpt_storage *storage, int64_t first, int ndim,
                    const int64_t *size, const int64_t *stride);
/* Torch7's resize. If the sizes (and the strides, if given) are the same, nothing changes.
 * Otherwise r becomes contiguous (or gets the given strides; negative ones: contiguous), and its
 * storage grows if too small. */
int dpt_resize(dpt_tensor *r, int ndim, const int64_t *size);
int dpt_resize_strided(dpt_tensor *r, int ndim, const int64_t *size, const int64_t *stride);
int dpt_resize_as(dpt_tensor *r, const dpt_tensor *a);
/* Like dpt_resize, but allocates memory on a's device instead of the current one. */
int dpt_resize_beside(dpt_tensor *r, int ndim, const int64_t *size, const dpt_tensor *a);
/* Returns in out elements first .. first+n-1 of a dimension. */
int dpt_narrow(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t first, int64_t n);
/* Returns in out slice i of a dimension, without that dimension; t needs at least two
 * dimensions. */
int dpt_select(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t i);
int dpt_transpose(dpt_tensor *out, const dpt_tensor *t, int dim1, int dim2);
/* Makes dimension d of out dimension order[d] of t; order has t's number of dimensions. */
int dpt_permute(dpt_tensor *out, const dpt_tensor *t, const int32_t *order);
/* Returns in out windows of n elements every `step` of a dimension; the window is the new last
 * dimension. */
int dpt_unfold(dpt_tensor *out, const dpt_tensor *t, int dim, int64_t n, int64_t step);
/* Repeats dimensions of size 1 by a stride of 0; ndim must be t's. */
int dpt_expand(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Returns in out a view with other sizes of the elements of a contiguous tensor; one size may be
 * -1. */
int dpt_view(dpt_tensor *out, const dpt_tensor *t, int ndim, const int64_t *size);
/* Remove all dimensions of size 1 (one is kept if all are), or dimension dim if its size is 1.
 */
int dpt_squeeze(dpt_tensor *out, const dpt_tensor *t);
int dpt_squeeze_dim(dpt_tensor *out, const dpt_tensor *t, int dim);
/* Inserts a dimension of size 1 before dimension dim. */
int dpt_unsqueeze(dpt_tensor *out, const dpt_tensor *t, int dim);
/* Makes out a view of t if t is contiguous, otherwise a contiguous copy of t. */
int dpt_contiguous(dpt_tensor *out, const dpt_tensor *t);
/* Makes out a contiguous copy in newly allocated memory on t's device. */
int dpt_clone(dpt_tensor *out, const dpt_tensor *t);

int64_t dpt_count(const dpt_tensor *t); /* number of elements */
int dpt_is_contiguous(const dpt_tensor *t);
int dpt_is_same_size(const dpt_tensor *a, const dpt_tensor *b);
int dpt_is_set_to(const dpt_tensor *a, const dpt_tensor *b); /* the same view of one storage */
/* Calls dpt_is_set_to for n tensors and the n structs that were copied from them; a NULL counts as
 * equal. */
int dpt_are_set_to(int n, const dpt_tensor *const *a, const dpt_tensor *b);
/* Returns the first dimension along which several indices of t may refer to one element (expanded
 * tensors, overlapping windows), from 0; -1 if there is none. */
int dpt_shared_dimension(const dpt_tensor *t);
int dpt_tensor_device(const dpt_tensor *t); /* from 1; 0: host memory or no storage */
/* Returns the address of the first element in host memory, NULL for a device tensor or without a
 * storage. */
void *dpt_tensor_data(const dpt_tensor *t);

/* Read and write the element at `offset` elements from t's first one (the sum of index * stride_);
 * fail if it is outside the storage. On devices, dpt_get waits for the current stream and dpt_put
 * is queued on it. Numbers become integers as in all other functions (fill, indexFill, scatter
 * ...): truncated toward zero, through 32 bits (64 for 64-bit elements); numbers that do not fit
 * become the least integer of that width. */
int dpt_get(const dpt_tensor *t, int64_t offset, double *value);
int dpt_put(dpt_tensor *t, int64_t offset, double value);
/* Like dpt_get and dpt_put, with one index per dimension; every index is checked. */
int dpt_get_at(const dpt_tensor *t, int n, const int64_t *index, double *value);
int dpt_put_at(dpt_tensor *t, int n, const int64_t *index, double value);
/* Returns the number of NaNs among n numbers whose bits differ from the canonical NaN. LuaJIT
 * encodes the types of its values in such bits and would mistake these NaNs for other values,
 * immediately or after arithmetic (which makes signalling NaNs quiet and changes signs). to:
 * receives the numbers, with every NaN made canonical. Functions here that return a NaN return the
 * canonical one. */
int64_t dpt_plain(const double *from, int64_t n, double *to /* or NULL */);

/* ---- fill, copy, pointwise ----------------------------------------------------------------- */

/* Sets every element to value (converted as in dpt_put). r is not resized. */
int dpt_fill(dpt_tensor *r, double value);
/* Copies a to r, element by element in row-major order. The element counts must be equal; the types
 * may differ, and both tensors may be on the host or on any device. r is not resized. On return,
 * host memory has been read or written. */
int dpt_copy(dpt_tensor *r, const dpt_tensor *a);
/* Like dpt_copy, but page-locked host memory may still be in use on return: the copy is queued on
 * the current stream of the device involved. */
int dpt_copy_async(dpt_tensor *r, const dpt_tensor *a);

/* Pointwise operations by name: ops/map.def lists them with their operands, numbers and types.
 * dpt_op returns the number of a name for the dpt_map functions, -1 if there is none. r is resized
 * to a's size; a, b and c have equal counts, not necessarily equal sizes; r may be an operand. All
 * are of one kind, except that r of a comparison may be a ByteTensor kind. p and q are the
 * operation's scalar parameters, truncated first for integer types.
 */
int dpt_op(const char *name);
int dpt_map1(int op, dpt_tensor *r, const dpt_tensor *a, double p, double q);
int dpt_map2(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, double p, double q);
int dpt_map3(int op, dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, const dpt_tensor *c,
             double p, double q);

/* ---- ops ----------------------------------------------------------------------------------- */

/* Operations on tensors of any element type unless said otherwise, on the host or on one device.
 * Index tensors (idx) are Long tensors on the same device and count from 1, as Torch7's; an input
 * index tensor of another element type is rejected. On the host, a bad index is an error before
 * anything is written; on a device, the queued work finds it and the next wait reports it. Results
 * are resized unless the function's comment says "not resized". Non-contiguous operands are legal;
 * a result may be the operand itself. Half is computed in float. */

/* Reductions, by name: sum prod mean var std norm max min all any. dpt_reduction returns the number
 * of a name, -1 if there is none. p: for var and std 0 divides by n-1, 1 by n; for norm the
 * exponent; otherwise unused. mean var std norm: float and double (and half); all any: bytes.
 * Accumulators are wide. The order of additions is fixed: it depends only on the sizes and strides,
 * never on the number of threads. max and min return the first of equal elements; NaN wins. */
int dpt_reduction(const char *name);
/* Reduces dimension dim, which is kept at size 1. Integers wrap to their type. idx: NULL, or
 * receives the positions (from 1) for max and min; resized like r. */
int dpt_reduce(int op, dpt_tensor *r, dpt_tensor *idx /* or NULL */, const dpt_tensor *a, int dim,
               double p);
/* Reduces all elements to *value, in the wide type; on a device it waits only for the operand's
 * stream. Over zero elements, here and in dpt_reduce: sum 0, prod 1, norm 0, all 1, any 0; the
 * others fail. */
int dpt_reduce_all(int op, const dpt_tensor *a, double p, double *value);
/* Return the sum of a*b and the p-norm of a - b, for tensors of one type and equal counts. */
int dpt_dot(const dpt_tensor *a, const dpt_tensor *b, double *value);
int dpt_dist(const dpt_tensor *a, const dpt_tensor *b, double p, double *value);
/* torch.equal: sets *value to 1 if the sizes and all elements are equal, else to 0. */
int dpt_equal(const dpt_tensor *a, const dpt_tensor *b, int *value);
int dpt_trace(const dpt_tensor *a, double *value);

/* dpt_kthvalue returns the k-th smallest element along dim (k from 1); dpt_mode returns the most
 * frequent one (on a tie the smallest), at its last index. idx receives the indices; dim is kept at
 * size 1. median is kthvalue with k = (n + 1) / 2. */
int dpt_kthvalue(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim);
int dpt_mode(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim);
/* dpt_sort returns the elements sorted along dim (the sort is stable, NaN is the largest); dpt_topk
 * returns the k largest or smallest ones, sorted if `sorted` is 1, otherwise in any order. */
int dpt_sort(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int dim, int descending);
int dpt_topk(dpt_tensor *r, dpt_tensor *idx, const dpt_tensor *a, int64_t k, int dim, int largest,
             int sorted);

/* Compute cumulative sums and products along dim. */
int dpt_cumsum(dpt_tensor *r, const dpt_tensor *a, int dim);
int dpt_cumprod(dpt_tensor *r, const dpt_tensor *a, int dim);
/* Scales each slice of dimension dim whose p-norm exceeds max_norm, so that its norm is max_norm.
 * Float, double, half. */
int dpt_renorm(dpt_tensor *r, const dpt_tensor *a, double p, int dim, double max_norm);
/* Computes cross products along dim, of size 3; dim -1: the first dimension of size 3. */
int dpt_cross(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *b, int dim);
/* Count elements in bins of equal width between min and max (both 0: the least and greatest
 * element). dpt_histc: one histogram of all elements; dpt_bhistc: one for each row of a 2-D tensor.
 * Float and double. */
int dpt_histc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max);
int dpt_bhistc(dpt_tensor *r, const dpt_tensor *a, int64_t bins, double min, double max);
/* dpt_tril returns the lower triangle of a matrix up to its k-th diagonal, dpt_triu the upper
 * triangle from the k-th diagonal on. dpt_diag returns the k-th diagonal of a matrix, or the matrix
 * whose k-th diagonal is a given vector. */
int dpt_tril(dpt_tensor *r, const dpt_tensor *a, int64_t k);
int dpt_triu(dpt_tensor *r, const dpt_tensor *a, int64_t k);
int dpt_diag(dpt_tensor *r, const dpt_tensor *a, int64_t k);

/* index: r = the slices of a along dim selected by idx (1-D). indexCopy, indexAdd (in the order of
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
 * waits, since the size depends on the mask). copy reads a's elements in order; a may have more
 * elements than the mask selects. */
int dpt_masked_select(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *mask);
int dpt_masked_copy(dpt_tensor *r, const dpt_tensor *mask, const dpt_tensor *a);
int dpt_masked_fill(dpt_tensor *r, const dpt_tensor *mask, double value);
/* Returns in r (Long, n x dimensions) the positions of nonzero elements, from 1. Waits on a
 * device. */
int dpt_nonzero(dpt_tensor *r, const dpt_tensor *a);

/* range: r = from, from + step, ... to; a result of that count keeps its sizes. linspace, logspace:
 * n evenly spaced numbers from `from` to `to`, or their powers of ten; float and double. eye: an
 * n x m matrix with ones on the diagonal. */
int dpt_range(dpt_tensor *r, double from, double to, double step);
int dpt_linspace(dpt_tensor *r, double from, double to, int64_t n);
int dpt_logspace(dpt_tensor *r, double from, double to, int64_t n);
int dpt_eye(dpt_tensor *r, int64_t n, int64_t m);
/* Concatenates n tensors of one type along dim (-1: the last); empty ones are skipped. If dim is
 * one past their last dimension, they are joined along a new dimension. r must not be one of
 * them. */
int dpt_cat(dpt_tensor *r, int n, const dpt_tensor *const *list, int dim);

/* Matrix products of any element type; half accumulates in float. r = beta * m + alpha * (a times
 * b). r is resized to m's size unless it is m itself. If beta is 0, m is not read, so dpt_addmm(r,
 * 0, r, 1, a, b) computes just the product. In deterministic mode a row of addmm does not depend on
 * the other rows of a. */
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

/* torch.conv2, xcorr2 (ndim 2), conv3, xcorr3 (ndim 3): convolve planes of ndim dimensions. a and k
 * of ndim dimensions: one plane; of ndim + 1: plane by plane, as in Torch7; k of ndim + 2: the sum
 * over input planes for each output plane. full: 1 'F', 0 'V'; flip: 1 convolution, 0
 * correlation. */
int dpt_conv(dpt_tensor *r, const dpt_tensor *a, const dpt_tensor *k, int ndim, int full, int flip);

/* Torch7's generator, MT19937: the same numbers for the same seed. Two threads must not use one
 * generator at once. A new one is seeded at random. */
typedef struct dpt_generator dpt_generator;
int dpt_generator_new(dpt_generator **g);
void dpt_generator_free(dpt_generator *g);
void dpt_generator_copy(dpt_generator *g, const dpt_generator *from);
void dpt_generator_manual_seed(dpt_generator *g, uint64_t seed);
uint64_t dpt_generator_seed(dpt_generator *g); /* seeds at random, returns the seed */
uint64_t dpt_generator_initial_seed(const dpt_generator *g);
/* Read and set the whole state as a host Byte tensor. */
int dpt_generator_get(const dpt_generator *g, dpt_tensor *r);
int dpt_generator_set(dpt_generator *g, const dpt_tensor *state);
/* Every device has a Philox state (seed, offset). Devices count from 1; 0 means the current device.
 * Each draw on a device, including dropout's, increments the offset by one; after a state is
 * restored, the same draws follow. */
int dpt_device_manual_seed(int device, uint64_t seed);
void dpt_devices_manual_seed(uint64_t seed); /* all; does not initialize devices */
int dpt_device_seed(int device, uint64_t *seed);
int dpt_device_initial_seed(int device, uint64_t *seed);
int dpt_device_rng_get(int device, dpt_tensor *r);
int dpt_device_rng_set(int device, const dpt_tensor *state);

/* The key of one draw. Element i of a tensor, in row-major order, gets the Philox words at position
 * first_row * (elements per row) + i under (seed, offset). live_: for a draw captured in a graph,
 * the device address of the values to add to seed and offset. */
typedef struct dpt_draw {
  uint64_t seed, offset;
  int64_t first_row;
  const uint64_t *live_;
} dpt_draw;
/* Returns the next draw for a tensor like `like`, which has `rows` rows (0: none). On a device, it
 * advances the device's state; on the host, the draw gets a seed from g. Nothing is drawn for an
 * empty tensor. */
int dpt_draw_next(dpt_draw *draw, const dpt_tensor *like, dpt_generator *g, int64_t rows);

/* The draws of n replicas in one pass. make: fills in the start that all replicas share, which is
 * the state of `device`, the first replica's device; the caller fills in the other fields. Between
 * enter and leave, which may be nested, the calling thread draws on its current device as this
 * replica: a tensor of the replica's rows gets the numbers that one device would have drawn for
 * these rows of the whole batch; other tensors get numbers that no other replica draws. After the
 * pass, `device` has the offset of the replica that drew most. Seeding a device during a pass ends
 * the pass for that device. */
typedef struct dpt_pass {
  uint64_t seed, offset;
  int64_t first_row, rows; /* rows of the batch that are this replica's; rows 0: unknown */
  int32_t device, replica; /* replica 0: there is only one */
} dpt_pass;
int dpt_pass_make(dpt_pass *pass, int device);
int dpt_pass_enter(const dpt_pass *pass);
void dpt_pass_leave(void);

/* The equivalent of a pass for host tensors. Until the next call, this thread's draws for a tensor
 * of `rows` rows, or of a multiple of that, are the numbers that a tensor of `total` rows (or that
 * multiple) would get from row `first` on, and the generator then continues after the draws of all
 * `total` rows. Tensors of other sizes draw as usual, and so do all tensors if total is 0. */
void dpt_rows_set(int64_t first, int64_t rows, int64_t total);
/* Returns a hash of the generator's state, for comparing states. */
double dpt_generator_hash(const dpt_generator *g);

/* Distributions, by name, with a and b: random (integers; no bounds: a > b; a .. b otherwise),
 * uniform (a, b), normal (mean, deviation), exponential (rate), cauchy (median, sigma), logNormal
 * (mean, deviation), geometric (probability p of another trial), bernoulli (p). uniform normal
 * exponential cauchy logNormal: float, double, half. Host tensors draw from g, in row-major order;
 * device tensors from their device's state (g is ignored). r is not resized. */
int dpt_distribution(const char *name);
int dpt_random(int distribution, dpt_tensor *r, dpt_generator *g, double a, double b);
double dpt_random_number(int distribution, dpt_generator *g, double a, double b);
/* Sets element i to 1 with probability p[i], else to 0; p: float or double of r's count. */
int dpt_bernoulli(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p);
int dpt_randperm(dpt_tensor *r, dpt_generator *g, int64_t n); /* 1 .. n */
/* Draws n of 1 .. C with probabilities p (C or NxC, real, not normalized) into r (Long, n or Nxn).
 * On a device it waits, to reject bad probabilities. */
int dpt_multinomial(dpt_tensor *r, dpt_generator *g, const dpt_tensor *p, int64_t n,
                    int replacement);
/* Build tables for draws in constant time (J Long, q of p's type; p real, not normalized), and draw
 * 1 .. n into r (Long, not resized). J counts from 1, on devices from 0, as in Torch7 and cutorch.
 * For devices both are computed on the host, so they wait. */
int dpt_multinomial_alias_setup(dpt_tensor *J, dpt_tensor *q, const dpt_tensor *p);
int dpt_multinomial_alias(dpt_tensor *r, dpt_generator *g, const dpt_tensor *J,
                          const dpt_tensor *q);

/* LAPACK on float and double matrices. Device tensors are computed on the host, so these functions
 * wait. Options are Torch7's letters. A singular matrix is an error, and so are inf and NaN in the
 * input of the iterative functions symeig, eig and svd, and NaN in potrf; the others propagate
 * them. */
int dpt_gesv(dpt_tensor *x, dpt_tensor *lu, const dpt_tensor *b, const dpt_tensor *a);
int dpt_trtrs(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a,
              const char *uplo, const char *trans, const char *diag);
int dpt_gels(dpt_tensor *x, dpt_tensor *ra, const dpt_tensor *b, const dpt_tensor *a);
int dpt_inverse(dpt_tensor *r, const dpt_tensor *a);
/* e: eigenvalues in ascending order; v: eigenvectors in columns (job 'V'), or what LAPACK leaves in
 * a. */
int dpt_symeig(dpt_tensor *e, dpt_tensor *v, const dpt_tensor *a, const char *job,
               const char *uplo);
/* e: n x 2, real and imaginary parts; v is unchanged with job 'N'. */
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

/* Layer operations on float and double tensors, all of one kind, on the host or on one device (on
 * devices also half, computed in float). Index and target tensors (idx, target) may be of any
 * element type on the same device and hold Torch7's numbers, counted from 1. Results (the first
 * arguments, not const) are resized; gin has the size of in. Gradients of parameters (gw, gb,
 * gweight ...) are not resized; the result, times scale, is added to them. "(N) x" means that the
 * batch dimension is optional. Non-contiguous operands are legal. Empty batches are legal: outputs
 * are empty, and nothing is added to sums. Arguments may be NULL only where the declaration or its
 * comment says so.
 */

/* Deterministic mode: sums of products have a fixed order (linear), and convolutions process one
 * image at a time, so that a row's output and gradInput do not depend on the other rows of its
 * batch. Process-wide; an operation uses the value at the time of its call, even if its work runs
 * later. DPT_DETERMINISTIC sets the initial value. */
void dpt_deterministic_set(int on);
int dpt_deterministic_get(void);
/* Allows GPUs to round the operands of float products and convolutions to 10 bits (TF32), which is
 * several times as fast. Off by default; process-wide; an operation uses the value at the time of
 * its call. */
void dpt_tf32_set(int on);
int dpt_tf32_get(void);

/* nn.Linear. in (N)xI, weight OxI, bias O or NULL, out (N)xO: out = in * weight^T + bias. */
int dpt_linear_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                       const dpt_tensor *bias /* or NULL */);
int dpt_linear_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *weight);
/* gw += scale * gout^T * in; gb (may be NULL) += scale * the sum of gout's rows. */
int dpt_linear_backward_weight(dpt_tensor *gw, dpt_tensor *gb /* or NULL */, const dpt_tensor *in,
                               const dpt_tensor *gout, double scale);
/* gb (C elements) += scale * the sums of gout (NxC and more) over all other dimensions. */
int dpt_plane_sum(dpt_tensor *gb, const dpt_tensor *gout, double scale);

/* Sliding windows of convolution and pooling: entries 0 .. ndim-1 from the outermost spatial
 * dimension (2-D: height, width; 3-D: time, height, width). Zeroed fields mean: groups 1, stride 1,
 * pad 0, dilation 1, adjust 0. */
typedef struct dpt_window {
  int32_t ndim;       /* 1, 2 or 3 */
  int32_t groups;     /* convolution: I and O are split into that many independent groups */
  int32_t transposed; /* convolution: nn.SpatialFullConvolution; weight is Ix(O/groups)xK */
  int32_t ceil;       /* pooling: round output sizes up */
  int32_t count_pad;  /* average pooling: padding counts in the divisor */
  int32_t search;     /* convolution on a GPU: the choice of cuDNN's algorithm, see below */
  int64_t kernel[3], stride[3], pad[3], dilation[3];
  int64_t adjust[3]; /* transposed convolution: added to the output size */
} dpt_window;
/* Bits of dpt_window.search. BENCHMARK: algorithms are measured at the first use of a shape
 * (otherwise cuDNN's heuristics choose). FASTEST: a workspace may use all free memory (otherwise at
 * most 1 GiB and half of the free memory). VERBOSE: the choice is printed on stderr. */
enum { DPT_SEARCH_BENCHMARK = 1, DPT_SEARCH_FASTEST = 2, DPT_SEARCH_VERBOSE = 4 };

/* Convolution (cross-correlation), 1-D to 3-D. in (N)xIxS, weight Ox(I/groups)xK or any shape of
 * equal count and first size (SpatialConvolutionMM), bias O or NULL, out (N)xOxS'. */
int dpt_conv_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *weight,
                     const dpt_tensor *bias /* or NULL */, const dpt_window *window);
/* Only the size of `in` is used: it is gin's size. */
int dpt_conv_backward_data(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                           const dpt_tensor *weight, const dpt_window *window);
/* gw or gb may be NULL. */
int dpt_conv_backward_weight(dpt_tensor *gw /* or NULL */, dpt_tensor *gb /* or NULL */,
                             const dpt_tensor *in, const dpt_tensor *gout, const dpt_window *window,
                             double scale);

/* Max pooling; dilation is allowed, pad is at most kernel/2. in (N)xCxS; idx (a LongTensor kind)
 * receives Torch7's indices: the position of the maximum within its plane, from 1. */
int dpt_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                        const dpt_window *window);
/* Max pooling with windows that tile the plane: the output has sizes size[0 .. ndim-1]. */
int dpt_adaptive_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
/* Fractional max pooling (SpatialFractionalMaxPooling): windows of window->kernel at positions
 * drawn from samples, (N)xCxndim numbers in [0, 1), of which the first is the innermost
 * dimension's, as in Torch7. Output sizes are size[0 .. ndim-1]. */
int dpt_fractional_maxpool_forward(dpt_tensor *out, dpt_tensor *idx, const dpt_tensor *in,
                                   const dpt_tensor *samples, const dpt_window *window,
                                   const int64_t *size);
/* Backward of all three: gin = 0; gin[idx] += gout, for each plane; ndim spatial dimensions. */
int dpt_maxpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_tensor *idx, int ndim);
/* nn.SpatialMaxUnpooling: out (planes of size[0 .. ndim-1]) = 0; out[idx] = in; and its gradient.
 */
int dpt_maxunpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *idx, int ndim,
                          const int64_t *size);
int dpt_maxunpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *idx,
                           int ndim);

/* Average pooling: in (N)xCxS. count_pad 1 is Torch7's default, 0 is setCountExcludePad. */
int dpt_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_window *window);
int dpt_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                         const dpt_window *window);
int dpt_adaptive_avgpool_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                 const int64_t *size);
int dpt_adaptive_avgpool_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim);

/* SoftMax (log 0) and LogSoftMax (log 1) over a dimension, from 1. dim 0: over the first one of 1-D
 * and 3-D tensors, and over the second one of 2-D and 4-D ones. */
int dpt_softmax_forward(dpt_tensor *out, const dpt_tensor *in, int log, int dim);
int dpt_softmax_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *out, int log,
                         int dim);

/* Batch normalization of in NxC or NxCxS over N and S. weight and bias C or both NULL. Training:
 * save_mean and save_std (resized to C) receive the batch's mean and 1/sqrt(var + eps), and
 * running_mean and running_var become (1-momentum)*running + momentum*batch (unbiased variance).
 * Otherwise the running values normalize and nothing else is written. */
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

/* Layer, group, instance and root-mean-square normalization: in consists of `rows` rows of `planes`
 * equal planes. Each row is normalized by its mean (0 if rms) and variance about it (biased):
 * (x - mean) / sqrt(variance + eps). Plane k of row r is then multiplied by weight, and bias is
 * added, at k + r % groups * planes. weight, bias: groups * planes elements, or NULL. save receives
 * what backward needs, floats (doubles for doubles) of size rows x 2. */
int dpt_norm_forward(dpt_tensor *out, dpt_tensor *save, const dpt_tensor *in,
                     const dpt_tensor *weight /* or NULL */, const dpt_tensor *bias /* or NULL */,
                     int64_t rows, int64_t groups, int64_t planes, int rms, double eps);
/* gweight and gbias are added to, times scale. gin, gweight and gbias may each be NULL. */
int dpt_norm_backward(dpt_tensor *gin /* or NULL */, dpt_tensor *gweight /* or NULL */,
                      dpt_tensor *gbias /* or NULL */, const dpt_tensor *in, const dpt_tensor *gout,
                      const dpt_tensor *weight /* or NULL */, const dpt_tensor *save, int64_t rows,
                      int64_t groups, int64_t planes, int rms, double scale);

/* Scaled dot-product attention: out = softmax(q k^T * scale + mask) v (PyTorch's
 * scaled_dot_product_attention). q is NxHxLxE; k NxGxSxE and v NxGxSxV, where G divides H: head h
 * of q reads head h / (H / G). mask is broadcast to NxHxLxS: numbers to add, of q's type, or bytes,
 * 0 for a key that takes no part. If causal, row i of q takes part with the keys up to i + offset.
 * A row without keys is 0. out is NxHxLxV; save receives each row's largest score m and the
 * logarithm of the sum of exp(score - m): floats (doubles for doubles) of size NxHxLx2. Views whose
 * last stride is 1 are used in place. */
typedef struct dpt_attention {
  int32_t causal;
  int64_t offset;
  double scale;
  double dropout; /* probability that a weight becomes 0; the others are divided by 1 - dropout */
  dpt_draw draw;  /* of dropout, for N rows of HxLxS elements */
} dpt_attention;
int dpt_attention_forward(dpt_tensor *out, dpt_tensor *save, const dpt_tensor *q,
                          const dpt_tensor *k, const dpt_tensor *v,
                          const dpt_tensor *mask /* or NULL */, const dpt_attention *options);
/* Computes the gradients of q, k and v. The mask has none. */
int dpt_attention_backward(dpt_tensor *gq, dpt_tensor *gk, dpt_tensor *gv, const dpt_tensor *q,
                           const dpt_tensor *k, const dpt_tensor *v,
                           const dpt_tensor *mask /* or NULL */, const dpt_tensor *out,
                           const dpt_tensor *gout, const dpt_tensor *save,
                           const dpt_attention *options);

/* Fills dropout's mask (not resized): each element becomes `value` with probability 1-p, else 0. It
 * depends only on the draw and the element's position in it, so it is the same on every kind of
 * device and for every split of a batch along dimension 0. */
int dpt_dropout_mask(dpt_tensor *mask, const dpt_draw *draw, double p, double value);

/* nn.LookupTable. weight VxD; idx of any shape, numbers from 1; out has idx's size x D. */
int dpt_lookup_forward(dpt_tensor *out, const dpt_tensor *weight, const dpt_tensor *idx);
/* gw[idx] += scale * gout (with by_frequency, divided by the number of occurrences of the index in
 * idx), in the order of idx; nothing is added to row `padding` (0: none). */
int dpt_lookup_backward(dpt_tensor *gw, const dpt_tensor *idx, const dpt_tensor *gout,
                        int64_t padding, int by_frequency, double scale);
/* Scales the rows of weight that idx selects and whose p-norm exceeds max_norm, so that their norm
 * is max_norm. */
int dpt_lookup_renorm(dpt_tensor *weight, const dpt_tensor *idx, double max_norm, double p);

/* Losses write their value to out, a tensor of one element (on a device the work is only
 * queued). */

/* ClassNLLCriterion and SpatialClassNLLCriterion: in C, NxC or NxCxHxW of log-probabilities, target
 * 1, N or NxHxW; weight C or NULL; total (resized to 1) receives the sum of weights, which average
 * divides by; targets equal to ignore (counted from 1 like them; -100 by default) are skipped. A
 * class out of range is an error, reported on devices at the next wait. */
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
/* MultiLabelMarginCriterion: in (N)xC, target of in's size: labels, terminated by a 0. */
int dpt_multilabel_forward(dpt_tensor *out, const dpt_tensor *in, const dpt_tensor *target,
                           int average);
int dpt_multilabel_backward(dpt_tensor *gin, const dpt_tensor *in, const dpt_tensor *target,
                            int average);

/* Upsampling of in (N)xCxS, ndim 1 to 3: nearest by an integer factor; linear (ndim 2, corners
 * aligned) to a size. The backward functions use only the size of `in`, which is gin's size. */
int dpt_upsample_nearest_forward(dpt_tensor *out, const dpt_tensor *in, int ndim, int64_t factor);
int dpt_upsample_nearest_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                  int ndim, int64_t factor);
int dpt_upsample_linear_forward(dpt_tensor *out, const dpt_tensor *in, int ndim,
                                const int64_t *size);
int dpt_upsample_linear_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                                 int ndim);

/* Pads the last ndim dimensions of in, below[d] before and above[d] after (negative: crop, zeros
 * only). */
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

/* SpatialCrossMapLRN: in (N)xCxHxW; denom (resized) receives k + alpha/size * the sum of
 * squares. */
int dpt_lrn_forward(dpt_tensor *out, dpt_tensor *denom, const dpt_tensor *in, int64_t size,
                    double alpha, double beta, double k);
int dpt_lrn_backward(dpt_tensor *gin, const dpt_tensor *gout, const dpt_tensor *in,
                     const dpt_tensor *out, const dpt_tensor *denom, int64_t size, double alpha,
                     double beta);

/* Optimizer steps: one pass over vectors of equal count. As in optim.*, the weight decay remains in
 * the gradient g. sgd: g += decay*x; v = momentum*v + keep*g (keep = 1 - dampening; first != 0:
 * v = g); x -= rate * v, or rate * (g += momentum*v) with nesterov. v is NULL without momentum.
 * rates (a vector, or NULL) multiplies rate; decays (likewise) replaces decay. */
int dpt_sgd_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v /* or NULL */,
                 const dpt_tensor *rates /* or NULL */, const dpt_tensor *decays /* or NULL */,
                 double rate, double decay, double momentum, double keep, int nesterov, int first);
/* g += decay*x; m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g*g;
 * x -= rate * m / (sqrt(v) + eps); rate is the bias-corrected step size. rates and decays as for
 * sgd. */
int dpt_adam_step(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                  const dpt_tensor *rates /* or NULL */, const dpt_tensor *decays /* or NULL */,
                  double rate, double decay, double beta1, double beta2, double eps);
/* As above, but if x and g have a reduced type, g is only read, and the other vectors are floats.
 * If dpt_step_takes(x) is true, no vector is converted as a whole. vmax: vmax = max(vmax, v)
 * replaces v in the step (AMSGrad). decoupled: instead of changing g, the decay multiplies x by
 * 1 - base * decay before the step (AdamW); rates multiplies base, too. copy: contiguous, of a
 * reduced type, with at most as many elements as x, which has floats then; it receives the first
 * elements of the new x, rounded to nearest even.
 *
 * scaler (see dpt_scaler_step) and count, both or neither: if the scaler's FINITE is 0, the step is
 * skipped, and only the copy is written. Otherwise g is multiplied by FACTOR first, and count[0]
 * and, in sgd with v, count[1] increase by 1. count: contiguous, DPT_STEP_COUNTS doubles: the
 * number of steps taken, the number of steps that have changed v, and values that kernels write.
 * With a scaler, rate is the learning rate of the first step: sgd and adam divide it by
 * 1 + (count[0] - 1) * rate_decay, and adam corrects it, and eps if decoupled, for the bias after
 * count[0] steps. `first` is count[1] == 1, and base is ignored. */
int dpt_sgd_mixed(dpt_tensor *x, dpt_tensor *g, dpt_tensor *v /* or NULL */,
                  const dpt_tensor *rates /* or NULL */, const dpt_tensor *decays /* or NULL */,
                  double rate, double decay, double momentum, double keep, int nesterov, int first,
                  dpt_tensor *copy /* or NULL */, const dpt_tensor *scaler /* or NULL */,
                  dpt_tensor *count /* or NULL */, double rate_decay);
int dpt_adam_mixed(dpt_tensor *x, dpt_tensor *g, dpt_tensor *m, dpt_tensor *v,
                   dpt_tensor *vmax /* or NULL */, const dpt_tensor *rates /* or NULL */,
                   const dpt_tensor *decays /* or NULL */, double rate, double decay, double beta1,
                   double beta2, double eps, int decoupled, double base,
                   dpt_tensor *copy /* or NULL */, const dpt_tensor *scaler /* or NULL */,
                   dpt_tensor *count /* or NULL */, double rate_decay);
enum { DPT_STEP_COUNTS = 5 };
/* Returns true if the kernels on x's device take x's type. */
int dpt_step_takes(const dpt_tensor *x);
/* Returns true if x's device has the kernels of steps with a copy or a scaler, dpt_scaler_step and
 * dpt_scale_by. */
int dpt_step_copies(const dpt_tensor *x);

/* Entries of the state of a loss scaler (PyTorch's GradScaler), a contiguous vector of
 * DPT_SCALER_NUMBERS doubles: the scale of the next gradient; the factor by which the step
 * multiplies the last gradient; 1 if the last gradient was finite, otherwise 0; the number of
 * finite gradients since the last change of the scale; the number of gradients that were not
 * finite. */
enum {
  DPT_SCALER_SCALE,
  DPT_SCALER_FACTOR,
  DPT_SCALER_FINITE,
  DPT_SCALER_STREAK,
  DPT_SCALER_SKIPS,
  DPT_SCALER_NUMBERS
};
/* Updates the state of a scaler by the norm (1 element) of a gradient. If the norm is finite,
 * FACTOR = 1 / SCALE, norm *= FACTOR and, if STREAK reaches `every`, SCALE *= growth; otherwise
 * FACTOR = 1 and SCALE *= backoff. The scale remains a normal float. */
int dpt_scaler_step(dpt_tensor *scaler, dpt_tensor *norm, double growth, double backoff,
                    double every);
/* r = x * factor (1 double) for real types, rounded once; r is resized, and may be x. */
int dpt_scale_by(dpt_tensor *r, const dpt_tensor *x, const dpt_tensor *factor);

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
  int32_t skip_input;  /* 1: the first layer uses x itself, without input matrices */
  int32_t batch_first; /* x, y and their gradients are BxTxI, not TxBxI */
  int32_t layers, input, hidden;
  int32_t projection; /* 0: none */
  /* Probability that an element passed from one layer to the next becomes 0; the others are divided
   * by 1 - dropout. Applies if forward keeps a reserve. The words are the draw's for row
   * first_row + sequence and index (layer * T + step) * directions * O + column. Backward needs the
   * draw of its forward. */
  dpt_draw draw;
  double dropout;
} dpt_rnn;

/* The weights of a network are one vector, whose layout depends on the device and the element type:
 * two tensors that differ in either may hold the same weights at different offsets, and there may
 * be gaps. size: returns the number of elements of the vector for the element type and the device
 * of `weight` (the current device if it is empty). find: returns the position of matrix or bias
 * `id` of a pseudo-layer. */
typedef struct dpt_rnn_part {
  int64_t matrix, rows, columns; /* first element, from 0; rows 0: no such matrix */
  int64_t bias, biases;          /* likewise; biases 0: no such bias */
} dpt_rnn_part;
int dpt_rnn_size(const dpt_rnn *rnn, const dpt_tensor *weight, int64_t *elements);
int dpt_rnn_find(const dpt_rnn *rnn, const dpt_tensor *weight, int pseudo_layer, int id,
                 dpt_rnn_part *part);

/* y: TxBx(directions*O) from x: TxBxI (or batch first). h0, hn: (layers*directions)xBxO; c0, cn,
 * for LSTM only: (layers*directions)xBxH; h0 or c0 NULL: zeros. weight: a vector of dpt_rnn_size
 * elements. lengths: a LongTensor in host memory with the number of steps of each of the B
 * sequences, 1 to T in any order; NULL: all have T. Elements of x after a sequence's end are not
 * read, y is 0 there, and hn and cn are those of its last step; for a sequence without steps hn is
 * h0 and cn is c0. reserve: a ByteTensor on the same device, resized: the state of this forward
 * that the backward functions need; NULL: inference. Float and double; half on devices. */
int dpt_rnn_forward(dpt_tensor *y, dpt_tensor *hn /* or NULL */, dpt_tensor *cn /* or NULL */,
                    dpt_tensor *reserve /* or NULL */, const dpt_rnn *rnn, const dpt_tensor *x,
                    const dpt_tensor *h0 /* or NULL */, const dpt_tensor *c0 /* or NULL */,
                    const dpt_tensor *weight, const dpt_tensor *lengths /* or NULL */);
/* Computes the gradients w.r.t. x, h0 and c0 from those w.r.t. y, hn and cn (NULL: zeros), for a
 * forward that wrote `reserve` and had the same other operands. Call it once for each forward: it
 * changes reserve. */
int dpt_rnn_backward_data(dpt_tensor *gx, dpt_tensor *gh0 /* or NULL */,
                          dpt_tensor *gc0 /* or NULL */, dpt_tensor *reserve, const dpt_rnn *rnn,
                          const dpt_tensor *y, const dpt_tensor *gy,
                          const dpt_tensor *ghn /* or NULL */, const dpt_tensor *gcn /* or NULL */,
                          const dpt_tensor *h0 /* or NULL */, const dpt_tensor *c0 /* or NULL */,
                          const dpt_tensor *weight, const dpt_tensor *lengths /* or NULL */);
/* gw += scale * the gradient w.r.t. weight, after dpt_rnn_backward_data with the same reserve. */
int dpt_rnn_backward_weight(dpt_tensor *gw, const dpt_rnn *rnn, const dpt_tensor *x,
                            const dpt_tensor *h0 /* or NULL */, const dpt_tensor *y,
                            const dpt_tensor *lengths /* or NULL */, dpt_tensor *reserve,
                            double scale);

/* ---- device -------------------------------------------------------------------------------- */

/* Devices are numbered from 1; device 0 means the current one. Streams of a device are numbered
 * from 0, its default stream; -1 is this thread's current one. */

/* Chooses the devices: "host:4", "none", "cuda", "cuda:0,2", "emulated:2", as DPT_DEVICES; fails
 * after the first use of a device. */
int dpt_devices_set(const char *spec);
/* expected: returns the number of devices; unlike the other functions it does not initialize
 * them. */
int dpt_device_expected(int *n);
int dpt_device_count(int *n);
/* Fails if there is no device; the message names fn. */
int dpt_device_check(const char *fn);
int dpt_device_get(int *device);
int dpt_device_set(int device);
/* Properties of a device, named as in CUDA; threads: the number of threads it computes with
 * (multiprocessors of a GPU). The fields from clock (kHz) on are for GPUs only and 0 on host
 * devices. */
typedef struct dpt_device_info {
  const char *name;
  int32_t threads, major, minor, integrated, warp, block_threads, overlap, map_host, compute_mode;
  int32_t clock, timeout, block_registers, pci_bus, pci_device, pci_domain, texture, texture_linear;
  int64_t pitch, block_shared, texture_alignment, constant;
} dpt_device_info;
int dpt_device_properties(int device, dpt_device_info *info);
/* Returns one line: the devices and why these were chosen. */
const char *dpt_device_report(void);
/* Returns the number of GPUs of this machine that dpt can use, whichever devices are chosen, and
 * the versions of CUDA's runtime and driver. Fails if there is none; the message has the reason. */
int dpt_gpu_count(int *n, int *runtime, int *driver);
/* Returns the CUDA versions that the devices use; 0 and 0 on host devices. */
int dpt_device_versions(int *runtime, int *driver);
/* Waits for every stream of the device (-1: of all devices) and reports a pending error. */
int dpt_device_synchronize(int device);

/* Creates streams until every device has at least n besides its default one. Blocking streams are
 * ordered with the default stream. */
int dpt_stream_reserve(int n, int nonblocking);
int dpt_stream_count(int *n); /* excludes the default one */
/* Set and return this thread's current stream of a device (0: of every device). */
int dpt_stream_set(int device, int stream);
int dpt_stream_get(int device, int *stream);
int dpt_stream_synchronize(int device, int stream);
/* Returns the number of queued items that have failed since the start. A caller that relies on work
 * it queued and did not wait for can detect that some failed. */
uint64_t dpt_failures(void);
/* Returns the number of times the process has waited for queued work, including waits for work that
 * was already done. A copy from host memory is not counted, because it waits only for itself. */
uint64_t dpt_waits(void);
/* For tests: keeps the current device's current stream busy for that time. */
int dpt_stream_sleep(double milliseconds);

/* Graphs: work that is captured once and then replayed as a whole, if the current device supports
 * that. Between begin and end, work that this thread queues on its current stream of that device is
 * recorded and not executed. The thread cannot wait or use another stream; each such call fails.
 * launch executes the recorded work again, on the memory it was captured with, in the order of the
 * current stream; each replay draws new random numbers. free is allowed in any state. reject: fails
 * with a message that names fn if this thread is capturing. */
typedef struct dpt_graph dpt_graph;
int dpt_graph_supported(int *yes);
int dpt_graph_begin(dpt_graph **graph);
int dpt_graph_end(dpt_graph *graph);
int dpt_graph_launch(dpt_graph *graph);
void dpt_graph_free(dpt_graph *graph /* or NULL */);
int dpt_graph_capturing(void);
int dpt_graph_reject(const char *fn, const char *why);

/* An event: all work queued on a stream when the event was recorded. All fields zero: no work. */
typedef struct dpt_event {
  int32_t device_, stream_;
  uint64_t number_;
} dpt_event;
int dpt_event_record(dpt_event *event, int device, int stream);
int dpt_event_wait(const dpt_event *event); /* the caller waits */
int dpt_event_query(const dpt_event *event, int *done);
/* Makes later work of that stream wait; the caller does not wait. */
int dpt_stream_wait_event(int device, int stream, const dpt_event *event);

/* Creates r with size elements of a kind, uninitialized, on the current device if kind is of
 * devices. The storage starts with one reference. Any thread may release it, and no release
 * waits. */
int dpt_storage_new(dpt_storage **r, int kind, int64_t size);
int dpt_storage_new_pinned(dpt_storage **r, int kind, int64_t size); /* page-locked host memory */
/* Creates a view of elements first .. first+size-1 of another storage. The view keeps that storage
 * alive, which from then on cannot be resized. */
int dpt_storage_view(dpt_storage **r, dpt_storage *parent, int64_t first, int64_t size);
/* over: creates a storage of size elements in host memory at data, which dpt never frees and which
 * must outlive the storage. map: creates a storage backed by a file or, if memory is not 0, by the
 * shared memory object of that name, which is removed with the storage. shared: writes go to the
 * file, which is created or extended to size elements; otherwise they are private. size < 0: the
 * size of the file. Neither can be resized. */
int dpt_storage_over(dpt_storage **r, int kind, void *data /* or NULL */, int64_t size);
int dpt_storage_map(dpt_storage **r, int kind, const char *path, int shared, int memory,
                    int64_t size);
void dpt_storage_retain(dpt_storage *storage);
void dpt_storage_release(dpt_storage *storage);
/* Keeps the contents as far as they fit; on a device the current stream copies them. When a
 * storage with other references shrinks, it keeps its memory, since their tensors may refer to
 * all of it. */
int dpt_storage_resize(dpt_storage *storage, int64_t size);
int64_t dpt_storage_size(const dpt_storage *storage);
int dpt_storage_kind(const dpt_storage *storage);
int dpt_storage_device(const dpt_storage *storage); /* 0: host memory */
int dpt_storage_pinned(const dpt_storage *storage);
void *dpt_storage_data(const dpt_storage *storage);
/* Returns a number that grows whenever an operation writes to the storage; two equal numbers mean
 * that nothing was written in between. */
uint64_t dpt_storage_writes(const dpt_storage *storage);
/* Return the bytes of live host storages (without page-locked ones), and of live storages on all
 * devices. */
int64_t dpt_host_live_bytes(void);
int64_t dpt_device_live_bytes(void);
/* Lua's collector does not see this memory. Code that allocates for a Lua state first calls due,
 * which returns true if a collection is needed before size more elements of a kind are allocated.
 * If so, it collects, then calls done with the size of Lua's heap in bytes. When the live bytes
 * reach the soft limit, every thread that allocates collects once. After a collection the soft
 * limit is set above the live bytes, by a quarter of them, 256 MiB or twice the heap, whichever is
 * most. A thread that has allocated that much by itself collects without the others. */
int dpt_collect_due(int kind, int64_t size);
void dpt_collect_done(int64_t heap);

/* Bytes of a device: live storages, memory cached for later ones, the peak of live, the limit (0:
 * none), the device's total, and the bytes that this process could still allocate; then the number
 * of allocations by tensors (blocks) and by the allocator from the system (segments). Temporary
 * memory counts as cached. */
typedef struct dpt_memory_stats {
  int64_t live, cached, peak, limit, total, left, blocks, segments;
} dpt_memory_stats;
int dpt_memory_stats_get(int device, dpt_memory_stats *stats);
int dpt_memory_peak_reset(int device);
int dpt_memory_limit_set(int device, int64_t bytes); /* 0: no limit */
/* Returns 0 if DPT_CACHE=off disables the cache. */
int dpt_memory_cached(void);
/* Frees cached memory; waits for work that still uses it. */
int dpt_memory_empty_cache(int device);
/* Returns the bytes copied from one device to another since the start. */
uint64_t dpt_copied_bytes(void);
/* Peer access: whether a device can access another's memory (0: the current device). It is on
 * between all devices that support it until a script turns it off; turning it off waits for both
 * devices. Copies between two devices go through host memory unless each can access the other. */
int dpt_peer_set(int from, int to, int on);
int dpt_peer_get(int from, int to, int *on);
/* Allows operations with operands on different devices; off (0) by default. The device of the first
 * operand, the result, then reads the others' memory. */
int dpt_peer_kernels_set(int on);
int dpt_peer_kernels_get(void);

/* Set and return the number of OpenMP threads for operations on host tensors on this thread. */
int dpt_threads_set(int n);
int dpt_threads_get(void);
/* Makes the calling thread a background thread: a thread that wakes preempts it at once, and yields
 * the core again when both have had the same share (SCHED_BATCH, and a long slice if the kernel
 * supports that: Linux 6.12). Calls that the system does not support are skipped. */
void dpt_thread_batch(void);

/* Makes Ctrl-C end the process, even in compiled Lua, in a wait or in a kernel, and restore the
 * terminal to its state at this call. A handler that the script installed is kept. */
int dpt_interrupt_install(void);
/* on 1: Ctrl-C raises an error in the running Lua code as soon as interpreted code runs, and a
 * second one within two seconds ends the process. on 0: Ctrl-C ends the process at once. */
int dpt_interrupt_prompt(int on);

/* Traces the items of streams between start and stop, in at most n records. stop waits until all
 * items queued by then have run. Times are dpt_clock's in nanoseconds. label: this thread's current
 * label for new records, a number returned by label_new (0: no more are available). span: records
 * the time from `begin` (a dpt_trace_now) until now on this thread, with a label as its name.
 * records: valid until the next start; *lost: the number of records that did not fit. */
enum {
  DPT_TRACE_ITEM,        /* a kernel: the item `number` of that device's stream */
  DPT_TRACE_WAIT,        /* the stream waits for the item `other` of another */
  DPT_TRACE_RENDEZVOUS,  /* an item of several streams together */
  DPT_TRACE_COPY,        /* an item that copies from another device */
  DPT_TRACE_THREAD_WAIT, /* the thread waits for the item `other` */
  DPT_TRACE_MEMORY, /* the block at address `number` is allocated or (bytes < 0) freed; `other`: the
                     * device's live bytes after that */
  DPT_TRACE_SPAN
};
typedef struct dpt_trace_record {
  int64_t queued_, begin_, end_;
  const char *name_;
  uint64_t number_, other_;
  int64_t bytes_;
  int32_t size_[4]; /* of the first operand; 0 after its last dimension */
  int16_t device_, stream_, other_device_, other_stream_; /* stream -1: for communication */
  uint32_t label_;
  uint16_t thread_;
  uint8_t kind_, whole_;
} dpt_trace_record;
int dpt_trace_start(int64_t n);
int dpt_trace_stop(void);
const dpt_trace_record *dpt_trace_records(int64_t *n, int64_t *lost);
const int *dpt_trace_on(void); /* not 0: a trace is running */
uint32_t *dpt_trace_label(void);
uint32_t dpt_trace_label_new(const char *text);
const char *dpt_trace_label_text(uint32_t number);
double dpt_trace_now(void);
void dpt_trace_span(double begin, uint32_t what);

/* Set faults, delays and link speed, like the variables DPT_FAULT ("thread:3|malloc:7|copy:2"; ""
 * ends it), DPT_DELAY (0 ends it) and DPT_LINK ("1GB/s"; "" ends it). */
int dpt_fault_set(const char *spec);
int dpt_delay_set(uint64_t seed);
int dpt_link_set(const char *speed);

/* ---- comm ---------------------------------------------------------------------------------- */

/* Communication between devices. The work is queued on the current stream of every device involved
 * and ordered by events; nothing waits (except for host tensors, which have been read or written on
 * return). Lists have n tensors; the tensors of one list are on one device. */

/* use: chooses the transport by name. "copy" is always available; if another one is missing, the
 * call fails with the reason and changes nothing. transport: returns the name of the transport in
 * use. */
int dpt_comm_use(const char *name);
const char *dpt_comm_transport(void);
/* out[c * n + k] = src[k] for every c < copies: contiguous, equal counts and types. The devices
 * work in parallel. */
int dpt_comm_broadcast(int64_t n, const dpt_tensor *const *src, int64_t copies,
                       dpt_tensor *const *out);
/* out[k] = in[k] + in[n + k] + in[2 * n + k] ..., `sources` summands in this order, in a wide
 * accumulator. add: out's own value is the first summand; clear: sets every `in` to 0 after the
 * sum. Contiguous, equal counts and types. */
int dpt_comm_reduce(int64_t n, dpt_tensor *const *out, int64_t sources, dpt_tensor *const *in,
                    int add, int clear);
/* Like the two functions above, between a list of tensors of one type and a flat tensor, their
 * concatenation: out[c] = src[0], src[1] ...; out = the sum over s of in[s * n], in[s * n + 1]
 * ... */
int dpt_comm_broadcast_flat(int64_t n, const dpt_tensor *const *src, int64_t copies,
                            dpt_tensor *const *out);
int dpt_comm_reduce_flat(dpt_tensor *out, int64_t n, int64_t sources, const dpt_tensor *const *in);
/* Collectives of n contiguous tensors of one type, each on a different device. out[i] is on the
 * device of in[i]; in all_reduce it may be in[i] itself. all_reduce: every out[i] = the sum of all
 * in. all_gather: every out[i] = in[0], in[1] ... one after the other. reduce_scatter: the sum of
 * all in, split into out[0], out[1] ... by their counts. */
int dpt_comm_all_reduce(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
int dpt_comm_all_gather(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
int dpt_comm_reduce_scatter(int64_t n, dpt_tensor *const *out, const dpt_tensor *const *in);
/* Sums the gradients of several replicas, each on one device, while they are still being computed:
 * like dpt_comm_reduce with add and clear, into the gradients of replica 0, one bucket at a time
 * and on separate streams. Bucket b has counts[b] tensors of each replica; `tensors` lists them by
 * bucket, then by replica. Replicas and buckets count from 0.
 *
 * A step: begin; bucket_ready, from any thread, when everything that a replica adds to a bucket is
 * queued on its device's current stream (the last replica's call queues the sum); finish, which
 * queues the remaining sums and makes the current streams wait for all of them. Replicas from
 * `used` on have nothing to add. Call invalidate before a replica adds more to a ready bucket: the
 * current stream waits for the sum if it is queued, and the bucket is summed again at the end.
 * cancel ends a step that failed, and waits for the work queued.
 *
 * Sums may be passed on to other processes: flush queues the remaining sums. Between send(begin =
 * 1) for a summed bucket and send(begin = 0), the work that the calling thread queues runs after
 * the sum, on the same streams. From then on nothing may be added to that bucket (invalidate
 * fails). */
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
/* Splits src along dim: out[i] = the next rows[i] entries; 0 of them: empty. out[i] is resized; if
 * it has no memory, it is allocated on devices[i] (0: the host). src is of any type, on the host or
 * on a device. */
int dpt_comm_scatter(int64_t n, dpt_tensor *const *out, const int32_t *devices, const int64_t *rows,
                     const dpt_tensor *src, int dim);
/* Concatenates the tensors along dim; empty ones are skipped. out is resized; if it has no memory,
 * it is allocated on `device` (0: the host). */
int dpt_comm_gather(dpt_tensor *out, int device, int64_t n, const dpt_tensor *const *in, int dim);

/* ---- worker -------------------------------------------------------------------------------- */

/* Threads with a Lua state each, messages ("mails") between them and their owner (the state that
 * created them), and objects shared by several states. A mail consists of bytes and of references
 * to counted objects, which it keeps alive until it is freed. */
typedef struct dpt_workers dpt_workers;
typedef struct dpt_shared dpt_shared;
enum { DPT_REFERENCE_STORAGE, DPT_REFERENCE_SHARED };
typedef struct dpt_reference {
  void *object;
  int64_t kind;
} dpt_reference;
/* tag: a number that the sender chose; an answer has the tag of its job. ended: the worker died
 * before it answered; bytes are the error message. */
typedef struct dpt_mail {
  const char *bytes;
  int64_t size, tag;
  int32_t worker, ended;
} dpt_mail;

/* Starts n threads that each run `boot` (Lua source, with the worker's number as its argument).
 * Each first sends an answer that it has started, whose tag is the worker's number. */
int dpt_workers_new(dpt_workers **workers, int n, const char *boot, int64_t size);
/* Queues a job for one worker (from 1), or for the first that is free (0). */
int dpt_workers_send(dpt_workers *workers, int worker, int64_t tag, const void *bytes, int64_t size,
                     const dpt_reference *references /* or NULL */, int count);
/* Waits for the next answer; fails if none is due. The caller frees the mail. */
int dpt_workers_receive(dpt_workers *workers, dpt_mail **mail);
void dpt_mail_free(dpt_mail *mail);
/* Returns the number of jobs that have not begun, of those queued for one worker (0: for any
 * worker). */
int64_t dpt_workers_waiting(dpt_workers *workers, int worker);
/* Make every worker end after its current job; stop waits for that, free does not. Jobs that have
 * not begun are dropped. */
void dpt_workers_stop(dpt_workers *workers);
void dpt_workers_free(dpt_workers *workers);
/* For the thread of a worker. number: its number (0: another thread). receive: the next job (NULL:
 * the worker is to end). answer: answers the job, or reports that the worker has started. */
int dpt_worker_number(void);
dpt_mail *dpt_worker_receive(void);
int dpt_worker_answer(const void *bytes, int64_t size,
                      const dpt_reference *references /* or NULL */, int count);

/* Mutexes, conditions and counters (DPT_TALLY is tds.AtomicCounter). new returns a reference
 * (queues and tables have their own functions for that); find returns another reference to a live
 * object of that kind. Ids are never reused. */
enum { DPT_MUTEX, DPT_CONDITION, DPT_COUNTER, DPT_QUEUE, DPT_HASH, DPT_VEC, DPT_TALLY };
int dpt_shared_new(dpt_shared **shared, int kind);
int dpt_shared_find(dpt_shared **shared, int kind, int64_t id);
int64_t dpt_shared_id(const dpt_shared *shared);
int dpt_shared_kind(const dpt_shared *shared);
void dpt_shared_retain(dpt_shared *shared);
void dpt_shared_release(dpt_shared *shared);
/* A thread that locks a mutex twice, or unlocks one it has not locked, gets an error. wait requires
 * the mutex to be locked. */
int dpt_mutex_lock(dpt_shared *mutex);
int dpt_mutex_unlock(dpt_shared *mutex);
int dpt_condition_wait(dpt_shared *condition, dpt_shared *mutex);
void dpt_condition_wake(dpt_shared *condition, int all);
/* Returns the new value. */
int64_t dpt_counter_add(dpt_shared *counter, int64_t n);
int64_t dpt_counter_get(dpt_shared *counter);
void dpt_counter_set(dpt_shared *counter, int64_t value);
/* A queue of at most `size` mails: put waits while it is full, take while it is empty. The caller
 * of take frees the mail. share: 1 if tensors in it are to be shared; senders query it by
 * dpt_queue_about. */
int dpt_queue_new(dpt_shared **shared, int64_t size, int share);
int dpt_queue_put(dpt_shared *queue, const void *bytes, int64_t size,
                  const dpt_reference *references /* or NULL */, int count);
dpt_mail *dpt_queue_take(dpt_shared *queue);
void dpt_queue_about(dpt_shared *queue, int64_t *about); /* size, share, length */

/* An element of a hash or a vec. number: a number, or 0 or 1 for a boolean. bytes: the `size` bytes
 * of a string or of a tensor's struct. In a result, the buffer at bytes has `space` bytes. If that
 * is less than size, nothing was copied. The caller owns a reference to a tensor's storage if the
 * struct was copied, and to a shared object. */
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
/* Each call is atomic for all threads. A hash has keys of all types except nil, NaN and tensors, a
 * vec indices from 0; setting nil removes an entry of a hash. next: returns the first entry at *at
 * or after it; *at becomes the position to continue from, or -1 if there was no entry. */
int dpt_table_get(dpt_shared *table, const dpt_value *key, dpt_value *value);
int dpt_table_set(dpt_shared *table, const dpt_value *key, const dpt_value *value);
int dpt_table_next(dpt_shared *hash, int64_t *at, dpt_value *key, dpt_value *value);
int64_t dpt_table_length(dpt_shared *table);
/* Indices count from 0. insert and remove move the elements from `at` on; a vec that grows beyond
 * its end is filled with nils. */
int dpt_vec_insert(dpt_shared *vec, int64_t at, const dpt_value *value);
int dpt_vec_remove(dpt_shared *vec, int64_t at);
int dpt_vec_resize(dpt_shared *vec, int64_t size);

/* ---- ranks: the processes of a job that mpirun or srun started ---- */

typedef struct dpt_world_info {
  int rank, size, local_rank, local_size; /* local: among the ranks of this host */
  const char *library;                    /* "" for a world of one rank */
} dpt_world_info;

/* Sets the program name in this rank's record; call it before the ranks are joined. */
void dpt_world_program(const char *name);
/* Joins the other ranks on the first call. */
int dpt_world_join(dpt_world_info *info);
/* Creates a group of ranks and returns its number in *group; every rank of the world calls it, with
 * the same list. Group 0 is all ranks. At most 1,024 exist at once. */
int dpt_world_group(int n, const int *ranks, int *group);
/* Releases a group that this rank no longer uses. It is freed, and its number reused, when a group
 * is created after all ranks of the world have released it. */
void dpt_world_group_release(int group);
int dpt_world_group_rank(int group, int *rank /* -1: not in it */, int *size);
/* Returns the transport of a group's collectives of device tensors; every rank of the group calls
 * it. *transport: "nccl", "page-locked" (over the library that connects the ranks), "mpi" (that
 * library reads the devices' memory) or "none" (one rank); *why: the reason if it is not nccl. */
int dpt_world_transport(int group, const char **transport, const char **why);
/* Reports that this rank's script has raised: all ranks end with that message. */
int dpt_world_failed(const char *why);

/* A rank's record of its last operations (the flight recorder). */
typedef struct dpt_flight_entry {
  uint64_t number, group;   /* a count from 1 in the group; a hash of the group's ranks */
  int64_t began, ended;     /* nanoseconds of the host's clock; ended 0: not ended */
  int what;                 /* DPT_RANKS_BARRIER ... */
  char name[64], text[160]; /* text: the operation in words */
} dpt_flight_entry;
typedef struct dpt_flight {
  int rank, size, pid, state; /* state: 0 starting, 1 running, 2 failed, 3 and 4 its script ended */
  int64_t beat, count;        /* beat: the last sign of life, by that clock; count: entries */
  char host[64], text[2048];  /* text: why it failed */
  char program[64];           /* the end of its name; "": unknown */
  double alive;               /* as beat, in seconds since 1970 */
} dpt_flight;
enum { DPT_FLIGHT_ENTRIES = 1024 };
/* Reads a record from a file, the oldest entry first. */
int dpt_flight_read(const char *path, dpt_flight *flight, dpt_flight_entry *entries);
/* Returns the folder of records. */
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
  DPT_RANKS_EXCHANGE,  /* only dpt_collective_exchange */
  DPT_RANKS_ALL_TO_ALL /* rank i receives each rank's i-th part, in the order of ranks */
};
enum { DPT_RANKS_SUM, DPT_RANKS_MIN, DPT_RANKS_MAX, DPT_RANKS_MEAN };
enum { DPT_RANKS_WIDE, DPT_RANKS_HALVES = DPT_F16, DPT_RANKS_BFLOAT16 = DPT_BF16 };

/* One operation of a group, which all its ranks call in the same order (send and receive: two of
 * them). in and out are contiguous, of one type and on one side; NULL if the rank reads or writes
 * nothing. If only out is given, the operation is in place (all_reduce, reduce, broadcast). The
 * whole is n times as long as a part: out of all_gather and of gather's root, in of reduce_scatter
 * and of scatter's root, both of all_to_all. Host tensors: done on return. Device tensors: queued,
 * in the order of their current stream; now: on host devices these are done on return, too. */
typedef struct dpt_collective {
  int what, how, root, group,
      tag, /* root: the other rank of send and receive; by the group's order */
      now;
  int wire;         /* all_reduce: the reduced type in which floats are sent; 0: unchanged */
  unsigned layout;  /* a hash of the sizes of the joined tensors; 0 for one tensor */
  const char *name; /* of the data, for messages; or NULL */
} dpt_collective;
int dpt_collective_run(const dpt_collective *call, const dpt_tensor *in /* or NULL */,
                       dpt_tensor *out /* or NULL */, uint64_t *number);
/* One message of an exchange. */
typedef struct dpt_transfer {
  dpt_tensor *tensor;      /* contiguous; receives: written to */
  int rank, tag, receives; /* rank: the other one, by the group's order */
} dpt_transfer;
/* Sends and receives n messages at once, so that no order of the ranks' calls can deadlock. At the
 * other rank, each message is part of an exchange, a send or a receive. The tensors are all on the
 * host, or all on devices of one backend. */
int dpt_collective_exchange(int group, int n, const dpt_transfer *transfers, const char *name,
                            uint64_t *number);
/* done: returns true if operation `number` of this process is done. wait: waits for it, and fails
 * with its error. */
int dpt_collective_done(uint64_t number);
int dpt_collective_wait(uint64_t number);

/* dpt: cdef ends */

#pragma GCC visibility pop
#endif
