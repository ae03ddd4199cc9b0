/* html_memory.c - the part of the report's page about memory: the amounts over time, the peaks of each allocator, and what was
 * allocated at the peaks. */
#include "html.h"
#include "memory.h"
#include "place.h"
#include "print/html.h"
#include "shared/figures.h"

#include <string.h>

/* ---- over time ---- */

/* Draws the amounts as bars and joins adjacent bars of equal height. The highest bar is as high as the picture. */
static void draw_amounts(FILE *to, const struct tk_report_memory *m) {
  fputs("<path class=c0 d=\"", to);
  for (int i = 0, k; i < TK_REPORT_BINS; i = k) {
    const int high = m->over_time[i] > 0 ? (int)(1000 * m->over_time[i] / m->peak_allocated) : 0;
    for (k = i + 1; k < TK_REPORT_BINS && m->over_time[k] == m->over_time[i];) k++;
    if (high > 0) fprintf(to, "M%d 1000v-%dh%dv%dz", i, high, k - i, high);
  }
  fputs("\"/>", to);
}

static void over_time(FILE *to, const struct tk_report *r) {
  char text[128], size[32];
  fputs("<div role=group aria-label=\"allocated memory over time\">\n", to);
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    if (!m->over_time || m->peak_allocated <= 0) continue;
    fputs("<div class=row><div>", to);
    html_string(to, memory_name(m->rank, m->allocator, text, sizeof text));
    tk_print_size((uint64_t)m->peak_allocated, size);
    fprintf(to, ", up to %s</div><svg role=img aria-label=\"allocated memory\" preserveAspectRatio=\"none\" "
                "viewBox=\"0 0 %d 1000\">", size, TK_REPORT_BINS);
    draw_amounts(to, m);
    fputs("</svg></div>\n", to);
  }
  fputs("</div>\n", to);
}

/* ---- tables ---- */

static void peaks(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = {
    { "memory", false, true }, { "allocated, peak", false, false }, { "% of limit", false, false }, { "reserved, peak", false, false },
    { "at", false, false }, { "reserved then", false, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[128];
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    html_cell(&t, memory_name(m->rank, m->allocator, text, sizeof text));
    html_cell_bytes(&t, m->peak_allocated >= 0, m->peak_allocated);
    html_cell_percent(&t, m->peak_allocated, m->peak_allocated >= 0 && m->capacity > 0 ? m->capacity : 0);
    html_cell_bytes(&t, m->peak_reserved >= 0, m->peak_reserved);
    place_cell_start(&t, r, &(struct place){ "", m->rank, m->at, 0 });
    html_cell_bytes(&t, m->reserved_at_peak >= 0, m->reserved_at_peak);
  }
  html_table_end(&t);
}

static void held(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = { { "allocated at the peak by", false, true }, { "module", false, true },
                                                { "memory", false, true }, { "bytes", false, false },
                                                { "% of peak", true, false }, { "blocks", false, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[128];
  size_t place = 0;
  if (r->n_held == 0) return;
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_held; i++) {
    const struct tk_report_held *h = &r->held[i];
    place = memory_place(r, i, place);
    if (place >= top) continue;
    html_cell(&t, !h->recorded ? "(before the recording)" : *h->op ? h->op : "(no operator)");
    html_cell(&t, h->module);
    html_cell(&t, memory_name(h->rank, h->allocator, text, sizeof text));
    html_cell_bytes(&t, true, h->bytes);
    html_cell_percent(&t, h->bytes, h->peak);
    html_cell_count(&t, h->blocks);
  }
  html_table_end(&t);
}

void html_memory(FILE *to, const struct tk_report *r, size_t top) {
  if (r->n_memories == 0) return;
  html_section(to, "Memory", "Allocated memory over the time of the report, and what was allocated at the peak.");
  over_time(to, r);
  peaks(to, r);
  held(to, r, top);
  html_section_end(to);
}
