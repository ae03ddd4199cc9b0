/* fuzz_merge.c - merges damaged ranks: arbitrary bytes split into parts, one rank each, some of them unreadable. The merge
 * succeeds or fails with a message, and its output is read again.
 *
 *     byte 0   number of parts, output format
 *     byte 1   alignment, redaction
 *     byte 2   grouping and other options
 *     rest     the parts, of equal length */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 3, MOST = 4 };

static const char *const endings[] = {".json", ".pftrace", ".xplane.pb"};

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void require_reason(bool ok, const struct tk_err *err, const char *what) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
}

static int rank_of(const uint8_t *p, size_t n, char name[64]) {
  int fd = memfd_create("rank", 0);
  require(fd >= 0 && write(fd, p, n) == (ssize_t)n, "memfd", "not written");
  snprintf(name, 64, "/proc/self/fd/%d", fd);
  return fd;
}

static bool drop_bytes(void *arg, const void *p, size_t n) {
  (void)p;
  *(size_t *)arg += n;
  return true;
}

static void read_again(const char *path, uint64_t events) {
  const struct tk_load_options options = {.max_memory = 512u << 20, .max_size = 8u << 20, .check = true, .threads = 1};
  struct tk_err err = {0};
  struct tk_trace *t = tk_load(path, &options, &err);
  require(t || !events, "load of what was written", err.msg);
  tk_free(t);
}

static void merge(const char *const *names, size_t n, const char *path, const uint8_t *head) {
  const unsigned how = head[2];
  struct tk_redact_list *list = head[1] & 64 ? tk_redact_list_new() : NULL;
  const struct tk_redact_options redact = {.names = head[1] & 32 ? TK_REDACT_NAMES_HASH : TK_REDACT_NAMES_KEEP, .list = list};
  const struct tk_merge_options options = {
      .save = {.command = how & 1 ? "fuzz" : NULL, .force = true, .threads = 1, .no_passthrough = how & 2},
      .load = {.max_memory = 512u << 20, .max_size = 8u << 20, .threads = 1}, .keep_truncated = true, .keep_going = true,
      .group_by = (enum tk_group_by)(how >> 2 & 3) % 3, .align = (enum tk_align)(head[1] % 6), .marker = "a*",
      .derive = how & 16, .to_zero = how & 32, .link_collectives = how & 64, .align_report = how & 128 ? "/dev/null" : NULL,
      .redact = head[1] & 16 ? &redact : NULL};
  struct tk_merge_report report;
  struct tk_err err = {0};
  size_t bytes = 0;
  const bool ok = tk_merge(names, n, path, &options, &report, &err);
  require_reason(ok, &err, "merge");
  if (ok) read_again(path, report.saved.events);
  if (list) require(tk_redact_list_print(list, (struct tk_writer){drop_bytes, &bytes}, &err) && bytes, "list", err.msg);
  tk_redact_list_free(list);
  tk_merge_report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char names[MOST][64], path[96];
  const char *of[MOST];
  int fds[MOST];
  if (size < HEAD) return 0;
  const size_t n = 2 + data[0] % (MOST - 1), each = (size - HEAD) / n;
  snprintf(path, sizeof path, "/dev/shm/tracekit-fuzz-merge.%ld%s", (long)getpid(), endings[data[0] / 4 % 3]);
  for (size_t i = 0; i < n; i++) {
    fds[i] = rank_of(data + HEAD + i * each, each, names[i]);
    of[i] = names[i];
  }
  merge(of, n, path, data);
  for (size_t i = 0; i < n; i++) close(fds[i]);
  unlink(path);
  return 0;
}
