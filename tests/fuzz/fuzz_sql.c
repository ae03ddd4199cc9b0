/* fuzz_sql.c - arbitrary text as SQL over a small trace: its statements succeed or are refused with a message, within their
 * limits, and the trace stays unchanged.
 *
 *     byte 0   selects the trace; bit 2: afterwards, the tables are copied to a file
 *     rest     SQL */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const TEXTS[] = {
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"kernel\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,\"args\":{\"stream\":7,\"n\":[1,{}]}},"
    "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":3,\"args\":{\"s\":\"x\"}},"
    "{\"ph\":\"B\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":2},{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":9},"
    "{\"ph\":\"X\",\"name\":\"d\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":1},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":6},"
    "{\"ph\":\"C\",\"name\":\"v\",\"pid\":1,\"ts\":4,\"args\":{\"x\":1,\"y\":2.5}},"
    "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"g\",\"pid\":2,\"tid\":\"t\",\"ts\":5},"
    "{\"ph\":\"b\",\"cat\":\"c\",\"id\":1,\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":1},"
    "{\"ph\":\"e\",\"cat\":\"c\",\"id\":1,\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":3},"
    "{\"ph\":\"s\",\"id\":9,\"name\":\"f\",\"pid\":1,\"tid\":2,\"ts\":2},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"id\":9,\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":4},"
    "{\"ph\":\"X\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":20}]}",
    "{\"traceEvents\":[]}",
};
enum { TRACES = 2, COPIES = 4, HEADS = 8 };

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static struct tk_trace *trace_of(const char *text) {
  const int fd = memfd_create("fuzz", 0);
  struct tk_err err = {0};
  char path[64];
  require(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct tk_trace *t = tk_load(path, NULL, &err);
  require(t != NULL, "load", err.msg);
  close(fd);
  return t;
}

/* Reads every byte of a result row. */
static bool read_row(void *arg, const struct tk_sql_value *values, size_t n) {
  volatile uint8_t *sum = arg;
  for (size_t i = 0; i < n; i++) {
    const bool has_text = values[i].type == TK_SQL_TEXT || values[i].type == TK_SQL_BLOB;
    for (size_t k = 0; has_text && k < values[i].n; k++) *sum ^= (uint8_t)values[i].text[k];
  }
  return true;
}

static void check(bool ok, const struct tk_err *err, const char *what) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
}

static void run(struct tk_trace *t, const char *sql, bool copies) {
  const struct tk_sql_options options = {.size = sizeof options, .timeout_ms = 300, .max_rows = 500, .max_memory = 256u << 20,
                                         .threads = 1};
  uint8_t sum = 0;
  const struct tk_sql_answer to = {.row = read_row, .arg = &sum};
  struct tk_err err = {0};
  struct tk_sql *s = tk_sql_open(t, &options, &err);
  require(s != NULL, "open", err.msg);
  check(tk_sql_run(s, sql, &to, &err), &err, "run");
  err = (struct tk_err){0};
  if (copies) check(tk_sql_copy(s, "/dev/null", true, &err), &err, "copy");
  tk_sql_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct tk_trace *traces[TRACES];
  static char *dumps[TRACES];
  if (size == 0 || data[0] >= HEADS) return 0; /* fixtures, which are not SQL, begin with other bytes */
  const unsigned which = data[0] % TRACES;
  if (!traces[which]) traces[which] = trace_of(TEXTS[which]), dumps[which] = tk_dump(traces[which]);
  char *sql = malloc(size), *dump;
  require(sql != NULL, "malloc", "no memory");
  memcpy(sql, data + 1, size - 1);
  sql[size - 1] = 0;
  tk_sql_complete(sql);
  tk_sql_without(sql);
  run(traces[which], sql, data[0] & COPIES);
  dump = tk_dump(traces[which]);
  require(dump && strcmp(dump, dumps[which]) == 0, "run", "another trace than before");
  tk_free_text(dump);
  free(sql);
  return 0;
}
