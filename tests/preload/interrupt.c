/* interrupt.c - preloaded into the command: interrupts it after it has flushed its output for the $INTERRUPT-th time.
 *
 * The case to test is the last flush before a prompt reads its input: a signal rarely arrives at exactly this moment, but must not be
 * missed. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int fflush(FILE *to) {
  static int flushed;
  int (*next)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
  const char *at = getenv("INTERRUPT");
  const int result = next(to);
  if (at && to == stdout && ++flushed == atoi(at)) raise(SIGINT);
  return result;
}
