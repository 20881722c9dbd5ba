/* device.c: the list of devices, and each thread's current device and streams (see device.h). */
#include "device/device.h"

#include "device/fault.h"
#include "device/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WANTED = 8 + 4 * DPT__MAX_DEVICES };

static dpt__mutex lock = DPT__MUTEX_INIT;
static atomic_int ready, forked;
/* by dpt_devices_set; "": DPT_DEVICES or the default */
static char wanted[WANTED] DPT__GUARDED_BY(lock);
/* Written under the lock before `ready` is set, and never after. */
static int ndevice;
static dpt__device *devices[DPT__MAX_DEVICES + 1];
static char report[512];

static _Thread_local int current_device; /* 0: 1 */
static _Thread_local unsigned char current_stream[DPT__MAX_DEVICES + 1];
static _Thread_local int communicating;
_Static_assert(DPT__MAX_STREAMS <= 256, "a stream's index fits into a byte");

/* ---- creating the list ---- */

static int device_is_given(const dpt__device_list *list) {
  return strcmp(list->source, "default") != 0;
}

/* why_not: why the GPUs requested cannot be used; "": none were requested or they are available. */
static void device_write_report(const dpt__device_list *list, const char *why_not) {
  const char *many = ndevice == 1 ? "" : "s", *given = device_is_given(list) ? list->text : "";
  int n;
  if (list->plugin)
    n = snprintf(report, sizeof report, "%d %s device%s (%s%s%s)", ndevice, list->plugin, many,
                 list->source, *given ? ": " : "", given);
  else
    n = snprintf(report, sizeof report, "%d host device%s with %d of %d core%s each (%s%s%s)",
                 ndevice, many, ndevice ? devices[1]->threads : 0, dpt__cores(),
                 dpt__cores() == 1 ? "" : "s", list->source,
                 *given ? ": " : ", no GPU was asked for", given);
  if (*why_not)
    snprintf(report + n, sizeof report - (size_t)n, "; GPUs were asked for, but %s", why_not);
}

static void device_after_fork(void) { atomic_store(&forked, atomic_load(&ready)); }

static int add_device(const dpt__backend *backend, int number, int unit, int threads)
    DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__device *device = calloc(1, sizeof *device);
  if (!device) return dpt__no_memory("no host memory for device %d", number);
  *device = (dpt__device){.backend = backend, .number = number, .index = unit, .threads = threads};
  if (backend->properties(unit, &device->info, &device->memory) ||
      !(device->streams[0] = dpt__stream_new(device, 0, 0))) {
    free(device);
    return 1;
  }
  atomic_init(&device->nstream, 1);
  devices[number] = device;
  return 0;
}

/* Drops a list that could not be completed. The next call starts again, perhaps with another
 * backend. */
static void device_drop_devices(int count) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  for (int number = 1; number <= count; number++) {
    free(devices[number]->streams[0]); /* it has never started */
    free(devices[number]);
    devices[number] = NULL;
  }
}

/* Loads the backend, and counts its devices if the list requests all of them. */
static int device_find_backend(dpt__device_list *list, const dpt__backend **backend) {
  int there;
  *backend = &dpt__host;
  if (!list->plugin) return 0;
  DPT__TRY(dpt__plugin_load(list->plugin, backend));
  DPT__TRY((*backend)->count(&there));
  if (list->every) dpt__device_list_take(list, there);
  for (int i = 0; i < list->count; i++)
    if (list->unit[i] >= there && strcmp(list->plugin, "cuda") == 0)
      return dpt__fail("there is no GPU %d, this machine has %d", list->unit[i], there);
  return 0;
}

static int device_make_devices(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__device_list list;
  char why_not[256] = "";
  const dpt__backend *backend;
  DPT__TRY(dpt__device_list_find(wanted, &list));
  DPT__TRY(dpt__fault_init());
  if (device_find_backend(&list, &backend)) {
    if (strcmp(list.plugin, "emulated") == 0)
      return dpt__fail_in("%s: got '%s', but emulated devices exist in test builds only",
                          list.source, list.text);
    snprintf(why_not, sizeof why_not, "%s", dpt_message());
    list.plugin = NULL;
    backend = &dpt__host;
  }
  int threads = list.count ? dpt__cores() / list.count : 0;
  for (int i = 0; i < list.count; i++) {
    if (!add_device(backend, i + 1, list.unit[i], threads > 1 ? threads : 1)) continue;
    device_drop_devices(i);
    return 1;
  }
  ndevice = list.count;
  device_write_report(&list, why_not);
  if (*why_not && device_is_given(&list)) fprintf(stderr, "dpt: %s\n", report);
  pthread_atfork(NULL, NULL, device_after_fork);
  atomic_store(&ready, 1);
  return 0;
}

int dpt__devices_ready(const char *fn) {
  if (!atomic_load_explicit(&ready, memory_order_acquire)) {
    dpt__lock(&lock);
    int status = atomic_load(&ready) ? 0 : device_make_devices();
    dpt__unlock(&lock);
    DPT__TRY(status);
  }
  if (dpt__forked())
    return dpt__fail("%s: devices do not survive fork: this process is a child of the one that "
                     "set them up; fork before the first use of a device, or start a new process",
                     fn);
  return 0;
}

int dpt__forked(void) { return atomic_load_explicit(&forked, memory_order_relaxed); }

int dpt_devices_set(const char *text) {
  dpt__device_list list;
  dpt__lock(&lock);
  int status = dpt__device_list_parse("dpt.setDevices", text, &list);
  if (!status && atomic_load(&ready))
    status = dpt__fail("dpt.setDevices: got '%.60s', but the devices are in use already (%s): call "
                       "it before the first use of a device",
                       text, report);
  if (!status) snprintf(wanted, sizeof wanted, "%s", text);
  dpt__unlock(&lock);
  return status;
}

int dpt_device_expected(int *n) {
  dpt__device_list list;
  dpt__lock(&lock);
  int status = atomic_load(&ready) ? 0 : dpt__device_list_find(wanted, &list);
  *n = atomic_load(&ready) ? ndevice : list.count;
  dpt__unlock(&lock);
  return status;
}

const char *dpt_device_report(void) {
  return dpt__devices_ready("dpt_device_report") ? dpt_message() : report;
}

int dpt_gpu_count(int *n, int *runtime, int *driver) {
  const dpt__backend *backend;
  DPT__TRY(dpt__plugin_load("cuda", &backend));
  DPT__TRY(backend->count(n));
  return backend->versions(runtime, driver);
}

int dpt_device_versions(int *runtime, int *driver) {
  DPT__TRY(dpt__devices_ready("getRuntimeVersion"));
  *runtime = *driver = 0;
  const dpt__backend *backend = ndevice ? devices[1]->backend : &dpt__host;
  return backend->versions ? backend->versions(runtime, driver) : 0;
}

/* ---- the list ---- */

int dpt__device_count(void) { return ndevice; }

dpt__device *dpt__device_at(int number) { return devices[number]; }

int dpt__device_find(const char *fn, int number, dpt__device **device) {
  DPT__TRY(dpt__devices_ready(fn));
  if (!ndevice)
    return dpt__fail("%s: there is no device (DPT_DEVICES=none): unset DPT_DEVICES, or set it to "
                     "devices as in host:2 (CPU threads) or cuda",
                     fn);
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

int dpt_device_check(const char *fn) {
  dpt__device *device;
  return dpt__device_find(fn, 0, &device);
}

int dpt_device_get(int *number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("getDevice", 0, &device));
  *number = device->number;
  return 0;
}

int dpt_device_set(int number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("setDevice", number, &device));
  if (!number) return dpt__fail("setDevice: there is no device 0, wanted 1 to %d", ndevice);
  current_device = number;
  return 0;
}

int dpt_device_properties(int number, dpt_device_info *info) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("getDeviceProperties", number, &device));
  *info = device->info;
  if (!info->threads) info->threads = device->threads;
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
  dpt__lock(&lock);
  stream = atomic_load(&device->communication);
  if (!stream) {
    stream = dpt__stream_new(device, -1, 0);
    atomic_store(&device->communication, stream);
  }
  dpt__unlock(&lock);
  return stream;
}

void dpt__communicate(int on) { communicating = on; }

/* Finds the stream with that index; -1 is the current one. */
static int device_find_stream(const char *fn, int number, int index, dpt__stream **stream) {
  dpt__device *device;
  DPT__TRY(dpt__device_find(fn, number, &device));
  int count = atomic_load(&device->nstream);
  if (index < -1 || index >= count)
    return dpt__fail("%s: device %d has no stream %d, wanted 0 to %d (reserveStreams creates more)",
                     fn, device->number, index, count - 1);
  *stream = index < 0 ? dpt__current_stream(device->number) : device->streams[index];
  return 0;
}

int dpt_stream_reserve(int n, int nonblocking) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("reserveStreams", 0, &device));
  if (n < 0 || n >= DPT__MAX_STREAMS)
    return dpt__fail("reserveStreams: got %d streams, wanted 0 to %d", n, DPT__MAX_STREAMS - 1);
  int status = 0;
  dpt__lock(&lock);
  for (int number = 1; number <= ndevice; number++) {
    device = devices[number];
    for (int i = atomic_load(&device->nstream); i <= n && !status; i++) {
      device->streams[i] = dpt__stream_new(device, i, !nonblocking);
      if ((status = !device->streams[i])) break;
      atomic_store(&device->nstream, i + 1);
      if (!nonblocking) atomic_fetch_add(&device->nblocking, 1);
    }
  }
  dpt__unlock(&lock);
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
  DPT__TRY(device_find_stream("setStream", number, index < 0 ? DPT__MAX_STREAMS : index, &stream));
  int first = number ? number : 1, last = number ? number : ndevice;
  for (int i = first; i <= last; i++) current_stream[i] = (unsigned char)index;
  return 0;
}

int dpt_stream_get(int number, int *index) {
  dpt__stream *stream;
  DPT__TRY(device_find_stream("getStream", number, -1, &stream));
  *index = stream->index;
  return 0;
}

/* ---- events and waits ---- */

int dpt_event_record(dpt_event *event, int number, int index) {
  dpt__stream *stream;
  DPT__TRY(device_find_stream("event", number, index, &stream));
  dpt__event recorded;
  DPT__TRY(dpt__event_record(stream, &recorded));
  *event = (dpt_event){stream->device, stream->index, recorded.number};
  return 0;
}

static int device_find_event(const char *fn, const dpt_event *event, dpt__event *found) {
  *found = (dpt__event){NULL, 0};
  if (!event->device_) return dpt__devices_ready(fn); /* never recorded: nothing to wait for */
  dpt__stream *stream;
  DPT__TRY(device_find_stream(fn, event->device_, event->stream_, &stream));
  *found = (dpt__event){stream, event->number_};
  return 0;
}

int dpt_stream_wait_event(int number, int index, const dpt_event *event) {
  dpt__stream *stream;
  dpt__event found;
  DPT__TRY(device_find_stream("streamWaitFor", number, index, &stream));
  DPT__TRY(device_find_event("streamWaitFor", event, &found));
  return dpt__stream_wait(stream, found);
}

int dpt_event_wait(const dpt_event *event) {
  dpt__event found;
  DPT__TRY(device_find_event("event wait", event, &found));
  return dpt__event_wait(found);
}

int dpt_event_query(const dpt_event *event, int *done) {
  dpt__event found;
  DPT__TRY(device_find_event("event query", event, &found));
  return dpt__event_query(found, done) ? dpt__fail_in("event query") : 0;
}

int dpt_stream_synchronize(int number, int index) {
  dpt__stream *stream;
  DPT__TRY(device_find_stream("streamSynchronize", number, index, &stream));
  return dpt__stream_synchronize(stream);
}

/* Returns a stream; index -1 is the communication stream, NULL if it does not exist yet. */
static dpt__stream *stream_at(dpt__device *device, int index) {
  return index < 0 ? atomic_load(&device->communication) : device->streams[index];
}

/* number 0: the current device; -1: all devices. Waits for every stream, and reports the first
 * error that one of them kept; other errors are kept until their next wait. */
int dpt_device_synchronize(int number) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("synchronize", number < 0 ? 0 : number, &device));
  int first = number < 0 ? 1 : device->number, last = number < 0 ? ndevice : device->number;
  for (int reports = 0; reports < 2; reports++)
    for (int n = first; n <= last; n++)
      for (int i = -1; i < atomic_load(&devices[n]->nstream); i++) {
        dpt__stream *stream = stream_at(devices[n], i);
        if (!stream) continue;
        dpt__event event = dpt__event_last(stream);
        if (reports)
          DPT__TRY(dpt__event_wait(event));
        else
          dpt__event_wait_keep_error(event);
      }
  return 0;
}

static int device_run_sleep(dpt__context *context, const void *args) {
  dpt__sleep((int64_t)(*(const double *)args * 1e6));
  return 0;
}

int dpt_stream_sleep(double milliseconds) {
  dpt__device *device;
  DPT__TRY(dpt__device_find("streamSleep", 0, &device));
  dpt__stream *stream = dpt__current_stream(device->number);
  return dpt__stream_push(stream, device_run_sleep, "streamSleep", &milliseconds,
                          sizeof milliseconds);
}
