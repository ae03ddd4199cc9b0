/* fuzz_roundtrip.c - arbitrary bytes that load: the output loads without repair, gives the same graph, and is written as the
 * same text again; several threads read the same graph. Runs in memory, many thousand times per second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "load/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

/* Reads the bytes into a trace. `chunk`: number of bytes that each of three threads reads at a time; 0 = a single thread. */
static struct tk_trace *read_as(const char *format, const void *p, size_t n, size_t chunk, struct tk_err *err) {
  const struct tk_load_options opt = {.format = format, .check = true, .threads = chunk ? 3 : 1, .chunk = chunk};
  struct tk_trace *t = trace_new(1 << 30);
  require(t != NULL, "trace_new", "no memory");
  err_clear(err);
  return load_input(in_memory(p, n, &t->store->mem, err), "input", NULL, &opt, t, err);
}

static struct tk_trace *read_bytes(const void *p, size_t n, size_t chunk, struct tk_err *err) {
  return read_as("json", p, n, chunk, err);
}

/* Returns the text of the graph; the caller closes `out`. */
static const uint8_t *write_trace(const struct tk_trace *t, struct out *out, struct mem *mem, size_t *n) {
  const struct out_options plain = {0};
  const struct sink_options options = {0};
  struct tk_err err = {0};
  require(out_memory(out, &plain, mem, &err), "out_memory", err.msg);
  struct sink *s = format_chrome.writer(out, &options);
  require(s != NULL, "writer", "no memory");
  bool ok = s->open(s, t, &err) && s->write(s, t, &err) && s->close(s, t, NULL, &err) && out_commit(out, &err);
  require(ok, "write", err.msg);
  s->free(s);
  return out_memory_data(out, n);
}

/* end_is_lost() and ambiguous() detect traces that may be read differently after writing: of two async spans on two threads
 * with equal start, the other one may become the inner one; if a part of the trace has lost its clock, the reader may choose
 * another part. */
static bool end_is_lost(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    if (strcmp(tk_string(t, arg.key, NULL), "json.end.json.ts") == 0) return true;
  return false;
}

static bool ambiguous(const struct tk_trace *t) {
  unsigned n = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++) n += t->tracks[k].kind == TK_TRACK_ASYNCS;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (t->events[i].flags & TK_FLAG_LOST_CLOCK || end_is_lost(t, &t->events[i])) return true;
  return n > 1;
}

/* Returns the number of events. `without_samples` leaves out stack samples: in a trace that has lost its clock for a part of the
 * events, they may be read back as records. */
static tk_id events_of(const struct tk_trace *t, bool without_samples) {
  tk_id n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) n += !without_samples || t->events[i].kind != TK_EVENT_SAMPLE;
  return n;
}

/* Compares counts that writing must not change. */
static void compare(const struct tk_trace *a, const struct tk_trace *b) {
  tk_time longest_a = 0, longest_b = 0;
  require(events_of(a, ambiguous(a)) == events_of(b, ambiguous(a)), "events", "another number once written");
  require(a->n_flow_points == b->n_flow_points, "flow points", "another number once written");
  require(a->n_records == b->n_records, "records", "another number once written");
  for (tk_id i = 1; i <= a->n_events; i++) {
    if (a->events[i].dur > longest_a && !(a->events[i].flags & TK_FLAG_UNFINISHED)) longest_a = a->events[i].dur;
    if (b->events[i].dur > longest_b && !(b->events[i].flags & TK_FLAG_UNFINISHED)) longest_b = b->events[i].dur;
  }
  require(ambiguous(a) || longest_a == longest_b, "durations", "another longest span once written");
}

/* by_text() and lines_of() split a text into sorted lines without quotes and commas, for a comparison. Quotes and order may differ: if
 * a thread is spelled 7 and "7", the first spelling wins, and trailing metadata is written first. */
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static size_t lines_of(char *text, char ***lines) {
  size_t n = 0;
  char *to = text, *line;
  for (const char *p = text; *p; p++)
    if (*p != '"' && *p != ',') *to++ = *p;
  *to = 0;
  *lines = malloc((strlen(text) + 1) * sizeof **lines);
  require(*lines != NULL, "lines", "no memory");
  for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) (*lines)[n++] = line;
  qsort(*lines, n, sizeof **lines, by_text);
  return n;
}

static bool same_text(const uint8_t *a, size_t n, const uint8_t *b, size_t m) {
  char *one = strndup((const char *)a, n), *two = strndup((const char *)b, m), **lines, **others;
  require(one && two, "texts", "no memory");
  size_t n_lines = lines_of(one, &lines), n_others = lines_of(two, &others);
  bool same = n_lines == n_others;
  for (size_t i = 0; same && i < n_lines; i++) same = strcmp(lines[i], others[i]) == 0;
  free(one), free(two), free(lines), free(others);
  return same;
}

/* Checks that several threads read the same graph, wherever they split the text. */
static void read_by_many(const char *format, const uint8_t *data, size_t size, const struct tk_trace *t) {
  struct tk_err err;
  struct tk_trace *other = read_as(format, data, size, 20 + size % 100, &err);
  require((t != NULL) == (other != NULL), "load by threads", "fails or succeeds only there");
  if (!t) return;
  char *one = tk_dump(t), *many = tk_dump(other);
  require(one && many && strcmp(one, many) == 0, "load by threads", "another graph");
  require(memcmp(&t->counts, &other->counts, sizeof t->counts) == 0, "load by threads", "other counts");
  tk_free_text(one);
  tk_free_text(many);
  tk_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tk_err err;
  struct mem mem = {0};
  struct out first = {0}, second = {0};
  size_t n_first, n_second;
  struct tk_trace *t = read_bytes(data, size, 0, &err), *again;
  read_by_many("json", data, size, t);
  struct tk_err of_planes;
  struct tk_trace *planes = read_as("xplane", data, size, 0, &of_planes);
  read_by_many("xplane", data, size, planes);
  tk_free(planes);
  if (!t) {
    require(err.code != TK_OK && err.msg[0], "load", "failed without saying why");
    return 0;
  }
  const uint8_t *once = write_trace(t, &first, &mem, &n_first);
  again = read_bytes(once, n_first, 0, &err);
  require(again != NULL, "load of what was written", err.msg);
  compare(t, again);
  const uint8_t *twice = write_trace(again, &second, &mem, &n_second);
  require(ambiguous(t) || same_text(once, n_first, twice, n_second), "written again", "other text");
  out_close(&first);
  out_close(&second);
  require(mem.used == 0, "writer", "memory left");
  tk_free(t);
  tk_free(again);
  return 0;
}
