/* fuzz_scan.c - arbitrary bytes as a scan: planning either fails with a message that names the scan, or compares the clocks of
 * the ranks in it. The CRC is appended here, since no mutation finds it; the current schema replaces that of older inputs. */
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

static uint32_t crc_of(const uint8_t *p, size_t n) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static bool write_scan(int fd, const uint8_t *data, size_t size) {
  uint8_t *own = malloc(size + 5);
  if (!own) return false;
  if (size) memcpy(own, data, size);
  if (size > 1 && own[0] == 8 && own[1] == 1) own[1] = 2;
  const uint32_t crc = crc_of(own, size);
  own[size] = 3 << 3 | 5;
  for (int i = 0; i < 4; i++) own[size + 1 + (size_t)i] = (uint8_t)(crc >> 8 * i);
  const bool ok = write(fd, own, size + 5) == (ssize_t)size + 5;
  free(own);
  return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct tk_merge_options options = { .load = { .max_memory = 1u << 29 } };
  struct tk_merge_report *report = NULL;
  struct tk_err err = { 0 };
  char path[64];
  const char *scans[] = { path };
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write_scan(fd, data, size), "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const bool ok = tk_plan(scans, 1, "/dev/null", &options, &report, &err);
  close(fd);
  require(ok || (err.code != TK_OK && err.msg[0]), "plan", "failed without saying why");
  require(!ok || report->n_ranks > 0, "plan", "is of no rank");
  tk_merge_report_free(report);
  return 0;
}
