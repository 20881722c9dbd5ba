/* memory.h: which memory belongs to which device, and what a kernel may not read.
 *
 * Invariant: a pointer in a kernel's parameters to memory of a device that is no peer of its own
 * makes that memory unreadable while the kernel runs; a kernel that reads it ends the process with
 * the kernel's name. Other threads that access it meanwhile wait. Under AddressSanitizer, whose
 * redzones do not begin at pages, nothing is made unreadable.
 */
#ifndef DPT_EMULATED_MEMORY_H
#define DPT_EMULATED_MEMORY_H
#include "cuda_runtime.h"

namespace emulation {

enum { PINNED = -1 };

/* NULL: there is none. owner: a device, or PINNED. */
void *take_memory(size_t bytes, int owner);
void give_memory(void *p);
/* True if the address is in such memory, not in ordinary memory of the host. */
bool has_owner(const void *p);
int owner_of(const void *p);

/* Does the work of a kernel of that device; the memory of `others` is unreadable meanwhile. */
void run_without(const emulated_devices &others, int device, const char *kernel,
                 const std::function<void()> &work);

} // namespace emulation

#endif
