/* blas_library.h: CBLAS and LAPACK, whose library is opened when they are first used.
 *
 * Invariant: libdpt links no BLAS. The thread that calls an operation opens the library while it
 * checks operands, before anything is launched, so that a failure is an error of the script's line;
 * kernels find the functions there. The library is looked for once in a process; whoever asks again
 * gets the same answer. It computes with one thread: dpt cuts products by itself. Which kernels an
 * OpenBLAS takes is decided by what the CPU can do (base/cpu.h), unless OPENBLAS_CORETYPE is set.
 */
#ifndef DPT_OPS_BLAS_LIBRARY_H
#define DPT_OPS_BLAS_LIBRARY_H
#include "base/cpu.h"
#include "base/status.h"

enum { DPT__ROW_MAJOR = 101, DPT__NO_TRANS = 111, DPT__TRANS = 112 };

#define INT const int *
#define LETTER const char *
struct dpt__cblas {
#define DPT_CBLAS(name, type, parameters) type(*name) parameters;
#include "ops/cblas.def"
#undef DPT_CBLAS
};
struct dpt__lapack {
#define DPT_LAPACK(name, parameters) void(*name) parameters;
#include "ops/lapack.def"
#undef DPT_LAPACK
};
#undef INT
#undef LETTER

/* The functions; those of LAPACK for floats and for doubles. Empty until they are opened. */
extern struct dpt__cblas dpt__cblas;
extern struct dpt__lapack dpt__lapack[2];

/* Opens the library: 0, or an error message that names fn, every file that was tried with the
 * loader's reason, and the remedy. dpt__lapack_open also wants LAPACK. */
int dpt__blas_open(const char *fn);
int dpt__lapack_open(const char *fn);

/* One line: the open library's name, version, kernels and why those, file. */
const char *dpt__blas_text(void);

/* The name of OpenBLAS's kernels for an instruction set; NULL: OpenBLAS may choose. */
const char *dpt__blas_kernels(enum dpt__isa isa);

#endif
