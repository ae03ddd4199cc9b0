/* run.c - see run.h.  The library checks its output again when it opens it; here the same questions are asked before an hour of
 * reading instead of after it. */
#include "run.h"

#include "tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool run_is_stdout(const char *path) { return !strcmp(path, "-"); }

FILE *run_report_to(const struct shared *s, const char *output) {
  return run_is_stdout(output) && !s->dry_run ? stderr : stdout;
}

int run_usage(const char *command, const char *why) {
  tty_say("%s: %s (try 'tracekit help %s')", command, why, command);
  return STATUS_USAGE;
}

int run_fail(const struct tk_err *err) {
  if (err->code == TK_EINTERRUPTED) {
    tty_say("interrupted");
    return STATUS_SIGNALLED + (interrupt_signal() ? interrupt_signal() : 2);
  }
  if (err->code == TK_EWRITE && err->sys == EPIPE && tty_reader_is_gone()) return STATUS_DONE;
  tty_say("%s", err->msg);
  return tk_exit_status(err->code);
}

int run_fail_of(const char *source, const struct tk_err *err) {
  if (err->code != TK_ENOTHING) return run_fail(err);
  tty_say("%s: %s", source, err->msg);
  return tk_exit_status(err->code);
}

int run_no_memory(void) {
  tty_say("out of memory");
  return STATUS_INPUT;
}

struct tk_progress run_ticker(struct progress *p) { return (struct tk_progress){ .tick = progress_tick, .arg = p }; }

struct tk_load_options run_load_options(const struct shared *s, struct progress *p) {
  return (struct tk_load_options){
    .threads = (unsigned)s->threads,
    .max_memory = s->max_memory,
    .max_size = s->max_size,
    .strict = s->strict,
    .progress = run_ticker(p),
  };
}

struct tk_source_options run_source_options(const struct shared *s, struct progress *p) {
  return (struct tk_source_options){ .max_memory = s->max_memory, .max_size = s->max_size, .progress = run_ticker(p) };
}

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
                                   .no_passthrough = s->no_passthrough };
}

bool run_derives(const struct shared *s, const char *output, const char *like) {
  const struct tk_format_info *f = s->format ? tk_format_of(s->format).format : tk_path_of(output).format;
  if (!f) f = tk_format_of(like).format;
  return s->derive > 0 && f && !f->derives;
}

/* ---- notes ---- */

static void print_note(const char *source, const struct tk_trace *t, const struct tk_note *n) {
  char count[32], byte[32];
  size_t len;
  const char *text = tk_string(t, n->text, &len);
  fputs("tracekit: ", stderr);
  if (source) {
    tty_string(stderr, source);
    fputs(": ", stderr);
  }
  if (n->kind == TK_NOTE_REPAIR) fputs("repair: ", stderr);
  tty_text(stderr, text, len);
  if (n->count > 1) fprintf(stderr, " (%s times", tty_count(n->count, count));
  if (n->offset != UINT64_MAX) fprintf(stderr, "%s byte %s", n->count > 1 ? ", first at" : " (at", tty_count(n->offset, byte));
  fputs(n->count > 1 || n->offset != UINT64_MAX ? ")\n" : "\n", stderr);
}

void run_notes(const struct shared *s, const char *source, const struct tk_trace *t) { run_notes_after(s, source, t, 0); }

void run_notes_after(const struct shared *s, const char *source, const struct tk_trace *t, tk_id last) {
  if (s->quiet || !t) return;
  fflush(stdout);
  for (tk_id i = last + 1; i <= t->n_notes; i++)
    if (t->notes[i].kind != TK_NOTE_FACT || s->facts || s->verbose) print_note(source, t, &t->notes[i]);
}

struct tk_sources *run_sources(const struct shared *s, const char *command, const struct operands *in, int *status) {
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_source_options options = run_source_options(s, &progress);
  const char *first = run_input(command, in, status);
  struct tk_sources *sources;
  if (!first) return NULL;
  progress_start(&progress, "looking", s->quiet ? -1 : s->progress);
  sources = tk_sources_open(in->n ? in->v : &first, in->n ? in->n : 1, &options, &err);
  progress_end(&progress);
  if (!sources) *status = run_fail(&err);
  if (!sources || sources->n > 0) return sources;
  tk_sources_close(sources);
  *status = run_usage(command, "the inputs name no trace");
  return NULL;
}

struct tk_trace *run_load_input(const struct shared *s, struct tk_sources *sources, size_t i, int *status) {
  struct tk_err err = { 0 };
  struct progress progress;
  struct tk_load_options options = run_load_options(s, &progress);
  struct tk_trace *t;
  progress_start(&progress, sources->inputs[i].name, s->quiet ? -1 : s->progress);
  t = tk_sources_load(sources, i, &options, &err);
  progress_end(&progress);
  if (t) run_notes(s, t->source, t);
  else *status = run_fail(&err);
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
    progress_start(&progress, name, s->quiet ? -1 : s->progress);
    t = tk_sources_load_all(sources, name, &options, &err);
    progress_end(&progress);
    if (t) run_notes(s, t->source, t);
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
  *status = run_usage(command, "standard input is a terminal: name the trace to read");
  return NULL;
}

/* ---- output ---- */

/* A list of inputs is one as well. */
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
  tty_say("%s: %s", path, why);
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

static bool check_file(const struct shared *s, const char *path, const struct operands *in, int *status) {
  struct stat st;
  if (stat(path, &st) != 0) return has_folder(path) || refuse(path, "there is no such folder", status);
  if (S_ISDIR(st.st_mode)) return refuse(path, "is a directory", status);
  if (!S_ISREG(st.st_mode)) return true; /* a device or a FIFO: nothing is lost by writing to it */
  if (is_input(&st, in)) return refuse(path, "is an input; the output must be another file", status);
  if (!s->force) return refuse(path, "exists already; --force replaces it", status);
  return true;
}

const char *run_output(const struct shared *s, const char *command, const struct operands *in, int *status) {
  const char *path = s->output ? s->output : "-";
  if (!run_is_stdout(path)) return check_file(s, path, in, status) ? path : NULL;
  if (s->dry_run || !isatty(STDOUT_FILENO)) return path;
  *status = run_usage(command, "standard output is a terminal: say where to write with -o FILE");
  return NULL;
}

bool run_names_folder(const struct shared *s) {
  const size_t n = s->output ? strlen(s->output) : 0;
  struct stat st;
  if (n && s->output[n - 1] == '/') return true;
  return n && s->format && !run_is_stdout(s->output) && stat(s->output, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool refuse_ending(const char *path, int *status) {
  static const char *const archives[] = { ".zip", ".7z", ".tar", ".tgz", ".rar" };
  const char *dot = strrchr(path, '.');
  *status = STATUS_USAGE;
  for (size_t i = 0; dot && i < sizeof archives / sizeof *archives; i++)
    if (strcasecmp(dot, archives[i]) == 0)
      return tty_say("%s: archives are read and not written: name it .json.gz, or .json.zst", path), false;
  if (!dot || strchr(dot, '/')) tty_say("%s: its name says no format: call it %s.json.gz, or say -f (see -f help)", path, path);
  else tty_say("%s: no format has this extension: say -f (see -f help)", path);
  return false;
}

bool run_names_trace(const struct shared *s, const char *path, int *status) {
  const char *slash = strrchr(path, '/'), *hole = strstr(path, "{}");
  if (run_is_stdout(path)) return true;
  if (!s->format && !tk_path_of(path).format && !tk_path_of(path).bare) return refuse_ending(path, status);
  return has_folder(path) || (hole && hole < slash) || refuse(path, "there is no such folder", status);
}

const char *run_trace_output(const struct shared *s, const char *command, const struct operands *in, int *status) {
  const char *path = run_output(s, command, in, status);
  return path && run_names_trace(s, path, status) ? path : NULL;
}
