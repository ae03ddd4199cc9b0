/* file.c - tk_merge: merges inputs into a file.
 *
 * All outputs are opened before any input is read, so that the merge fails at once if an output cannot be written. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "format/format.h"
#include "base/options.h"
#include "graph/diagnostics.h"
#include "merge.h"
#include "graph.h"
#include "io/packing.h"
#include "collectives.h"
#include "share.h"
#include "shares.h"
#include "op/redact.h"
#include "run_folder.h"
#include "load/evident.h"
#include "load/save.h"
#include "source/manifest.h"
#include "source/sources.h"
#include "source/sources_beside.h"

struct merge_file {
  const struct tk_merge_options *opt;
  struct saver saver;       /* used if the output is a trace */
  struct run_folder run;    /* used if the output is a folder with a file per host */
  struct manifest manifest; /* used if the output is a tar with a manifest */
  struct out clocks;        /* report on the clocks, if the user requested one */
  struct out collectives;   /* table of collectives, if the user requested one */
  struct mem mem;
  const char **inputs;      /* paths that no output may replace, with space for one more; ends with NULL */
  size_t n_inputs;
  bool shared;              /* true if the requested size is divided among the ranks */
};

static bool open_report(struct merge_file *f, struct out *out, const char *path, const char *output, struct tk_err *err) {
  const struct out_options o = {.force = f->opt->save.force, .inputs = f->inputs};
  if (!path) return true;
  f->inputs[f->n_inputs] = output;
  if (strcmp(path, output) == 0) err_set(err, TK_EUSAGE, "is also the output of the merge; choose another name");
  else if (out_open(out, path, &o, &f->mem, err)) return true;
  return err_prefix(err, "%s", path);
}

static bool open_reports(struct merge_file *f, const char *output, struct tk_err *err) {
  const char *table = f->opt->collectives, *clocks = f->opt->align_report;
  if (table && merge_table_kind(table) == MERGE_TABLE_NONE)
    return err_set(err, TK_EUSAGE, "%s: unsupported extension; use .csv or .json for a table of collectives", table);
  if (table && clocks && strcmp(table, clocks) == 0) return err_set(err, TK_EUSAGE, "%s: is also the file of the report on "
                                                                                    "the clocks; choose another name", table);
  return open_report(f, &f->clocks, clocks, output, err) && open_report(f, &f->collectives, table, output, err);
}

/* Writes the report on the clocks; gives this report and the table of collectives their final names. A dry run also writes both,
 * because it omits only the output itself. */
static bool commit_reports(struct merge_file *f, const char *json, struct tk_err *err) {
  const char *table = f->opt->collectives;
  if (table && !out_commit(&f->collectives, err)) return err_prefix(err, "%s", table);
  if (!f->opt->align_report) return true;
  out_write(&f->clocks, json, strlen(json));
  out_write(&f->clocks, "\n", 1);
  return out_commit(&f->clocks, err) || err_prefix(err, "%s", f->opt->align_report);
}

static bool open_output(struct merge_file *f, const char *path, const char *run, struct tk_err *err) {
  const struct tk_save_options *save = &f->opt->save;
  if (f->opt->manifest) return manifest_open(&f->manifest, path, save, f->inputs, err);
  if (run_folder_is_meant(path, save)) return run_folder_open(&f->run, path, run, save, f->inputs, err);
  const size_t n = strlen(path);
  if (n && path[n - 1] == '/')
    return err_for(err, TK_OPTION_FORMAT, TK_EUSAGE, "only the format xplane can be written to a folder; name a file, or "
                                                     "select xplane");
  f->saver.several = f->n_inputs > 1;
  return save_open(&f->saver, path, save, format_default()->info.name, f->inputs, err);
}

static bool open_files(struct merge_file *f, const char *path, const char *run, struct tk_merge_report *report,
                       struct tk_err *err) {
  if (!open_output(f, path, run, err)) return err_prefix(err, "%s", path);
  if (f->opt->group_by != TK_GROUP_RANK && f->saver.format && f->saver.format->own_order) {
    char text[1024];
    snprintf(text, sizeof text, "grouping has no effect, because %s viewers sort the rows themselves", f->saver.format->info.title);
    diagnostics_say(report->notes, path, TK_NOTE_INFO, text);
  }
  return open_reports(f, path, err);
}

/* Gives the output its final name, and reports what was written. */
static bool commit_output(struct merge_file *f, const char *path, struct tk_merge_report *report, struct tk_err *err) {
  if (f->opt->manifest) return true;
  if (!f->run.format && !save_finish(&f->saver, &report->saved, err)) return false;
  if (!f->run.format && f->opt->to && !merge_fits(f->opt, report->saved.bytes, err)) return false;
  if (!f->run.format) return save_commit(&f->saver, &report->saved, err);
  if (!run_folder_commit(&f->run, &report->saved, err)) return false;
  if (strncmp(path, f->run.path, strlen(f->run.path)) == 0) return true; /* the user gave the path of the run */
  diagnostics_say(report->notes, f->run.path, TK_NOTE_INFO, f->opt->save.dry_run ? "this folder would contain the "
                                                                                   "run" : "this folder contains the run");
  return true;
}

static const struct format *format_of(const struct merge_file *f, const char *path) {
  const struct tk_save_options *save = &f->opt->save;
  const struct format *format = save->format ? format_by_word(save->format) : format_by_path(path);
  return format || save->format ? format : format_default();
}

static const struct packing *packing_of(const struct merge_file *f, const char *path) {
  const char *word = f->opt->save.format;
  const struct packing *packing = packing_of_path(path, strlen(path));
  return packing || !word ? packing : packing_of_path(word, strlen(word));
}

/* True if the requested size is divided among ranks. The format must allow writing, and so measuring, each rank separately. */
static bool has_shares(const struct merge_file *f, const char *path) {
  const struct format *format = format_of(f, path);
  const struct packing *packing = packing_of(f, path);
  return f->opt->to && f->n_inputs > 1 && format && format->in_parts && !f->opt->save.pretty && !f->opt->save.settings &&
         (!packing || packing == packing_row(PACKING_GZIP)) && !run_folder_is_meant(path, &f->opt->save);
}

/* True if the graphs must be joined in memory before they are written. This is so if a size was requested that cannot be divided among
 * ranks, or if flows connect ranks and the format's writer needs both ends of a flow at once. */
static bool is_joined_first(const struct merge_file *f, const char *path) {
  if (f->opt->to && !has_shares(f, path)) return true;
  if (!f->opt->link_collectives || run_folder_is_meant(path, &f->opt->save)) return false;
  const struct format *format = format_of(f, path);
  return format && !(format->info.holds & TK_HOLDS_DANGLING);
}

static bool merge_and_save(struct merge_file *f, const struct merge_inputs *in, const char *path, struct tk_merge_report *report,
                             struct tk_err *err) {
  const struct tk_shrink_options shrink = {.save = f->opt->save, .bytes = f->opt->to};
  struct tk_merge_options opt = *f->opt;
  struct tk_shrink_report shrunk = {.before = 0};
  if (run_folder_is_meant(path, &opt.save)) return err_set(err, TK_EUSAGE, "an output folder cannot be shrunk to a size; "
                                                                           "write a single file");
  struct tk_trace *t = trace_new(0);
  opt.derive = opt.derive && save_derives(path, &opt.save, format_default()->info.name);
  bool ok = t ? open_reports(f, path, err) : err_set(err, TK_ELIMIT, "out of memory");
  if (t) merge_name(t, path);
  ok = ok && merge_graph(t, in, &opt, opt.collectives ? &f->collectives : NULL, report, err);
  ok = ok && (opt.to ? tk_shrink(t, path, &shrink, &shrunk, err) : tk_save(t, path, &opt.save, &shrunk.saved, err));
  if (ok) {
    report->saved = shrunk.saved;
    report->events_before = shrunk.events_before;
    report->bytes_before = shrunk.before;
  }
  tk_free(t);
  return ok && commit_reports(f, report->align.json, err);
}

/* Returns the output that open_files has opened. */
static struct merge_output output_of(struct merge_file *f) {
  const struct format *format = f->run.format ? f->run.format : f->saver.format;
  struct merge_output output = {.sink = f->saver.sink, .manifest = f->opt->manifest ? &f->manifest : NULL};
  if (f->run.format) output.run = &f->run;
  if (f->saver.format) output.saver = &f->saver;
  if (f->opt->collectives) output.collectives = &f->collectives;
  if (!format) return output;
  output.needs_start = format->needs_start;
  output.own_order = format->own_order;
  output.keeps_ids = format->keeps_ids;
  return output;
}

static bool merge_files(struct merge_file *f, const struct merge_inputs *in, const char *path, struct tk_merge_report *report,
                        struct tk_err *err) {
  if (!merge_report_init(report, in->n, err) || !merge_check_options(f->opt, in->n, err)) return false;
  f->inputs = calloc(in->n + 2, sizeof *f->inputs);
  f->n_inputs = in->n;
  if (!f->inputs) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < in->n; i++) f->inputs[i] = sources_path(in->sources, in->first + i);
  if (is_joined_first(f, path)) return merge_and_save(f, in, path, report, err);
  struct merge_inputs all = *in;
  if (f->shared) all.weighed = format_of(f, path), all.packed = packing_of(f, path) != NULL;
  char run[NAME_MAX + 1];
  redact_run(f->opt->redact, in->sources->inputs[in->first].run, run, sizeof run);
  if (!open_files(f, path, run, report, err)) return false;
  struct merge_output output = output_of(f);
  if (!merge_into(&all, &output, f->opt, report, err)) return false;
  return commit_output(f, path, report, err) && commit_reports(f, report->align.json, err);
}

bool merge_inputs(const struct merge_inputs *in, const char *path, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err) {
  struct tk_err own;
  struct merge_file f = {.opt = opt, .n_inputs = in->n};
  struct tk_merge_options shared = *opt;
  if (!err) err = &own;
  err_clear(err);
  f.shared = has_shares(&f, path) && !is_joined_first(&f, path);
  if (f.shared) { /* passthrough data, which no viewer of this format shows, is dropped first, rather than events */
    shared.save.no_passthrough = true;
    f.opt = &shared;
  }
  bool ok = merge_files(&f, in, path, report, err);
  save_close(&f.saver);
  run_folder_close(&f.run);
  out_close(&f.clocks);
  out_close(&f.collectives);
  manifest_close(&f.manifest);
  free(f.inputs);
  return ok;
}

/* Joins the recordings of each rank. A manifest copies files unchanged, so with a manifest nothing is joined, and --join is an
 * error. */
static bool find_recordings(struct tk_sources *s, const struct tk_merge_options *opt, struct tk_err *err) {
  struct source_view v;
  if (!opt->manifest) return load_join_evident(s, opt->align, &opt->load, err);
  for (size_t i = 0; i < s->n; i++)
    if (sources_recording(s, i, 0, &v))
      return err_set(err, TK_EUSAGE, "%s: cannot be joined with %s: a manifest copies inputs unchanged", v.name, s->inputs[i].name);
  return true;
}

bool tk_merge(const char *const *names, size_t n, const char *output, const struct tk_merge_options *opt,
              struct tk_merge_report **report, struct tk_err *err) {
  struct tk_merge_options merge;
  struct tk_merge_report *unused = NULL;
  if (err) err_clear(err);
  if (!report) report = &unused;
  if (!NEW_REPORT(report, err) || !TAKE_OPTIONS(&merge, opt, err)) return merge_report_drop(unused);
  struct tk_source_options options = sources_chosen(merge.source, &merge.load);
  options.by_rank = true;
  struct tk_sources *s = tk_sources_open(names, n, &options, err);
  bool ok = s && find_recordings(s, &merge, err);
  ok = ok && merge_inputs(&(struct merge_inputs){.sources = s, .n = s->n}, output, &merge, *report, err);
  tk_sources_close(s);
  tk_merge_report_free(unused);
  return ok;
}
