/* fuzz_pipeline.c - arbitrary bytes through any operation into any format: each step succeeds or fails with a message, and
 * the output is read back without repair, satisfies the invariants of the graph, and equals the input if no operation was
 * selected.
 *
 *     byte 0   input format: by content, JSON, Perfetto, XPlane
 *     byte 1   operation
 *     byte 2   output format
 *     byte 3   parameters of the operation
 *     rest     the input */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 4 };
enum op { CONVERT, FILTER, WINDOW, SHRINK, REBASE, MERGE, SPLIT, LOOK, REDACT, OPS };

static const char *const inputs[] = {NULL, "json", "perfetto", "xplane"};
static const char *const outputs[] = {"json", "perfetto", "xplane", "speedscope"};
static const char *const endings[] = {".json", ".pftrace", ".xplane.pb", ".speedscope.json"};

static const char *const exprs[] = {
  "dur > 1us", "name ~ \"*a*\"", "name =~ \"^[a-f]|x$\"", "kind == kernel || kind == step", "self < 5us && depth >= 1",
  "!(pid == 1) && tid", "arg.a == 1 || arg.b =~ \"b\"", "rank == 0 || host ~ \"*\"", "cat && !cat ~ \"c*\"", "step == 1 || stream > 2"};
static const char *const windows[] = {"10%..60%", "..50%", "+1us..-1us", "1..", "0us..2us"};

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void require_reason(bool ok, const struct tk_err *err, const char *what) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
}

static struct tk_trace *load(const char *path, const char *format, struct tk_err *err) {
  const struct tk_load_options options = {
    .format = format, .max_memory = 512u << 20, .max_size = 4u << 20, .check = true, .threads = 1};
  return tk_load(path, &options, err);
}

/* True if an event has lost its clock. Such events are written with their original times; when the output of an operation is
 * read, the reader may decide that another part of the trace has lost its clock. */
static bool has_lost_clocks(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_events; i++)
    if (t->events[i].flags & TK_FLAG_LOST_CLOCK) return true;
  return false;
}

/* Repairs of the input must not recur, except for values that are kept unrepaired, such as records. */
static void require_no_repair(const struct tk_trace *t, const struct tk_trace *was) {
  const bool lost = has_lost_clocks(was);
  for (tk_id i = 1; i <= t->n_notes; i++) {
    const char *text = tk_string(t, t->notes[i].text, NULL);
    bool stays = strstr(text, ": kept") || strstr(text, ": used as text") || strstr(text, ": viewers cannot show") ||
                 strstr(text, "instant with an unknown scope") ||
                 (lost && strstr(text, "more than 100 days from"));
    require(stays || t->notes[i].kind != TK_NOTE_REPAIR, "load of what was written", text);
  }
}

/* Reads the output and checks it. Binary formats pass on uninterpreted bytes, including faulty ones. `was`: the written trace; `whole`:
 * no operation was applied; `format`: format of the file; detection is not used, because it may be misled by bytes that the writer
 * passes on from an input that was read in a wrong format. */
static void read_again(const char *path, const char *format, const struct tk_trace *was, bool whole) {
  struct tk_err err = {0};
  struct tk_trace *t = load(path, format, &err);
  if (!t && was->n_events == 0 && (err.code == TK_EFORMAT || err.code == TK_ECORRUPT)) return;
  require(t != NULL, "load of what was written", err.msg);
  if (strcmp(was->format, "json") == 0) require_no_repair(t, was);
  bool same = was->n_events == t->n_events || strcmp(was->format, t->format);
  require(same || !whole, "load of what was written", "another number of events");
  tk_free(t);
}

static bool filter(struct tk_trace *t, const char *where, const char *time, unsigned how, struct tk_err *err) {
  const char *const all[] = {where, NULL};
  const struct tk_filter_options options = {.where = where ? all : NULL, .time = time, .keep_parents = how & 64,
                                            .keep_flows = how & 128};
  return tk_filter(t, &options, NULL, err) && tk_check(t, err);
}

static const char *const GPU_EVENTS[] = {"perfetto.gpu_events=true", NULL};

static bool save(const struct tk_trace *t, const char *path, const char *format, unsigned how, struct tk_err *err) {
  const struct tk_save_options options = {.format = format, .command = "fuzz", .force = true, .threads = 1,
                                          .overlaps = how & 32, .no_passthrough = how & 16, .pretty = how & 8,
                                          .settings = how & 4 ? GPU_EVENTS : NULL};
  return tk_save(t, path, &options, NULL, err);
}

static bool shrink(struct tk_trace *t, const char *path, const char *format, unsigned how, struct tk_err *err) {
  struct tk_shrink_options options = {.save = {.format = format, .command = "fuzz", .force = true, .threads = 1},
                                      .hard = how & 1};
  struct tk_shrink_report report;
  if (how & 2) options.events = 1 + how / 4;
  else options.bytes = 200 + 20 * (how / 4);
  return tk_shrink(t, path, &options, &report, err);
}

static bool rebase(struct tk_trace *t, unsigned how, struct tk_err *err) {
  const tk_time shift = ((tk_time)(how / 4) - 32) * 1234567;
  const struct tk_rebase_options options = {.to_zero = how & 1, .scale = how & 2 ? "1.00002" : NULL, .shift = shift};
  return tk_rebase(t, &options, err) && tk_check(t, err);
}

/* Merges the input with itself. It is read in the same format as the trace with which the output is compared. */
static bool merge(const char *input, const char *path, const uint8_t *head, struct tk_err *err) {
  const char *const names[] = {input, input}, *const format = outputs[head[2] % 4];
  const unsigned how = head[3];
  struct tk_merge_options options = {.save = {.format = format, .command = "fuzz", .force = true, .threads = 1},
                                     .load = {.format = inputs[head[0] % 4], .max_memory = 512u << 20, .max_size = 4u << 20,
                                              .threads = 1},
                                     .keep_truncated = true,
                                     .group_by = how & 1 ? TK_GROUP_KIND : TK_GROUP_RANK};
  struct tk_merge_report *report = NULL;
  bool ok = tk_merge(names, 2, path, &options, &report, err);
  tk_merge_report_free(report);
  return ok;
}

static bool redact(struct tk_trace *t, unsigned how, struct tk_err *err) {
  static const char *const some[] = {"*a*", "json.*", NULL};
  const struct tk_redact_options options = {.names = how % 3, .map = "a\tb\n\nname\t\n", .keep_args = how & 8 ? some : NULL,
                                            .keep_numbers = how & 16, .key = how & 32 ? "key" : NULL};
  return tk_redact(t, &options, NULL, err) && tk_check(t, err);
}

static void look(struct tk_trace *t) {
  struct tk_summary summary;
  struct tk_size_report *sizes = NULL;
  struct tk_err err = {0};
  require(tk_summarise(t, &summary, &err), "summary", err.msg);
  struct tk_inspection *parts = tk_inspect(t);
  char *text = tk_dump(t);
  require(parts && text, "look", "out of memory");
  require_reason(tk_size(t, NULL, &sizes, &err), &err, "size");
  tk_size_report_free(sizes);
  tk_inspection_free(parts);
  tk_free_text(text);
}

static void run(const char *input, const char *path, struct tk_trace *t, const uint8_t *head) {
  unsigned op = head[1] % OPS, how = head[3];
  const char *format = outputs[head[2] % 4];
  struct tk_err err = {0};
  bool ok = true, written = op != LOOK && op != SPLIT;
  switch (op) {
  case FILTER: ok = filter(t, exprs[how % 10], NULL, how, &err); break;
  case WINDOW: ok = filter(t, NULL, windows[how % 5], how, &err); break;
  case REBASE: ok = rebase(t, how, &err); break;
  case REDACT: ok = redact(t, how, &err); break;
  case SHRINK: ok = shrink(t, path, format, how, &err); break;
  case MERGE: ok = merge(input, path, head, &err); break;
  case LOOK: look(t); break;
  default: break;
  }
  if (ok && (op == CONVERT || op == FILTER || op == WINDOW || op == REBASE || op == REDACT)) ok = save(t, path, format, how, &err);
  require_reason(ok, &err, "operation");
  if (ok && written && strcmp(format, "speedscope")) read_again(path, head[0] % 4 ? format : NULL, t, op == CONVERT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char input[64], path[96];
  struct tk_err err = {0};
  if (size < HEAD) return 0;
  int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, data + HEAD, size - HEAD) == (ssize_t)(size - HEAD), "memfd", "not written");
  snprintf(input, sizeof input, "/proc/self/fd/%d", fd);
  snprintf(path, sizeof path, "/dev/shm/tracekit-fuzz.%ld%s", (long)getpid(), endings[data[2] % 4]);
  struct tk_trace *t = load(input, inputs[data[0] % 4], &err);
  require_reason(t != NULL, &err, "load");
  if (t) run(input, path, t, data);
  tk_free(t);
  unlink(path);
  close(fd);
  return 0;
}
