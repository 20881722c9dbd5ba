/* library.h: NVIDIA's libraries, opened at their first use.
 *
 * Invariant: the plugin links none of them, so that it loads if one is missing, and loads quickly
 * if none is needed. Functions are looked up by name from a list (such as cublas.def), with the
 * types that the library's header declares. A library is searched for once per process; later calls
 * return the same result.
 */
#ifndef DPT_CUDA_LIBRARY_H
#define DPT_CUDA_LIBRARY_H
#include "cuda/cuda.h"

#include <pthread.h>

struct dpt__library {
  const char *name;     /* "cuBLAS" */
  const char *variable; /* environment variable: a file to open instead of searching */
  const char *file;     /* "libcublas.so.13" */
  const char *folder;   /* its lib folder in pip's site-packages/nvidia: "cudnn/lib" */
  const char *built;    /* the file found at build time, or "" */
  const void *brought;  /* an address in its file, if the emulation provides it; or NULL */
  /* Looks up the functions and checks the version. Returns 0, or fails with a message. */
  int (*take)(dpt__library *library);
  pthread_mutex_t lock; /* guards the fields below */
  void *handle = NULL;  /* dlopen's */
  int tried = 0, failed = 0;
  char *why = NULL;         /* the message of the failure */
  const char *other = NULL; /* another name of the file, tried last */
};
#define DPT__SONAME_OF(name, version) name #version
#define DPT__SONAME(name, version) DPT__SONAME_OF(name, version)

/* Opens the library. Returns 0, or fails with a message that names every file tried and the
 * loader's error for it. */
int dpt__library_open(dpt__library *library);
/* Sets *function to the address of `symbol` in an open library. */
int dpt__library_find(dpt__library *library, const char *symbol, void **function);
/* Fails with a message unless the library's major version is that of the header that dpt was built
 * with. */
int dpt__library_version(const dpt__library *library, int major, int wanted);
/* Fails with the message of a failed call. `call` is the source text of the call, from which the
 * function's name is extracted. */
int dpt__library_fail(const char *call, const char *name, const char *text);

#endif
