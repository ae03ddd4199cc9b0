/* os.c - functions that depend on the operating system. All systems have POSIX; Linux adds control groups and processor
 * affinity. WASI (WebAssembly) lacks a part of POSIX: threads, other processes, host names and permissions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* needed for sched_getaffinity */
#endif
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#elif !defined(__wasi__)
#include <sys/random.h>
#endif

static bool system_random(void *p, size_t n) {
#if defined(__linux__)
  return syscall(SYS_getrandom, p, n, 0) == (long)n; /* getrandom() is newer than the oldest glibc that wheels support */
#else
  return getentropy(p, n) == 0;
#endif
}

/* If the system has no random numbers, uses the time and addresses chosen by the loader. */
void os_random(void *p, size_t n) {
  struct timespec now;
  if (system_random(p, n)) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t words[] = {(uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u, (uint64_t)(uintptr_t)&now * 0xc2b2ae3d27d4eb4fu};
  for (size_t i = 0; i < n; i++) ((uint8_t *)p)[i] = (uint8_t)(words[i / 8 % 2] >> i % 8 * 8);
}

static uint64_t physical_memory(void) {
#if defined(__wasi__)
  return (uint64_t)1 << 32; /* addresses have 32 bits */
#elif defined(_SC_PHYS_PAGES)
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return (uint64_t)pages * (uint64_t)size;
#endif
  return 0;
}

#if defined(__linux__)
/* Reads a limit from a file of a control group. "max" or a missing file means no limit. */
static uint64_t limit_of(const char *root, const char *group, const char *file) {
  char path[4352];
  unsigned long long v = 0;
  FILE *f;
  snprintf(path, sizeof path, "%s%s/%s", root, group, file);
  f = fopen(path, "re");
  if (!f) return UINT64_MAX;
  if (fscanf(f, "%llu", &v) != 1) v = UINT64_MAX;
  fclose(f);
  return v;
}

/* Returns the lowest limit among a control group and its ancestors, which all limit the process. */
static uint64_t limit_up(const char *root, char *group, const char *file) {
  uint64_t least = limit_of(root, "", file), v;
  char *slash;
  while (*group && (slash = strrchr(group, '/'))) {
    v = limit_of(root, group, file);
    if (v < least) least = v;
    *slash = 0;
  }
  return least;
}

/* Returns the memory limit of the process's control group. The file has lines "0::/group" (version 2) and "7:memory:/group"
 * (version 1). */
static uint64_t group_memory(void) {
  uint64_t least = UINT64_MAX, v = UINT64_MAX;
  char line[4096], *group;
  FILE *f = fopen("/proc/self/cgroup", "re");
  if (!f) return least;
  while (fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "0::/", 4) == 0)
      v = limit_up("/sys/fs/cgroup", line + 3, "memory.max");
    else if ((group = strstr(line, ":memory:/")))
      v = limit_up("/sys/fs/cgroup/memory", group + 8, "memory.limit_in_bytes");
    if (v < least) least = v;
  }
  fclose(f);
  return least;
}
#else
static uint64_t group_memory(void) { return UINT64_MAX; }
#endif

uint64_t os_memory(void) {
  uint64_t all = physical_memory(), group = group_memory();
  if (all == 0) return group == UINT64_MAX ? 0 : group;
  return group < all ? group : all;
}

/* Sanitizers keep several times the memory that the program uses, so os_resident returns "unknown" in builds with
 * sanitizers. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(SANITIZED)
uint64_t os_resident(void) {
  unsigned long long size, resident;
  FILE *f = fopen("/proc/self/statm", "re");
  const bool known = f && fscanf(f, "%llu %llu", &size, &resident) == 2;
  if (f) fclose(f);
  return known ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
}
#else
uint64_t os_resident(void) { return UINT64_MAX; }
#endif

uint64_t os_memory_limit(uint64_t asked) { return asked ? asked : os_memory() / 4 * 3; }

unsigned os_cores(void) {
  long n;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (unsigned)CPU_COUNT(&set);
#endif
  n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned)n : 1;
}

unsigned os_threads(unsigned asked) {
#if defined(__wasi__)
  (void)asked;
  return 1;
#else
  return asked ? asked : os_cores();
#endif
}

#if defined(__linux__)
void os_release(void *p, size_t n) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)p + page - 1) & ~(page - 1);
  uintptr_t to = ((uintptr_t)p + n) & ~(page - 1);
  if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}
#else
void os_release(void *p, size_t n) { (void)p, (void)n; }
#endif

/* ---- blocks that grow in place ---- */

/* Sanitizers cannot guard such blocks. */
#if defined(__linux__) && !defined(SANITIZED)
enum { HUGE_PAGE = 2 << 20 };

static size_t whole_pages(size_t n) { return (n + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1); }

static bool has_free_addresses(void) {
  struct rlimit most;
  return sizeof(void *) == 8 && getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur == RLIM_INFINITY;
}

/* Reserves addresses that cannot be used yet, and so do not count as memory even if the system never overcommits. */
static uint8_t *reserve(size_t room) {
  uint8_t *p = mmap(NULL, room + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
  if (before) munmap(p, before);
  munmap(p + before + room, HUGE_PAGE - before);
  madvise(p + before, room, MADV_HUGEPAGE);
  return p + before;
}

struct os_block os_block_new(size_t n, size_t room) {
  struct os_block b = {.room = whole_pages(room)};
  if (!has_free_addresses() || !(b.p = reserve(b.room))) return (struct os_block){0};
  if (os_block_grow(&b, n)) return b;
  os_block_free(&b);
  return (struct os_block){0};
}

bool os_block_grow(struct os_block *b, size_t n) {
  const size_t from = whole_pages(b->n), to = whole_pages(n);
  if (to > from && mprotect(b->p + from, to - from, PROT_READ | PROT_WRITE) != 0) return false;
  b->n = n;
  return true;
}

void os_block_free(const struct os_block *b) { munmap(b->p, b->room); }
#else
struct os_block os_block_new(size_t n, size_t room) {
  (void)n, (void)room;
  return (struct os_block){0};
}
bool os_block_grow(struct os_block *b, size_t n) {
  (void)b, (void)n;
  return false;
}
void os_block_free(const struct os_block *b) { (void)b; }
#endif

/* Creates a file; random characters replace the XXXXXX before the suffix of its path. */
#if defined(__wasi__)
static int create_temporary(char *path, size_t suffix) {
  enum { RANDOM = 6 };
  uint8_t *name = (uint8_t *)path + strlen(path) - suffix - RANDOM;
  os_random(name, RANDOM);
  for (int i = 0; i < RANDOM; i++) name[i] = (uint8_t)('a' + name[i] % 26);
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}
#else
static int create_temporary(char *path, size_t suffix) { return mkostemps(path, (int)suffix, O_CLOEXEC); }
#endif

int os_temporary(const char *suffix, char **path) {
  static const char NAME[] = "/tracekit-XXXXXX";
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/tmp";
  size_t n = strlen(folder) + sizeof NAME + strlen(suffix);
  *path = malloc(n);
  if (!*path) return -1;
  snprintf(*path, n, "%s%s%s", folder, NAME, suffix);
  int fd = create_temporary(*path, strlen(suffix));
  if (fd >= 0) return fd;
  free(*path);
  *path = NULL;
  return -1;
}

bool os_is_terminal(int fd) { return isatty(fd) == 1; }

static bool identify(const char *name, int dash, struct stat *st) {
  return strcmp(name, "-") == 0 ? fstat(dash, st) == 0 : stat(name, st) == 0;
}

bool os_same_file(const char *a, int dash_a, const char *b, int dash_b) {
  struct stat sa, sb;
  if (!identify(a, dash_a, &sa) || !identify(b, dash_b, &sb)) return false;
  return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* True if a failed call should be repeated; waits until the descriptor is ready. */
static bool retry(int fd, short events) {
  struct pollfd p = {.fd = fd, .events = events};
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

/* Bytes per call: Linux transfers at most 2 GB, and other systems refuse more. */
enum { AT_ONCE = 1 << 30 };

ptrdiff_t os_read(int fd, void *p, size_t n) {
  ssize_t got;
  do got = read(fd, p, n < AT_ONCE ? n : AT_ONCE);
  while (got < 0 && retry(fd, POLLIN));
  return got;
}

ptrdiff_t os_read_at(int fd, void *p, size_t n, uint64_t at) {
  size_t done = 0;
  while (done < n) {
    const ssize_t got = pread(fd, (char *)p + done, n - done, (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ptrdiff_t)done;
}

bool os_write(int fd, const void *p, size_t n) {
  const char *c = p;
  ssize_t put;
  while (n > 0) {
    put = write(fd, c, n < AT_ONCE ? n : AT_ONCE);
    if (put < 0) {
      if (!retry(fd, POLLOUT)) return false;
      continue;
    }
    c += put;
    n -= (size_t)put;
  }
  return true;
}

/* ---- sorting ---- */

#if defined(__APPLE__)
struct order {
  int (*compare)(const void *a, const void *b, void *arg);
  void *arg;
};

static int compare_by(void *order, const void *a, const void *b) {
  const struct order *o = order;
  return o->compare(a, b, o->arg);
}

static void sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg) {
  qsort_r(v, n, size, &(struct order){compare, arg}, compare_by);
}
#elif defined(__wasi__)
/* Comparison of the sort that is running. One variable is enough, because there is only one thread; a nested sort saves it. */
static struct order {
  int (*compare)(const void *a, const void *b, void *arg);
  void *arg;
} order;

static int compare_by(const void *a, const void *b) { return order.compare(a, b, order.arg); }

static void sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg) {
  const struct order outer = order;
  order = (struct order){compare, arg};
  qsort(v, n, size, compare_by);
  order = outer;
}
#else
static void sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg) {
  qsort_r(v, n, size, compare, arg);
}
#endif

void os_sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg) {
  if (n > 0) sort(v, n, size, compare, arg);
}

/* ---- the machine and its processes ---- */

#if defined(__wasi__)
void os_host_name(char *name, size_t size) { snprintf(name, size, "wasm"); }

/* A random number, because the one that WASI's libc returns is the same in all processes. */
long os_process(void) {
  static uint32_t number;
  if (!number) os_random(&number, sizeof number);
  return (long)(number >> 2) + 1;
}

bool os_process_has_ended(long number) {
  (void)number;
  return false;
}

bool os_set_mode(int fd, unsigned mode) {
  (void)fd, (void)mode;
  return false;
}
#else
void os_host_name(char *name, size_t size) {
  if (gethostname(name, size) != 0) *name = 0;
  name[size - 1] = 0;
}

long os_process(void) { return (long)getpid(); }
bool os_process_has_ended(long number) { return kill((pid_t)number, 0) != 0 && errno == ESRCH; }
bool os_set_mode(int fd, unsigned mode) { return fchmod(fd, (mode_t)mode) == 0; }
#endif
