/* run.c - see run.h. The library checks an output only on opening it, possibly after an hour of reading. So the commands make the same
 * checks before they read. */
#include "run.h"
#include "options/meant.h"

#include "fetch.h"
#include "interrupt.h"
#include "print/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

const struct opt_word run_progress_words[] = {
  { "json", PROGRESS_JSON, "lines of JSON on standard error" },
  { 0, 0, 0 },
};

bool run_is_stdout(const char *path) { return !strcmp(path, "-"); }

FILE *run_report_to(const struct shared *s, const char *output) {
  return run_is_stdout(output) && !s->dry_run ? stderr : stdout;
}

int run_usage(const char *command, const char *why) {
  tty_fail("%s: %s (try 'tracekit help %s')", command, why, command);
  return STATUS_USAGE;
}

/* Returns advice that names an option of the command line, because the library's messages contain no option names. */
static const char *advice_of(const struct tk_err *err) {
  switch ((enum tk_option)err->option) {
  case TK_OPTION_FORCE: return " (--force replaces it)";
  case TK_OPTION_FORMAT: return " (see 'tracekit help formats')";
  case TK_OPTION_OUTPUT: return " (see -o)";
  case TK_OPTION_NO_LOSS: return " (refused by --no-loss)";
  case TK_OPTION_STRICT: return " (refused by --strict)";
  case TK_OPTION_MAX_MEMORY: return " (see --max-memory)";
  case TK_OPTION_MAX_SIZE: return " (raise --max-size if this is expected)";
  case TK_OPTION_KEEP_GOING: return " (--keep-going leaves it out)";
  case TK_OPTION_MERGE_FIRST: return " (--keep-going leaves it out)";
  case TK_OPTION_HARD: return " (--hard removes more)";
  case TK_OPTION_TIMEOUT: return " (see --timeout)";
  case TK_OPTION_RUN: return " (tracekit list shows the available runs)";
  case TK_OPTION_LATEST_GOOD: return " (--latest-good reads the newest complete one)";
  case TK_OPTION_STEP_NAME: return " (--step-name names the spans that mark them)";
  case TK_OPTION_NONE: break;
  }
  return "";
}

static int status_of(const struct tk_err *err) {
  switch (err->code) {
  case TK_OK: return STATUS_DONE;
  case TK_ENOTHING: return STATUS_FINDING;
  case TK_EUSAGE: return STATUS_USAGE;
  case TK_EWRITE: return STATUS_OUTPUT;
  default: return STATUS_INPUT;
  }
}

int run_fail(const struct tk_err *err) {
  /* A system call also fails if the signal interrupts it, so report the signal as the cause. */
  if (err->code == TK_EINTERRUPTED || interrupt_signal()) {
    tty_fail("interrupted");
    return STATUS_SIGNALLED + (interrupt_signal() ? interrupt_signal() : 2);
  }
  if (err->code == TK_EWRITE && err->sys == EPIPE && tty_reader_is_gone()) return STATUS_DONE;
  tty_fail("%s%s", err->msg, advice_of(err));
  return status_of(err);
}

int run_fail_of(const char *source, const struct tk_err *err) {
  if (err->code != TK_ENOTHING) return run_fail(err);
  tty_fail("%s: %s%s", source, err->msg, advice_of(err));
  return status_of(err);
}

int run_no_memory(void) {
  tty_fail("out of memory");
  return STATUS_INPUT;
}

struct tk_progress run_ticker(struct progress *p) {
  return (struct tk_progress){ .tick = progress_tick, .arg = p, .phase = progress_phase };
}

struct tk_load_options run_load_options(const struct shared *s, struct progress *p) {
  return (struct tk_load_options){
    .threads = (unsigned)s->threads,
    .max_memory = s->max_memory,
    .max_size = s->max_size,
    .strict = s->strict,
    .without = s->without,
    .step_name = s->step_name,
    .with = TK_WITH_PROCESS_LIMIT | (s->sched ? TK_WITH_SCHED | TK_WITH_NSYS_SCHED : 0),
    .progress = run_ticker(p),
  };
}

struct tk_source_options run_source_options(const struct shared *s, struct progress *p) {
  return (struct tk_source_options){
    .run = s->run,
    .step = s->step_dir,
    .latest_good = s->latest_good,
    .join = s->join,
    .max_memory = s->max_memory,
    .max_size = s->max_size,
    .progress = run_ticker(p),
    .fetch = fetch_functions((struct tk_fetch *)(uintptr_t)&s->fetch, s->no_fetch, s->nsys), /* not an option value, may be modified */
  };
}

static const char *const GPU_EVENTS[] = { "perfetto.gpu_events=true", NULL };

struct tk_save_options run_save_options(const struct shared *s, const char *command, struct progress *p) {
  return (struct tk_save_options){ .format = s->format,
                                   .command = s->no_provenance ? NULL : command,
                                   .level = s->level,
                                   .threads = (unsigned)s->threads,
                                   .progress = run_ticker(p),
                                   .pretty = s->pretty,
                                   .force = s->force,
                                   .dry_run = s->dry_run,
                                   .no_loss = s->no_loss,
                                   .overlaps = s->overlaps,
                                   .no_passthrough = s->no_passthrough,
                                   .settings = s->gpu_events ? GPU_EVENTS : NULL };
}

bool run_derives(const struct shared *s, const char *output, const char *like) {
  const struct tk_format_info *f = s->format ? tk_format_of(s->format).format : tk_path_of(output).format;
  if (!f) f = tk_format_of(like).format;
  return s->derive > 0 && f && !f->derives;
}

/* ---- notes ---- */

static const char *const KINDS[] = { [TK_NOTE_INFO] = "note", [TK_NOTE_REPAIR] = "repair", [TK_NOTE_FACT] = "fact" };

/* A note, with its number of occurrences and the number of inputs in which it occurs. */
struct said {
  const struct tk_diagnostic *first;
  uint64_t count, inputs;
};

/* Returns true if the text begins with a kind of its own, such as "alignment: "; then the word in KINDS is not printed. */
static bool says_kind(const char *text) {
  static const char *const kinds[] = { "left out: ", "alignment: ", NULL };
  for (const char *const *k = kinds; *k; k++)
    if (!strncmp(text, *k, strlen(*k))) return true;
  return false;
}

/* Prints "tracekit: FILE: repair: TEXT (12 times, first at byte 8,812)", or for several inputs "tracekit: 64 inputs: ..., first
 * in FILE". */
static void print_note(const char *source, const struct said *s) {
  const struct tk_diagnostic *n = s->first;
  const bool placed = n->offset != UINT64_MAX;
  char count[64], byte[32];
  const char *of = n->source ? n->source : source;
  const bool lacks = n->kind == TK_NOTE_REPAIR || says_kind(n->text);
  fprintf(stderr, "%stracekit:%s ", tty_style(stderr, lacks ? TTY_DOUBT : TTY_BOLD), tty_style(stderr, TTY_PLAIN));
  if (s->inputs > 1) fprintf(stderr, "%s: ", tty_counted(s->inputs, "input", count));
  else if (of) tty_string(stderr, run_is_stdout(of) ? "standard input" : of), fputs(": ", stderr);
  if (!says_kind(n->text)) fprintf(stderr, "%s: ", KINDS[n->kind]);
  tty_string(stderr, n->text);
  if (s->count > 1) fprintf(stderr, " (%s times", tty_count(s->count, count));
  if (s->inputs > 1) fputs(", first in ", stderr), tty_string(stderr, of);
  if (placed) fprintf(stderr, "%s byte %s", s->inputs > 1 ? " at" : s->count > 1 ? ", first at" : " (at", tty_count(n->offset, byte));
  fputs(s->count > 1 || placed ? ")\n" : "\n", stderr);
}

static bool is_said(const struct shared *s, const struct tk_diagnostic *n) {
  return n->kind != TK_NOTE_FACT || s->facts || s->verbose;
}

/* Orders by text and kind, then by position in the list. */
static int compare_said(const void *a, const void *b) {
  const struct tk_diagnostic *x = *(const struct tk_diagnostic *const *)a, *y = *(const struct tk_diagnostic *const *)b;
  if (x->text != y->text) return (uintptr_t)x->text < (uintptr_t)y->text ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (x > y) - (x < y);
}

/* Combines equal notes of more than FEW inputs, unless --verbose: the first note gets the sum of the counts, and `first` of the
 * others becomes NULL. */
static struct said *sum_up(const struct tk_diagnostics *d, const struct shared *s) {
  enum { FEW = 3 };
  struct said *sums = calloc(d->n + 1, sizeof *sums);
  const struct tk_diagnostic **order = calloc(d->n + 1, sizeof *order);
  size_t n = 0, end;
  for (size_t i = 0; sums && i < d->n; i++) sums[i] = (struct said){ &d->list[i], d->list[i].count, 1 };
  for (size_t i = 0; order && !s->verbose && i < d->n; i++)
    if (d->list[i].source) order[n++] = &d->list[i];
  if (n) qsort(order, n, sizeof *order, compare_said);
  for (size_t i = 0; sums && i < n; i = end) {
    struct said *sum = &sums[order[i] - d->list];
    for (end = i + 1; end < n && order[end]->text == order[i]->text && order[end]->kind == order[i]->kind;) end++;
    if (end - i <= FEW) continue;
    sum->inputs = end - i;
    for (size_t k = i + 1; k < end; k++) sum->count += order[k]->count, sums[order[k] - d->list].first = NULL;
  }
  free(order);
  return sums;
}

static void print_notes(const struct shared *s, const char *source, const struct tk_diagnostics *d, size_t from) {
  struct said *sums = s->quiet || !d ? NULL : sum_up(d, s);
  fflush(stdout);
  for (size_t i = from; sums && i < d->n; i++)
    if (sums[i].first && is_said(s, sums[i].first)) print_note(source, &sums[i]);
  free(sums);
}

void run_notes(const struct shared *s, const char *source, const struct tk_diagnostics *d) { print_notes(s, source, d, 0); }

void run_notes_after(const struct shared *s, const char *source, const struct tk_trace *t, tk_id last) {
  struct tk_diagnostics *d = t ? tk_trace_diagnostics(t) : NULL;
  print_notes(s, source, d, last);
  tk_diagnostics_free(d);
}

/* True for commands that show each rank of an input; the others read the whole input. */
static bool shows_ranks(const char *command) {
  return !strcmp(command, "info") || !strcmp(command, "report") || !strcmp(command, "diff");
}

struct tk_sources *run_sources(const struct shared *s, const char *command, const struct operands *in, int *status) {
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_source_options options = run_source_options(s, &progress);
  const char *first = run_input(command, in, status);
  struct tk_sources *sources;
  if (!first) return NULL;
  options.by_rank = shows_ranks(command);
  progress_start(&progress, "looking", NULL, s->quiet ? -1 : s->progress);
  sources = tk_sources_open(in->n ? in->v : &first, in->n ? in->n : 1, &options, &err);
  progress_end(&progress);
  if (!sources) *status = run_fail(&err);
  if (!sources || sources->n > 0) return sources;
  tk_sources_close(sources);
  *status = run_usage(command, "no input contains a trace");
  return NULL;
}

/* Returns the name of the output format, given by -f or by the output's name; NULL if neither determines it. */
static const char *output_format(const struct shared *s) {
  const bool has_name = s->output && !run_is_stdout(s->output);
  const struct tk_format_info *f = s->format ? tk_format_of(s->format).format : has_name ? tk_path_of(s->output).format : NULL;
  return f ? f->name : NULL;
}

struct tk_trace *run_load_input(const struct shared *s, struct tk_sources *sources, size_t i, int *status) {
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_load_options options = run_load_options(s, &progress);
  struct tk_trace *t;
  options.with |= TK_WITH_NEXT_RANKS;
  progress_start(&progress, "reading", sources->inputs[i].name, s->quiet ? -1 : s->progress);
  t = tk_sources_load_cut(sources, i, s->cut, output_format(s), &options, &err);
  progress_end(&progress);
  if (t) run_notes_after(s, t->source, t, 0);
  else *status = run_fail(&err);
  return t;
}

/* Merges the sources in memory, and leaves out sources that cannot be read. */
static struct tk_trace *load_readable(const struct shared *s, struct tk_sources *sources, const char *name,
                                      const struct tk_load_options *load, struct tk_err *err) {
  const struct tk_merge_options options = {
    .load = *load, .save.command = "tracekit merge", .keep_going = true, .keep_truncated = !load->strict,
  };
  struct tk_merge_report *report = NULL;
  struct tk_trace *t = tk_sources_merge(sources, name, &options, &report, err);
  for (size_t i = 0; t && i < report->n_ranks; i++)
    if (report->ranks[i].failed && !s->quiet) tty_say("left out: %s", report->ranks[i].failed);
  tk_merge_report_free(report);
  return t;
}

struct tk_trace *run_load_operands(const struct shared *s, const char *command, const struct operands *in, int *status) {
  struct tk_sources *sources = run_sources(s, command, in, status);
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_load_options options = run_load_options(s, &progress);
  struct tk_trace *t;
  char name[256];
  if (!sources) return NULL;
  if (sources->n == 1) {
    t = run_load_input(s, sources, 0, status);
  } else {
    snprintf(name, sizeof name, in->n > 1 ? "%.200s and %zu more" : "%.200s", in->n ? in->v[0] : "-", in->n - 1);
    progress_start(&progress, "reading", name, s->quiet ? -1 : s->progress);
    t = s->keep_going ? load_readable(s, sources, name, &options, &err) : tk_sources_load_all(sources, name, &options, &err);
    progress_end(&progress);
    if (t) run_notes_after(s, t->source, t, 0);
    else *status = run_fail(&err);
  }
  tk_sources_close(sources);
  return t;
}

struct tk_trace *run_load(const struct shared *s, const char *source, int *status) {
  const struct operands one = { .v = &source, .n = 1 };
  return run_load_operands(s, "", &one, status);
}

const char *run_input(const char *command, const struct operands *in, int *status) {
  if (in->n > 0) return in->v[0];
  if (!isatty(STDIN_FILENO)) return "-";
  *status = run_usage(command, "standard input is a terminal; give the trace to read");
  return NULL;
}

/* ---- output ---- */

/* Returns true if the output is also an input, or a list of inputs (@FILE). */
static bool is_input(const struct stat *output, const struct operands *in) {
  struct stat st;
  for (size_t i = 0; i < in->n; i++) {
    const char *name = in->v[i];
    if (run_is_stdout(name) || (stat(name, &st) != 0 && (*name != '@' || stat(name + 1, &st) != 0))) continue;
    if (st.st_dev == output->st_dev && st.st_ino == output->st_ino) return true;
  }
  return false;
}

static bool refuse(const char *path, const char *why, int *status) {
  tty_fail("%s: %s", path, why);
  *status = STATUS_OUTPUT;
  return false;
}

static bool has_folder(const char *path) {
  struct stat st;
  const char *slash = strrchr(path, '/');
  char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
  bool has = !folder || (stat(folder, &st) == 0 && S_ISDIR(st.st_mode));
  free(folder);
  return has;
}

static bool refuse_folder(const char *path, int *status) {
  const char *scheme = strstr(path, "://");
  const bool is_address = scheme && !memchr(path, '/', (size_t)(scheme - path));
  if (is_address) return refuse(path, "is an address; write to a local file and copy it", status);
  return refuse(path, "no such folder", status);
}

bool run_check_file(const struct shared *s, const char *path, const struct operands *in, int *status) {
  struct stat st;
  if (stat(path, &st) != 0) return has_folder(path) || refuse_folder(path, status);
  if (S_ISDIR(st.st_mode)) return refuse(path, "is a directory", status);
  if (!S_ISREG(st.st_mode)) return true; /* a device or a FIFO has no contents to lose */
  if (is_input(&st, in)) { /* wrong usage, not a fault of the file */
    refuse(path, "is also an input; choose another name", status);
    *status = STATUS_USAGE;
    return false;
  }
  if (!s->force) return refuse(path, "already exists; --force replaces it", status);
  return true;
}

/* Prints that -o is needed, because standard output is a terminal; suggests the last of several operands if its name implies a
 * format. Returns the exit status. */
static int no_output(const char *command, const struct operands *in) {
  const char *last = in->n > 1 ? in->v[in->n - 1] : NULL;
  char why[512];
  snprintf(why, sizeof why, "standard output is a terminal; give an output file with -o %.400s",
           last && tk_path_of(last).format ? last : "FILE");
  return run_usage(command, why);
}

const char *run_output(const struct shared *s, const char *command, const struct operands *in, int *status) {
  const char *path = s->output ? s->output : "-";
  if (!run_is_stdout(path)) return run_check_file(s, path, in, status) ? path : NULL;
  if (s->dry_run || !isatty(STDOUT_FILENO)) return path;
  *status = no_output(command, in);
  return NULL;
}

bool run_names_folder(const struct shared *s) {
  const size_t n = s->output ? strlen(s->output) : 0;
  struct stat st;
  if (n && s->output[n - 1] == '/') return true;
  return n && s->format && !run_is_stdout(s->output) && stat(s->output, &st) == 0 && S_ISDIR(st.st_mode);
}

static void say_extension(const char *path) {
  const char *dot = strrchr(path, '.'), *advice = dot ? meant_extension(dot + 1) : NULL;
  if (advice) tty_fail("%s: not the extension of a trace; %s", path, advice);
  else tty_fail("%s: unknown extension; give a format with -f (see -f help)", path);
}

static bool refuse_ending(const char *path, int *status) {
  static const char *const archives[] = { ".zip", ".7z", ".tar", ".tgz", ".rar" };
  const char *dot = strrchr(path, '.');
  *status = STATUS_USAGE;
  for (size_t i = 0; dot && i < sizeof archives / sizeof *archives; i++)
    if (strcasecmp(dot, archives[i]) == 0) {
      tty_fail("%s: archives cannot be written; use .json.gz or .json.zst", path);
      return false;
    }
  if (!dot || strchr(dot, '/')) tty_fail("%s: the output name implies no format; use %s.json.gz, or give a format with -f (see "
                                         "-f help)", path, path);
  else say_extension(path);
  return false;
}

bool run_names_trace(const struct shared *s, const char *path, int *status) {
  const char *slash = strrchr(path, '/'), *hole = strstr(path, "{}");
  if (run_is_stdout(path)) return true;
  if (!s->format && !tk_path_of(path).format && !tk_path_of(path).bare) return refuse_ending(path, status);
  return has_folder(path) || (hole && hole < slash) || refuse_folder(path, status);
}

const char *run_trace_output(const struct shared *s, const char *command, const struct operands *in, int *status) {
  const char *path = run_output(s, command, in, status);
  return path && run_names_trace(s, path, status) ? path : NULL;
}

bool run_file_size(const char *path, int64_t *size, struct tk_err *err) {
  struct stat s;
  const bool found = stat(path, &s) == 0;
  *size = found && S_ISREG(s.st_mode) ? (int64_t)s.st_size : -1;
  if (found || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return true;
  err->code = TK_EREAD;
  snprintf(err->msg, sizeof err->msg, "%.200s: %s", path, strerror(errno));
  return false;
}
