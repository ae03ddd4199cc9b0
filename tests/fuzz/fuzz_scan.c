/* fuzz_scan.c - arbitrary bytes as a scan: planning either fails with a message that names the scan, or compares the clocks of
 * the ranks in it. */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct tk_merge_options options = { .load = { .max_memory = 1u << 29 } };
  struct tk_merge_report report = { 0 };
  struct tk_err err = { 0 };
  char path[64];
  const char *scans[] = { path };
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const bool ok = tk_plan(scans, 1, "/dev/null", &options, &report, &err);
  close(fd);
  require(ok || (err.code != TK_OK && err.msg[0]), "plan", "failed without saying why");
  require(!ok || report.n_ranks > 0, "plan", "is of no rank");
  tk_merge_report_free(&report);
  return 0;
}
