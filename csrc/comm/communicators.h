/* communicators.h: communicators of a backend's library for collectives, among the devices of this
 * process or of several processes. A thread here watches over the collectives of this process's
 * devices; distributed/watchdog.c watches over those of several processes.
 *
 * Invariant: a collective that the library does not complete in time is aborted, and its streams
 * keep one error about it. From then on transfers use copies, until dpt__communicators_open is
 * called again. Nothing here waits for a device except dpt__communicator_of, which waits for the
 * library when devices are joined for the first time, and dpt__communicator_await.
 */
#ifndef DPT_COMM_COMMUNICATORS_H
#define DPT_COMM_COMMUNICATORS_H
#include "device/collectives.h"
#include "device/device.h"

typedef struct dpt__communicator dpt__communicator;

/* A batch of calls issued to the ranks' native streams as one group. */
enum { DPT__CALLS = 64, DPT__BUFFERS = 1024 };
typedef struct dpt__batch {
  dpt__communicator *communicator;
  int32_t ranks, calls;
  dpt__collective_call call[DPT__CALLS];
  dpt__buffers buffers[DPT__BUFFERS]; /* (calls, ranks): only this part is queued */
} dpt__batch;

/* Opens the library of this process's devices and checks it as far as possible without using it;
 * communicators that were joined and then aborted are forgotten. */
int dpt__communicators_open(void);
/* Returns the seconds after which a collective counts as stuck: DPT_TIMEOUT, or 600; while a test
 * runs (on = 1), at most 30. */
double dpt__communicators_limit(void);
void dpt__communicators_testing(int on);

/* Returns the communicator of n devices (sorted by number; these are the ranks), NULL if they must
 * use copies: too many sets of devices have been joined, or the library was aborted. */
int dpt__communicator_of(int n, const int *device, dpt__communicator **communicator);
/* Queues a batch after the work queued on the n streams, one of each device. */
int dpt__communicator_run(const char *fn, dpt__stream *const *streams, const dpt__batch *batch);

/* ---- of several processes, with one device of each ---- */

/* Creates the id by which the processes join; one of the processes calls it. */
int dpt__communicator_new_id(char id[DPT__COLLECTIVES_ID]);
/* Joins `ranks` devices, of which this process has rank `rank`; waits for the others. */
int dpt__communicator_join(const char *id, int ranks, int rank, int device,
                           dpt__communicator **communicator);
/* Calls that were begun as one group. */
typedef struct dpt__ongoing {
  void *before;  /* the backend's event after the stream's earlier work; NULL: none */
  void *pending; /* the library's record of the calls */
} dpt__ongoing;

/* Records that the next calls run after the current work of a native stream of the communicator's
 * device. NULL: the device is a host device, and the caller is the thread of its stream. */
int dpt__communicator_order_after(const dpt__communicator *communicator, void *native,
                                  dpt__ongoing *ongoing);
/* Begins to put n calls, as one group, into the native stream. */
int dpt__communicator_begin(dpt__communicator *communicator, void *native, int n,
                            const dpt__collective_call *call, const dpt__buffers *buffers,
                            dpt__ongoing *ongoing);
/* await_turn: waits until the earlier work in the stream is done. await: waits until the calls are
 * done. */
void dpt__communicator_await_turn(dpt__communicator *communicator, dpt__ongoing *ongoing);
int dpt__communicator_await(dpt__communicator *communicator, const dpt__ongoing *ongoing);
/* Aborts all running calls, with this thread's error message as the reason: streams that wait for
 * them continue. */
void dpt__communicators_give_up(void);
/* Frees a communicator on which nothing runs. */
void dpt__communicator_leave(dpt__communicator *communicator);
/* Called when this process ends while others may wait for it: aborts running calls, if a
 * communicator of several processes was joined. */
void dpt__communicators_abort(void);

#endif
