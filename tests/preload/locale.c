/* locale.c - preloaded into the programs of a build: they run in the locale $TEST_LOCALE from the start.
 *
 * The library is used in processes with arbitrary locales. The command does not set one, so its tests alone would not detect
 * locale bugs. Only programs below $B use the locale, except the generator: the shell, Python and other tools expect their
 * own. Messages of the C library stay English. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_locale(void) __attribute__((constructor));

static void take_locale(void) {
  char program[4096];
  const char *folder = getenv("B"), *name = getenv("TEST_LOCALE");
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (!folder || !name || n <= 0) return;
  program[n] = 0;
  if (strncmp(program, folder, strlen(folder)) || strstr(program, "/tests/gen/")) return;
  if (setlocale(LC_ALL, name) && setlocale(LC_MESSAGES, "C")) return;
  fprintf(stderr, "There is no locale '%s'.\n", name);
  _exit(99);
}
