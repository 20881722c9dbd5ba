/* team.h: the number of threads for a loop. */
#ifndef DPT_IMAGE_TEAM_H
#define DPT_IMAGE_TEAM_H
#include <stdint.h>

/* Returns one thread for each 16,384 elements, at least one and at most `threads`. */
static inline int dpt_image__team(int threads, int64_t elements) {
  const int64_t worth = elements >> 14;
  return worth < threads ? worth < 1 ? 1 : (int)worth : threads < 1 ? 1 : threads;
}
#endif
