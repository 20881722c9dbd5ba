/* bytes.h: the arguments of the kernel that copies plain bytes. */
#ifndef DPT_DEVICE_BYTES_H
#define DPT_DEVICE_BYTES_H
#include <stddef.h>
#include <stdint.h>

/* Bytes that are contiguous in the source and in the destination. */
typedef struct dpt__piece {
  void *to;
  const void *from;
  size_t bytes;
} dpt__piece;

enum { DPT__PIECES = 256 };
enum dpt__copy_path {
  DPT__WITHIN,
  DPT__PEERS,
  DPT__STAGED
}; /* the last two: between two devices */
struct dpt__copy_bytes_args {
  int32_t way; /* DPT__STAGED: through host memory */
  int32_t count;
  dpt__piece piece[DPT__PIECES]; /* (count): only the first `count` are queued */
};

#endif
