/* region.c: OpenMP regions of one thread, without libgomp.
 *
 * Invariant: the linker hands every call of GOMP_parallel in dpt's objects to the function here
 * (--wrap in CMakeLists.txt). libgomp makes a team even for one thread, and ends it with a call of
 * the kernel that wakes nobody: 600 ns, several times what a small tensor takes. Outside of regions
 * the body finds thread 0 of 1 by itself. Other compilers call other functions, and go by theirs.
 */
#ifdef _OPENMP
#include <omp.h>

void __real_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  if (threads == 1 && omp_get_num_threads() == 1)
    body(data);
  else
    __real_GOMP_parallel(body, data, threads, flags);
}
#endif
