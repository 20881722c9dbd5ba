/* device.c: the list of devices, and what is current on a thread (device.h has the rules). */
#include "device/device.h"

#include "device/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WANTED = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below but `ready`, `forked` */
static atomic_int ready, forked;
static char wanted[WANTED]; /* by dpt_devices_set; "": DPT_DEVICES or the default */
static int ndevice;
static dpt__device *devices[DPT__MAX_DEVICES + 1];
static char report[512];

static _Thread_local int current_device; /* 0: 1 */
static _Thread_local unsigned char current_stream[DPT__MAX_DEVICES + 1];
static _Thread_local int communicating;
_Static_assert(DPT__MAX_STREAMS <= 256, "a stream's index fits into a byte");

/* ---- DPT_DEVICES ---- */

/* What a specification asks for. */
typedef struct plan {
  int count;
  int cuda;     /* GPUs were asked for */
  int emulated; /* the CUDA kernels on the CPU */
} plan;

/* "12" up to the end of text into *n; 0 if text is something else. */
static int whole_number(const char *text, int least, int most, int *n) {
  char *end;
  if (*text < '0' || *text > '9') return 0;
  long value = strtol(text, &end, 10);
  if (*end || value < least || value > most) return 0;
  *n = (int)value;
  return 1;
}

/* "0,2" : how many GPUs; 0 if text is something else. */
static int gpu_list(const char *text) {
  int count = 0;
  for (;;) {
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 3) return 0;
    count++;
    text += digits;
    if (!*text) return count <= DPT__MAX_DEVICES ? count : 0;
    if (*text++ != ',') return 0;
  }
}

static int parse(const char *source, const char *text, plan *p) {
  memset(p, 0, sizeof *p);
  if (!strcmp(text, "none")) return 0;
  if (!strncmp(text, "host:", 5) && whole_number(text + 5, 1, DPT__MAX_DEVICES, &p->count))
    return 0;
  if (!strncmp(text, "emulated:", 9) && whole_number(text + 9, 1, DPT__MAX_DEVICES, &p->count)) {
    p->emulated = 1;
    return 0;
  }
  p->cuda = 1;
  p->count = 2;
  if (!strcmp(text, "cuda")) return 0;
  if (!strncmp(text, "cuda:", 5) && (p->count = gpu_list(text + 5)) > 0) return 0;
  return dpt__fail("%s: got '%.60s', wanted host:N (N from 1 to %d), none, cuda, a list of GPUs as "
                   "in cuda:0,2, or emulated:N",
                   source, text, DPT__MAX_DEVICES);
}

/* Under the lock. *source tells where the answer comes from. */
static int make_plan(plan *p, const char **source, const char **text) {
  const char *variable = getenv("DPT_DEVICES");
  *source = *wanted ? "dpt.setDevices" : variable && *variable ? "DPT_DEVICES" : "default";
  *text = *wanted ? wanted : variable && *variable ? variable : "host:2";
  DPT__TRY(parse(*source, *text, p));
  if (p->emulated)
    return dpt__fail("%s: got '%s', but emulated devices exist in test builds only", *source,
                     *text);
  return 0;
}

static void write_report(const plan *p, const char *source, const char *text) {
  int n = snprintf(report, sizeof report, "%d host device%s with %d of %d core%s each (%s%s%s)",
                   p->count, p->count == 1 ? "" : "s", p->count ? devices[1]->threads : 0,
                   dpt__cores(), dpt__cores() == 1 ? "" : "s", source,
                   strcmp(source, "default") ? ": " : ", no GPU was asked for",
                   strcmp(source, "default") ? text : "");
  if (p->cuda)
    snprintf(report + n, sizeof report - (size_t)n,
             "; GPUs were asked for, but libdpt_cuda.so is not part of this build of dpt");
}

static void after_fork(void) { atomic_store(&forked, atomic_load(&ready)); }

static int64_t host_memory(void) {
  return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* Under the lock. */
static int add_device(int number, int threads, int64_t memory) {
  dpt__device *device = calloc(1, sizeof *device);
  if (!device) return dpt__fail("no host memory for device %d", number);
  *device = (dpt__device){.backend = &dpt__host,
                          .number = number,
                          .index = number - 1,
                          .threads = threads,
                          .memory = memory};
  device->streams[0] = dpt__stream_new(&dpt__host, number, 0, threads, 0);
  if (!device->streams[0]) {
    free(device);
    return 1;
  }
  atomic_init(&device->nstream, 1);
  devices[number] = device;
  return 0;
}

/* Under the lock. */
static int make_devices(void) {
  plan p;
  const char *source, *text;
  DPT__TRY(make_plan(&p, &source, &text));
  DPT__TRY(dpt__fault_init());
  int threads = p.count ? dpt__cores() / p.count : 0;
  for (; ndevice < p.count; ndevice++)
    DPT__TRY(add_device(ndevice + 1, threads > 1 ? threads : 1, host_memory()));
  write_report(&p, source, text);
  if (p.cuda) fprintf(stderr, "dpt: %s\n", report);
  pthread_atfork(NULL, NULL, after_fork);
  atomic_store(&ready, 1);
  return 0;
}

int dpt__devices_ready(const char *fn) {
  if (!atomic_load_explicit(&ready, memory_order_acquire)) {
    pthread_mutex_lock(&lock);
    int status = atomic_load(&ready) ? 0 : make_devices();
    pthread_mutex_unlock(&lock);
    DPT__TRY(status);
  }
  if (dpt__forked())
    return dpt__fail("%s: devices do not survive fork: this process is a child of the one that "
                     "set them up; fork before the first use of a device, or start a new process",
                     fn);
  return 0;
}

int dpt__forked(void) { return atomic_load_explicit(&forked, memory_order_relaxed); }

int dpt_devices_set(const char *spec) {
  plan p;
  pthread_mutex_lock(&lock);
  int status = parse("dpt.setDevices", spec, &p);
  if (!status && atomic_load(&ready))
    status = dpt__fail("dpt.setDevices: got '%.60s', but the devices are in use already (%s): call "
                       "it before the first use of a device",
                       spec, report);
  if (!status) snprintf(wanted, sizeof wanted, "%s", spec);
  pthread_mutex_unlock(&lock);
  return status;
}

int dpt_device_expected(int *n) {
  plan p;
  const char *source, *text;
  pthread_mutex_lock(&lock);
  int status = atomic_load(&ready) ? 0 : make_plan(&p, &source, &text);
  *n = atomic_load(&ready) ? ndevice : p.count;
  pthread_mutex_unlock(&lock);
  return status;
}

const char *dpt_device_report(void) {
  return dpt__devices_ready("dpt_device_report") ? dpt_message() : report;
}

/* ---- the list ---- */

int dpt__device_count(void) { return ndevice; }

dpt__device *dpt__device_at(int number) { return devices[number]; }

int dpt__device_find(const char *fn, int number, dpt__device **device) {
  DPT__TRY(dpt__devices_ready(fn));
  if (!ndevice) return dpt__fail("%s: there is no device (DPT_DEVICES=none)", fn);
  if (number < 0 || number > ndevice)
    return dpt__fail("%s: there is no device %d, wanted 1 to %d", fn, number, ndevice);
  *device = devices[number ? number : current_device ? current_device : 1];
  return 0;
}

int dpt_device_count(int *n) {
  DPT__TRY(dpt__devices_ready("getDeviceCount"));
  *n = ndevice;
  return 0;
}

int dpt_device_get(int *number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("getDevice", 0, &device));
  *number = device->number;
  return 0;
}

int dpt_device_set(int number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("setDevice", number ? number : -1, &device));
  current_device = number;
  return 0;
}

int dpt_device_properties(int number, dpt_device_info *info) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("getDeviceProperties", number, &device));
  *info = (dpt_device_info){
      .name = "host device", .threads = device->threads, .integrated = 1, .warp = 1};
  return 0;
}

/* ---- current streams ---- */

dpt__stream *dpt__current_stream(int number) {
  dpt__device *device = devices[number];
  dpt__stream *stream = communicating ? atomic_load(&device->communication) : NULL;
  return stream ? stream : device->streams[current_stream[number]];
}

dpt__stream *dpt__communication_stream(int number) {
  dpt__device *device = devices[number];
  dpt__stream *stream = atomic_load(&device->communication);
  if (stream) return stream;
  pthread_mutex_lock(&lock);
  stream = atomic_load(&device->communication);
  if (!stream) {
    stream = dpt__stream_new(device->backend, number, -1, device->threads, 0);
    atomic_store(&device->communication, stream);
  }
  pthread_mutex_unlock(&lock);
  return stream;
}

void dpt__communicate(int on) { communicating = on; }

/* The stream with that index; -1 is the current one. */
static int find_stream(const char *fn, int number, int index, dpt__stream **stream) {
  dpt__device *device;
  DPT__TRY(dpt__device_find(fn, number, &device));
  int count = atomic_load(&device->nstream);
  if (index < -1 || index >= count)
    return dpt__fail("%s: device %d has no stream %d, wanted 0 to %d (reserveStreams makes more)",
                     fn, device->number, index, count - 1);
  *stream = index < 0 ? dpt__current_stream(device->number) : device->streams[index];
  return 0;
}

int dpt__stream_order(dpt__stream *stream) {
  dpt__device *device = devices[stream->device];
  if (!atomic_load_explicit(&device->nblocking, memory_order_acquire)) return 0;
  if (stream->index) {
    if (!stream->blocking) return 0;
    dpt__event event = dpt__event_record(device->streams[0]);
    if (event.number <= atomic_load(&stream->seen_default)) return 0;
    DPT__TRY(dpt__stream_wait(stream, event));
    atomic_store(&stream->seen_default, event.number);
    return 0;
  }
  int count = atomic_load(&device->nstream);
  for (int i = 1; i < count; i++) {
    dpt__stream *other = device->streams[i];
    dpt__event event = dpt__event_record(other);
    if (!other->blocking || event.number <= atomic_load(&other->seen_by_default)) continue;
    DPT__TRY(dpt__stream_wait(stream, event));
    atomic_store(&other->seen_by_default, event.number);
  }
  return 0;
}

int dpt_stream_reserve(int n, int nonblocking) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("reserveStreams", 0, &device));
  if (n < 0 || n >= DPT__MAX_STREAMS)
    return dpt__fail("reserveStreams: got %d streams, wanted 0 to %d", n, DPT__MAX_STREAMS - 1);
  int status = 0;
  pthread_mutex_lock(&lock);
  for (int number = 1; number <= ndevice && !status; number++) {
    device = devices[number];
    for (int i = atomic_load(&device->nstream); i <= n && !status; i++) {
      device->streams[i] =
          dpt__stream_new(device->backend, number, i, device->threads, !nonblocking);
      if (!device->streams[i]) {
        status = 1;
        break;
      }
      atomic_store(&device->nstream, i + 1);
      if (!nonblocking) atomic_fetch_add(&device->nblocking, 1);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

int dpt_stream_count(int *n) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("getNumStreams", 0, &device));
  *n = atomic_load(&device->nstream) - 1;
  return 0;
}

int dpt_stream_set(int number, int index) {
  dpt__stream *stream;
  DPT__TRY(find_stream("setStream", number, index < 0 ? DPT__MAX_STREAMS : index, &stream));
  int first = number ? number : 1, last = number ? number : ndevice;
  for (int i = first; i <= last; i++) current_stream[i] = (unsigned char)index;
  return 0;
}

int dpt_stream_get(int number, int *index) {
  dpt__stream *stream;
  DPT__TRY(find_stream("getStream", number, -1, &stream));
  *index = stream->index;
  return 0;
}

/* ---- events and waits ---- */

int dpt_event_record(dpt_event *event, int number, int index) {
  dpt__stream *stream;
  DPT__TRY(find_stream("event", number, index, &stream));
  DPT__TRY(dpt__stream_order(stream));
  *event = (dpt_event){stream->device, stream->index, dpt__event_record(stream).number};
  return 0;
}

static int find_event(const char *fn, const dpt_event *event, dpt__event *found) {
  *found = (dpt__event){NULL, 0};
  if (!event->device_) return dpt__devices_ready(fn); /* never recorded: nothing to wait for */
  dpt__stream *stream;
  DPT__TRY(find_stream(fn, event->device_, event->stream_, &stream));
  *found = (dpt__event){stream, event->number_};
  return 0;
}

int dpt_stream_wait_event(int number, int index, const dpt_event *event) {
  dpt__stream *stream;
  dpt__event found;
  DPT__TRY(find_stream("streamWaitFor", number, index, &stream));
  DPT__TRY(find_event("streamWaitFor", event, &found));
  DPT__TRY(dpt__stream_order(stream));
  return dpt__stream_wait(stream, found);
}

int dpt_event_wait(const dpt_event *event) {
  dpt__event found;
  DPT__TRY(find_event("event wait", event, &found));
  return dpt__event_wait(found);
}

int dpt_event_query(const dpt_event *event, int *done) {
  dpt__event found;
  DPT__TRY(find_event("event query", event, &found));
  *done = dpt__event_done(found);
  return 0;
}

int dpt_stream_synchronize(int number, int index) {
  dpt__stream *stream;
  DPT__TRY(find_stream("streamSynchronize", number, index, &stream));
  DPT__TRY(dpt__stream_order(stream));
  return dpt__stream_synchronize(stream);
}

/* Index -1 is the stream for communication; NULL: there is none yet. */
static dpt__stream *stream_at(dpt__device *device, int index) {
  return index < 0 ? atomic_load(&device->communication) : device->streams[index];
}

/* number 0: the current device; -1: all of them. Every stream is waited for; the first error that
 * one of them kept is told, others stay for their next wait. */
int dpt_device_synchronize(int number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("synchronize", number < 0 ? 0 : number, &device));
  int first = number < 0 ? 1 : device->number, last = number < 0 ? ndevice : device->number;
  for (int n = first; n <= last; n++)
    for (int i = -1; i < atomic_load(&devices[n]->nstream); i++) {
      dpt__stream *stream = stream_at(devices[n], i);
      if (stream) dpt__counter_wait(&stream->done, dpt__counter_value(&stream->submitted));
    }
  for (int n = first; n <= last; n++)
    for (int i = -1; i < atomic_load(&devices[n]->nstream); i++) {
      dpt__stream *stream = stream_at(devices[n], i);
      if (stream) DPT__TRY(dpt__stream_synchronize(stream));
    }
  return 0;
}

static int run_sleep(dpt__context *context, const void *args) {
  dpt__sleep((int64_t)(*(const double *)args * 1e6));
  return 0;
}

int dpt_stream_sleep(double milliseconds) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("streamSleep", 0, &device));
  dpt__stream *stream = dpt__current_stream(device->number);
  DPT__TRY(dpt__stream_order(stream));
  return dpt__stream_push(stream, run_sleep, "streamSleep", &milliseconds, sizeof milliseconds);
}
