/* files.c - implements tk_scan: scans the ranks that are stored on this machine. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "io/out.h"
#include "scan.h"
#include "weigh.h"
#include "names.h"
#include "file.h"
#include "source/sources.h"
#include "source/sources_parts.h"

struct scanner {
  const struct tk_scan_options *opt;
  struct tk_scan_report *report;
  struct tk_err *err;
  struct mem mem;
  struct regexp *anchor;
  struct align_anchors anchors;
  struct scan_pids pids;
  struct arena arena; /* memory for the steps and names of one rank */
  struct buf text; /* printed scan of one rank */
  struct out out;
};

static bool put(struct scanner *s) {
  out_write(&s->out, s->text.data, s->text.len);
  s->text.len = 0;
  return mem_check(&s->mem, s->err);
}

/* Prints a scan and counts it: as a rank, or as another input unless `is_rank`. */
static bool print_rank(struct scanner *s, const struct scan *scan, size_t first_note, bool is_rank) {
  const struct tk_diagnostics *notes = s->report->notes;
  const size_t n = notes->n - first_note;
  const char **said = mem_array(&s->mem, n + 1, sizeof *said);
  for (size_t i = 0; said && i < n; i++) said[i] = notes->list[first_note + i].text;
  if (said) scan_print(&s->text, scan, &s->anchors, said, n);
  mem_free(&s->mem, said);
  s->report->ranks += is_rank;
  s->report->others += !is_rank;
  s->report->anchors += s->anchors.n;
  s->report->events += scan->events;
  return put(s);
}

static bool scan_trace(struct scanner *s, struct tk_trace *t, const struct tk_input *from, uint32_t part) {
  const struct scan_options o = {.anchor = s->anchor};
  const size_t first = s->report->notes->n;
  struct scan scan;
  if (t->truncated && !s->opt->keep_truncated)
    return err_set(s->err, TK_ECORRUPT, "%s: truncated: its last events are missing", t->source);
  align_anchors_free(&s->anchors);
  align_anchors_init(&s->anchors, &s->mem);
  s->anchors.described = true;
  if (!scan_take(&scan, &s->anchors, t, &o, s->report->notes) || !scan_take_pids(&s->pids, t, &s->mem))
    return mem_refuse(&s->mem, s->err);
  const bool is_rank = scan.rank >= 0 || scan.merged;
  if (scan.compared) scan.rank = -1; /* the plan will compare the names of all inputs instead */
  if (!scan_weigh(&scan, t, NULL, s->err)) return false;
  arena_free(&s->arena);
  s->arena.mem = &s->mem;
  if (!scan_take_steps(&scan, t, &s->arena) || !scan_take_names(&scan, t, &s->arena)) return mem_refuse(&s->mem, s->err);
  scan.pids = s->pids;
  scan.part = part;
  scan.run = from->run;
  scan.step = from->step;
  return print_rank(s, &scan, first, is_rank);
}

/* True if all inputs are ranks of one file. */
static bool is_one_file(const struct tk_sources *sources) {
  for (size_t i = 0; i < sources->n; i++)
    if (sources->n > 1 && sources_part(sources, i) != i + 1) return false;
  return true;
}

static bool scan_sources(struct scanner *s, struct tk_sources *sources) {
  bool ok = !s->opt->input || is_one_file(sources) ||
            err_set(s->err, TK_EUSAGE, "%s: a name can only be given to a single input", s->opt->input);
  for (size_t i = 0; ok && i < sources->n; i++) {
    struct tk_trace *t = tk_sources_load(sources, i, &s->opt->load, s->err);
    if (t && s->opt->input) t->source = tk_string(t, trace_text(t, s->opt->input), NULL);
    if (t) diagnostics_add_notes(s->report->notes, t, t->source);
    for (const char *const *file = t ? t->files : NULL; file && *file; file++) out_restrict(&s->out, *file);
    ok = t && mem_check(&t->store->mem, s->err) && scan_trace(s, t, &sources->inputs[i], sources_part(sources, i));
    tk_free(t);
  }
  return ok;
}

/* Appends the scans of a file. Concatenating the bytes would be enough; they are only parsed to make sure that the file
 * contains scans. */
static bool join_scan(struct scanner *s, const char *path) {
  struct scan_list list = {.mem = &s->mem, .arena = {.mem = &s->mem}};
  struct align_anchors all;
  align_anchors_init(&all, &s->mem);
  bool ok = scan_read(&list, &all, path, s->report->notes, s->err);
  for (uint32_t i = 0, at = 0; ok && i < list.n; i++) {
    uint32_t from = at;
    while (at < all.n && all.v[at].input == i) at++;
    s->anchors = (struct align_anchors){.mem = &s->mem, .v = all.v + from, .n = at - from, .texts = all.texts};
    ok = print_rank(s, &list.v[i], s->report->notes->n, list.v[i].rank >= 0 || list.v[i].merged);
  }
  s->anchors = (struct align_anchors){.mem = &s->mem};
  align_anchors_free(&all);
  scan_list_free(&list);
  return ok;
}

static bool scan_all(struct scanner *s, const char *const *names, size_t n) {
  struct tk_source_options options = sources_chosen(s->opt->source, &s->opt->load);
  bool ok = true;
  options.by_rank = true;
  char why[256];
  scan_print_head(&s->text); /* written together with the first rank, whose CRC covers it */
  for (size_t i = 0; s->opt->join && ok && i < n; i++) ok = join_scan(s, names[i]);
  if (s->opt->join) return ok;
  if (s->opt->anchor && !(s->anchor = regexp_new(s->opt->anchor, &s->mem, why, sizeof why)))
    return mem_check(&s->mem, s->err) && err_set(s->err, TK_EUSAGE, "anchor '%s': %s", s->opt->anchor, why);
  struct tk_sources *sources = tk_sources_open(names, n, &options, s->err);
  ok = sources && scan_sources(s, sources) && regexp_check(s->anchor, s->err);
  regexp_free(s->anchor);
  tk_sources_close(sources);
  return ok;
}

/* Counts all inputs as ranks if none of them contains a rank. */
static void count_all(struct tk_scan_report *r) {
  if (r->ranks) return;
  r->ranks = r->others;
  r->others = 0;
}

static bool scan_to(struct scanner *s, const char *const *names, size_t n, const char *output) {
  const char **inputs = calloc(n + 1, sizeof *inputs);
  s->report->notes = diagnostics_new();
  s->mem.limit = os_memory_limit(s->opt->load.max_memory);
  s->text.mem = s->arena.mem = &s->mem;
  for (size_t i = 0; inputs && i < n; i++) inputs[i] = names[i];
  const struct out_options o = {.binary = true, .force = s->opt->save.force, .inputs = inputs};
  bool ok = (inputs && s->report->notes) || err_set(s->err, TK_ELIMIT, "out of memory");
  ok = ok && (out_open(&s->out, output, &o, &s->mem, s->err) || err_prefix(s->err, "%s", output)) && scan_all(s, names, n);
  ok = ok && diagnostics_check(s->report->notes, s->err); /* the scan also contains these notes */
  ok = ok && (out_commit(&s->out, s->err) || err_prefix(s->err, "%s", output));
  if (ok) s->report->bytes = out_file_bytes(&s->out);
  count_all(s->report);
  out_close(&s->out);
  align_anchors_free(&s->anchors);
  mem_free(&s->mem, s->pids.v);
  arena_free(&s->arena);
  buf_free(&s->text);
  free(inputs);
  return ok;
}

bool tk_scan(const char *const *names, size_t n, const char *output, const struct tk_scan_options *opt,
             struct tk_scan_report **report, struct tk_err *err) {
  struct tk_scan_options options;
  struct tk_scan_report *unused = NULL;
  struct tk_err own;
  struct scanner s = {.opt = &options, .err = err ? err : &own};
  err_clear(s.err);
  if (!report) report = &unused;
  bool ok = NEW_REPORT(report, s.err) && TAKE_OPTIONS(&options, opt, s.err);
  s.report = *report;
  ok = ok && scan_to(&s, names, n, output);
  tk_scan_report_free(unused);
  return ok;
}

void tk_scan_report_free(struct tk_scan_report *report) {
  if (report) tk_diagnostics_free(report->notes);
  free(report);
}

