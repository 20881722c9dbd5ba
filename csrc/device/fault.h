/* fault.h: faults, delays and link speeds for tests.
 *
 * Invariant: if none is set, nothing here costs more than one relaxed load. Each `name:n` is a
 * one-shot counter: the n-th call of dpt__fault(name) returns 1, once. DPT_FAULT, DPT_DELAY,
 * DPT_LINK and DPT_CACHE are read when the devices are initialized or the first workers are
 * created; the functions of dpt.h (dpt_fault_set ...) change these settings later.
 */
#ifndef DPT_DEVICE_FAULT_H
#define DPT_DEVICE_FAULT_H
#include <stdint.h>

enum dpt__fault { DPT__FAULT_THREAD, DPT__FAULT_MALLOC, DPT__FAULT_COPY, DPT__NFAULT };

/* Returns 1 if this operation must fail. */
int dpt__fault(enum dpt__fault fault);
/* Reads the variables, once; while one of them is invalid, every call fails with a message. */
int dpt__fault_init(void);
/* Sleeps for a random time before a stream's next item, if DPT_DELAY is set; *random is the random
 * state of that stream, 0 at first; id is the stream's. */
void dpt__delay(uint64_t *random, int id);
int dpt__delays(void); /* returns true if DPT_DELAY is set */
/* Returns true for DPT_CACHE=off: freed memory is returned to the system as soon as no work uses
 * it, and blocks are never split off larger ones, so that memory checkers see the bounds of each
 * block. */
int dpt__cache_off(void);
/* Returns the time of a copy of that many bytes on the link that DPT_LINK specifies; 0 without
 * one. */
int64_t dpt__link_ns(uint64_t bytes);

#endif
