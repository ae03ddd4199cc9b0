/* diff.c - tracekit diff: compares two runs; prints a table, JSON (schemas/diff.schema.json) or CSV. The code in cli/diff/
 * prints comparisons of more than two runs, and all HTML pages. */
#include "shared/annotate.h"
#include "commands.h"
#include "diff/html.h"
#include "diff/pair.h"
#include "diff/runs.h"
#include "shared/expect.h"
#include "shared/full_names.h"
#include "shared/select.h"
#include "shared/write.h"
#include "print/tty.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct params {
  struct selected selected;
  const char *by, *over, *html;
  struct opt_list before, after, fail_if, label;
  int top, annotations, match;
  bool fold, csv, whole, full_names;
};

#define FIELD(field) offsetof(struct params, field)

enum { MATCH_NAME, MATCH_TREE };

static const struct opt_word match_words[] = {
  { "name", MATCH_NAME, "by name" },
  { "tree", MATCH_TREE, "by the path of operators that launched it, for devices or versions whose kernels have other names" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_LIST, 0, "before", "INPUT", "an input from the earlier (baseline) run; repeatable, replaces BEFORE AFTER",
    FIELD(before), 0, 0, 0 },
  { OPT_LIST, 0, "after", "INPUT", "an input of the run after; repeatable", FIELD(after), 0, 0, 0 },
  { OPT_STRING, 0, "by", "WHAT", "group rows by: name (default), path, cat, process, track, stream, phase, "
                                            "op, module, class (of device work, leaving out all else) or arg.KEY", FIELD(by),
    0, 0, 0 },
  { OPT_WORD, 0, "match", "HOW", "how to match kernels, copies and fills between runs", FIELD(match), match_words, 0, 0 },
  { OPT_STRING, 0, "over", "DIR", "compare all runs in a folder, in natural order, and find lasting changes", FIELD(over), 0, 0, 0 },
  { OPT_LIST, 0, "label", "NAME", "name of the next run in the output (default: its folder or file); repeatable",
    FIELD(label), 0, 0, 0 },
  { OPT_FILE, 0, "html", "FILE", "write a self-contained HTML page, without references to the network or to other "
                                 "files", FIELD(html), 0, 0, 0 },
  ROW_FORCE,
  { OPT_FLAG, 0, "fold", 0, "combine names that differ only in numbers or template arguments: fusion.*, add<*>(float*)", FIELD(fold),
    0, 0, 0 },
  { OPT_FLAG, 0, "whole", 0, "compare whole ranks instead of training steps", FIELD(whole), 0, 0, 0 },
  { OPT_LIST, 0, "fail-if", "EXPR",
    "exit with status 1 if this holds, such as 'total > 5%', 'mean(step) > 150ms', 'count(cudaLaunchKernel) > 1.1x'",
    FIELD(fail_if), 0, 0, 0 },
  { OPT_WORD, 0, "annotations", "FORM", "print the findings in the format of a CI service", FIELD(annotations),
    annotate_words, 0, 0 },
  { OPT_INT, 0, "top", "N", "show only the N rows with the largest change (default: 30; JSON and CSV: all)", FIELD(top), 0, 1,
    1000000000 },
  { OPT_FLAG, 0, "csv", 0, "print the rows as CSV", FIELD(csv), 0, 0, 0 },
  ROW_FULL_NAMES(struct params, full_names),
  ROWS_SELECT,
  ROW_ALLOW_EMPTY,
  ROW_KEEP_GOING,
  ROW_JSON,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit diff rank0.json.gz rank1.json.gz", "show what changed per step between two runs" },
  { "tracekit diff rank0.json.gz rank1.json.gz --kind op --fold", "show which operators changed" },
  { "tracekit diff nightly/run1.json.gz nightly/run2.json.gz nightly/run3.json.gz --html runs.html",
    "compare three runs on a page" },
  { "tracekit diff rank0.json.gz rank1.json.gz --match tree --kind kernel",
    "compare kernels whose names differ by the operators that launched them" },
  { "tracekit diff --over nightly --kind op", "show which operators changed over a folder of runs, and when" },
  { "tracekit diff --before rank0.json.gz --after rank1.json.gz --fail-if 'total > 1000%'", "fail if the run became slower" },
  { 0, 0 },
};

/* ---- conditions ---- */

struct change {
  double before, after;
  bool known, is_noise;
};

struct run {
  const struct params *p;
  struct tk_sources *sides[2];
  struct expect *expects;
  struct tk_report *figures[2]; /* reports of both runs, filled if asks_figures */
  bool asks_figures;
  const char *after; /* name of the run after; NULL = there is only one run */
};

static struct change of_row(const struct expect *e, const struct tk_diff_row *r) {
  const bool count = e->function == EXPECT_COUNT, self = e->function == EXPECT_SELF;
  struct change c = { .known = r->events[0] + r->events[1] > 0, .is_noise = !count && !self && tk_diff_state(r) == TK_DIFF_NOISE };
  c.before = count ? r->count[0] : self ? r->self[0] : r->total[0];
  c.after = count ? r->count[1] : self ? r->self[1] : r->total[1];
  return c;
}

/* Sums the rows whose name matches the glob. Noise is known only if a single row matches. */
static struct change of_names(const struct expect *e, const struct tk_diff_report *r) {
  struct tk_diff_row sum = { .noise = -1 };
  size_t n = 0;
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct tk_diff_row *v = &r->rows[i];
    if (!v->name || fnmatch(e->name, v->name, 0) != 0) continue;
    n++;
    for (int side = 0; side < 2; side++) {
      sum.events[side] += v->events[side];
      sum.count[side] += v->count[side];
      sum.total[side] += v->total[side];
      sum.self[side] += v->self[side];
    }
    sum.delta += v->delta;
    sum.noise = n == 1 ? v->noise : -1;
  }
  struct change c = of_row(e, &sum);
  if (e->function != EXPECT_MEAN) return c;
  c.before = sum.count[0] > 0 ? c.before / sum.count[0] : 0;
  c.after = sum.count[1] > 0 ? c.after / sum.count[1] : 0;
  return c;
}

static double of_spread(const struct expect *e, const struct tk_report_spread *s) {
  switch (e->function) {
    case EXPECT_COUNT: return (double)s->count;
    case EXPECT_TOTAL: return (double)s->mean * (double)s->count;
    case EXPECT_MIN: return (double)s->min;
    case EXPECT_MAX: return (double)s->max;
    case EXPECT_P50: return (double)s->p50;
    case EXPECT_P95: return (double)s->p95;
    case EXPECT_DEVIATION: return (double)s->deviation;
    default: return (double)s->mean;
  }
}

/* Stores in *v the mean of the figure over all ranks, or the key figure of the run. Returns false if there are no ranks or any
 * rank lacks the figure. */
static bool of_figure(const struct expect *e, const struct tk_report *r, double *v) {
  double one;
  bool known = r->n_ranks > 0;
  if (e->key) return figure_key_value(e->key, r, v) != NULL;
  *v = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    known = figure_value(e->figure, &r->ranks[i], &one) && known;
    *v += known ? one / (double)r->n_ranks : 0;
  }
  return known;
}

static struct change change_of(const struct expect *e, const struct run *run, const struct tk_diff_report *r) {
  struct change c = { 0 };
  if (e->figure || e->key) {
    c.known = of_figure(e, run->figures[0], &c.before) && of_figure(e, run->figures[1], &c.after);
    return c;
  }
  if (!e->name) return of_row(e, r->all);
  if (!expect_is_step(e)) return of_names(e, r);
  c = (struct change){ of_spread(e, &r->steps[0]), of_spread(e, &r->steps[1]), r->by_step, false };
  c.is_noise = e->function == EXPECT_MEAN && r->by_step && tk_diff_state(r->step) == TK_DIFF_NOISE;
  return c;
}

/* Returns the value to compare: the ratio, the relative change or the value after. A percentage means a change unless the
 * figure is itself a percentage. */
static double value_of(const struct expect *e, const struct change *c) {
  if (e->unit == EXPECT_RATIO) return c->before > 0 ? c->after / c->before : c->after > 0 ? INFINITY : 1;
  if (e->unit == EXPECT_PERCENT && expect_unit(e) != EXPECT_PERCENT)
    return c->before > 0 ? 100 * (c->after - c->before) / c->before : c->after > 0 ? INFINITY : 0;
  return c->after;
}

static int judge(const struct expect *e, const struct run *run, const struct tk_diff_report *r, struct annotations_of *found) {
  const struct change c = change_of(e, run, r);
  const bool relative = e->unit == EXPECT_RATIO || (e->unit == EXPECT_PERCENT && expect_unit(e) != EXPECT_PERCENT);
  const bool holds = c.known && expect_holds(e, value_of(e, &c)), noise = holds && relative && c.is_noise;
  char before[64], after[64], said[256];
  if (c.known)
    snprintf(said, sizeof said, "%s before, %s after%s%s%.60s", expect_print(e, c.before, before), expect_print(e, c.after, after),
             noise ? ", which is within the noise" : "", run->after ? " in " : "", run->after ? run->after : "");
  else snprintf(said, sizeof said, "not available in these traces");
  annotate(found, "after", e->text, said, holds && !noise, !c.known);
  if (!c.known) tty_say("--fail-if '%s': %s", e->text, said);
  else if (noise && holds) tty_say("passed: %s: %s", e->text, said);
  else if (holds) tty_fail("failed: %s: %s", e->text, said);
  return !c.known ? STATUS_INPUT : holds && !noise ? STATUS_FINDING : STATUS_DONE;
}

static int judge_all(const struct run *run, const struct tk_diff_report *r) {
  struct annotations_of found = { .as = (enum annotations)run->p->annotations, .command = "diff" };
  int worst = STATUS_DONE;
  for (size_t i = 0; i < run->p->fail_if.n; i++) {
    int status = judge(&run->expects[i], run, r, &found);
    if (status > worst) worst = status;
  }
  annotate_end(&found);
  return worst;
}

/* ---- the command ---- */

static bool print_diff(const struct params *p, const struct tk_diff_report *r) {
  const bool table = !p->csv && !p->selected.shared.json;
  size_t top = p->top ? (size_t)p->top : table ? 30 : SIZE_MAX;
  if (top > r->n_rows) top = r->n_rows;
  if (p->annotations == ANNOTATE_JUNIT) return true;
  if (p->csv) pair_print_csv(r, top);
  else if (!table) pair_print_json(r, p->by, top);
  else if (!pair_print_table(r, p->by, top, p->full_names)) return false;
  else if (!p->selected.shared.quiet) pair_print_remarks(r, top);
  fflush(stdout);
  return true;
}

static bool find_figures(struct run *run, const struct tk_diff_options *o, struct tk_err *err) {
  struct tk_report_options options = { .load = o->load, .select = o->select, .keep_going = o->keep_going };
  options.load.without = 0;
  bool ok = true;
  for (int side = 0; ok && run->asks_figures && side < 2; side++)
    ok = tk_report_sources(run->sides[side], &options, &run->figures[side], err);
  return ok;
}

static int say_nothing(const struct shared *s) {
  if (!s->quiet) tty_fail("nothing matched: no event of either run is selected");
  return STATUS_FINDING;
}

static int diff_of(struct run *run, struct tk_diff_options *o) {
  const struct shared *s = &run->p->selected.shared;
  const struct tk_top_options like = { .select = o->select, .by = o->by, .arg = o->arg };
  struct tk_diff_report *report = NULL;
  struct progress progress;
  struct tk_err err = { 0 };
  int status;
  progress_start(&progress, "comparing", NULL, s->quiet ? -1 : s->progress);
  o->load = run_load_options(s, &progress);
  const bool only_rows = run->p->csv && o->whole && !o->by_launch; /* figures of runs and launches need all args */
  o->load.without = only_rows ? select_without(s, &like) : 0;
  bool ok = tk_diff(run->sides[0], run->sides[1], o, &report, &err) && find_figures(run, o, &err);
  progress_end(&progress);
  if (ok) run_notes(s, NULL, report->notes);
  if (!ok) status = run_fail(&err);
  else if (!report->n_rows && select_is_asked(&o->select) && !run->p->selected.selection.allow_empty) status = say_nothing(s);
  else status = print_diff(run->p, report) ? judge_all(run, report) : STATUS_INPUT;
  tk_diff_report_free(report);
  tk_report_free(run->figures[0]);
  tk_report_free(run->figures[1]);
  return status;
}

static int sides_and_diff(struct run *run, struct tk_diff_options *o, const struct operands *sides) {
  int status = STATUS_USAGE;
  run->sides[0] = run_sources(&run->p->selected.shared, "diff", &sides[0], &status);
  run->sides[1] = run->sides[0] ? run_sources(&run->p->selected.shared, "diff", &sides[1], &status) : NULL;
  if (run->sides[1]) status = diff_of(run, o);
  tk_sources_close(run->sides[0]);
  tk_sources_close(run->sides[1]);
  return status;
}

/* Compares two runs, which are named, like several runs, by the parts of their paths that differ. */
static int open_and_diff(struct run *run, struct tk_diff_options *o, const struct operands *sides) {
  struct runs named = { .n = 0 };
  const struct opt_list none = { .n = 0 };
  bool ok = true;
  for (int side = 0; ok && side < 2; side++) ok = runs_add_inputs(&named, sides[side].v, sides[side].n);
  ok = ok && runs_name(&named, &none);
  o->names = (const char *const *)named.names;
  const int status = ok ? sides_and_diff(run, o, sides) : run_no_memory();
  runs_free(&named);
  return status;
}

/* ---- several runs ---- */

/* Stores in *v the comparison of run number `run` with the first run, for --fail-if. Returns the rows of *v, which the caller
 * frees; NULL if memory runs out. */
static struct tk_diff_row *pair_of(const struct tk_compare_report *r, size_t run, struct tk_diff_report *v) {
  const struct tk_compare_row *sums[] = { r->all, r->step };
  struct tk_diff_row *rows = calloc(r->n_rows + 2, sizeof *rows);
  if (!rows) return NULL;
  *v = (struct tk_diff_report){ .rows = rows, .n_rows = r->n_rows, .all = &rows[r->n_rows], .step = &rows[r->n_rows + 1],
                                .by_step = r->by_step, .steps = { r->runs[0].steps, r->runs[run].steps } };
  for (size_t i = 0; i < r->n_rows + 2; i++) {
    const struct tk_compare_row *from = i < r->n_rows ? &r->rows[i] : sums[i - r->n_rows];
    if (!from->n_runs) continue;
    const struct tk_compare_cell *a = &from->runs[0], *b = &from->runs[run];
    rows[i] = (struct tk_diff_row){ .name = from->name, .name_len = from->name_len, .events = { a->events, b->events },
                                    .count = { a->count, b->count }, .total = { a->total, b->total }, .self = { a->self, b->self },
                                    .delta = b->delta, .noise = b->noise };
  }
  return rows;
}

/* Evaluates --fail-if for each run against the first. Returns the worst status. */
static int judge_runs(struct run *run, const struct tk_compare_report *r) {
  struct tk_diff_report pair;
  int worst = STATUS_DONE;
  for (size_t i = 1; run->p->fail_if.n && i < r->n_runs; i++) {
    struct tk_diff_row *rows = pair_of(r, i, &pair);
    if (!rows) return run_no_memory();
    run->after = r->n_runs > 2 ? r->runs[i].name : NULL;
    const int status = judge_all(run, &pair);
    if (status > worst) worst = status;
    free(rows);
  }
  return worst;
}

static int draw_page(const struct params *p, const struct tk_sources *sources, const struct tk_compare_report *r,
                     const struct runs_view *v) {
  char *text = NULL;
  size_t n = 0;
  FILE *to = tty_open_text(&text, &n);
  if (to) runs_write_html(r, v, to);
  if (!to || !tty_close_text(to, &text)) return run_no_memory();
  const bool data = p->csv || p->selected.shared.json || p->annotations == ANNOTATE_JUNIT;
  const int status = write_page(&p->selected.shared, sources, p->html, text, n, !data);
  free(text);
  return status;
}

static int print_runs(const struct params *p, const struct tk_sources *first, const struct tk_compare_report *r) {
  const bool plain = !p->csv && !p->selected.shared.json;
  struct runs_view v = { .by = p->by, .full = p->full_names, .over = p->over,
                         .top = p->top ? (size_t)p->top : plain && !p->html ? 30 : SIZE_MAX };
  if (p->html && !p->top) v.top = 100;
  if (v.top > r->n_rows) v.top = r->n_rows;
  const int status = p->html ? draw_page(p, first, r, &v) : STATUS_DONE;
  if (status || (p->html && run_is_stdout(p->html)) || p->annotations == ANNOTATE_JUNIT) return status;
  if (!p->top && !plain) v.top = r->n_rows;
  if (p->csv) runs_print_csv(r, &v);
  else if (!plain) runs_print_json(r, &v);
  else if (!p->html && !runs_print_text(r, &v, !p->selected.shared.quiet)) return STATUS_INPUT;
  fflush(stdout);
  return STATUS_DONE;
}

static int compare_sources(struct run *run, struct tk_diff_options *o, const struct runs *runs, struct tk_sources **sources) {
  const struct shared *s = &run->p->selected.shared;
  struct tk_compare_report *report = NULL;
  struct progress progress;
  struct tk_err err = { 0 };
  int status;
  progress_start(&progress, "comparing", NULL, s->quiet ? -1 : s->progress);
  o->load = run_load_options(s, &progress);
  o->trends = run->p->over;
  bool ok = tk_compare(sources, (const char *const *)runs->names, runs->n, o, &report, &err);
  progress_end(&progress);
  if (ok) run_notes(s, NULL, report->notes);
  if (!ok) status = run_fail(&err);
  else if (!report->n_rows && select_is_asked(&o->select) && !run->p->selected.selection.allow_empty) status = say_nothing(s);
  else if ((status = print_runs(run->p, sources[0], report)) == STATUS_DONE) status = judge_runs(run, report);
  tk_compare_report_free(report);
  return status;
}

/* Opens a run for --keep-going. Returns NULL if the run has no trace or cannot be read; sets *status only after an interrupt. */
static struct tk_sources *open_any(const struct shared *s, const struct operands *inputs, int *status) {
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_source_options options = run_source_options(s, &progress);
  options.by_rank = true; /* as run_sources does for diff */
  progress_start(&progress, "looking", NULL, s->quiet ? -1 : s->progress);
  struct tk_sources *sources = tk_sources_open(inputs->v, inputs->n, &options, &err);
  progress_end(&progress);
  if (sources && sources->n) return sources;
  if (!sources && err.code == TK_EINTERRUPTED) *status = run_fail(&err);
  else if (!s->quiet) tty_say("left out: %s%s", sources ? inputs->v[0] : err.msg, sources ? ": contains no trace" : "");
  tk_sources_close(sources);
  return NULL;
}

static struct tk_sources *open_run(const struct params *p, const struct operands *inputs, int *status) {
  const struct shared *s = &p->selected.shared;
  *status = STATUS_DONE;
  if (p->over && s->keep_going) return open_any(s, inputs, status);
  struct tk_sources *sources = run_sources(s, "diff", inputs, status);
  if (!sources && !*status) *status = STATUS_USAGE;
  return sources;
}

static int compare_runs(struct run *run, struct tk_diff_options *o, const struct runs *runs) {
  struct tk_sources **sources = calloc(runs->n + 1, sizeof *sources);
  struct runs found = { .names = calloc(runs->n + 1, sizeof *found.names) }; /* names belong to `runs` */
  int status = sources && found.names ? STATUS_DONE : run_no_memory();
  for (size_t i = 0; !status && i < runs->n; i++) {
    sources[found.n] = open_run(run->p, &runs->inputs[i], &status);
    if (sources[found.n]) found.names[found.n++] = runs->names[i];
  }
  if (!status && found.n < 2 && found.n < runs->n) {
    tty_fail("diff: fewer than two runs can be read");
    status = STATUS_INPUT;
  }
  if (!status) status = compare_sources(run, o, &found, sources);
  for (size_t i = 0; sources && i < found.n; i++) tk_sources_close(sources[i]);
  free(sources);
  free(found.names);
  return status;
}

/* True unless --fail-if uses keys of report --json, which need exactly two runs and no --html; prints this reason. */
static bool can_judge(const struct run *run) {
  if (!run->asks_figures) return true;
  tty_say("diff: --fail-if: keys of report --json need exactly two runs and no --html; "
          "use a function such as total(NAME) or mean(step)");
  return false;
}

static int name_and_compare(struct run *run, struct tk_diff_options *o, struct runs *runs) {
  struct shared s = run->p->selected.shared;
  int status = STATUS_USAGE;
  if (!runs_name(runs, &run->p->label)) return run_no_memory();
  if (run->p->label.n > runs->n) return run_usage("diff", "--label: more names than runs");
  if (!can_judge(run)) return status;
  s.output = run->p->html;
  for (size_t i = 0; run->p->html && i < runs->n; i++)
    if (!run_output(&s, "diff", &runs->inputs[i], &status)) return status;
  return compare_runs(run, o, runs);
}

/* Compares the runs in the folder of --over, or the runs given as operands or with --before and --after. */
static int diff_runs(struct run *run, struct tk_diff_options *o, const struct operands *in, const struct operands *sides) {
  struct runs runs = { .n = 0 };
  struct tk_err err = { 0 };
  int status;
  if (run->p->over ? !runs_of_folder(&runs, run->p->over, &err) : false) status = run_fail(&err);
  else if (!run->p->over && in->n ? !runs_of_operands(&runs, in) : false) status = run_no_memory();
  else if (runs.n == 0 && !(runs_add_inputs(&runs, sides[0].v, sides[0].n) && runs_add_inputs(&runs, sides[1].v, sides[1].n)))
    status = run_no_memory();
  else status = name_and_compare(run, o, &runs);
  runs_free(&runs);
  return status;
}

/* Takes both runs from the operands BEFORE AFTER or from --before and --after. Returns false if a run is missing or both forms
 * are used. With --over or more than two operands, only checks that --before and --after are absent. */
static bool find_sides(const struct params *p, const struct operands *in, struct operands *sides) {
  sides[0] = (struct operands){ .v = p->before.v, .n = p->before.n };
  sides[1] = (struct operands){ .v = p->after.v, .n = p->after.n };
  if (p->over) return in->n == 0 && !p->before.n && !p->after.n;
  if (in->n > 2) return !p->before.n && !p->after.n;
  if (in->n == 2 && !p->before.n && !p->after.n) {
    sides[0] = (struct operands){ .v = in->v, .n = 1 };
    sides[1] = (struct operands){ .v = in->v + 1, .n = 1 };
  }
  return sides[0].n && sides[1].n && (in->n == 0 || !p->before.n);
}

static bool read_by(const struct params *p, struct tk_diff_options *o) {
  o->by_launch = p->match == MATCH_TREE;
  if (o->by_launch && p->by && strcmp(p->by, "name") != 0) {
    tty_say("diff: --match tree compares names; it cannot be combined with --by %s", p->by);
    return false;
  }
  o->by_path = p->by && strcmp(p->by, "path") == 0;
  if (o->by_path) return true;
  if (!select_by("diff", p->by, &o->by, &o->arg)) return false;
  if (o->by != TK_TOP_KIND) return true;
  tty_say("diff: --by kind is not supported because an event can have several kinds; select one with --kind");
  return false;
}

static bool parse_conditions(struct run *run) {
  const struct opt_list *list = &run->p->fail_if;
  bool ok = run->expects != NULL;
  for (size_t i = 0; run->expects && i < list->n; i++) {
    struct expect *e = &run->expects[i];
    const bool parsed = expect_parse(e, "diff", list->v[i], true);
    run->asks_figures = run->asks_figures || e->figure || e->key;
    ok = ok && parsed;
    if (!parsed || !e->name || expect_is_step(e)) continue;
    const enum expect_function f = e->function;
    const bool can = f == EXPECT_TOTAL || f == EXPECT_SELF || f == EXPECT_COUNT || f == EXPECT_MEAN;
    if (!can) tty_say("diff: '%s': only total, self, count and mean can be tested for a name", e->text);
    ok = ok && can;
  }
  return ok;
}

/* Compares the runs, once their selection is known to be valid. */
static int check_and_diff(struct run *run, struct tk_diff_options *o, const struct operands *in, const struct operands *sides) {
  const struct params *p = run->p;
  const struct tk_filter_options asked = { .where = o->select.where, .time = o->select.time, .steps = o->select.steps };
  struct tk_err err = { 0 };
  if (!tk_filter_check(&asked, &err)) return run_fail(&err);
  return p->over || p->html || in->n > 2 || p->label.n ? diff_runs(run, o, in, sides) : open_and_diff(run, o, sides);
}

/* Checks all options before reading any input. */
static int cmd_diff(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = select_expressions(&p->selected, "diff");
  const struct tk_selection select = { .where = (const char *const *)e.v,
                                       .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step };
  struct tk_diff_options options = { .select = select, .fold = p->fold, .whole = p->whole,
                                     .keep_going = p->selected.shared.keep_going };
  struct run run = { .p = p, .expects = calloc(p->fail_if.n + 1, sizeof *run.expects) };
  struct operands sides[2];
  int status = STATUS_USAGE;
  const bool parsed = parse_conditions(&run);
  if (!run.expects) status = run_no_memory();
  else if (p->csv && p->selected.shared.json) status = run_usage("diff", "--json and --csv cannot be combined");
  else if (!find_sides(p, in, sides))
    status = run_usage("diff", "diff needs two or more runs: give BEFORE AFTER..., or --before and --after, or --over");
  else if (e.failed && !e.wrong) tty_say("out of memory");
  else if (!e.wrong && parsed && read_by(p, &options)) status = check_and_diff(&run, &options, in, sides);
  for (size_t i = 0; run.expects && i < p->fail_if.n; i++) expect_free(&run.expects[i]);
  free(run.expects);
  select_free(&e);
  return status;
}

const struct command command_diff = {
  .name = "diff",
  .group = GROUP_ANALYSE,
  .summary = "compare two or more runs; optionally fail if one is slower",
  .operands = "[BEFORE AFTER...]",
  .description =
    "Compares runs in any formats, with any number of ranks. BEFORE and AFTER can be anything that names traces (a file, a "
    "folder, an archive, @list); --before and --after may be repeated. For each name, the output shows the sums of durations "
    "before and after, averaged over all steps of all ranks, sorted by the change. If steps are not marked on both sides, or "
    "with --whole, whole ranks are compared instead of steps. A table of the runs comes first.\n"
    "\n"
    "The noise column is half the width of the 95% confidence interval of the change, estimated from the spread over steps and "
    "ranks. Steps are matched by number, or else by order if both runs have the same number of steps, so that regular "
    "variation between steps does not count as noise. ~ marks changes within the noise, ? marks rows with too few steps and "
    "ranks for an estimate.\n"
    "\n"
    "--match tree compares runs whose kernels have other names, on other devices or with other versions of a library. A "
    "kernel, copy or fill is matched by the path of operators and annotations that launched it and by its index among the work "
    "of its class that the same call launched: 'aten::linear > aten::addmm > kernel 2'. Names that differ follow the path. "
    "Work that no operator launched is matched by name.\n"
    "\n"
    "With three or more runs, each is compared with the first: a row for each name has a column for each run. --over DIR takes "
    "the folders and traces in a folder as runs in natural order and reports lasting changes: from some run on, the mean "
    "differs by more than the spread of the runs explains. The probability that chance causes such a change is printed too. "
    "--html writes a page for any number of runs. With --keep-going, inputs that cannot be read are left out with a note, and "
    "so are runs of which none can be read; the first run that remains is the baseline.\n"
    "\n"
    "--fail-if sets the exit status to 1 if the expression holds for the run after the change, or, of several runs, for any "
    "but the first. 'total > 5%' refers to the self time of all events. 'total(NAME) > 5%', and self, count and mean, refer to "
    "the events of a step whose name matches a glob. 'mean(step) > 150ms', and min, max, p50, p95, deviation and count, refer "
    "to steps. 'device_busy < 80%' refers to a key of report --json, averaged over ranks, and 'host overhead > 10%' to a key "
    "figure of report. Percentages are relative changes, unless the key itself is a percentage; 1.1x is a ratio. A change "
    "within the noise does not fail. If the expression cannot be evaluated, the exit status is 3.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_diff,
};
