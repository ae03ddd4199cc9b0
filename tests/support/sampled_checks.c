/* sampled_checks.c - runs two checks of the address sanitizer in one process of N, if the environment has CHECK_EVERY=N.
 *
 * The search for leaks and the checks of global variables take half of the time of tests that start the command thousands of times
 * on random input. All other checks stay on. Linked into the sanitized command. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN __attribute__((no_sanitize("address", "undefined")))

/* Returns N of CHECK_EVERY, or 1. Reads the environment from a file in /proc by system calls, because the sanitizer starts
 * before libc knows the environment and before open() can be called. */
PLAIN static unsigned check_every(void) {
  static char text[1 << 16]; /* a longer environment is not read to its end */
  static const char name[] = "CHECK_EVERY=";
  const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY);
  size_t n = 0;
  for (long got = 1; fd >= 0 && got > 0 && n < sizeof text - 1; n += got > 0 ? (size_t)got : 0)
    got = syscall(SYS_read, fd, text + n, sizeof text - 1 - n);
  if (fd >= 0) syscall(SYS_close, fd);
  for (size_t i = 0; i + sizeof name < n; i++) {
    size_t same = 0;
    while (same < sizeof name - 1 && text[i + same] == name[same]) same++;
    if (same == sizeof name - 1 && (i == 0 || text[i - 1] == 0)) return (unsigned)(text[i + same] - '0');
  }
  return 1;
}

/* Called by the sanitizer when it starts. ASAN_OPTIONS overrides the result. The process id is hashed, because tests start
 * different processes in a regular order. */
const char *__asan_default_options(void);
PLAIN const char *__asan_default_options(void) {
  const unsigned n = check_every();
  if (n < 2 || ((unsigned)getpid() * 2654435761u) / (~0u / n) == 0) return "";
  return "detect_leaks=0:report_globals=0";
}
