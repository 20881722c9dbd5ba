/* blas_library.h: CBLAS and LAPACK, from a library that is opened on first use.
 *
 * Invariant: libdpt does not link a BLAS. The thread that calls an operation opens the library
 * while it checks the operands, before anything is launched, so that a failure is an error of that
 * call. Kernels find the functions in these tables. A process searches for the library once; later
 * calls return the same result. The library computes with one thread, because dpt splits products
 * among threads itself. The CPU's instruction sets (base/cpu.h) decide which kernels an OpenBLAS
 * uses, unless OPENBLAS_CORETYPE is set.
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

/* The functions of CBLAS, and of LAPACK for floats and for doubles. NULL until the library is
 * opened. */
extern struct dpt__cblas dpt__cblas;
extern struct dpt__lapack dpt__lapack[2];

/* Opens the library. Returns 0, or an error whose message names fn, every file that was tried with
 * the loader's reason, and the remedy. dpt__lapack_open also requires LAPACK. */
int dpt__blas_open(const char *fn);
int dpt__lapack_open(const char *fn);

/* Returns one line about the open library: its name, version, kernels, why it has these, and
 * file. */
const char *dpt__blas_text(void);

/* Returns the name of OpenBLAS's kernels for an instruction set, or NULL if OpenBLAS may choose. */
const char *dpt__blas_kernels(enum dpt__isa isa);

#endif
