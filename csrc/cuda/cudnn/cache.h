/* cache.h: a cache of plans, found by their whole key.
 *
 * Invariant: a Plan has `next`, `used` and a `key` of 64-bit words, all of which are initialized.
 * The cache holds at most DPT__PLANS plans and evicts the least recently used. It does not lock:
 * one thread uses it, or its owner's lock guards it. A zeroed cache is empty.
 */
#ifndef DPT_CUDA_CUDNN_CACHE_H
#define DPT_CUDA_CUDNN_CACHE_H
#include <cstdint>
#include <cstring>

enum { DPT__PLANS = 512 };

template <typename Plan> struct dpt__plans {
  Plan *buckets[256];
  int count;
  uint64_t clock;

  /* Returns the plan of a key, or NULL. */
  template <typename Key> Plan *find(const Key &key) {
    Plan *plan = *bucket_of(key);
    while (plan && memcmp(&plan->key, &key, sizeof key)) plan = plan->next;
    if (plan) plan->used = ++clock;
    return plan;
  }

  /* Adds a plan that find did not return; calls drop(evicted plan) if the cache is full. */
  template <typename F> void keep(Plan *plan, F drop) {
    Plan **bucket = bucket_of(plan->key), **oldest = NULL;
    for (Plan *&first : buckets)
      for (Plan **p = &first; count >= DPT__PLANS && *p; p = &(*p)->next)
        if (!oldest || (*p)->used < (*oldest)->used) oldest = p;
    if (oldest) {
      Plan *old = *oldest;
      *oldest = old->next;
      count--;
      drop(old);
    }
    plan->next = *bucket;
    plan->used = ++clock;
    *bucket = plan;
    count++;
  }

private:
  template <typename Key> Plan **bucket_of(const Key &key) {
    static_assert(sizeof key % 8 == 0, "a key is made of 64-bit words");
    uint64_t hash = 14695981039346656037u;
    const uint64_t *words = (const uint64_t *)&key;
    for (size_t i = 0; i < sizeof key / 8; i++) hash = (hash ^ words[i]) * 1099511628211u;
    return &buckets[(hash >> 32) % 256];
  }
};

#endif
