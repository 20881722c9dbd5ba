/* memory.h: the owners of memory, and memory that a kernel must not access.
 *
 * Invariant: if a pointer in a kernel's parameters refers to memory of a device that is not a peer,
 * that memory is unreadable while the kernel runs. A kernel that accesses it ends the process with
 * a message that names the kernel; other threads that access it wait. Under AddressSanitizer, whose
 * redzones are not aligned to pages, nothing is made unreadable.
 */
#ifndef DPT_EMULATED_MEMORY_H
#define DPT_EMULATED_MEMORY_H
#include "cuda_runtime.h"

namespace emulation {

enum { PINNED = -1 };

/* Allocates memory; returns NULL if it is exhausted. owner: a device, or PINNED. */
void *take_memory(size_t bytes, int owner);
void give_memory(void *p);
/* Returns true if the address is in memory of take_memory, not in ordinary host memory. */
bool has_owner(const void *p);
int owner_of(const void *p);

/* Runs work, a kernel of that device, while the memory of `others` is unreadable. */
void run_without(const emulated_devices &others, int device, const char *kernel,
                 const std::function<void()> &work);

} // namespace emulation

#endif
