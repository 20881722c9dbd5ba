/* dnnl.c: runs oneDNN's primitives and caches them (see dnnl.h). */
#include "host/dnnl.h"
#include "base/lock.h"

#include <stdlib.h>
#include <string.h>

static dpt__mutex lock = DPT__MUTEX_INIT;
static dpt__dnnl_plan *plans DPT__GUARDED_BY(lock);
static int count DPT__GUARDED_BY(lock);
static uint64_t clock_ DPT__GUARDED_BY(lock);
static dnnl_engine_t engine; /* set once, before the first plan */

dnnl_engine_t dpt__dnnl_engine(void) { return engine; }

int dpt__dnnl_failed(dnnl_status_t status, const char *what) {
  if (status == dnnl_success) return 0;
  return dpt__fail("oneDNN's %s failed with status %d", what, (int)status);
}

int dpt__dnnl_run(dnnl_primitive_t primitive, dnnl_stream_t stream, int n,
                  const dnnl_memory_desc_t *const *md, void *const *data, const int *arg) {
  dnnl_exec_arg_t args[DPT__DNNL_OPERANDS] = {{0}};
  dnnl_status_t status = dnnl_success;
  for (int i = 0; i < n && status == dnnl_success; i++) {
    args[i].arg = arg[i];
    status = dnnl_memory_create(&args[i].memory, md[i], engine, data[i]);
  }
  if (status == dnnl_success) status = dnnl_primitive_execute(primitive, stream, n, args);
  for (int i = 0; i < n && args[i].memory; i++) dnnl_memory_destroy(args[i].memory);
  return dpt__dnnl_failed(status, "primitive");
}

static uint64_t dnnl_hash_of(const void *key, size_t size) {
  uint64_t hash = 14695981039346656037u;
  dpt__assert(size % 8 == 0);
  for (size_t i = 0; i < size / 8; i++) hash = (hash ^ ((const uint64_t *)key)[i]) * 1099511628211u;
  return hash;
}

static const void *dnnl_key_of(const dpt__dnnl_plan *plan) {
  return (const char *)plan + plan->kind->key_at;
}

static void dnnl_drop(dpt__dnnl_plan *plan) {
  plan->kind->drop(plan);
  free(plan);
}

static void dnnl_evict(void) DPT__REQUIRES(lock) {
  dpt__assert_held(&lock);
  dpt__dnnl_plan **oldest = NULL;
  for (dpt__dnnl_plan **p = &plans; *p; p = &(*p)->next)
    if (!(*p)->users && (!oldest || (*p)->used < (*oldest)->used)) oldest = p;
  if (!oldest) return;
  dpt__dnnl_plan *plan = *oldest;
  *oldest = plan->next;
  count--;
  dnnl_drop(plan);
}

/* Creates a plan and adds it to the list; returns NULL with an error message if oneDNN fails. */
static dpt__dnnl_plan *dnnl_add(const dpt__dnnl_kind *kind, const void *key, uint64_t hash)
    DPT__REQUIRES(lock) {
  dpt__dnnl_plan *plan = calloc(1, kind->size);
  if (!plan) {
    dpt__fail("no host memory for a oneDNN primitive");
    return NULL;
  }
  plan->kind = kind, plan->hash = hash;
  memcpy((char *)plan + kind->key_at, key, kind->key_size);
  if ((!engine && dpt__dnnl_failed(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine")) ||
      kind->make(plan)) {
    dnnl_drop(plan);
    return NULL;
  }
  if (count >= DPT__PLANS) dnnl_evict();
  plan->next = plans;
  plans = plan;
  count++;
  return plan;
}

/* Holds the lock while a primitive is created, so that two threads do not create the same one. */
int dpt__dnnl_take(const dpt__dnnl_kind *kind, const void *key, dpt__dnnl_plan **result) {
  uint64_t hash = dnnl_hash_of(key, kind->key_size);
  dpt__lock(&lock);
  dpt__dnnl_plan *plan = plans;
  while (plan && (plan->kind != kind || plan->hash != hash ||
                  memcmp(dnnl_key_of(plan), key, kind->key_size)))
    plan = plan->next;
  if (!plan) plan = dnnl_add(kind, key, hash);
  if (plan) {
    plan->users++;
    plan->used = ++clock_;
    *result = plan;
  }
  dpt__unlock(&lock);
  return !plan;
}

void dpt__dnnl_give(dpt__dnnl_plan *plan) {
  dpt__lock(&lock);
  dpt__assert(plan->users > 0);
  plan->users--;
  dpt__unlock(&lock);
}
