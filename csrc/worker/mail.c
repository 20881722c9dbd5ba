/* mail.c: bytes with references to counted objects, and lists of them (see worker.h). */
#include "worker/worker.h"

#include "device/storage.h"

#include <stdlib.h>
#include <string.h>

dpt__mail *dpt__mail_new(const char *fn, const void *bytes, int64_t size,
                         const dpt_reference *references, int count) {
  size_t inside = sizeof(dpt__mail) + (size_t)count * sizeof *references;
  dpt__mail *mail = malloc(inside + (size_t)size);
  if (!mail) {
    dpt__no_memory("%s: no host memory for %lld bytes", fn, (long long)size);
    return NULL;
  }
  char *data = (char *)mail + inside;
  *mail = (dpt__mail){.head = {.bytes = data, .size = size}, .count = count};
  if (size) memcpy(data, bytes, (size_t)size);
  for (int i = 0; i < count; i++) {
    mail->references[i] = references[i];
    if (references[i].kind == DPT_REFERENCE_STORAGE) dpt_storage_retain(references[i].object);
    if (references[i].kind == DPT_REFERENCE_SHARED) dpt_shared_retain(references[i].object);
  }
  return mail;
}

void dpt__mail_release(dpt__mail *mail) {
  for (int i = 0; i < mail->count; i++) {
    dpt_reference r = mail->references[i];
    if (r.kind == DPT_REFERENCE_STORAGE) dpt_storage_release(r.object);
    if (r.kind == DPT_REFERENCE_SHARED) dpt_shared_release(r.object);
  }
  mail->count = 0;
}

void dpt_mail_free(dpt_mail *mail) {
  if (!mail) return;
  dpt__mail_release((dpt__mail *)mail);
  free(mail);
}

void dpt__mails_put(dpt__mails *mails, dpt__mail *mail) {
  mail->next = NULL;
  if (mails->first)
    mails->last->next = mail;
  else
    mails->first = mail;
  mails->last = mail;
  mails->length++;
}

dpt__mail *dpt__mails_take(dpt__mails *mails) {
  dpt__mail *mail = mails->first;
  if (!mail) return NULL;
  mails->first = mail->next;
  mails->length--;
  return mail;
}

void dpt__mails_drop(dpt__mails *mails) {
  for (dpt__mail *mail; (mail = dpt__mails_take(mails));) dpt_mail_free(&mail->head);
}
