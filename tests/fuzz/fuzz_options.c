/* fuzz_options.c - arbitrary text as option values: expressions, time windows, sizes, durations. Each is accepted, or refused
 * with a reason; an accepted expression is evaluated on a small trace. */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char TRACE[] =
  "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},"
  "{\"ph\":\"X\",\"pid\":1,\"tid\":\"main\",\"ts\":1,\"dur\":9,\"name\":\"aten::mm\",\"cat\":\"cpu_op\","
  "\"args\":{\"a\":1,\"b\":\"2.5\",\"c\":[1]}},"
  "{\"ph\":\"X\",\"pid\":1,\"tid\":\"main\",\"ts\":2,\"dur\":3,\"name\":\"ProfilerStep#3\"},"
  "{\"ph\":\"i\",\"pid\":2,\"tid\":7,\"ts\":4,\"name\":\"caf\\u00e9\",\"args\":{\"stream\":7}},"
  "{\"ph\":\"C\",\"pid\":2,\"ts\":5,\"name\":\"memory\",\"args\":{\"bytes\":1e9}}]";

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static struct tk_trace *small_trace(void) {
  char path[64];
  struct tk_err err = {0};
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, TRACE, sizeof TRACE - 1) == sizeof TRACE - 1, "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct tk_trace *t = tk_load(path, &(struct tk_load_options){.check = true, .threads = 1}, &err);
  close(fd);
  require(t != NULL, "small trace", err.msg);
  return t;
}

static void as_filter(const char *text, unsigned which) {
  const char *const where[] = {text, NULL};
  struct tk_filter_options options = {.where = which == 0 ? where : NULL, .time = which == 1 ? text : NULL,
                                      .steps = which == 2 ? text : NULL, .keep_args = which == 3 ? where : NULL};
  struct tk_err err = {0};
  if (!tk_filter_check(&options, &err)) {
    require(err.code == TK_EUSAGE || err.code == TK_ELIMIT, "filter", "refused without a reason");
    return;
  }
  struct tk_trace *t = small_trace();
  err = (struct tk_err){0};
  bool ok = tk_filter(t, &options, NULL, &err);
  require(ok ? tk_check(t, &err) : err.code != TK_OK && err.msg[0], "filter", err.msg);
  tk_free(t);
}

static void as_rebase(const char *text, unsigned which) {
  struct tk_rebase_options options = {0};
  if (which == 4) options.to = text;
  if (which == 5) options.at = text;
  if (which == 6) options.scale = text;
  struct tk_err err = {0};
  if (!tk_rebase_check(&options, &err)) {
    require(err.code != TK_OK, "rebase", "refused without a reason");
    return;
  }
  struct tk_trace *t = small_trace();
  err = (struct tk_err){0};
  bool ok = tk_rebase(t, &options, &err);
  require(ok ? tk_check(t, &err) : err.code != TK_OK && err.msg[0], "rebase", err.msg);
  tk_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t bytes;
  tk_time time;
  if (size < 1 || size > 4096) return 0;
  char *text = malloc(size);
  require(text != NULL, "text", "no memory");
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  unsigned which = data[0] % 9;
  if (which < 4) as_filter(text, which);
  else if (which < 7) as_rebase(text, which);
  else if (which == 7) tk_parse_size(text, &bytes);
  else tk_parse_duration(text, &time);
  free(text);
  return 0;
}
