/* size.c - tracekit size: shows what takes up space in a trace. */
#include "commands.h"
#include "print/fields.h"
#include "print/json.h"
#include "shared/run.h"
#include "print/tty.h"

#include <string.h>

struct params {
  struct shared shared;
  int top;
};

static const struct opt opts[] = {
  ROW_FORMAT,
  { OPT_INT, 0, "top", "N",
    "show only the first N rows of each table (default: 10)", offsetof(struct params, top), 0, 1, 1000000000 },
  ROW_LEVEL,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit size trace.json", "show what takes up space" },
  { "tracekit size trace.json -f pftrace --top 3", "show the same for another format" },
  { 0, 0 },
};

static const char *const TITLES[TK_SIZE_BYS] = { "kind", "category", "name", "arg", "track", "rank" };
static const char *const KEYS[TK_SIZE_BYS] = { "kinds", "categories", "names", "args", "tracks", "ranks" };

static void print_row(FILE *to, const struct tk_size_row *row, uint64_t all) {
  char size[32], n[32], percent[32];
  tk_print_size(row->bytes, size);
  tty_fraction(all ? 100.0 * (double)row->bytes / (double)all : 0.0, 1, percent);
  fprintf(to, "  %10s %5s%% %12s  ", size, percent, tty_count(row->events, n));
  tty_string(to, *row->key ? row->key : "(none)");
  fputc('\n', to);
}

/* For each kind of data: a command that writes a file with less data of this kind, or without it. */
static const struct {
  const char *kind, *command;
  bool whole; /* true if the command removes exactly the events of the kind */
} REMEDIES[] = {
  { "format-specific data", "tracekit convert --no-passthrough", true },
  { "args", "tracekit filter --drop-args '*'", true },
  { "flows", "tracekit filter --drop-flows", true },
  { "python frames", "tracekit filter --no-python", true },
  { "runtime calls", "tracekit filter -e '!(kind == runtime)'", true },
  { "counter samples", "tracekit filter -e '!(kind == counter)'", true },
  { "instants", "tracekit filter -e '!(kind == instant)'", true },
  { "other spans", "tracekit shrink --ladder coalesce,spans --percent N", false },
};

static const char *remedy_of(const char *kind, bool *whole) {
  for (size_t i = 0; i < sizeof REMEDIES / sizeof *REMEDIES; i++)
    if (strcmp(REMEDIES[i].kind, kind) == 0) {
      *whole = REMEDIES[i].whole;
      return REMEDIES[i].command;
    }
  return NULL;
}

static void print_verdict_row(FILE *to, const char *label, const struct tk_size_row *row, uint64_t all) {
  char size[32], percent[32];
  bool whole = false;
  const char *command = remedy_of(row->key, &whole);
  tk_print_size(row->bytes, size);
  tty_fraction(all ? 100.0 * (double)row->bytes / (double)all : 0.0, 1, percent);
  fprintf(to, "%s: %s, %s (%s%%)", label, row->key, size, percent);
  if (command) fprintf(to, "; %s: %s", whole ? "removes them" : "removes some", command);
  fputc('\n', to);
}

/* Prints the largest kind of data and, if that is another kind, the largest kind that a command can remove completely. The rows
 * are sorted by size, largest first. */
static void print_verdict(FILE *to, const struct tk_size_report *r) {
  const struct tk_size_row *most = NULL, *whole = NULL;
  bool is_whole = false;
  for (size_t i = 0; i < r->n_rows && r->rows[i].by == TK_SIZE_KIND; i++) {
    if (!most) most = &r->rows[i];
    is_whole = false;
    if (!whole && remedy_of(r->rows[i].key, &is_whole) && is_whole) whole = &r->rows[i];
  }
  if (most) print_verdict_row(to, "most", most, r->bytes);
  if (whole && whole != most) print_verdict_row(to, "most that an option removes", whole, r->bytes);
}

/* The measured sizes: of the input's own file, and of the file as it would be written. */
struct measured {
  const struct tk_size_report *r;
  const char *source, *format;
  int64_t file; /* size of the input in bytes; -1 = no file of its own */
};

static void print_size_text(FILE *to, const struct measured *m, size_t top) {
  const struct tk_size_report *r = m->r;
  char size[32], packed[32], file[32];
  size_t shown = 0;
  tk_print_size(r->bytes, size);
  tk_print_size(r->packed, packed);
  tty_string(to, m->source);
  if (m->file >= 0) tk_print_size((uint64_t)m->file, file), fprintf(to, ": %s", file);
  fprintf(to, "%s as tracekit writes %s: %s, %s compressed\n", m->file >= 0 ? ";" : ":", m->format, size, packed);
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct tk_size_row *row = &r->rows[i];
    bool first = i == 0 || row->by != r->rows[i - 1].by;
    if (first) shown = 0;
    if (first) fprintf(to, "by %s\n", TITLES[row->by]);
    if (shown++ < top) print_row(to, row, r->bytes);
    else if (shown == top + 2) fputs("             ...\n", to);
  }
  print_verdict(to, r);
}

static void print_size_json(FILE *to, const struct measured *m, size_t top) {
  const struct tk_size_report *r = m->r;
  struct json j = { .to = to };
  size_t shown = 0;
  json_open(&j, NULL, '{');
  json_string(&j, "input", m->source);
  json_string(&j, "format", m->format);
  if (m->file >= 0) json_uint(&j, "input_bytes", (uint64_t)m->file);
  else json_null(&j, "input_bytes");
  json_uint(&j, "bytes", r->bytes);
  json_uint(&j, "compressed", r->packed);
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct tk_size_row *row = &r->rows[i];
    bool first = i == 0 || row->by != r->rows[i - 1].by;
    if (first && i) json_close(&j, ']');
    if (first) json_open(&j, KEYS[row->by], '['), shown = 0;
    if (shown++ >= top) continue;
    fields_object(&j, NULL, (enum tk_row)(TK_ROW_SIZE_KIND + row->by), row, NULL);
  }
  if (r->n_rows) json_close(&j, ']');
  json_close(&j, '}');
}

static int cmd_size(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  struct tk_save_options options = run_save_options(&p->shared, NULL, &progress);
  struct tk_size_report *report = NULL;
  struct tk_err err = { 0 };
  int status;
  const char *input = run_input("size", in, &status);
  struct tk_trace *t = input ? run_load(&p->shared, input, &status) : NULL;
  if (!t) return status;
  progress_start(&progress, "measuring", input, p->shared.quiet ? -1 : p->shared.progress);
  int64_t file = -1;
  bool ok = tk_size(t, &options, &report, &err) && run_file_size(input, &file, &err);
  progress_end(&progress);
  size_t top = p->top ? (size_t)p->top : 10;
  const struct measured m = { report, t->source, report->format, file };
  if (!ok) status = run_fail(&err);
  else if (p->shared.json) print_size_json(stdout, &m, p->top ? top : SIZE_MAX);
  else print_size_text(stdout, &m, top);
  tk_size_report_free(report);
  tk_free(t);
  return ok ? STATUS_DONE : status;
}

const struct command command_size = {
  .name = "size",
  .group = GROUP_INSPECT,
  .summary = "show what takes up space in a trace",
  .operands = "[INPUT]",
  .description =
    "Shows how many bytes a trace takes in its own format or in another one, with and without compression, and breaks them "
    "down by kind of event, category, name, arg, track and rank. These tables count bytes before compression, of the file as "
    "tracekit writes it: the input may be compressed or written with other blanks, and its own size comes first. The rows by kind "
    "add up to the whole file. The rows by category, name, track and rank exclude metadata, and the rows by arg cover only the "
    "args of events. The last lines state which kind takes the most space, and a command that removes it.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_size,
};
