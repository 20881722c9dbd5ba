/* texts.c: operations of ranks as text (see texts.h). */
#include "distributed/texts.h"

#include "base/dtype.h"

#include <stdio.h>
#include <string.h>

static const dpt__collective_kind KIND[] = {
#define DPT_COLLECTIVE(id, name, root, in, out, reduces, message, link, device)                    \
  [id] = {name, root, in, out, reduces, message, device},
#include "distributed/collectives.def"
};
static const char *const HOW[] = {"sum", "min", "max", "mean"};

const dpt__collective_kind *dpt__kind_of(const dpt__signature *s) { return &KIND[s->what]; }

const char *dpt__collective_name(uint32_t what) {
  return what < sizeof KIND / sizeof *KIND ? KIND[what].name : "?";
}

int dpt__is_message(const dpt__signature *s) { return KIND[s->what].is_message; }

/* Appends the kind of a reduction, and the root or peer. */
static void texts_end(char end[48], const dpt__signature *s) {
  const char *in_order = s->flags & DPT__IN_ORDER ? " in the order of ranks" : "";
  int n = 0;
  if (KIND[s->what].reduces) n = snprintf(end, 48, " (%s%s)", HOW[s->how & 3], in_order);
  if (s->what == DPT_RANKS_SEND || s->what == DPT_RANKS_RECEIVE)
    snprintf(end, 48, " %s rank %u", s->what == DPT_RANKS_SEND ? "to" : "from", s->root);
  else if (KIND[s->what].has_root)
    snprintf(end + n, 48 - (size_t)n, ", root %u", s->root);
}

const char *dpt__signature_text(char text[160], const dpt__signature *s) {
  char end[48] = "", layout[40] = "", wire[24] = "";
  const char *name = dpt__collective_name(s->what);
  const char *on_devices = s->flags & DPT__ON_DEVICES ? ", between devices" : "";
  if (s->wire && s->wire < DPT_NDTYPE)
    snprintf(wire, sizeof wire, " as %s", dpt__dtype_name(s->wire));
  if (s->layout) snprintf(layout, sizeof layout, " in tensors of sizes %08x", (unsigned)s->layout);
  if (s->what < sizeof KIND / sizeof *KIND) texts_end(end, s);
  if (s->what == DPT_RANKS_BARRIER || s->what == DPT__RANKS_JOIN_DEVICES)
    snprintf(text, 160, "%s", name);
  else if (s->what == DPT__RANKS_MAKE_GROUP)
    snprintf(text, 160, "group of %lld ranks (list %08x)", (long long)s->count, s->root);
  else if (s->what == DPT_RANKS_EXCHANGE)
    snprintf(text, 160, "exchange of %u messages", s->root);
  else
    snprintf(text, 160, "%s of %lld %s elements%s%s%s%s", name, (long long)s->count,
             s->dtype < DPT_NDTYPE ? dpt__dtype_name((int)s->dtype) : "?", layout, wire, end,
             on_devices);
  return text;
}

const char *dpt__operation_text(char text[DPT__OPERATION_TEXT], const dpt__operation *operation) {
  size_t n = strlen(dpt__signature_text(text, &operation->signature));
  if (operation->name[0]) snprintf(text + n, DPT__OPERATION_TEXT - n, ", %s", operation->name);
  return text;
}
