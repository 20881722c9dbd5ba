/* report.h: describes the state of the ranks as text, after a deadline has passed. */
#ifndef DPT_DISTRIBUTED_REPORT_H
#define DPT_DISTRIBUTED_REPORT_H
#include "distributed/job.h"

enum { DPT__REPORT = 1900 };

/* Returns 1 if the process of this rank of this host has ended. */
int dpt__rank_died(const dpt__record *record);
/* Describe an operation, the connecting of the ranks, or the end of the job that takes too long. */
void dpt__report_late(char text[DPT__REPORT], const dpt__operation *own);
void dpt__report_start(char text[DPT__REPORT]);
void dpt__report_end(char text[DPT__REPORT]);

#endif
