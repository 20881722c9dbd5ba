/* libraries.c: the names and versions of the libraries that the host kernels use. */
#include "base/status.h"
#include "ops/blas_library.h"
#include <dnnl.h>
#include <pthread.h>
#include <sleef.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static char text[2048];

static void libraries_write_text(void) {
  const dnnl_version_t *dnnl = dnnl_version();
  int missing = dpt__blas_open("dpt_libraries");
  int used =
      snprintf(text, sizeof text, "%s%soneDNN %d.%d.%d\nSLEEF %d.%d.%d\n",
               missing ? "" : dpt__blas_text(), missing ? "" : "\n", dnnl->major, dnnl->minor,
               dnnl->patch, SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL);
#ifdef _OPENMP
  snprintf(text + used, sizeof text - (size_t)used, "OpenMP %d, up to %d threads\n", _OPENMP,
           omp_get_max_threads());
#else
  snprintf(text + used, sizeof text - (size_t)used, "OpenMP none: this build has one thread\n");
#endif
}

const char *dpt_libraries(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, libraries_write_text);
  return text;
}
