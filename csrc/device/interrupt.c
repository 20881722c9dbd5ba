/* interrupt.c: makes Ctrl-C end the process in any state or, at the prompt, the running Lua code.
 *
 * Why: a loop that LuaJIT compiled never checks the hook that its interpreter sets on SIGINT, and a
 * wait or a kernel runs no Lua at all.
 *
 * Invariant: a handler that the script or another library installed is kept; only the system's
 * default and the interpreter's own (a function of the main program) are replaced. The terminal's
 * old settings are restored, and the exit status is that of a process killed by SIGINT. dpt's own
 * threads block all signals. At the prompt the interpreter's own handler is called, which makes the
 * next Lua instruction raise an error; a second signal within two seconds ends the process.
 */
#define _GNU_SOURCE
#include "base/status.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct termios terminal;
static int has_terminal;

/* Makes only async-signal-safe calls. */
static void interrupt_handler(int signal_number) {
  pid_t group = tcgetpgrp(STDIN_FILENO); /* in the background it belongs to others */
  if (has_terminal && (group < 0 || group == getpgrp()))
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal_number, &action, NULL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal_number);
  raise(signal_number); /* blocked while this handler runs */
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void (*interrupt_interpreters)(int); /* NULL: the interpreter had no handler */

static void interrupt_prompt_handler(int signal_number);
static const struct sigaction interrupt_at_prompt = {.sa_handler = interrupt_prompt_handler,
                                                     .sa_flags = SA_RESTART};

static void interrupt_prompt_handler(int signal_number) {
  static struct timespec last;
  struct timespec now;
  int saved = errno;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
  if (last.tv_sec && seconds < 2) {
    interrupt_handler(signal_number);
    return;
  }
  last = now;
  interrupt_interpreters(signal_number); /* it resets the handler to the system's default */
  sigaction(signal_number, &interrupt_at_prompt, NULL);
  errno = saved;
}

/* Returns true if the handler belongs to the running program, not to a library or to code generated
 * at run time. */
static int interrupt_belongs_to_program(void (*handler)(int)) {
  Dl_info its, program;
  return dladdr((void *)(uintptr_t)handler, &its) &&
         dladdr((void *)getauxval(AT_ENTRY), &program) && its.dli_fbase == program.dli_fbase;
}

int dpt_interrupt_install(void) {
  struct sigaction old, action = {.sa_handler = interrupt_handler, .sa_flags = SA_RESTART};
  if (sigaction(SIGINT, NULL, &old)) return dpt__fail("SIGINT: %s", strerror(errno));
  if (old.sa_flags & SA_SIGINFO || old.sa_handler == SIG_IGN) return 0;
  if (old.sa_handler != SIG_DFL && !interrupt_belongs_to_program(old.sa_handler)) return 0;
  if (old.sa_handler != SIG_DFL && old.sa_handler != interrupt_handler)
    interrupt_interpreters = old.sa_handler;
  has_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &terminal) == 0;
  if (sigaction(SIGINT, &action, NULL)) return dpt__fail("SIGINT: %s", strerror(errno));
  return 0;
}

int dpt_interrupt_prompt(int on) {
  struct sigaction old, action = {.sa_handler = interrupt_handler, .sa_flags = SA_RESTART};
  if (sigaction(SIGINT, NULL, &old)) return dpt__fail("SIGINT: %s", strerror(errno));
  int own = old.sa_handler == interrupt_handler || old.sa_handler == interrupt_prompt_handler;
  if (old.sa_flags & SA_SIGINFO || !own || !interrupt_interpreters) return 0;
  if (sigaction(SIGINT, on ? &interrupt_at_prompt : &action, NULL))
    return dpt__fail("SIGINT: %s", strerror(errno));
  return 0;
}
