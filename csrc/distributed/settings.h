/* settings.h: settings that must be equal on all ranks, however they were started. */
#ifndef DPT_DISTRIBUTED_SETTINGS_H
#define DPT_DISTRIBUTED_SETTINGS_H
#include "distributed/job.h"

/* Compares the ranks' settings. Fails on all ranks with the same message, which names the ranks
 * that differ. */
int dpt__settings_compare(void);

#endif
