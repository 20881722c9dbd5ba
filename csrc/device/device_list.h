/* device_list.h: parses the devices requested by DPT_DEVICES or dpt.setDevices.
 *
 * Invariant: only text and files are read: no library is loaded on a machine without a GPU.
 *
 *   host:N       N devices made of CPU threads
 *   none         no device
 *   cuda         every GPU, or in a rank (csrc/distributed) its own; cuda:0,2: these
 *   emulated:N   N devices that run CUDA kernels on the CPU, or a list of them: test builds only
 */
#ifndef DPT_DEVICE_DEVICE_LIST_H
#define DPT_DEVICE_DEVICE_LIST_H

enum { DPT__MAX_DEVICES = 256 };

typedef struct dpt__device_list {
  const char *source, *text; /* "DPT_DEVICES", "dpt.setDevices" or "default"; the text */
  int count;
  const char *plugin; /* "cuda": GPUs; "emulated": CUDA kernels on the CPU; NULL: host devices */
  int every;          /* 1: every GPU, or the rank's own; 0: those in `unit` */
  int unit[DPT__MAX_DEVICES];
} dpt__device_list;

/* Parses text; source names it in error messages. */
int dpt__device_list_parse(const char *source, const char *text, dpt__device_list *list);
/* Parses what a script has set or, if that is "", the variable or the default. */
int dpt__device_list_find(const char *set, dpt__device_list *list);
/* Sets the list to all GPUs, of which there are `there`; in a rank, to the GPU for its number among
 * the ranks of its host. */
void dpt__device_list_take(dpt__device_list *list, int there);

#endif
