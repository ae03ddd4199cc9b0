/* fuzz_archive.c - arbitrary bytes as an archive (zip, tar, 7z, also compressed): its members are listed and read, or an error
 * explains the failure; sizes in headers are never trusted. */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 8 };

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void read_members(struct tk_sources *s) {
  const struct tk_load_options options = {.max_memory = 512u << 20, .max_size = 16u << 20, .check = true, .threads = 1};
  for (size_t i = 0; i < s->n && i < MOST; i++) {
    struct tk_err err = {0};
    struct tk_trace *t = tk_sources_load(s, i, &options, &err);
    require(t || (err.code != TK_OK && err.msg[0]), "load of a member", "failed without saying why");
    if (t) require(tk_check(t, &err), "check", err.msg);
    tk_free(t);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct tk_source_options options = {.max_size = 16u << 20};
  char path[96];
  const char *const names[] = {path};
  struct tk_err err = {0};
  static const char *const endings[] = {".zip", ".tar", ".7z", ".tar.gz", ".bin"};
  if (size < 1) return 0;
  snprintf(path, sizeof path, "/dev/shm/tracekit-fuzz-archive.%ld%s", (long)getpid(), endings[data[0] % 5]);
  FILE *f = fopen(path, "wb");
  require(f && fwrite(data + 1, 1, size - 1, f) == size - 1, path, "not written");
  fclose(f);
  struct tk_sources *s = tk_sources_open(names, 1, &options, &err);
  require(s || (err.code != TK_OK && err.msg[0]), "open", "failed without saying why");
  if (s) read_members(s);
  tk_sources_close(s);
  unlink(path);
  return 0;
}
