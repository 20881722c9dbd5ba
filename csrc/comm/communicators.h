/* communicators.h: devices joined by their backend's library for collectives, and the watch over
 * it; the same for devices of several processes, over which distributed/watchdog.c watches.
 *
 * Invariant: whatever the library does not end in time is aborted, and the streams that took part
 * keep one error about it; from then on tensors travel by copies, until dpt__communicators_open
 * is called again. Nothing here waits for a device but dpt__communicator_of, which waits for the
 * library when devices are joined for the first time, and dpt__communicator_await.
 */
#ifndef DPT_COMM_COMMUNICATORS_H
#define DPT_COMM_COMMUNICATORS_H
#include "device/collectives.h"
#include "device/device.h"

typedef struct dpt__communicator dpt__communicator;

/* Calls that go into the ranks' native streams as one. */
enum { DPT__CALLS = 64, DPT__BUFFERS = 1024 };
typedef struct dpt__batch {
  dpt__communicator *communicator;
  int32_t ranks, calls;
  dpt__collective_call call[DPT__CALLS];
  dpt__buffers buffers[DPT__BUFFERS]; /* (calls, ranks): only these are queued */
} dpt__batch;

/* The library of this process's devices is there and works, as far as that can be seen without
 * using it; what was joined and then aborted is forgotten. */
int dpt__communicators_open(void);
/* Seconds after which a collective is taken to be stuck: DPT_TIMEOUT, or 600; while a test
 * runs (on = 1), 30 at most. */
double dpt__communicators_limit(void);
void dpt__communicators_testing(int on);

/* *communicator = n devices (by rising number, which are the ranks); NULL where these are to use
 * copies: too many sets of devices have been joined, or the library was aborted. */
int dpt__communicator_of(int n, const int *device, dpt__communicator **communicator);
/* Queues a batch: after what is queued on the n streams, one of each device. */
int dpt__communicator_run(const char *fn, dpt__stream *const *streams, const dpt__batch *batch);

/* ---- of several processes, each of which has one device in it ---- */

/* What the processes join by; one of them makes it. */
int dpt__communicator_new_id(char id[DPT__COLLECTIVES_ID]);
/* *communicator = `ranks` devices, of which this process has rank `rank`; waits for the others. */
int dpt__communicator_join(const char *id, int ranks, int rank, int device,
                           dpt__communicator **communicator);
/* Calls that were begun as one. */
typedef struct dpt__ongoing {
  void *before;  /* the backend's event: what the stream had before; NULL: nothing */
  void *pending; /* the library's */
} dpt__ongoing;

/* Notes that what is begun next comes after what a native stream of the communicator's device has
 * now (NULL: the device is a host device, whose stream's thread this is). */
int dpt__communicator_line_up(const dpt__communicator *communicator, void *native,
                              dpt__ongoing *ongoing);
/* Puts n calls as one into the native stream. */
int dpt__communicator_begin(dpt__communicator *communicator, void *native, int n,
                            const dpt__collective_call *call, const dpt__buffers *buffers,
                            dpt__ongoing *ongoing);
/* Waits until nothing is before them in the stream; then until they are done. */
void dpt__communicator_await_turn(dpt__communicator *communicator, dpt__ongoing *ongoing);
int dpt__communicator_await(dpt__communicator *communicator, const dpt__ongoing *ongoing);
/* Ends all that runs, of which this thread's error message says what went wrong: streams that wait
 * for it go on. */
void dpt__communicators_give_up(void);
/* Frees it; nothing runs on it. */
void dpt__communicator_leave(dpt__communicator *communicator);
/* This process ends while others may wait for it: ends what runs, if such a one was joined. */
void dpt__communicators_abort(void);

#endif
