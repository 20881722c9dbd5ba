/* status_spec.c: tests messages, also long ones, nested ones and those of other threads. */
#include "check.h"

#include <pthread.h>

static void *other_thread(void *arg) {
  CHECK(!*dpt_message());
  CHECK(dpt__fail("another message") == 1);
  return NULL;
}

int main(void) {
  CHECK(!*dpt_message());
  CHECK(dpt__fail("add: argument '%s' has %d elements", "b", 4) == 1);
  CHECK(!strcmp(dpt_message(), "add: argument 'b' has 4 elements"));
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, NULL);
  pthread_join(thread, NULL);
  CHECK(!strcmp(dpt_message(), "add: argument 'b' has 4 elements"));
  CHECK(dpt__fail_in("replica %d", 2) == 1);
  CHECK(!strcmp(dpt_message(), "replica 2: add: argument 'b' has 4 elements"));
  uint32_t before = *dpt_effects();
  CHECK(!dpt_may_retry(before));
  CHECK(dpt__no_memory("no memory for %d", 3) == 1 && dpt_may_retry(before));
  CHECK(dpt__fail_in("add") == 1 && dpt_may_retry(before));
  CHECK(!strcmp(dpt_message(), "add: no memory for 3"));
  CHECK(dpt__fail("(queued on stream 0) no memory") == 1 && !dpt_may_retry(before));
  CHECK(dpt__no_memory("no memory") == 1 && dpt_may_retry(before));
  dpt__effect();
  CHECK(!dpt_may_retry(before) && dpt_may_retry(*dpt_effects()));
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  dpt__fail("%s", text);
  CHECK(strlen(dpt_message()) == 1023);
  dpt__fail_in("%s", text);
  CHECK(strlen(dpt_message()) == 1023);
  return check_end();
}
