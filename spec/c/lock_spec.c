/* lock_spec.c: tests that in test builds a violated invariant aborts the process with its file and
 * line, and that other builds contain no assertions.
 */
#include "base/lock.h"

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static dpt__mutex a = DPT__MUTEX_INIT, b = DPT__MUTEX_INIT;

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)

#ifdef DPT_ASSERTIONS

static void *unlocks(void *arg) {
  dpt__unlock(&a);
  return NULL;
}

static void without_it(void) { dpt__assert_held(&a); }
static void with_another(void) {
  dpt__lock(&b);
  dpt__assert_held(&a);
}
static void twice(void) {
  dpt__lock(&a);
  dpt__lock(&a);
}
static void given_away(void) {
  dpt__lock(&a);
  dpt__unlock(&a);
  dpt__assert_held(&a);
}
static void anothers(void) {
  pthread_t thread;
  dpt__lock(&a);
  pthread_create(&thread, NULL, unlocks, NULL);
  pthread_join(thread, NULL);
}
static void wrong_condition(void) { dpt__assert(1 + 1 == 3); }

/* Checks that the test, in a child process, aborts and prints `what`. */
static void aborts(void (*test)(void), const char *what) {
  int pipes[2], status = 0;
  char text[512] = "";
  OK(pipe(pipes));
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    signal(SIGABRT, SIG_DFL); /* not a sanitizer's handler */
    dup2(pipes[1], 2);
    test();
    _exit(0);
  }
  close(pipes[1]);
  for (ssize_t n, at = 0; (n = read(pipes[0], text + at, sizeof text - 1 - (size_t)at)) > 0;)
    at += n;
  close(pipes[0]);
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  if (!CHECK(strstr(text, what) != NULL)) puts(text);
}

static void assertions(void) {
  aborts(without_it, "lock_spec.c:");
  aborts(without_it, "dpt__is_held(&a)");
  aborts(with_another, "dpt__is_held(&a)");
  aborts(given_away, "dpt__is_held(&a)");
  aborts(twice, "lock.h:");
  aborts(anothers, "lock.h:");
  aborts(wrong_condition, "assertion failed: 1 + 1 == 3");
  dpt__lock(&a);
  dpt__lock(&b);
  dpt__assert_held(&a);
  dpt__unlock(&a);
  dpt__assert_held(&b);
  dpt__unlock(&b);
}

#else

static void assertions(void) {
  CHECK(sizeof(dpt__mutex) == sizeof(pthread_mutex_t));
  CHECK(!strcmp(TEXT(dpt__assert(a)), "((void)0)"));
  CHECK(!strcmp(TEXT(dpt__assert_held(&a)), "((void)0)"));
  CHECK(!strcmp(TEXT(dpt__lock_own(&a, 0)), "((void)0)"));
  CHECK(!strcmp(TEXT(dpt__sync_point("here")), "0"));
  dpt__lock(&a);
  CHECK(pthread_mutex_trylock(&a.mutex) != 0);
  dpt__unlock(&a);
  CHECK(pthread_mutex_trylock(&a.mutex) == 0);
  (void)b;
}

#endif

int main(void) {
  assertions();
  return check_end();
}
