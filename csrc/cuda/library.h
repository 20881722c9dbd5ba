/* library.h: NVIDIA's libraries, which are opened at their first use.
 *
 * Invariant: the plugin links none of them, so that it loads where one is missing and loads quickly
 * where none is needed. Functions come by name from a list (cublas.def is one), with the types that
 * the library's header declares. A library is looked for once in a process; whoever asks again gets
 * the same answer.
 */
#ifndef DPT_CUDA_LIBRARY_H
#define DPT_CUDA_LIBRARY_H
#include "cuda/cuda.h"

#include <pthread.h>

struct dpt__library {
  const char *name;     /* "cuBLAS" */
  const char *variable; /* of the environment: a file to take instead of looking */
  const char *file;     /* "libcublas.so.13" */
  const char *folder;   /* its lib folder in pip's site-packages/nvidia: "cudnn/lib" */
  const char *built;    /* the file that the build found, or "" */
  const void *brought;  /* something in the file that has it, where the emulation does; or NULL */
  /* Fills the functions in, and looks at the version: 0 or an error message. */
  int (*take)(dpt__library *library);
  pthread_mutex_t lock; /* guards what follows */
  void *handle = NULL;  /* dlopen's */
  int tried = 0, failed = 0;
  char *why = NULL;         /* the message of the failure */
  const char *other = NULL; /* another name of the file, tried last */
};
#define DPT__SONAME_OF(name, version) name #version
#define DPT__SONAME(name, version) DPT__SONAME_OF(name, version)

/* Opens the library: 0, or an error message that names every file that was tried and what the
 * loader said about it. */
int dpt__library_open(dpt__library *library);
/* *function = what is called `symbol` in an open library. */
int dpt__library_find(dpt__library *library, const char *symbol, void **function);
/* An error message unless the library's first number is that of the header that dpt was built with.
 */
int dpt__library_version(const dpt__library *library, int major, int wanted);
/* The message of a failed call: `call` is its text, of which the function's name is taken. */
int dpt__library_fail(const char *call, const char *name, const char *text);

#endif
