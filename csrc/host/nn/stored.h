/* stored.h: elements that a layer kernel reads and writes: in place, or for reduced types converted
 * to floats and back in memory of the caller (`room`). */
#ifndef DPT_HOST_NN_STORED_H
#define DPT_HOST_NN_STORED_H
#include "base/element.h"
#include "host/rows.h"

/* width: of an element, in bytes; widen, narrow: conversions of reduced types to float and back,
 * otherwise NULL. */
typedef struct dpt__stored {
  int64_t width;
  dpt__row_fn *widen, *narrow;
} dpt__stored;

static inline dpt__stored dpt__stored_of(int type) {
  dpt__stored s = {(int64_t)dpt__dtype_size(type), NULL, NULL};
  if (!dpt__is_reduced(type)) return s;
  s.widen = dpt__rows_pick()->convert[DPT_F32][type];
  s.narrow = dpt__rows_pick()->convert[type][DPT_F32];
  return s;
}

/* Returns n elements from number i on: in place, or converted in `room`. */
static DPT__INLINE const void *dpt__stored_read(const dpt__stored *s, const void *x, int64_t i,
                                                int64_t n, void *room) {
  const char *from = (const char *)x + i * s->width;
  if (s->widen) s->widen(n, room, from, NULL, NULL, 0, 0);
  return s->widen ? room : from;
}

/* Returns memory for results from number i on, before dpt__stored_write stores n of them. */
static DPT__INLINE void *dpt__stored_place(const dpt__stored *s, void *r, int64_t i, void *room) {
  return s->narrow ? room : (char *)r + i * s->width;
}
static DPT__INLINE void dpt__stored_write(const dpt__stored *s, void *r, int64_t i, int64_t n,
                                          const void *room) {
  if (s->narrow) s->narrow(n, (char *)r + i * s->width, room, NULL, NULL, 0, 0);
}

#endif
