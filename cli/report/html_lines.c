/* html_lines.c - the timelines of the report's page: what each device did, and, for hosts without devices, what the host did and the
 * spans of its threads. page/report.js zooms all of them together. */
#include "html.h"
#include "print/html.h"
#include "print/tty.h"
#include "shared/figures.h"

#include <stdlib.h>
#include <string.h>

/* ---- one line ---- */

/* Draws the bars of one class. Adjacent bars with the same position and height are joined. */
static void draw_class(FILE *to, const uint16_t *strip, int class) {
  fprintf(to, "<path class=c%d d=\"", class);
  for (int i = 0, k; i < TK_REPORT_BINS; i = k) {
    int below = 0;
    for (int c = 0; c < class; c++) below += strip[3 * i + c];
    const int high = strip[3 * i + class];
    for (k = i + 1; k < TK_REPORT_BINS && strip[3 * k + class] == high; k++) {
      int other = 0;
      for (int c = 0; c < class; c++) other += strip[3 * k + c];
      if (other != below) break;
    }
    if (high > 0) fprintf(to, "M%d %dv-%dh%dv%dz", i, 1000 - below, high, k - i, high);
  }
  fputs("\"/>", to);
}

static bool is_line(const struct tk_report_rank *row) { return row->strip || row->over_time; }

/* Computes the time range of all rows. Returns true if the range is less than four times the longest row: the clocks are then
 * taken as comparable, and all rows share one time axis. */
static bool common_range(const struct tk_report *r, double *start, double *length) {
  double from = 0, to = 0, longest = 0;
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    const double begin = (double)row->start_ns, end = begin + (double)row->length / 1e3;
    if (!is_line(row)) continue;
    if (!any || begin < from) from = begin;
    if (!any || end > to) to = end;
    if ((double)row->length / 1e3 > longest) longest = (double)row->length / 1e3;
    any = true;
  }
  *start = from;
  *length = to - from;
  return any && to - from < 4 * longest;
}

/* The time axis of a row. bins: number of bins of TK_REPORT_BINS that the axis has; first: bin in which the row begins. */
struct axis {
  long first, bins;
};

static struct axis axis_of(const struct tk_report_rank *row, double start, double length) {
  const double own = (double)row->length / 1e3;
  const long bins = own > 0 ? (long)(length * TK_REPORT_BINS / own) : 0;
  const long first = own > 0 ? (long)(((double)row->start_ns - start) * TK_REPORT_BINS / own) : 0;
  return (struct axis){ first, bins > 0 ? bins : TK_REPORT_BINS };
}

static void begin_line(FILE *to, const char *name, const char *label) {
  fputs("<div class=row><div>", to);
  html_string(to, name);
  fprintf(to, "</div><svg role=img aria-label=\"%s\" preserveAspectRatio=\"none\"", label);
}

static void end_line(FILE *to) { fputs("</svg></div>\n", to); }

static void device_line(FILE *to, const struct tk_report_rank *row, const char *name, struct axis axis) {
  begin_line(to, name, "timeline");
  fprintf(to, " viewBox=\"%ld 0 %ld 1000\">", -axis.first, axis.bins);
  for (int class = 0; class < 3; class++) draw_class(to, row->strip, class);
  end_line(to);
}

/* ---- hosts ---- */

/* Returns the share of one part of the time in a bin, and of all parts before it, in per mille. */
static int part_share(const struct tk_report_split *s, size_t part, int *below) {
  tk_time before = 0;
  for (size_t k = 0; k < part; k++) before += figure_part(s, k);
  *below = s->length > 0 ? (int)((double)before * 1000 / (double)s->length + .5) : 0;
  return s->length > 0 ? (int)((double)(before + figure_part(s, part)) * 1000 / (double)s->length + .5) - *below : 0;
}

/* Draws one part of the host's time; equal bars next to each other are joined. */
static void draw_part(FILE *to, const struct tk_report_split *v, size_t part) {
  fprintf(to, "<path class=s%zu d=\"", part);
  for (int i = 0, k; i < TK_REPORT_BINS; i = k) {
    int below, other;
    const int high = part_share(&v[i], part, &below);
    for (k = i + 1; k < TK_REPORT_BINS && part_share(&v[k], part, &other) == high && other == below;) k++;
    if (high > 0) fprintf(to, "M%d %dv-%dh%dv%dz", i, 1000 - below, high, k - i, high);
  }
  fputs("\"/>", to);
}

static void host_line(FILE *to, const struct tk_report_rank *row, const char *name, struct axis axis) {
  begin_line(to, name, "activity of the host");
  fprintf(to, " viewBox=\"%ld 0 %ld 1000\">", -axis.first, axis.bins);
  for (size_t k = 0; k < FIGURE_UNRECORDED; k++) draw_part(to, row->over_time, k);
  end_line(to);
}

/* ---- threads ---- */

enum { COLOURS = 10, OTHERS = 11 }; /* names with a colour of their own; class of all others, which are grey */

/* The names in the lanes of all threads, those that cover the most first. */
struct palette {
  struct shade {
    const char *name; /* names are equal if their addresses are: each row's names are interned */
    uint64_t covered;
  } *v;
  size_t n;
};

static int by_covered(const void *p, const void *q) {
  const struct shade *a = p, *b = q;
  if (a->covered != b->covered) return a->covered > b->covered ? -1 : 1;
  return strcmp(a->name, b->name);
}

static int by_text(const void *p, const void *q) {
  const struct shade *a = p, *b = q;
  return strcmp(a->name, b->name);
}

static size_t count_bins(const struct tk_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_ranks; i++) n += r->ranks[i].n_lanes * TK_REPORT_BINS;
  return n;
}

static void add_shades(struct palette *p, const struct tk_report_rank *row) {
  for (size_t i = 0; i < row->n_lanes; i++)
    for (int k = 0; k < TK_REPORT_BINS; k++)
      if (row->lanes[i].names[k]) p->v[p->n++] = (struct shade){ row->lanes[i].names[k], row->lanes[i].shares[k] };
}

/* Returns false if there are no lanes, or if memory runs out. The caller frees p->v in any case. */
static bool make_palette(const struct tk_report *r, struct palette *p) {
  size_t n = 0;
  *p = (struct palette){ calloc(count_bins(r) + 1, sizeof *p->v), 0 };
  for (size_t i = 0; p->v && i < r->n_ranks; i++) add_shades(p, &r->ranks[i]);
  if (!p->n) return false;
  qsort(p->v, p->n, sizeof *p->v, by_text);
  for (size_t i = 1; i < p->n; i++) {
    if (strcmp(p->v[n].name, p->v[i].name) == 0) p->v[n].covered += p->v[i].covered;
    else p->v[++n] = p->v[i];
  }
  p->n = n + 1;
  qsort(p->v, p->n, sizeof *p->v, by_covered);
  return true;
}

/* Returns the number of a name's colour. */
static size_t colour_of(const struct palette *p, const char *name) {
  size_t k = 0;
  while (k < COLOURS && k < p->n && strcmp(p->v[k].name, name) != 0) k++;
  return k < COLOURS ? k : OTHERS;
}

static void palette_key(FILE *to, const struct palette *p) {
  fputs("<div class=key>", to);
  for (size_t k = 0; k < p->n && k < COLOURS; k++) {
    fprintf(to, "<span><i class=s%zu></i>", k);
    html_string(to, p->v[k].name);
    fputs("</span>", to);
  }
  if (p->n > COLOURS) fprintf(to, "<span><i class=s%d></i>others</span>", OTHERS);
  fputs("</div>\n", to);
}

enum { LANE = 1000 }; /* height of a lane */

/* Draws a span, or spans of one name in adjacent bins: bins [from, end). Returns the end. */
static int draw_span(FILE *to, const struct tk_report_lane *l, size_t lane, int from) {
  const int high = 100 + 8 * l->shares[from] / 10;
  int end = from + 1;
  while (end < TK_REPORT_BINS && l->names[end] == l->names[from] && 100 + 8 * l->shares[end] / 10 == high) end++;
  fprintf(to, "M%d %zuv-%dh%dv%dz", from, (lane + 1) * LANE, high, end - from, high);
  return end;
}

/* Draws all spans with the name of bin `at` of lane `first`, unless an earlier bin has this name. */
static void draw_name(FILE *to, const struct tk_report_lane *l, int at, size_t lane, const struct palette *p) {
  const char *name = l->names[at];
  for (int i = 0; i < at; i++)
    if (l->names[i] == name) return;
  fprintf(to, "<path class=s%zu d=\"", colour_of(p, name));
  for (int i = at; i < TK_REPORT_BINS;) {
    if (l->names[i] == name) i = draw_span(to, l, lane, i);
    else i++;
  }
  fputs("\"><title>", to);
  html_string(to, name);
  fputs("</title></path>", to);
}

/* Draws the n lanes of one thread below each other, the outermost spans on top. */
static void thread_line(FILE *to, const struct tk_report_lane *v, size_t n, struct axis axis, const struct palette *p) {
  begin_line(to, v->thread, "spans of a thread");
  fprintf(to, " style=\"height:%zupx\" viewBox=\"%ld 0 %ld %zu\">", 14 * n, -axis.first, axis.bins, n * LANE);
  for (size_t k = 0; k < n; k++)
    for (int i = 0; i < TK_REPORT_BINS; i++)
      if (v[k].names[i]) draw_name(to, &v[k], i, k, p);
  end_line(to);
}

static void threads_of(FILE *to, const struct tk_report_rank *row, struct axis axis, const struct palette *p) {
  for (size_t i = 0, end; i < row->n_lanes; i = end) {
    for (end = i + 1; end < row->n_lanes && row->lanes[end].depth > row->lanes[end - 1].depth;) end++;
    thread_line(to, row->lanes + i, end - i, axis, p);
  }
}

/* ---- the section ---- */

static void keys(FILE *to, const struct tk_report *r, const struct palette *p) {
  bool shown[FIGURE_PARTS] = { false }, device = false, host = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    device = device || r->ranks[i].strip;
    for (size_t k = 0; k < FIGURE_UNRECORDED && r->ranks[i].over_time; k++)
      for (int b = 0; b < TK_REPORT_BINS; b++) shown[k] = shown[k] || figure_part(&r->ranks[i].over_time[b], k) > 0;
  }
  if (device) fputs("<div class=key><span><i class=c0></i>computation</span><span><i class=c1></i>exposed communication</span><span><i "
        "class=c2></i>exposed copies and fills</span><span><i class=i0></i>idle</span></div>\n", to);
  for (size_t k = 0; k < FIGURE_PARTS; k++) host = host || shown[k];
  if (host) html_part_key(to, shown);
  if (p->n) palette_key(to, p);
}

/* Writes what the lanes leave out. */
static void say_hidden(FILE *to, const struct tk_report *r) {
  uint64_t threads = 0, spans = 0;
  char a[64], b[64];
  for (size_t i = 0; i < r->n_ranks; i++) {
    threads += r->ranks[i].other_threads;
    spans += r->ranks[i].deeper_spans;
  }
  if (!threads && !spans) return;
  tty_counted(threads, "thread", a);
  tty_counted(spans, "span", b);
  fprintf(to, "<p>Not drawn: %s%s%s%s%s.</p>\n", threads ? a : "", threads ? " with less time" : "", threads && spans ? ", " : "",
          spans ? b : "", spans ? " at greater depths" : "");
}

static void line_of(FILE *to, const struct tk_report *r, const struct tk_report_rank *row, struct axis axis, const struct palette *p) {
  char name[256];
  figure_report_name(r, row, name, sizeof name);
  if (row->strip) device_line(to, row, name, axis);
  if (!row->over_time) return;
  host_line(to, row, name, axis);
  threads_of(to, row, axis, p);
}

void html_lines(FILE *to, const struct tk_report *r) {
  double start, length;
  size_t lines = 0;
  char words[256], text[48];
  struct palette palette = { NULL, 0 };
  for (size_t i = 0; i < r->n_ranks; i++) lines += is_line(&r->ranks[i]);
  if (!lines) return;
  const bool common = common_range(r, &start, &length), threads = make_palette(r, &palette);
  tk_print_duration((tk_time)(length * 1e3), text);
  if (common) snprintf(words, sizeof words, "%s from left to right%s.%s", text, lines > 1 ? "; all ranks share this time axis" : "",
                       threads ? " Threads: nested spans are below the span around them. A low bar: spans cover only part of its time."
                               : "");
  else snprintf(words, sizeof words, "Each rank has its own time axis, because the clocks of these traces are not comparable.");
  html_section(to, "Timelines", words);
  keys(to, r, &palette);
  fputs("<p id=how hidden>Drag over a part to zoom in; double-click or Esc shows everything. Keys: + - and the arrows.</p>\n", to);
  fprintf(to, "<p id=range aria-live=polite></p>\n<div id=timelines role=group aria-label=\"timelines\" data-ns=\"%.0f\">\n",
          common ? length : 0);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (!is_line(row)) continue;
    const double own = (double)row->length / 1e3;
    line_of(to, r, row, axis_of(row, common ? start : (double)row->start_ns, common ? length : own), &palette);
  }
  fputs("</div>\n", to);
  say_hidden(to, r);
  html_section_end(to);
  free(palette.v);
}
