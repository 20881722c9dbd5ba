/* flight.c: reads the records of ranks for `dpt flight`. */
#include "base/status.h"
#include "distributed/texts.h"

#include <string.h>

_Static_assert((int)DPT__RECORDED == (int)DPT_FLIGHT_ENTRIES,
               "dpt.h says how many operations are kept");
_Static_assert(DPT__RECORD_TEXT == sizeof(((dpt_flight *)0)->text), "dpt.h has the same text");

int dpt_flight_read(const char *path, dpt_flight *flight, dpt_flight_entry *entries) {
  const dpt__record *r = dpt__record_open_path(path);
  if (!r) return dpt__fail("flight: %s is no record of a rank", path);
  *flight = (dpt_flight){.rank = r->rank,
                         .size = r->size,
                         .pid = r->pid,
                         .state = atomic_load(&r->state),
                         .beat = atomic_load(&r->beat)};
  flight->alive = r->epoch + (double)flight->beat * 1e-9;
  memcpy(flight->host, r->host, sizeof flight->host - 1);
  memcpy(flight->text, r->text, sizeof flight->text - 1);
  memcpy(flight->program, r->program, sizeof flight->program - 1);
  uint64_t written = atomic_load(&r->written);
  uint64_t first = written > DPT__RECORDED ? written - DPT__RECORDED : 0;
  for (uint64_t which = first + 1; which <= written; which++) {
    dpt_flight_entry *to = &entries[flight->count];
    dpt__operation o;
    if (!dpt__record_read(r, which, &o)) continue;
    flight->count++;
    *to = (dpt_flight_entry){.number = o.number,
                             .group = o.signature.group,
                             .what = (int)o.signature.what,
                             .began = o.began,
                             .ended = o.ended};
    memcpy(to->name, o.name, sizeof to->name);
    dpt__signature_text(to->text, &o.signature);
  }
  dpt__record_close(r);
  return 0;
}
