/* fault.c - preloaded into the command: makes one of its system calls fail.
 *
 * $FAULT is "KIND:N" (the N-th call of a kind fails) or "KIND:N+" (all calls from the N-th on fail). $FAULT_COUNTS names a
 * file that gets lines "KIND CALLS" at exit: the number of calls that could fail. Only the program $TRACEKIT is affected,
 * and never standard error. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { MALLOC, READ, WRITE, OPEN, RENAME, FSYNC, CLOSE, MMAP, STAT, THREAD, KINDS };

static const struct {
  const char *name;
  int error;
} kinds[KINDS] = {
  [MALLOC] = {"malloc", ENOMEM}, [READ] = {"read", EIO},    [WRITE] = {"write", ENOSPC}, [OPEN] = {"open", EMFILE},
  [RENAME] = {"rename", EIO},    [FSYNC] = {"fsync", EIO},  [CLOSE] = {"close", EIO},    [MMAP] = {"mmap", ENOMEM},
  [STAT] = {"stat", EIO},        [THREAD] = {"thread", EAGAIN},
};

static atomic_ulong calls[KINDS];
static unsigned long fails_at;
static enum kind failing = KINDS;
static bool fails_on, armed;

static void arm(void) __attribute__((constructor));
static void tell(void) __attribute__((destructor));

static void arm(void) {
  char program[4096];
  const char *wanted = getenv("TRACEKIT"), *fault = getenv("FAULT");
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0 || !wanted) return;
  program[n] = 0;
  if (strcmp(program, wanted)) return;
  for (unsigned k = 0; fault && k < KINDS; k++) {
    size_t len = strlen(kinds[k].name);
    if (strncmp(fault, kinds[k].name, len) || fault[len] != ':') continue;
    char *end;
    failing = k;
    fails_at = strtoul(fault + len + 1, &end, 10);
    fails_on = *end == '+';
  }
  armed = true;
}

static void tell(void) {
  const char *path = getenv("FAULT_COUNTS");
  char line[64];
  if (!armed || !path) return;
  armed = false;
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (unsigned k = 0; k < KINDS; k++)
    if (write(fd, line, (size_t)snprintf(line, sizeof line, "%s %lu\n", kinds[k].name, calls[k])) < 0) break;
  close(fd);
}

static __attribute__((noinline)) void fault_point(void) { __asm__ volatile(""); }

static bool fails(enum kind kind) {
  if (!armed) return false;
  unsigned long n = atomic_fetch_add(&calls[kind], 1) + 1;
  if (kind != failing || (fails_on ? n < fails_at : n != fails_at)) return false;
  fault_point();
  errno = kinds[kind].error;
  return true;
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* Uses the allocator's internal names: dlsym itself may allocate. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t n) { return fails(MALLOC) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails(MALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails(MALLOC) ? NULL : __libc_realloc(p, n); }

ssize_t read(int fd, void *p, size_t n) { REAL(read); return fails(READ) ? -1 : real(fd, p, n); }
ssize_t pread(int fd, void *p, size_t n, off_t at) { REAL(pread); return fails(READ) ? -1 : real(fd, p, n, at); }
ssize_t write(int fd, const void *p, size_t n) { REAL(write); return fd != 2 && fails(WRITE) ? -1 : real(fd, p, n); }
ssize_t pwrite(int fd, const void *p, size_t n, off_t at) { REAL(pwrite); return fails(WRITE) ? -1 : real(fd, p, n, at); }
int rename(const char *from, const char *to) { REAL(rename); return fails(RENAME) ? -1 : real(from, to); }
int fsync(int fd) { REAL(fsync); return fails(FSYNC) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return fails(FSYNC) ? -1 : real(fd); }
int fstat(int fd, struct stat *s) { REAL(fstat); return fails(STAT) ? -1 : real(fd, s); }
int stat(const char *path, struct stat *s) { REAL(stat); return fails(STAT) ? -1 : real(path, s); }

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  REAL(linkat);
  return fails(RENAME) ? -1 : real(from_dir, from, to_dir, to, flags);
}

int close(int fd) {
  REAL(close);
  bool failed = fd > 2 && fails(CLOSE);
  int status = real(fd);
  if (failed) errno = EIO;
  return failed ? -1 : status;
}

static int open_mode(int flags, va_list ap) { return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, int) : 0; }

int open(const char *path, int flags, ...) {
  REAL(open);
  va_list ap;
  va_start(ap, flags);
  int mode = open_mode(flags, ap);
  va_end(ap);
  return fails(OPEN) ? -1 : real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...) {
  REAL(openat);
  va_list ap;
  va_start(ap, flags);
  int mode = open_mode(flags, ap);
  va_end(ap);
  return fails(OPEN) ? -1 : real(dir, path, flags, mode);
}

int mkostemps(char *path, int suffix, int flags) {
  REAL(mkostemps);
  return fails(OPEN) ? -1 : real(path, suffix, flags);
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)) {
  REAL(scandir);
  return fails(OPEN) ? -1 : real(path, list, filter, compare);
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t at) {
  REAL(mmap);
  return fails(MMAP) ? MAP_FAILED : real(p, n, prot, flags, fd, at);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
  REAL(pthread_create);
  return fails(THREAD) ? EAGAIN : real(thread, attr, run, arg);
}
