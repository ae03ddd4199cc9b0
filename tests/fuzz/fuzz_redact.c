/* fuzz_redact.c - redacts arbitrary bytes that load, writes them in each format and reads them back: the input's own format
 * has the same number of events, and redacting again removes no arg. Runs in memory.
 *
 *     byte 0   names, args, list
 *     rest     the input */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static struct tk_trace *load(const void *p, size_t n, struct tk_err *err) {
  const struct tk_load_options options = {.max_memory = 512u << 20, .max_size = 8u << 20, .check = true, .threads = 1};
  return tk_load_memory(p, n, "input", &options, err);
}

static bool drop_bytes(void *arg, const void *p, size_t n) {
  (void)p;
  *(size_t *)arg += n;
  return true;
}

static void write_and_read(const struct tk_trace *t, const char *format, const char *name) {
  const struct tk_save_options options = {.format = format, .threads = 1};
  struct tk_err err = {0};
  struct tk_bytes bytes = {0};
  struct tk_saved saved = {0};
  bool ok = tk_save_memory(t, name, &bytes, &options, &saved, &err);
  require(ok || (err.code != TK_OK && err.msg[0]), "save", "failed without saying why");
  struct tk_trace *again = ok ? load(bytes.p, bytes.n, &err) : NULL;
  require(!ok || again || !saved.events, format, err.msg);
  if (again && strcmp(format, t->format) == 0) require(again->n_events == t->n_events, format, "another number of events");
  tk_free(again);
  free(bytes.p);
}

static void redact(struct tk_trace *t, unsigned how) {
  static const char *const some[] = {"*a*", NULL};
  struct tk_redact_list *list = how & 4 ? tk_redact_list_new() : NULL;
  const struct tk_redact_options options = {.names = (enum tk_redact_names)(how % 3), .map = "a\tb\n",
                                            .keep_args = how & 8 ? some : NULL, .keep_numbers = how & 16, .key = "key", .list = list};
  struct tk_redact_report first = {0}, second = {0};
  struct tk_err err = {0};
  size_t bytes = 0;
  require(tk_redact(t, &options, &first, &err) && tk_check(t, &err), "redact", err.msg);
  if (list) require(tk_redact_list_print(list, (struct tk_writer){drop_bytes, &bytes}, &err) && bytes, "list", err.msg);
  tk_redact_list_free(list);
  write_and_read(t, "json", "x.json");
  write_and_read(t, "perfetto", "x.pftrace");
  write_and_read(t, "xplane", "x.xplane.pb");
  const struct tk_redact_options keep = {.keep_args = options.keep_args, .keep_numbers = how & 16, .key = "key"};
  require(tk_redact(t, &keep, &second, &err) && tk_check(t, &err), "redact again", err.msg);
  require(second.args == 0 && second.records == 0 && second.labels == 0, "redact again", "something was left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tk_err err = {0};
  if (size < 1) return 0;
  struct tk_trace *t = load(data + 1, size - 1, &err);
  require(t || (err.code != TK_OK && err.msg[0]), "load", "failed without saying why");
  if (t) redact(t, data[0]);
  tk_free(t);
  return 0;
}
