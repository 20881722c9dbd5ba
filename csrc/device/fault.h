/* fault.h: faults, delays and link speeds that tests ask for.
 *
 * Invariant: without being asked nothing here costs more than one relaxed load. Each `name:n` is a
 * one-shot counter: the n-th time dpt__fault(name) is asked, it says yes, once. DPT_FAULT,
 * DPT_DELAY, DPT_LINK and DPT_CACHE are read when the devices are set up or the first workers are
 * made; the functions of dpt.h (dpt_fault_set ...) say the same later.
 */
#ifndef DPT_DEVICE_FAULT_H
#define DPT_DEVICE_FAULT_H
#include <stdint.h>

enum dpt__fault { DPT__FAULT_THREAD, DPT__FAULT_MALLOC, DPT__FAULT_COPY, DPT__NFAULT };

/* 1 if this is the one that must fail. */
int dpt__fault(enum dpt__fault fault);
/* Reads the variables, once; while one of them is nonsense, every call fails with a message. */
int dpt__fault_init(void);
/* A random delay before a stream's next item, if DPT_DELAY is set; *random is the stream's own
 * state, 0 at first; id: of the stream. */
void dpt__delay(uint64_t *random, int id);
int dpt__delays(void); /* whether it is */
/* DPT_CACHE=off: memory that is given back goes back to the system as soon as nobody works on it,
 * and is never cut out of a larger piece, so that tools that watch memory see each block's ends. */
int dpt__cache_off(void);
/* How long a copy of so many bytes takes on the link that DPT_LINK names; 0 without one. */
int64_t dpt__link_ns(uint64_t bytes);

#endif
