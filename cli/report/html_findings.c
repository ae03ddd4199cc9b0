/* html_findings.c - the sections of the page that are about findings, steps and hosts. */
#include "html.h"
#include "place.h"
#include "print/html.h"
#include "print/tty.h"
#include "shared/figures.h"

#include <stdio.h>
#include <string.h>

/* ---- findings ---- */

static void finding(FILE *to, const struct tk_report *r, const struct tk_report_finding *f) {
  const struct place place = { f->input, f->rank, f->at, f->length };
  const bool bad = strcmp(f->severity, "bad") == 0;
  char at[48] = "+";
  fprintf(to, "<div class=\"finding%s\"><b>%s</b>", bad ? " severe" : "", f->severity);
  html_string(to, f->text);
  fputs("<p>", to);
  if (f->has_step) fprintf(to, "Step %lld%s", (long long)f->step, f->length < 0 ? ": " : ", ");
  if (f->length >= 0) {
    tk_print_duration(f->at, at + 1);
    fputs("at ", to);
    place_draw(to, r, &place, at);
    fputs(": ", to);
  }
  html_string(to, f->advice);
  fputs("</p></div>\n", to);
}

void html_findings(FILE *to, const struct tk_report *r) {
  char reason[200];
  snprintf(reason, sizeof reason, "Not judged: %s.", r->unjudged ? r->unjudged : "");
  html_section(to, "Findings", r->unjudged ? reason
                          : r->n_findings  ? "Figures beyond their thresholds, most severe first."
                                           : "No figure that these traces contain is beyond its threshold.");
  for (size_t i = 0; i < r->n_findings; i++) finding(to, r, &r->findings[i]);
  html_section_end(to);
}

/* ---- key figures ---- */

static void cell_verdict(struct html_table *t, const char *verdict) {
  static const char *const VERDICTS[] = { "good", "warning", "bad" };
  html_cell_begin(t);
  for (int i = 0; i < 3; i++)
    if (strcmp(verdict, VERDICTS[i]) == 0) fprintf(t->to, "<b class=v%d>%s</b>", i, verdict);
  html_cell_end(t);
}

void html_figures(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = { { "figure", false, true }, { "value", false, false }, { "verdict", false, true },
                                                { "good if", false, true }, { "worst device", false, true }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[64], number[32], who[128];
  if (!figures_are_judged(r)) return;
  html_section(to, "Key figures",
               "Figures of devices are those of the device with the worst one. The limits are those of a guide: they do not fit every "
               "program.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_figures; i++) {
    const struct tk_report_figure *f = &r->figures[i];
    if (f->known) snprintf(text, sizeof text, "%s %s", tty_fraction(f->value, figure_decimals(f), number), f->unit);
    else snprintf(text, sizeof text, "unknown");
    figure_device(f, who, sizeof who);
    html_cell(&t, f->name);
    html_cell(&t, text);
    cell_verdict(&t, f->verdict);
    html_cell(&t, f->good);
    html_cell(&t, who);
  }
  html_table_end(&t);
  html_section_end(to);
}

/* ---- parts of a step ---- */

static const char *const PART_NAMES[FIGURE_PARTS] = {
  "computation", "exposed communication", "exposed copies and fills", "input", "compilation", "launch calls", "other runtime calls",
  "host: operators, Python", "host waits for the device", "host sleeps, waits for locks, collects garbage or saves checkpoints",
  "nothing recorded" };

void html_part_key(FILE *to, const bool *shown) {
  fputs("<div class=key>", to);
  for (size_t k = 0; k < FIGURE_PARTS; k++)
    if (shown[k]) fprintf(to, "<span><i class=s%zu></i>%s</span>", k, PART_NAMES[k]);
  fputs("</div>\n", to);
}

/* Draws a bar whose segments are the parts; a segment shows its share when the pointer is on it. */
static void part_bar(FILE *to, const struct tk_report_split *s) {
  char share[32], width[32];
  fputs("<div class=bar>", to);
  for (size_t k = 0; k < FIGURE_PARTS; k++) {
    const double percent = 100 * (double)figure_part(s, k) / (double)s->length;
    if (percent <= 0) continue;
    fprintf(to, "<i class=s%zu style=\"width:%s%%\" title=\"%s: %s %%\"></i>", k, tty_fraction(percent, 3, width), PART_NAMES[k],
            tty_fraction(percent, 1, share));
  }
  fputs("</div>", to);
}

/* Draws a stacked bar for each of the first 600 steps; the height is the duration relative to the longest step. */
static void draw_parts(FILE *to, const struct tk_report_rank *row) {
  enum { MOST = 600 };
  const size_t n = row->n_steps < MOST ? row->n_steps : MOST;
  fprintf(to, "<svg role=img aria-label=\"parts of steps\" preserveAspectRatio=\"none\" viewBox=\"0 0 %zu 1000\">", n * 10);
  for (size_t k = 0; k < FIGURE_PARTS; k++) {
    fprintf(to, "<path class=s%zu d=\"", k);
    for (size_t i = 0; i < n && row->step.max > 0; i++) {
      const struct tk_report_split *s = &row->steps[i].split;
      tk_time below = 0;
      for (size_t b = 0; b < k; b++) below += figure_part(s, b);
      const double scale = 1000 / (double)row->step.max;
      const long bottom = (long)((double)below * scale), top = (long)((double)(below + figure_part(s, k)) * scale);
      if (top > bottom) fprintf(to, "M%zu %ldv-%ldh8v%ldz", i * 10 + 1, 1000 - bottom, top - bottom, top - bottom);
    }
    fputs("\"/>", to);
  }
  fputs("</svg>", to);
}

void html_parts(FILE *to, const struct tk_report *r) {
  char name[256];
  bool shown[FIGURE_PARTS] = { false }, any = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_split s = figure_steps(&r->ranks[i]);
    any = any || s.length;
    for (size_t k = 0; k < FIGURE_PARTS; k++) shown[k] = shown[k] || figure_part(&s, k);
  }
  if (!any) return;
  html_section(to, "Parts of the steps", "What the device did; while it was idle, what the host did. The sum of "
                                          "all steps, and below it each step.");
  html_part_key(to, shown);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_split s = figure_steps(&r->ranks[i]);
    if (!s.length) continue;
    fputs("<div class=row><div>", to);
    figure_report_name(r, &r->ranks[i], name, sizeof name);
    html_string(to, name);
    fputs("</div><div>", to);
    part_bar(to, &s);
    if (r->ranks[i].n_steps > 1) draw_parts(to, &r->ranks[i]);
    fputs("</div></div>\n", to);
  }
  html_section_end(to);
}

/* ---- hosts ---- */

void html_annotations(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "annotation", false, true }, { "total", false, false }, { "% of parent", false, false }, { "self", true, false },
    { "count", false, false }, { "mean", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char name[600];
  if (r->n_annotations == 0) return;
  html_section(to, "Annotations", "Modules, steps and annotations of hosts; dots show how deep they are nested.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_annotations && i < 2 * top; i++) {
    const struct tk_report_annotation *a = &r->annotations[i];
    size_t n = 0;
    for (uint32_t d = 0; d < a->depth && d < 40; d++) n += (size_t)snprintf(name + n, sizeof name - n, "· ");
    snprintf(name + n, sizeof name - n, "%s", a->name);
    html_cell(&t, name);
    html_cell_total(&t, true, a->total);
    html_cell_percent(&t, a->of_parent, 1);
    html_cell_total(&t, true, a->self);
    html_cell_count(&t, a->count);
    html_cell_time(&t, true, a->mean);
  }
  html_table_end(&t);
  html_section_end(to);
}

void html_operators(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "host", false, true }, { "kind", true, false }, { "self", false, false }, { "% of self", false, false },
    { "self per step", true, false }, { "total", true, false }, { "count", false, false }, { "mean", true, false },
    { "max", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  if (r->n_ops == 0) return;
  html_section(to, "Host time by name", "Operators, runtime calls and functions by self time: the time in which one of them was the "
                                   "innermost span of its thread.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_ops && i < top; i++) {
    const struct tk_report_op *o = &r->ops[i];
    html_cell(&t, o->name);
    html_cell(&t, o->kind);
    html_cell_total(&t, true, o->self);
    html_cell_percent(&t, o->of_sum, 1);
    html_cell_time(&t, o->has_steps, o->per_step);
    html_cell_total(&t, true, o->total);
    html_cell_count(&t, o->count);
    html_cell_time(&t, true, o->mean);
    html_cell_time(&t, true, o->max);
  }
  html_table_end(&t);
  html_section_end(to);
}

/* ---- idle times ---- */

void html_gaps(FILE *to, const struct tk_report *r, size_t top, bool full_names) {
  static const struct html_column columns[] = {
    { "device", false, true }, { "length", false, false }, { "at", false, false }, { "cause", true, false },
    { "after work", false, true }, { "before work", false, true }, { "host", false, true },
    { "host, time", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[256];
  if (r->n_gaps == 0) return;
  html_section(to, "Longest idle times", "Cause: as in the table of idle time. Host: the innermost span over at least "
                                     "half of the time; without one, the time is the most that spans of one name cover.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_gaps && i < top; i++) {
    const struct tk_report_gap *g = &r->gaps[i];
    figure_gap_device(r, g, text, sizeof text);
    html_cell(&t, text);
    html_cell_time(&t, true, g->length);
    place_cell_start(&t, r, &(struct place){ g->input, g->rank, g->at, g->length });
    html_cell(&t, *g->cause ? g->cause : "–");
    html_cell_name(&t, full_names ? g->before : g->short_before, g->before);
    html_cell_name(&t, full_names ? g->after : g->short_after, g->after);
    html_cell(&t, *g->host_span ? g->host_span : "–");
    html_cell_time(&t, g->host_time > 0, g->host_time);
  }
  html_table_end(&t);
  html_section_end(to);
}

/* ---- compilations ---- */

void html_compilations(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "module", false, true }, { "length", false, false }, { "at", false, false }, { "step", false, false },
    { "function", true, true }, { "rank", true, false }, { "span", true, true }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[64];
  if (r->n_compilations == 0) return;
  html_section(to, "Compilations",
               "The longest compilations of the hosts. Those that ran within the time of another one are its parts.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_compilations && i < top; i++) {
    const struct tk_report_compilation *c = &r->compilations[i];
    html_cell(&t, *c->module ? c->module : "–");
    html_cell_time(&t, true, c->length);
    place_cell_start(&t, r, &(struct place){ c->input, c->rank, c->at, c->length });
    if (c->has_step) snprintf(text, sizeof text, "%lld", (long long)c->step);
    html_cell(&t, c->has_step ? text : "–");
    html_cell(&t, *c->function ? c->function : "–");
    if (c->rank >= 0) snprintf(text, sizeof text, "%lld", (long long)c->rank);
    html_cell(&t, c->rank >= 0 ? text : "–");
    html_cell(&t, c->name);
  }
  html_table_end(&t);
  html_section_end(to);
}
