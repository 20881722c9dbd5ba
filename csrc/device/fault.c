/* fault.c: faults, delays and link speeds for tests (see fault.h). */
#include "device/fault.h"

#include "base/lock.h"
#include "base/status.h"
#include "device/counter.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"thread", "malloc", "copy"};
_Static_assert(sizeof names / sizeof *names == DPT__NFAULT, "one name for each fault");

static atomic_llong left[DPT__NFAULT]; /* 0: not set; n: the n-th from now */
static _Atomic uint64_t delay_seed;    /* 0: no delays */
static atomic_int cache_off;
static _Atomic uint64_t link_rate; /* bytes per second; 0: no limit */

int dpt__fault(enum dpt__fault fault) {
  if (atomic_load_explicit(&left[fault], memory_order_relaxed) <= 0) return 0;
  return atomic_fetch_sub(&left[fault], 1) == 1;
}

static int fault_reject(const char *spec) {
  return dpt__fail("DPT_FAULT: got '%s', wanted faults as in thread:3|malloc:7|copy:2", spec);
}

int dpt_fault_set(const char *spec) {
  long long found[DPT__NFAULT] = {0};
  for (const char *p = spec; *p;) {
    size_t length = strcspn(p, ":");
    int fault = 0;
    while (fault < DPT__NFAULT &&
           !(strlen(names[fault]) == length && !strncmp(names[fault], p, length)))
      fault++;
    if (fault == DPT__NFAULT || p[length] != ':' || !isdigit((unsigned char)p[length + 1]))
      return fault_reject(spec);
    char *end;
    found[fault] = strtoll(p + length + 1, &end, 10);
    if (found[fault] < 1 || (*end && *end != '|' && *end != ',')) return fault_reject(spec);
    p = *end ? end + 1 : end;
  }
  for (int fault = 0; fault < DPT__NFAULT; fault++) atomic_store(&left[fault], found[fault]);
  return 0;
}

int dpt_delay_set(uint64_t seed) {
  atomic_store(&delay_seed, seed);
  return 0;
}

static int fault_delay_init(const char *text) {
  char *end;
  uint64_t seed = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end)
    return dpt__fail("DPT_DELAY: got '%s', wanted a seed as in 1234 (0: no delays)", text);
  return dpt_delay_set(seed);
}

int dpt__delays(void) { return atomic_load_explicit(&delay_seed, memory_order_relaxed) != 0; }

void dpt__delay(uint64_t *random, int id) {
  uint64_t seed = atomic_load_explicit(&delay_seed, memory_order_relaxed);
  if (!seed) return;
  if (!*random) *random = seed * 0x9e3779b97f4a7c15u + (uint64_t)id * 0xbf58476d1ce4e5b9u + 1;
  uint64_t x = *random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  /* A quarter of the items sleeps, up to 2 ms: long enough for other streams to get ahead. */
  if (x % 4 == 0) dpt__sleep((int64_t)(x / 4 % 2000000));
}

int dpt_link_set(const char *speed) {
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}};
  char *end = NULL;
  double rate = *speed ? strtod(speed, &end) : 0;
  for (size_t i = 0; *speed && i < sizeof units / sizeof *units; i++)
    if (!strcmp(end, units[i].name) && rate > 0 && rate * units[i].bytes < 1e18) {
      atomic_store(&link_rate, (uint64_t)(rate * units[i].bytes));
      return 0;
    }
  if (*speed) return dpt__fail("DPT_LINK: got '%s', wanted a speed as in 1GB/s or 500MB/s", speed);
  atomic_store(&link_rate, 0);
  return 0;
}

int64_t dpt__link_ns(uint64_t bytes) {
  uint64_t rate = atomic_load_explicit(&link_rate, memory_order_relaxed);
  return rate ? (int64_t)((double)bytes / (double)rate * 1e9) : 0;
}

static int fault_cache_init(const char *text) {
  if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
    return dpt__fail("DPT_CACHE: got '%s', wanted on or off", text);
  atomic_store(&cache_off, !strcmp(text, "off"));
  return 0;
}

int dpt__cache_off(void) { return atomic_load_explicit(&cache_off, memory_order_relaxed); }
int dpt_memory_cached(void) { return !dpt__fault_init() && !dpt__cache_off(); }

static int fault_read_variables(void) {
  const char *text;
  if ((text = getenv("DPT_FAULT"))) DPT__TRY(dpt_fault_set(text));
  if ((text = getenv("DPT_DELAY"))) DPT__TRY(fault_delay_init(text));
  if ((text = getenv("DPT_LINK"))) DPT__TRY(dpt_link_set(text));
  if ((text = getenv("DPT_CACHE"))) DPT__TRY(fault_cache_init(text));
  return 0;
}

int dpt__fault_init(void) {
  static dpt__mutex lock = DPT__MUTEX_INIT;
  static atomic_int done; /* not set by a failure, so the next call fails again */
  if (atomic_load(&done)) return 0;
  dpt__lock(&lock);
  int status = atomic_load(&done) ? 0 : fault_read_variables();
  if (!status) atomic_store(&done, 1);
  dpt__unlock(&lock);
  return status;
}
