/* blas_library.c: finds and opens a BLAS (see blas_library.h). */
#define _GNU_SOURCE
#include "ops/blas_library.h"

#include "base/lock.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct dpt__cblas dpt__cblas;
struct dpt__lapack dpt__lapack[2];

/* Files to try for OpenBLAS: the one that the build found; Debian's name; Fedora's name of the
 * build with threads; the name without a version. */
static const char *const files[] = {DPT_BLAS_FILE, "libopenblas.so.0", "libopenblasp.so.0",
                                    "libopenblas.so"};
static const char remedy[] = "Debian: apt-get install libopenblas0-pthread; the variable DPT_BLAS "
                             "may name another library's file";

static dpt__mutex lock = DPT__MUTEX_INIT; /* guards the variables below */
static atomic_int is_open;
static char failure[896];      /* files tried, and why each could not be opened */
static char file[512];         /* of the open library */
static char lapack_misses[64]; /* a LAPACK function that the library lacks */
static char text[1024];

/* Names of an open library's functions: their prefix and suffix. */
struct names {
  void *handle;
  const char *before, *behind;
};

static void *blas_find(const struct names *names, const char *format, ...) {
  char name[64], whole[96];
  va_list args;
  va_start(args, format);
  vsnprintf(name, sizeof name, format, args);
  va_end(args);
  snprintf(whole, sizeof whole, "%s%s%s", names->before, name, names->behind);
  return dlsym(names->handle, whole);
}

const char *dpt__blas_kernels(enum dpt__isa isa) {
  static const char *const kernels[] = {NULL, "Haswell", "SkylakeX"};
  return kernels[isa];
}

/* ---- the environment while the library is opened ------------------------------------------- */

/* OpenBLAS reads the environment once, while it is loaded, and for that time environ points to a
 * separate array: setenv would change the array that other threads read, and programs started later
 * would inherit the settings. The array is never freed, because another thread's getenv may still
 * be reading it. */
static char **lent;
static char threads_setting[] = "OPENBLAS_NUM_THREADS=1", kernel_setting[64];

/* Replaces environ and returns its former value. */
static char **blas_replace_environment(void) {
  char **before = environ;
  size_t n = 0;
  while (before && before[n]) n++;
  lent = malloc((n + 3) * sizeof *lent);
  if (!lent) return before; /* OpenBLAS then chooses by itself */
  if (n) memcpy(lent, before, n * sizeof *lent);
  const char *kernels = dpt__blas_kernels(dpt__isa());
  if (!getenv("OPENBLAS_NUM_THREADS")) lent[n++] = threads_setting;
  if (kernels && !getenv("OPENBLAS_CORETYPE")) {
    snprintf(kernel_setting, sizeof kernel_setting, "OPENBLAS_CORETYPE=%s", kernels);
    lent[n++] = kernel_setting;
  }
  lent[n] = NULL;
  __atomic_store_n(&environ, lent, __ATOMIC_RELEASE);
  return before;
}

static void blas_restore_environment(char **before) {
  if (environ == lent) {
    __atomic_store_n(&environ, before, __ATOMIC_RELEASE);
    return;
  }
  /* Another thread set a variable in between, which copied our array with our settings. */
  const char *threads = getenv("OPENBLAS_NUM_THREADS"), *kernels = getenv("OPENBLAS_CORETYPE");
  if (threads == strchr(threads_setting, '=') + 1) unsetenv("OPENBLAS_NUM_THREADS");
  if (*kernel_setting && kernels == strchr(kernel_setting, '=') + 1) unsetenv("OPENBLAS_CORETYPE");
}

/* ---- an open file -------------------------------------------------------------------------- */

/* Returns true if the library reads 64 bits where dpt passes an int. For such a library a count of
 * 2 with other upper bits is negative, and a dot product is 0. */
static int blas_is_wide(const struct names *names) {
  double (*dot)(int64_t, const double *, int64_t, const double *, int64_t);
  *(void **)&dot = blas_find(names, "cblas_ddot");
  const double two[] = {1, 1};
  return dot && dot((int64_t)0xffffffff00000002, two, 1, two, 1) == 0;
}

/* Selects one thread and, for MKL, the interface that dpt calls. Must precede any other call of the
 * library. */
static void blas_configure(const struct names *names) {
  static const char *const threads[] = {"openblas_set_num_threads", "MKL_Set_Num_Threads",
                                        "bli_thread_set_num_threads"};
  enum { MKL_LP64 = 0, MKL_SEQUENTIAL = 1 };
  int (*layer)(int);
  *(void **)&layer = blas_find(names, "MKL_Set_Interface_Layer");
  if (layer) layer(MKL_LP64);
  *(void **)&layer = blas_find(names, "MKL_Set_Threading_Layer");
  if (layer) layer(MKL_SEQUENTIAL);
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    void (*set)(int64_t);
    *(void **)&set = blas_find(names, "%s", threads[i]);
    if (set) set(1);
  }
}

/* Fills the tables. Returns 0, or nonzero if a function of CBLAS is missing. */
static int blas_take_functions(const struct names *names) {
  struct dpt__cblas cblas;
  struct dpt__lapack lapack[2];
#define DPT_CBLAS(name, type, parameters)                                                          \
  if (!(*(void **)&cblas.name = blas_find(names, "cblas_" #name))) return 1;
#include "ops/cblas.def"
#undef DPT_CBLAS
  for (int i = 0; i < 2; i++) {
#define DPT_LAPACK(name, parameters)                                                               \
  *(void **)&lapack[i].name = blas_find(names, "%c" #name "_", "sd"[i]);                           \
  if (!lapack[i].name) snprintf(lapack_misses, sizeof lapack_misses, "%c" #name "_", "sd"[i]);
#include "ops/lapack.def"
#undef DPT_LAPACK
  }
  dpt__cblas = cblas;
  memcpy(dpt__lapack, lapack, sizeof lapack);
  return 0;
}

static void blas_describe(const struct names *names) {
  char *(*config)(void), *(*core)(void);
  void (*version)(char *, int);
  char known[200] = "BLAS";
  *(void **)&config = blas_find(names, "openblas_get_config");
  *(void **)&core = blas_find(names, "openblas_get_corename");
  *(void **)&version = blas_find(names, "MKL_Get_Version_String");
  if (version) version(known, sizeof known - 1);
  if (config && core) {
    char number[32] = "";
    sscanf(config(), "%*s %31s", number);
    const char *set = core(), *kernels = dpt__blas_kernels(dpt__isa());
    int named = !*kernel_setting && getenv("OPENBLAS_CORETYPE");
    const char *why = named                                          ? "as OPENBLAS_CORETYPE says"
                      : *kernel_setting && !strcasecmp(set, kernels) ? "for what the CPU can do"
                                                                     : "OpenBLAS's own choice";
    snprintf(known, sizeof known, "OpenBLAS %s, %s kernels (%s)", number, set, why);
  }
  snprintf(text, sizeof text, "%s in %s%s", known, file, *lapack_misses ? ", without LAPACK" : "");
}

static void blas_add_reason(const char *path, const char *reason) {
  size_t n = strlen(failure), size = strlen(path);
  int named = strncmp(reason, path, size) == 0; /* as in the loader's messages */
  snprintf(failure + n, sizeof failure - n, "%s%s%s%s", n ? "; " : "", named ? "" : path,
           named ? "" : ": ", reason);
}

/* Returns true if the file is a BLAS; otherwise adds the reason to `failure`. */
static int blas_opens(const char *path) {
  static const char *const before[] = {"", "scipy_"}, *const behind[] = {"", "_"},
                           *const wide[] = {"64_", "_64", "_64_"};
  const char *reason = "has no function cblas_sgemm";
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    reason = dlerror();
    blas_add_reason(path, reason ? reason : "cannot be opened");
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      struct names names = {handle, before[i], behind[j]};
      void *product = blas_find(&names, "cblas_sgemm");
      if (!product) continue;
      blas_configure(&names);
      Dl_info info;
      snprintf(file, sizeof file, "%s",
               dladdr(product, &info) && info.dli_fname ? info.dli_fname : path);
      if (blas_is_wide(&names)) {
        blas_add_reason(path, "counts with 64-bit integers, wanted 32-bit ones (LP64)");
        return 0;
      }
      if (blas_take_functions(&names)) {
        blas_add_reason(path, "lacks CBLAS functions");
        return 0;
      }
      blas_describe(&names);
      return 1;
    }
    for (int j = 0; j < 3; j++)
      if (blas_find(&(struct names){handle, before[i], wide[j]}, "cblas_sgemm"))
        reason = "counts with 64-bit integers, wanted 32-bit ones (LP64)";
  }
  blas_add_reason(path, reason);
  return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int blas_look(void) {
  const char *chosen = getenv("DPT_BLAS");
  if (chosen && *chosen) return blas_opens(chosen);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (*files[i] && blas_opens(files[i])) return 1;
  return 0;
}

int dpt__blas_open(const char *fn) {
  if (atomic_load_explicit(&is_open, memory_order_acquire)) return 0;
  dpt__lock(&lock);
  if (!atomic_load(&is_open) && !*failure) {
    char **before = blas_replace_environment();
    int opened = blas_look();
    blas_restore_environment(before);
    atomic_store_explicit(&is_open, opened, memory_order_release);
  }
  dpt__unlock(&lock);
  if (atomic_load(&is_open)) return 0;
  return dpt__fail("%s: there is no BLAS (%s): %s", fn, remedy, failure);
}

int dpt__lapack_open(const char *fn) {
  DPT__TRY(dpt__blas_open(fn));
  if (!*lapack_misses) return 0;
  return dpt__fail("%s: the BLAS %s has no LAPACK (no function %s): OpenBLAS and MKL have (%s)", fn,
                   file, lapack_misses, remedy);
}

const char *dpt__blas_text(void) { return text; }
