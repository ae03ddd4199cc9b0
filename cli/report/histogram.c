/* histogram.c - see histogram.h. */
#include "report/histogram.h"

#include "print/html.h"
#include "shared/figures.h"

#include <string.h>

/* The first bin that is drawn begins at 131 ns and also counts all shorter durations: a launch without delay would stretch the
 * axis. */
enum { SHORTEST = 28, STEP_BINS = 40 };

static size_t histogram_first(const uint64_t *bins) {
  for (size_t i = SHORTEST; i < TK_REPORT_DURATIONS; i++)
    if (bins[i]) return i;
  return SHORTEST;
}

static uint64_t histogram_count(const struct histogram_axis *axis, const uint64_t *bins, size_t i) {
  uint64_t count = bins[axis->first + i];
  for (size_t k = 0; i == 0 && k < axis->first; k++) count += bins[k];
  return count;
}

void histogram_widen(struct histogram_axis *axis, const uint64_t *bins) {
  if (!bins) return;
  size_t first = histogram_first(bins), last = first;
  for (size_t i = 0; i < SHORTEST; i++)
    if (bins[i]) first = SHORTEST;
  for (size_t i = first; i < TK_REPORT_DURATIONS; i++)
    if (bins[i]) last = i;
  if (axis->n && axis->first < first) first = axis->first;
  if (axis->n && axis->first + axis->n - 1 > last) last = axis->first + axis->n - 1;
  *axis = (struct histogram_axis){ first, last - first + 1 };
}

/* Draws n bars next to each other. A bar of few events remains visible. */
static void draw_bars(FILE *to, const uint64_t *counts, size_t n, const char *label) {
  uint64_t most = 1;
  for (size_t i = 0; i < n; i++)
    if (counts[i] > most) most = counts[i];
  fprintf(to, "<svg role=img class=histogram aria-label=\"%s\" preserveAspectRatio=\"none\" viewBox=\"0 0 %zu 1000\">", label, n * 10);
  fputs("<path class=c0 d=\"", to);
  for (size_t i = 0; i < n; i++) {
    const unsigned high = (unsigned)((double)counts[i] * 960 / (double)most + (counts[i] ? 40 : 0));
    if (high) fprintf(to, "M%zu 1000v-%uh10v%uz", i * 10, high, high);
  }
  fputs("\"/></svg>", to);
}

void histogram_draw(FILE *to, const struct histogram_axis *axis, const uint64_t *bins, const char *label) {
  uint64_t counts[TK_REPORT_DURATIONS];
  if (!bins) return;
  for (size_t i = 0; i < axis->n; i++) counts[i] = histogram_count(axis, bins, i);
  draw_bars(to, counts, axis->n, label);
}

static tk_time histogram_edge(size_t i) { return (tk_time)(4 + i % 4) << (8 + i / 4); }

const char *histogram_ends(const struct histogram_axis *axis, char *text, size_t n) {
  char from[48], to[48];
  tk_print_duration(axis->first == SHORTEST ? 0 : histogram_edge(axis->first), from);
  tk_print_duration(histogram_edge(axis->first + axis->n), to);
  snprintf(text, n, "from %s to %s", from, to);
  return text;
}

void histogram_delays(FILE *to, const struct tk_report *r) {
  struct histogram_axis axis = { 0, 0 };
  char words[400], ends[128], name[256], mean[48], max[48];
  for (size_t i = 0; i < r->n_ranks; i++) histogram_widen(&axis, r->ranks[i].delays);
  if (!axis.n) return;
  snprintf(words, sizeof words, "Time from the end of the launching call to the start of the work, %s on a logarithmic axis. Height: "
                                "number of launches, relative to the most frequent delay.", histogram_ends(&axis, ends, sizeof ends));
  html_section(to, "Launch delays", words);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (!row->delays) continue;
    figure_report_name(r, row, name, sizeof name);
    tk_print_duration(row->delay_mean, mean);
    tk_print_duration(row->delay_max, max);
    fputs("<div class=row><div>", to);
    html_string(to, name);
    fprintf(to, "<br>mean %s, max %s</div>", mean, max);
    histogram_draw(to, &axis, row->delays, "launch delays");
    fputs("</div>\n", to);
  }
  html_section_end(to);
}

void histogram_steps(FILE *to, const struct tk_report_rank *row, tk_time from, tk_time end) {
  uint64_t counts[STEP_BINS] = { 0 };
  for (size_t i = 0; i < row->n_steps; i++) {
    const double at = end > from ? (double)(row->steps[i].dur - from) / (double)(end - from) * STEP_BINS : 0;
    const size_t bin = at > 0 ? (size_t)at : 0;
    counts[bin < STEP_BINS ? bin : STEP_BINS - 1]++;
  }
  draw_bars(to, counts, STEP_BINS, "step times");
}
