/* library.cu: finds and opens NVIDIA's libraries (the rules are in library.h). */
#include "cuda/library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace {

enum { WHY = 960 };

/* Opens a file. On failure returns false and appends the loader's error to `why`. */
bool opens(dpt__library *library, const char *file, char *why) {
  library->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library->handle) return true;
  const char *error = dlerror();
  size_t n = strlen(why);
  snprintf(why + n, WHY - n, "%s%s", n ? "; " : "", error ? error : file);
  return false;
}

/* Returns the file that contains an address, or NULL if unknown. */
const char *file_of(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fname : NULL;
}

/* Searches the loader's path; next to CUDA's runtime (a toolkit, or pip's sibling folders); where
 * the build found the library; the toolkit's usual directory. */
bool look(dpt__library *library, char *why) {
  char path[4096];
  const char *chosen = getenv(library->variable);
  if (chosen && *chosen) return opens(library, chosen, why);
  if (library->brought) return opens(library, file_of(library->brought), why);
  if (opens(library, library->file, why)) return true;
  const char *runtime = file_of((const void *)&cudaGetDeviceCount);
  const char *slash = runtime ? strrchr(runtime, '/') : NULL;
  if (slash) {
    int folder = (int)(slash - runtime);
    snprintf(path, sizeof path, "%.*s/%s", folder, runtime, library->file);
    if (opens(library, path, why)) return true;
    snprintf(path, sizeof path, "%.*s/../../%s/%s", folder, runtime, library->folder,
             library->file);
    if (opens(library, path, why)) return true;
  }
  if (*library->built && opens(library, library->built, why)) return true;
  const char *home = getenv("CUDA_HOME");
  snprintf(path, sizeof path, "%s/lib64/%s", home && *home ? home : "/usr/local/cuda",
           library->file);
  return opens(library, path, why) || (library->other && opens(library, library->other, why));
}

int try_to_open(dpt__library *library) {
  char why[WHY] = "";
  if (look(library, why)) return library->take(library);
  return dpt__cuda_fail("%s cannot be opened: %s (set %s to the file's path)", library->name, why,
                        library->variable);
}

} // namespace

int dpt__library_open(dpt__library *library) {
  pthread_mutex_lock(&library->lock);
  int tried = library->tried;
  if (!tried) {
    library->failed = try_to_open(library);
    library->tried = 1;
    if (library->failed) library->why = strdup(dpt__cuda_services->message());
  }
  int failed = library->failed;
  pthread_mutex_unlock(&library->lock);
  if (tried && failed)
    return dpt__cuda_fail("%s",
                          library->why ? library->why : "no host memory for an error message");
  return failed;
}

int dpt__library_find(dpt__library *library, const char *symbol, void **function) {
  *function = dlsym(library->handle, symbol);
  if (*function) return 0;
  return dpt__cuda_fail("%s has no function %s: %s", library->name, symbol, dlerror());
}

int dpt__library_version(const dpt__library *library, int major, int wanted) {
  if (major == wanted) return 0;
  return dpt__cuda_fail("%s has version %d, dpt was built for version %d", library->name, major,
                        wanted);
}

int dpt__library_fail(const char *call, const char *name, const char *text) {
  const char *end = call + strcspn(call, "("), *begin = end;
  while (begin > call && begin[-1] != '.' && begin[-1] != '>' && begin[-1] != ' ') begin--;
  return dpt__cuda_fail("%.*s: %s (%s)", (int)(end - begin), begin, text, name);
}
