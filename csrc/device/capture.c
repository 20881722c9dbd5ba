/* capture.c: rejects work that cannot be captured (see capture.h). */
#include "device/capture.h"

#include <stdlib.h>

_Thread_local dpt__capture *dpt__own_capture;

int dpt_graph_capturing(void) { return dpt__own_capture != NULL; }

int dpt__capture_reject(const char *fn, const char *why) {
  return dpt__fail("%s: %s, which cutorch.graph cannot capture", fn, why);
}

int dpt_graph_reject(const char *fn, const char *why) { return dpt__capture_rejects(fn, why); }

int dpt__capture_mismatch(const char *fn, const dpt__stream *stream) {
  const dpt__capture *own = dpt__own_capture;
  if (!own)
    return dpt__fail("%s: stream %d of device %d is being captured by another thread "
                     "(cutorch.graph)",
                     fn, stream->index, stream->device);
  return dpt__fail("%s: it needs stream %d of device %d, but cutorch.graph captures stream %d of "
                   "device %d; a captured function uses that stream only",
                   fn, stream->index, stream->device, own->stream->index, own->stream->device);
}

int dpt__list_add(dpt__list *list, void *item) {
  if (list->n == list->capacity) {
    int capacity = list->capacity ? 2 * list->capacity : 64;
    void *bigger = realloc(list->item, (size_t)capacity * sizeof *list->item);
    if (!bigger) return 1;
    list->item = bigger;
    list->capacity = capacity;
  }
  list->item[list->n++] = item;
  return 0;
}
