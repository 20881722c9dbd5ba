/* mpi.c: the ranks of a job over MPI (distributed/engine.h), as a separate library.
 *
 * Invariant: this is the only file that includes mpi.h. MPI's errors are returned, not fatal. MPI's
 * counts are ints, so longer messages are split into parts, equally on all ranks. Requires
 * MPI_THREAD_MULTIPLE.
 */
#include "base/dtype.h"
#include "distributed/engine.h"
#include "dpt.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 30 };   /* elements or bytes of one call */
enum { SUMMED = 1 << 24 }; /* bytes summed per call, so that MPI's buffers fit in the cache */

static const dpt__engine_services *services;
static MPI_Comm watch = MPI_COMM_NULL; /* of the watchdog */
static MPI_Comm local = MPI_COMM_NULL; /* of this host */

static int mpi_check(const char *what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_string(code, text, &length);
  return services->fail("%s: %.*s", what, length, text);
}

static MPI_Datatype mpi_type_of(int dtype) {
  const MPI_Datatype NONE = MPI_DATATYPE_NULL;
  switch (dtype) {
#define X(id, type, suffix, name, compute, bits, file, cuda, nccl, mpi, ...)                       \
  case id:                                                                                         \
    return mpi;
    DPT_DTYPES(X)
#undef X
  }
  return NONE;
}

static int mpi_part_of(int64_t left) { return left < PART ? (int)left : PART; }

/* ---- minima and maxima of floats ---- */

/* MPI does not specify MPI_MIN and MPI_MAX of a NaN; here the result is one quiet NaN if either
 * operand is NaN. */
#define MPI_NAN_WINS(name, T, order)                                                               \
  static void name(void *from, void *into, int *n, MPI_Datatype *type) {                           \
    const T *x = from;                                                                             \
    T *y = into;                                                                                   \
    for (int i = 0; i < *n; i++)                                                                   \
      y[i] = isunordered(x[i], y[i]) ? (T)NAN : x[i] order y[i] ? x[i] : y[i];                     \
  }
MPI_NAN_WINS(mpi_min_f32, float, <)
MPI_NAN_WINS(mpi_max_f32, float, >)
MPI_NAN_WINS(mpi_min_f64, double, <)
MPI_NAN_WINS(mpi_max_f64, double, >)

enum { FLOATS = 4 };
static const struct {
  MPI_User_function *call;
  int dtype;
  enum dpt__reduce_op how;
} of_floats[FLOATS] = {{mpi_min_f32, DPT_F32, DPT__OP_MIN},
                       {mpi_max_f32, DPT_F32, DPT__OP_MAX},
                       {mpi_min_f64, DPT_F64, DPT__OP_MIN},
                       {mpi_max_f64, DPT_F64, DPT__OP_MAX}};
static MPI_Op op_of_floats[FLOATS]; /* never freed */

static int mpi_make_ops(void) {
  for (int i = 0; i < FLOATS; i++)
    if (mpi_check("MPI_Op_create", MPI_Op_create(of_floats[i].call, 1, &op_of_floats[i]))) return 1;
  return 0;
}

static MPI_Op mpi_op_of(int dtype, enum dpt__reduce_op how) {
  for (int i = 0; i < FLOATS; i++)
    if (of_floats[i].dtype == dtype && of_floats[i].how == how) return op_of_floats[i];
  return how == DPT__OP_MIN ? MPI_MIN : how == DPT__OP_MAX ? MPI_MAX : MPI_SUM;
}

/* ---- the job ---- */

/* Open MPI polls while it waits, and by default yields the core only if there are more ranks than
 * cores. The other threads of a rank compute meanwhile and need that core, so yielding is enabled.
 * Over TCP, Open MPI 4.1.4 puts a long message into the receiver's memory even past the end of the
 * receive buffer of a rank that called another operation, so the flag `put` is left out. */
static int mpi_join(int *level) {
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum", 0);
  return mpi_check("MPI_Init_thread", MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, level));
}

static void mpi_on_broken_pipe(int number) { (void)number; }

/* Open MPI writes to sockets without MSG_NOSIGNAL: a rank that sends to a rank of another host
 * which has just died would end by SIGPIPE, and mpirun would name it instead of the other. A
 * handler, but not SIG_IGN, is reset in the programs that the rank starts. */
static void mpi_survive_broken_pipes(void) {
  struct sigaction old, own = {.sa_handler = mpi_on_broken_pipe, .sa_flags = SA_RESTART};
  if (!sigaction(SIGPIPE, NULL, &old) && old.sa_handler == SIG_DFL) sigaction(SIGPIPE, &own, NULL);
}

static int mpi_start(char name[128], int *rank, int *size, int *local_rank, int *local_size) {
  int is_on = 0, level = 0, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  mpi_survive_broken_pipes();
  MPI_Initialized(&is_on);
  if (is_on)
    MPI_Query_thread(&level);
  else if (mpi_join(&level))
    return 1;
  if (level < MPI_THREAD_MULTIPLE)
    return services->fail(
        "MPI does not support calls from several threads (thread level %d, wanted %d)", level,
        MPI_THREAD_MULTIPLE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  strncpy(name, version, 127);
  name[127] = 0;
  if (mpi_check("MPI_Comm_split_type", MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
                                                           *rank, MPI_INFO_NULL, &local)))
    return 1;
  MPI_Comm_rank(local, local_rank);
  MPI_Comm_size(local, local_size);
  return mpi_check("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &watch)) || mpi_make_ops();
}

static int mpi_local_ranks(int *is_local) {
  MPI_Group world, here;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(local, &here);
  for (int k = 0, place; k < size; k++) {
    MPI_Group_translate_ranks(world, 1, &k, here, &place);
    is_local[k] = place != MPI_UNDEFINED;
  }
  MPI_Group_free(&world);
  MPI_Group_free(&here);
  return 0;
}

static int mpi_group(int n, const int *ranks, void **made) {
  MPI_Group world, part = MPI_GROUP_NULL;
  MPI_Comm *comm = malloc(sizeof *comm);
  *made = NULL;
  if (!comm) return services->fail("no host memory for a group of ranks");
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int status = mpi_check("MPI_Group_incl", MPI_Group_incl(world, n, ranks, &part)) ||
               mpi_check("MPI_Comm_create", MPI_Comm_create(MPI_COMM_WORLD, part, comm));
  MPI_Group_free(&world);
  if (part != MPI_GROUP_NULL && part != MPI_GROUP_EMPTY) MPI_Group_free(&part);
  if (status || *comm == MPI_COMM_NULL) {
    free(comm);
    return status;
  }
  MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
  *made = comm;
  return 0;
}

static int mpi_ungroup(void *made) {
  int status = mpi_check("MPI_Comm_free", MPI_Comm_free(made));
  free(made);
  return status;
}

static MPI_Comm mpi_comm_of(void *made) { return *(MPI_Comm *)made; }

/* ---- collectives ---- */

static int mpi_barrier(void *made) {
  return mpi_check("MPI_Barrier", MPI_Barrier(mpi_comm_of(made)));
}

static int mpi_all_reduce(void *made, void *data, int64_t count, int dtype,
                          enum dpt__reduce_op how) {
  MPI_Datatype type = mpi_type_of(dtype);
  int width = 0;
  MPI_Type_size(type, &width);
  int most = SUMMED / width;
  for (char *at = data; count > 0; count -= most, at += SUMMED)
    if (mpi_check("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, at, count < most ? (int)count : most,
                                                 type, mpi_op_of(dtype, how), mpi_comm_of(made))))
      return 1;
  return 0;
}

static int mpi_reduce(void *made, void *data, int64_t count, int dtype, enum dpt__reduce_op how,
                      int root) {
  MPI_Datatype type = mpi_type_of(dtype);
  int width = 0, rank = 0;
  MPI_Type_size(type, &width);
  MPI_Comm_rank(mpi_comm_of(made), &rank);
  for (char *at = data; count > 0; count -= PART, at += (int64_t)PART * width)
    if (mpi_check("MPI_Reduce", MPI_Reduce(rank == root ? MPI_IN_PLACE : at,
                                           rank == root ? at : NULL, mpi_part_of(count), type,
                                           mpi_op_of(dtype, how), root, mpi_comm_of(made))))
      return 1;
  return 0;
}

/* Uses one call: the parts of a longer one would not be where MPI expects them. */
static int mpi_reduce_scatter(void *made, const void *from, void *to, int64_t count, int dtype,
                              enum dpt__reduce_op how) {
  if (count > INT_MAX)
    return services->fail("MPI_Reduce_scatter_block: %lld elements for each rank, at most %d",
                          (long long)count, INT_MAX);
  return mpi_check("MPI_Reduce_scatter_block",
                   MPI_Reduce_scatter_block(from, to, (int)count, mpi_type_of(dtype),
                                            mpi_op_of(dtype, how), mpi_comm_of(made)));
}

static int mpi_broadcast(void *made, void *data, int64_t bytes, int root) {
  for (char *at = data; bytes > 0; bytes -= PART, at += PART)
    if (mpi_check("MPI_Bcast",
                  MPI_Bcast(at, mpi_part_of(bytes), MPI_BYTE, root, mpi_comm_of(made))))
      return 1;
  return 0;
}

/* Creates a type of `part` bytes whose extent is `bytes`, the distance between ranks, so that MPI
 * can place the parts of all ranks. */
static int mpi_strided(int64_t bytes, int part, MPI_Datatype *type) {
  MPI_Datatype row;
  int status = mpi_check("MPI_Type_contiguous", MPI_Type_contiguous(part, MPI_BYTE, &row)) ||
               mpi_check("MPI_Type_create_resized", MPI_Type_create_resized(row, 0, bytes, type)) ||
               mpi_check("MPI_Type_commit", MPI_Type_commit(type));
  MPI_Type_free(&row);
  return status;
}

enum moving { ALL_GATHER, ALL_TO_ALL, GATHER, SCATTER };

/* Moves `part` bytes of each rank; n of the type are those bytes (MPI_BYTE if ranks' data is
 * contiguous). from NULL: this rank's data is already in place. */
static int mpi_move_part(MPI_Comm comm, enum moving what, const char *from, char *to, int part,
                         int n, MPI_Datatype type, int root) {
  switch (what) {
  case ALL_GATHER:
    return mpi_check("MPI_Allgather",
                     MPI_Allgather(from ? from : MPI_IN_PLACE, part, MPI_BYTE, to, n, type, comm));
  case ALL_TO_ALL:
    return mpi_check("MPI_Alltoall", MPI_Alltoall(from, n, type, to, n, type, comm));
  case GATHER:
    return mpi_check("MPI_Gather", MPI_Gather(from, part, MPI_BYTE, to, n, type, root, comm));
  default:
    return mpi_check("MPI_Scatter", MPI_Scatter(from, n, type, to, part, MPI_BYTE, root, comm));
  }
}

static int mpi_move(void *made, enum moving what, const char *from, char *to, int64_t bytes,
                    int root) {
  int status = 0;
  for (int64_t done = 0; done < bytes && !status; done += PART) {
    int part = mpi_part_of(bytes - done), whole = part == bytes;
    MPI_Datatype type = MPI_BYTE;
    if (!whole && mpi_strided(bytes, part, &type)) return 1;
    status = mpi_move_part(mpi_comm_of(made), what, from ? from + done : NULL,
                           to ? to + done : NULL, part, whole ? part : 1, type, root);
    if (!whole) MPI_Type_free(&type);
  }
  return status;
}

static int mpi_all_gather(void *made, const void *from, void *to, int64_t bytes) {
  int rank = 0;
  if (mpi_check("MPI_Comm_rank", MPI_Comm_rank(mpi_comm_of(made), &rank))) return 1;
  if (from == (char *)to + rank * bytes) from = NULL;
  return mpi_move(made, ALL_GATHER, from, to, bytes, 0);
}

static int mpi_all_to_all(void *made, const void *from, void *to, int64_t bytes) {
  return mpi_move(made, ALL_TO_ALL, from, to, bytes, 0);
}

static int mpi_gather(void *made, const void *from, void *to, int64_t bytes, int root) {
  return mpi_move(made, GATHER, from, to, bytes, root);
}

static int mpi_scatter(void *made, const void *from, void *to, int64_t bytes, int root) {
  return mpi_move(made, SCATTER, from, to, bytes, root);
}

/* ---- transfers ---- */

/* At most PART bytes of a transfer; of: the transfer's index in its list. */
typedef struct piece {
  MPI_Request request;
  int of, bytes, receives;
} piece;

typedef struct begun {
  int transfers, pieces, waited; /* waited: the number of pieces waited for, from the first on */
  piece piece[];
} begun;

/* An empty transfer has no pieces: both ranks know that it is empty. */
static int mpi_pieces_of(int64_t bytes) { return (int)(bytes / PART) + (bytes % PART > 0); }

static begun *mpi_new_begun(int n, const dpt__transfer *list) {
  int pieces = 0;
  for (int i = 0; i < n; i++) pieces += mpi_pieces_of(list[i].bytes);
  begun *b = malloc(sizeof *b + (size_t)pieces * sizeof *b->piece);
  if (b) *b = (begun){.transfers = n};
  return b;
}

/* Cancels the pieces that have not been waited for, so that their memory is no longer written. */
static void mpi_free_begun(begun *b) {
  for (int i = b->waited; i < b->pieces; i++) {
    MPI_Cancel(&b->piece[i].request);
    MPI_Request_free(&b->piece[i].request);
  }
  free(b);
}

static const char *mpi_call_of(const piece *p) { return p->receives ? "MPI_Irecv" : "MPI_Isend"; }

static int mpi_post(MPI_Comm comm, const dpt__transfer *t, int of, begun *b) {
  char *at = t->data;
  for (int64_t left = t->bytes; left > 0; left -= PART, at += PART) {
    piece *p = &b->piece[b->pieces];
    *p = (piece){MPI_REQUEST_NULL, of, mpi_part_of(left), t->receives};
    int code = t->receives ? MPI_Irecv(at, p->bytes, MPI_BYTE, t->peer, t->tag, comm, &p->request)
                           : MPI_Isend(at, p->bytes, MPI_BYTE, t->peer, t->tag, comm, &p->request);
    if (mpi_check(mpi_call_of(p), code)) return 1;
    b->pieces++;
  }
  return 0;
}

static int mpi_begin(void *made, int n, const dpt__transfer *list, void **out) {
  begun *b = mpi_new_begun(n, list);
  if (!b) return services->fail("no host memory for %d transfers between ranks", n);
  for (int i = 0; i < n; i++)
    if (mpi_post(mpi_comm_of(made), &list[i], i, b)) {
      mpi_free_begun(b);
      return 1;
    }
  *out = b;
  return 0;
}

/* Waits for a piece. A piece shorter than requested is an error, too. */
static int mpi_wait(piece *p) {
  MPI_Status got;
  int count = p->bytes;
  if (mpi_check(mpi_call_of(p), MPI_Wait(&p->request, &got))) return 1;
  if (p->receives) MPI_Get_count(&got, MPI_BYTE, &count);
  if (count == p->bytes) return 0;
  return services->fail("MPI_Irecv: got %d bytes, wanted %d", count, p->bytes);
}

/* Waits for pieces one by one, while MPI progresses all of them: MPI_Waitall of Open MPI 4.1 hangs
 * if a request has failed before the call. */
static int mpi_await(void *begun_, int n) {
  begun *b = begun_;
  int status = 0;
  while (!status && b->waited < b->pieces && b->piece[b->waited].of < n)
    status = mpi_wait(&b->piece[b->waited++]);
  if (n == b->transfers) mpi_free_begun(b);
  return status;
}

/* ---- heartbeats and the end ---- */

static MPI_Request pending = MPI_REQUEST_NULL;

static int mpi_heartbeat(const void *mine, void *all, int64_t bytes, int *done) {
  if (pending == MPI_REQUEST_NULL &&
      mpi_check("MPI_Iallgather", MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes,
                                                 MPI_BYTE, watch, &pending)))
    return 1;
  return mpi_check("MPI_Test", MPI_Test(&pending, done, MPI_STATUS_IGNORE));
}

/* While ranks connect there is no rank to notify: the launcher sees the exit status. */
static void mpi_end_all(int status) {
  int is_on = 0;
  MPI_Initialized(&is_on);
  if (is_on) MPI_Abort(MPI_COMM_WORLD, status);
}

static int mpi_finish(void) {
  int over = 0;
  MPI_Finalized(&over);
  return over ? 0 : mpi_check("MPI_Finalize", MPI_Finalize());
}

static const dpt__engine engine = {
    .abi = DPT__ENGINE_ABI,
    .start = mpi_start,
    .local = mpi_local_ranks,
    .group = mpi_group,
    .ungroup = mpi_ungroup,
    .barrier = mpi_barrier,
    .all_reduce = mpi_all_reduce,
    .reduce = mpi_reduce,
    .reduce_scatter = mpi_reduce_scatter,
    .all_gather = mpi_all_gather,
    .all_to_all = mpi_all_to_all,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .scatter = mpi_scatter,
    .begin = mpi_begin,
    .await = mpi_await,
    .heartbeat = mpi_heartbeat,
    .abort = mpi_end_all,
    .finish = mpi_finish,
};

__attribute__((visibility("default"))) dpt__engine_fn dpt_engine;
const dpt__engine *dpt_engine(int abi, const dpt__engine_services *given) {
  services = given;
  return abi == DPT__ENGINE_ABI ? &engine : NULL;
}
