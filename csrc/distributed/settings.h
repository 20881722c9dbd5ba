/* settings.h: what all ranks need alike, however they were started. */
#ifndef DPT_DISTRIBUTED_SETTINGS_H
#define DPT_DISTRIBUTED_SETTINGS_H
#include "distributed/job.h"

/* Compares the ranks' settings; fails on all of them alike, and names the ranks that differ. */
int dpt__settings_compare(void);

#endif
