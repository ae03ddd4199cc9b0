#include "write.h"

#include "print/tty.h"

#include <string.h>

void write_derived(FILE *to, const struct tk_saved *done) {
  char n[64];
  if (done->derived) fprintf(to, ", %s derived", tty_count(done->derived, n));
}

/* True if the output has the format of the trace. Format-specific data can then be lost only if the trace was edited. */
static bool is_same_format(const struct tk_trace *t, const struct tk_saved *done) {
  return t && t->format && strcmp(t->format, done->format->name) == 0;
}

void write_losses_of(const struct shared *s, const struct tk_trace *t, const char *output, const struct tk_saved *done) {
  char text[512] = "", count[64];
  uint64_t n_lost = 0;
  const uint64_t edited = is_same_format(t, done) ? done->lost[TK_LOSS_PASSTHROUGH] : 0;
  for (int i = 0; i < TK_LOSSES; i++) {
    size_t n = strlen(text);
    if (!done->lost[i] || (edited && i == TK_LOSS_PASSTHROUGH)) continue;
    n_lost += done->lost[i];
    snprintf(text + n, sizeof text - n, "%s%s: %s", n ? ", " : "", tk_loss_name((enum tk_loss)i), tty_count(done->lost[i], count));
  }
  if (s->quiet) return;
  if (run_is_stdout(output)) output = "standard output";
  if (*text) tty_warn("%s: lost: %s (%s cannot represent %s)", output, text, done->format->title, n_lost == 1 ? "it" : "them");
  if (edited)
    tty_warn("%s: lost: %s: %s (may refer to data that was removed, renamed or moved)", output, tk_loss_name(TK_LOSS_PASSTHROUGH),
             tty_count(edited, count));
  if (done->rounded)
    tty_say("%s: rounded: %s with digits beyond picoseconds", output, tty_counted(done->rounded, "time", count));
}

void write_losses(const struct shared *s, const char *output, const struct tk_saved *done) {
  write_losses_of(s, NULL, output, done);
}

/* Keys in JSON. They are part of the interface, so they do not depend on the wording of tk_loss_name(). */
static const char *const loss_keys[TK_LOSSES] = {
  [TK_LOSS_SPANS] = "spans",
  [TK_LOSS_INSTANTS] = "instants",
  [TK_LOSS_COUNTERS] = "counter_samples",
  [TK_LOSS_CATEGORIES] = "categories",
  [TK_LOSS_ASYNC] = "async_ids",
  [TK_LOSS_FLOW_POINTS] = "flow_points",
  [TK_LOSS_DANGLING] = "dangling_flow_points",
  [TK_LOSS_ARGS] = "args",
  [TK_LOSS_RECORDS] = "records",
  [TK_LOSS_METADATA] = "top_level_keys",
  [TK_LOSS_MACHINES] = "machine_names",
  [TK_LOSS_PASSTHROUGH] = "passthrough_blocks",
  [TK_LOSS_SAMPLES] = "stack_samples",
  [TK_LOSS_SAMPLE_PARTS] = "stack_sample_parts",
};

void write_losses_json(struct json *j, const struct tk_saved *done) {
  json_open(j, "lost", '{');
  for (int i = 0; i < TK_LOSSES; i++)
    if (done->lost[i]) json_uint(j, loss_keys[i], done->lost[i]);
  json_close(j, '}');
  if (done->rounded) json_uint(j, "rounded_times", done->rounded);
}

static void print_write_text(FILE *to, const struct shared *s, const struct tk_trace *t, const struct tk_saved *done,
                       const char *output) {
  char a[64], b[64], size[32];
  fputs(s->dry_run ? "would write " : "wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  tk_print_size(done->bytes, size);
  const uint64_t read = t->n_events - done->derived;
  if (done->events == read) fprintf(to, ": %s", tty_counted(done->events, "event", a));
  else fprintf(to, ": %s of %s", tty_count(done->events, a), tty_counted(read, "event", b));
  write_derived(to, done);
  if (t->n_flow_points) fprintf(to, ", %s", tty_counted(done->flow_points, "flow point", a));
  if (t->counts.dropped) fprintf(to, ", %s dropped", tty_count(t->counts.dropped, a));
  if (!s->dry_run) fprintf(to, ", %s", size);
  fputc('\n', to);
}

static void print_write_json(FILE *to, const struct shared *s, const struct tk_trace *t, const struct tk_saved *done,
                             const char *output, const struct report *more) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "input", t->source);
  json_string(&j, "output", output);
  json_bool(&j, "dry_run", s->dry_run);
  if (more) more->json(&j, more->arg);
  json_uint(&j, "read_records", t->counts.read);
  json_uint(&j, "written_records", done->records);
  json_uint(&j, "written_events", done->events);
  if (done->derived) json_uint(&j, "derived_events", done->derived);
  json_uint(&j, "written_flow_points", done->flow_points);
  write_losses_json(&j, done);
  json_uint(&j, "dropped", t->counts.dropped);
  json_uint(&j, "bytes", done->bytes);
  json_uint(&j, "raw_bytes", done->raw_bytes);
  json_close(&j, '}');
}

int write_trace(const struct shared *s, const char *command, const struct tk_trace *t, const char *output,
                const struct report *more) {
  char name[64] = "tracekit ", lost[48];
  struct tk_err err = { 0 };
  struct tk_saved done = { 0 };
  struct progress progress;
  struct tk_save_options options;
  FILE *to = run_report_to(s, output);
  bool ok;
  strncat(name, command, sizeof name - strlen(name) - 1);
  options = run_save_options(s, name, &progress);
  const int64_t rank = s->no_provenance || options.provenance ? -1 : tk_lost_rank(t, output);
  if (rank >= 0) snprintf(lost, sizeof lost, "\"rank\":%lld", (long long)rank), options.provenance = lost;
  progress_start(&progress, "writing", output, s->quiet ? -1 : s->progress);
  ok = tk_save(t, output, &options, &done, &err);
  progress_end(&progress);
  if (!ok) return run_fail(&err);
  write_losses_of(s, t, output, &done);
  if (s->json) {
    print_write_json(to, s, t, &done, output, more);
    return STATUS_DONE;
  }
  if (s->quiet) return STATUS_DONE;
  if (more) more->text(to, more->arg);
  print_write_text(to, s, t, &done, output);
  return STATUS_DONE;
}

int write_page(const struct shared *s, const struct tk_sources *sources, const char *output, const char *text, size_t n, bool say) {
  struct tk_err err = { 0 };
  char size[32];
  if (!tk_sources_write(sources, output, text, n, s->force, &err)) return run_fail(&err);
  if (!say || s->quiet || run_is_stdout(output)) return STATUS_DONE;
  fputs("wrote ", stdout);
  tty_string(stdout, output);
  tk_print_size(n, size);
  printf(": %s\n", size);
  return STATUS_DONE;
}
