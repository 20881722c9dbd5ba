/* device.h: the logical devices of this process.
 *
 * Invariant: the list is created once, at the first use of a device, from DPT_DEVICES or
 * dpt_devices_set, and never changes after that. Devices are numbered from 1. The current device
 * and the current streams are thread-local. A child of fork cannot use devices that it inherits:
 * every call that would queue or wait fails.
 */
#ifndef DPT_DEVICE_DEVICE_H
#define DPT_DEVICE_DEVICE_H
#include "device/device_list.h"
#include "device/stream.h"

/* Creates the list at the first call; fails if DPT_DEVICES is invalid, or after fork.
 */
int dpt__devices_ready(const char *fn);
/* Finds the device of that number, 0 for the current one; fails with a message that names fn if
 * there is none. */
int dpt__device_find(const char *fn, int number, dpt__device **device);
/* Return a device that is known to exist, and this thread's current stream on that device. */
dpt__device *dpt__device_at(int number);
dpt__stream *dpt__current_stream(int number);
/* Returns the device's stream for communication, created at the first call; NULL on failure, with
 * an error message. Between dpt__communicate(1) and dpt__communicate(0) it is this thread's current
 * stream of every device that has one. It is ordered with no other stream. */
dpt__stream *dpt__communication_stream(int number);
void dpt__communicate(int on);
int dpt__device_count(void); /* the length of the list; valid once the list exists */

/* 1 in a child of fork whose parent had devices. */
int dpt__forked(void);

#endif
