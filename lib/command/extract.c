/* extract.c - implements tk_extract: extracts files from a run directory or an archive, in formats that viewers can open.
 *
 *     names -> inputs -> plan: which inputs are in which file -> each file: copy, or load and save, or merge
 *
 * The plan is made and every output name is checked before any trace is read. Output names are derived from the names of archive
 * members, but contain only characters that are safe in file names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/options.h"
#include "base/path.h"
#include "graph/diagnostics.h"
#include "merge/merge.h"
#include "merge/file.h"
#include "op/redact.h"
#include "merge/run_folder.h"
#include "load/save.h"
#include "source/sources.h"

enum { NAME = 200 };

struct extractor {
  const struct tk_extract_options *opt;
  struct tk_sources *sources;
  struct tk_extract_report *report;
  size_t *first; /* index of the first input of each file */
  bool runs; /* true if each output is a folder with a file per host, the layout of profilers */
  const char *folder; /* output folder; "" = the current folder; NULL = the output is a file name */
  struct tk_err *err;
};

static const char *keep_text(struct extractor *x, const char *text) {
  return diagnostics_text(x->report->notes, text);
}

/* ---- names ---- */

static void put_safe(char *name, const char *part) { path_put_safe(name, NAME, part); }

static bool same_run(const struct tk_input *a, const struct tk_input *b) { return a->run_id == b->run_id; }

/* True if another input of the run has the same host name, so that the host name alone cannot be the file name. */
static bool host_is_shared(const struct extractor *x, size_t input) {
  const struct tk_input *in = x->sources->inputs;
  for (size_t i = 0; i < x->sources->n; i++)
    if (i != input && same_run(&in[i], &in[input]) && strcmp(in[i].host, in[input].host) == 0) return true;
  return false;
}

/* Appends the stem of an input: "rank3" for "a/rank3.json.gz" and for "logs.zip:rank3.json". */
static void put_stem(char *name, const char *input) {
  const char *base = path_leaf(input), *colon = strrchr(base, ':');
  char *stem = strdup(colon ? colon + 1 : base);
  size_t n;
  if (!stem) return;
  /* "x.pt.trace.json.gz" has two extensions of Chrome JSON. */
  while ((n = tk_path_of(stem).stem) > 0 && stem[n]) stem[n] = 0;
  n = strlen(stem);
  if (n > 3 && strcmp(stem + n - 3, ".pt") == 0) stem[n - 3] = 0;
  put_safe(name, stem);
  free(stem);
}

/* Returns the format used for standard output and for files whose names are generated. */
static const struct format *output_format(const struct extractor *x) {
  const struct format *f = x->opt->save.format ? format_by_word(x->opt->save.format) : NULL;
  return f ? f : format_default();
}

static void extract_put_name(const struct extractor *x, size_t input, size_t n, char *name) {
  const struct tk_input *in = &x->sources->inputs[input];
  char ending[64], run[NAME + 1];
  redact_run(x->opt->redact, in->run, run, sizeof run);
  put_safe(name, *run ? run : "trace");
  if (x->opt->raw) {
    const char *base = path_leaf(in->name), *colon = strrchr(base, ':');
    put_safe(name, ".");
    put_safe(name, colon ? colon + 1 : base);
    return;
  }
  if (n == 1) {
    put_safe(name, ".");
    if (x->opt->redact) put_safe(name, "redacted");
    else if (*in->host && !host_is_shared(x, input)) put_safe(name, in->host);
    else put_stem(name, in->name);
  }
  put_safe(name, format_ending(output_format(x), ending));
  if (x->opt->save.format && !*tk_path_of(name).packing) put_safe(name, tk_format_of(x->opt->save.format).packing);
}

static bool is_taken(const struct extractor *x, const char *path) {
  for (size_t i = 0; i < x->report->n; i++)
    if (strcmp(x->report->files[i].output, path) == 0) return true;
  return false;
}

/* Returns the path of the run's output folder. Adds a number to its name if another run already has the path. NULL on failure. */
static const char *name_run(struct extractor *x, size_t input) {
  char name[NAME + 1], path[4096], run[NAME + 1];
  redact_run(x->opt->redact, x->sources->inputs[input].run, run, sizeof run);
  for (unsigned again = 1; again < 1 << 20; again++) {
    if (again == 1) snprintf(name, sizeof name, "%s", run);
    else snprintf(name, sizeof name, "%.180s-%u", *run ? run : "trace", again);
    if (!run_folder_path(x->folder, name, &x->opt->save, path, sizeof path - 1)) return NULL;
    strcat(path, "/");
    if (!is_taken(x, path)) return keep_text(x, path);
  }
  return NULL;
}

/* Returns a name that no other output has. If necessary, adds a number at the front, where it cannot be mistaken for a part of the host
 * name. */
static const char *name_output(struct extractor *x, size_t input, size_t n) {
  char name[NAME + 1], path[4096];
  const char *folder = x->folder;
  if (!folder) return x->opt->output;
  if (x->runs) return name_run(x, input);
  for (unsigned again = 1; again < 1 << 20; again++) {
    *name = 0;
    if (again > 1) snprintf(name, sizeof name, "%u.", again);
    extract_put_name(x, input, n, name);
    size_t end = strlen(folder);
    if (snprintf(path, sizeof path, "%s%s%s", folder, end && folder[end - 1] != '/' ? "/" : "", name) >= (int)sizeof path)
      break;
    if (!is_taken(x, path)) return keep_text(x, path);
  }
  return NULL;
}

/* ---- the plan ---- */

static bool is_folder(const char *path) {
  struct stat st;
  size_t n = strlen(path);
  return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool add_file(struct extractor *x, size_t first, size_t n) {
  const struct tk_input *in = &x->sources->inputs[first];
  const char *output = name_output(x, first, n);
  if (!output) return err_set(x->err, TK_EUSAGE, "%s: cannot derive an output name from this input; give one", in->name);
  x->first[x->report->n] = first;
  x->report->files[x->report->n++] = (struct tk_extracted){.output = output, .run = in->run, .from = in->name, .n_inputs = n};
  return true;
}

/* Leaves out an input whose contents cannot be listed, and adds a note. With load.strict, returns false with err instead. */
static bool leave_out(struct extractor *x, size_t input) {
  struct tk_err why = {.offset = UINT64_MAX};
  sources_failed(x->sources, input, &why);
  if (x->opt->load.strict) {
    *x->err = why;
    return false;
  }
  diagnostics_say_left_out(x->report->notes, x->sources->inputs[input].name, why.msg);
  x->report->n_failed++;
  return true;
}

static bool any_sound(const struct extractor *x) {
  for (size_t i = 0; i < x->sources->n; i++)
    if (!sources_failed(x->sources, i, NULL)) return true;
  return false;
}

static bool make_plan(struct extractor *x) {
  const struct tk_input *in = x->sources->inputs;
  const bool single = (x->opt->split && !x->runs) || x->opt->raw, choose = any_sound(x);
  for (size_t i = 0, n; i < x->sources->n; i += n) {
    n = 1;
    if (choose && sources_failed(x->sources, i, NULL)) {
      if (!leave_out(x, i)) return false;
      continue;
    }
    while (!single && i + n < x->sources->n && same_run(&in[i], &in[i + n])) n++;
    if (!add_file(x, i, n)) return false;
  }
  if (x->report->n == 0) return err_set(x->err, TK_EFORMAT, "nothing to extract: no trace was found");
  if (x->report->n > 1 && !x->folder)
    return err_for(x->err, TK_OPTION_OUTPUT, TK_EUSAGE, "%s: %zu files cannot be written to one file; give a "
                                                        "folder", x->opt->output, x->report->n);
  return true;
}

static bool check_outputs(struct extractor *x) {
  struct stat st;
  for (size_t i = 0; i < x->report->n && !x->opt->save.force && !x->opt->save.same; i++) {
    const char *path = x->report->files[i].output;
    if (strcmp(path, "-") != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
      return err_for(x->err, TK_OPTION_FORCE, TK_EWRITE, "%s: already exists", path);
  }
  if (!x->folder || !*x->folder || x->runs || x->opt->save.dry_run) return true;
  if (mkdir(x->folder, 0777) == 0 || errno == EEXIST) return true;
  return err_sys(x->err, TK_EWRITE, errno, "%s: failed to create the folder", x->folder);
}

/* ---- one file ---- */

static bool copy_bytes(struct in *in, struct out *out, const struct tk_progress *progress, struct tk_err *err) {
  size_t n;
  const uint8_t *p;
  while ((p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    out_write(out, p, n);
    in_consume(in, n);
    if (progress->tick && !progress->tick(progress->arg, in_raw_read(in), in_raw_total(in)))
      return err_set(err, TK_EINTERRUPTED, "interrupted");
  }
  return p != NULL;
}

static bool open_output(struct extractor *x, const struct tk_extracted *f, const struct out_options *options, struct out *out,
                        struct mem *mem) {
  if (x->opt->save.dry_run) return out_count(out, options, mem, x->err);
  return out_open(out, f->output, options, mem, x->err);
}

static bool copy_raw(struct extractor *x, struct tk_extracted *f, size_t input) {
  const char *inputs[] = {sources_path(x->sources, input), NULL};
  struct out_options options = {.binary = true, .force = x->opt->save.force, .same = x->opt->save.same, .inputs = inputs};
  struct mem mem = {0};
  struct out out = {0};
  struct in *in = sources_raw(x->sources, input, &mem, x->err);
  bool read = in != NULL, ok;
  ok = read && open_output(x, f, &options, &out, &mem);
  if (ok) read = copy_bytes(in, &out, &x->opt->load.progress, x->err);
  ok = ok && read && out_commit(&out, x->err);
  if (ok) f->written.bytes = f->written.raw_bytes = out_file_bytes(&out), f->written.was_there = out_was_there(&out);
  out_close(&out);
  in_close(in);
  if (ok || !read) return ok; /* the message of a read error already names the input */
  return err_prefix(x->err, "%s", f->output);
}

static bool put_trace(struct extractor *x, struct tk_extracted *f, struct tk_trace *t) {
  struct tk_save_options save = x->opt->save;
  if (!save.format && (x->folder || strcmp(f->output, "-") == 0)) save.format = output_format(x)->info.name;
  if (x->opt->derive && save_derives(f->output, &save, t->format) && !tk_derive(t, NULL, x->err)) return false;
  if (x->opt->fold_graphs && !tk_fold_graphs(t, NULL, x->err)) return false;
  if (x->opt->redact && !tk_redact(t, x->opt->redact, &f->redacted, x->err)) return false;
  return tk_save(t, f->output, &save, &f->written, x->err);
}

/* Fails if the input is truncated or damaged and not a single event could be read. */
static bool has_events(struct extractor *x, const struct tk_trace *t) {
  if (t->n_events || !(t->truncated || t->damaged)) return true;
  return err_set(x->err, TK_ECORRUPT, "%s: no event could be read: the file is %s", t->source, t->truncated ? "truncated" : "damaged");
}

static bool convert(struct extractor *x, struct tk_extracted *f, size_t input) {
  struct tk_trace *t = tk_sources_load(x->sources, input, &x->opt->load, x->err);
  bool ok;
  if (!t) return false;
  diagnostics_add_notes(x->report->notes, t, t->source);
  if (t->truncated || t->damaged) f->saved = t->n_events;
  f->from = keep_text(x, t->source);
  ok = diagnostics_check(x->report->notes, x->err) && has_events(x, t) && put_trace(x, f, t);
  tk_free(t);
  return ok;
}

static bool merge_hosts(struct extractor *x, struct tk_extracted *f, size_t first) {
  struct tk_merge_options options = {
      .load = x->opt->load, .save = x->opt->save, .keep_going = !x->opt->load.strict, .keep_truncated = !x->opt->load.strict,
      .derive = x->opt->derive, .redact = x->opt->redact, .fold_graphs = x->opt->fold_graphs};
  struct tk_merge_report merged;
  bool ok;
  if (x->folder && !x->runs && !options.save.format) options.save.format = output_format(x)->info.name;
  const struct merge_inputs in = {.sources = x->sources, .first = first, .n = f->n_inputs};
  ok = merge_inputs(&in, f->output, &options, &merged, x->err);
  diagnostics_add(x->report->notes, merged.notes);
  for (size_t i = 0, read = 0; ok && i < merged.n_ranks; i++) {
    if (!merged.ranks[i].failed) {
      if (read++ == 0) f->from = keep_text(x, merged.ranks[i].input);
      continue;
    }
    f->n_failed++;
    diagnostics_say_left_out(x->report->notes, merged.ranks[i].input, merged.ranks[i].failed);
  }
  f->written = merged.saved;
  f->redacted = merged.redacted;
  merge_report_clear(&merged);
  return ok;
}

static bool extract_one(struct extractor *x, size_t i) {
  struct tk_extracted *f = &x->report->files[i];
  if (x->opt->raw) return copy_raw(x, f, x->first[i]);
  return f->n_inputs == 1 && !x->runs ? convert(x, f, x->first[i]) : merge_hosts(x, f, x->first[i]);
}

/* ---- entry points ---- */

/* True if the error is an unreadable input, and extraction can continue with the other files. */
static bool is_left_out(const struct extractor *x) {
  const enum tk_code code = x->err->code;
  const bool is_unreadable = code == TK_EFORMAT || code == TK_ECORRUPT || code == TK_EOPEN || code == TK_EREAD;
  return is_unreadable && x->report->n > 1 && !x->opt->load.strict;
}

/* Writes all files whose inputs can be read, and reports the other files. If none can be written, returns false with the error of the
 * first one. */
static bool extract_each(struct extractor *x) {
  struct tk_extract_report *r = x->report;
  struct tk_err first = {.offset = UINT64_MAX};
  size_t done = 0;
  for (size_t i = 0; i < r->n; i++) {
    struct tk_extracted *f = &r->files[i];
    f->from = keep_text(x, f->from);
    f->run = keep_text(x, f->run);
    if (!diagnostics_check(r->notes, x->err)) {
      r->n = done;
      return false;
    }
    if (extract_one(x, i)) {
      r->files[done++] = *f;
      continue;
    }
    if (!is_left_out(x)) {
      r->n = done;
      return false;
    }
    if (first.code == TK_OK) first = *x->err;
    diagnostics_say_left_out(r->notes, f->from, x->err->msg);
    r->n_failed++;
    err_clear(x->err);
  }
  r->n = done;
  if (done == 0) *x->err = first;
  return done > 0;
}

static bool extract_all(struct extractor *x, const char *const *names, size_t n) {
  struct tk_extract_report *r = x->report;
  x->sources = x->opt->sources ? x->opt->sources : tk_sources_open(names, n, &x->opt->source, x->err);
  if (!x->sources) return false;
  r->notes = diagnostics_new();
  r->files = calloc(x->sources->n + 1, sizeof *r->files);
  x->first = calloc(x->sources->n + 1, sizeof *x->first);
  if (!r->notes || !r->files || !x->first) return err_set(x->err, TK_ELIMIT, "out of memory");
  if (!make_plan(x) || !diagnostics_check(r->notes, x->err) || !check_outputs(x)) {
    r->n = 0;
    return false;
  }
  return extract_each(x);
}

bool tk_extract(const char *const *names, size_t n, const struct tk_extract_options *opt, struct tk_extract_report **report,
                struct tk_err *err) {
  struct tk_extract_options options;
  struct extractor x = {.opt = &options};
  struct tk_err own;
  bool ok;
  x.err = err ? err : &own;
  err_clear(x.err);
  if (!NEW_REPORT(report, x.err) || !TAKE_OPTIONS(&options, opt, x.err)) return false;
  x.report = *report;
  const char *output = options.output;
  x.folder = !output ? "" : strcmp(output, "-") != 0 && is_folder(output) ? output : NULL;
  /* opt->sources is set by the command `convert`, which writes one trace; if its output is a folder, this is the folder of a run */
  x.runs = x.folder && *x.folder && !x.opt->raw && (x.opt->save.format || x.opt->sources) && run_folder_is_meant(output, &x.opt->save);
  ok = extract_all(&x, names, n);
  if (x.sources != x.opt->sources) tk_sources_close(x.sources);
  free(x.first);
  return ok;
}

void tk_extract_report_free(struct tk_extract_report *report) {
  if (!report) return;
  tk_diagnostics_free(report->notes);
  free(report->files);
  free(report);
}
