/* fuzz_load.c - loads arbitrary bytes: loading fails with a message or gives a graph that satisfies its invariants, and the
 * written graph loads again with the same number of events. Uses the public interface, to cover io, reader, seal and writer. */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void write_again(const struct tk_trace *t) {
  const struct tk_load_options load = { .check = true };
  const struct tk_save_options save = { .format = "json", .command = "fuzz", .force = true };
  struct tk_saved saved;
  struct tk_err err = { 0 };
  struct tk_trace *again;
  char path[64];
  snprintf(path, sizeof path, "/tmp/tracekit-fuzz.%ld.json", (long)getpid());
  require(tk_save(t, path, &save, &saved, &err), "save", err.msg);
  again = tk_load(path, &load, &err);
  unlink(path);
  require(again != NULL, "load of what was saved", err.msg);
  require(again->n_events + saved.lost[TK_LOSS_SAMPLES] == t->n_events, "load of what was saved", "another number of events");
  tk_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct tk_load_options options = {
    .max_memory = 1u << 30, .max_size = 4u << 20, .check = true, .with = size % 2 ? 0 : TK_WITH_SCHED | TK_WITH_NSYS_SCHED};
  struct tk_err err = { 0 };
  struct tk_trace *t;
  char path[64];
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  t = tk_load(path, &options, &err);
  close(fd);
  if (!t) {
    require(err.code != TK_OK && err.msg[0], "load", "failed without saying why");
    return 0;
  }
  write_again(t);
  tk_free(t);
  return 0;
}
