/* html_flames.c - the flame graphs of the report's page. The boxes are elements, not a picture: their texts keep their size at any
 * width. page/report.js widens a box that is clicked. */
#include "html.h"
#include "print/html.h"
#include "print/tty.h"

#include <string.h>

enum { ROW = 18 }; /* height of a box in pixels */

static void flame_amount(const struct tk_report_flame *f, char *text) {
  if (*f->unit) tk_print_number((double)f->total.s * 1e9 + (double)f->total.ps / 1e3, text);
  else tk_print_total(f->total, text);
}

/* Returns a hue among warm ones; boxes with equal names have equal colours. */
static unsigned hue_of(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
  return (hash >> 8) % 50 + 5;
}

static void draw_box(FILE *to, const struct tk_report_flame *f) {
  char left[32], width[32], share[32], amount[48], count[64];
  const char *name = f->name_len ? f->name : "(unnamed)";
  flame_amount(f, amount);
  tty_counted(f->count, f->sampled ? "sample" : "span", count);
  fprintf(to, "<i style=\"left:%s%%;width:%s%%;top:%upx;background:hsl(%u,75%%,68%%)\" title=\"", tty_fraction(100 * f->start, 3, left),
          tty_fraction(100 * f->width, 3, width), f->depth * ROW, hue_of(name));
  html_string(to, name);
  fprintf(to, ": %s", amount);
  if (*f->unit) fputc(' ', to), html_string(to, f->unit);
  fprintf(to, ", %s %%, %s\">", tty_fraction(100 * f->width, 1, share), count);
  html_string(to, name);
  fputs("</i>", to);
}

static bool same_graph(const struct tk_report_flame *a, const struct tk_report_flame *b) {
  return a->sampled == b->sampled && strcmp(a->unit, b->unit) == 0;
}

static void draw_flame(FILE *to, const struct tk_report_flame *v, size_t n) {
  char words[400];
  uint32_t deepest = 0;
  for (size_t i = 0; i < n; i++)
    if (v[i].depth > deepest) deepest = v[i].depth;
  snprintf(words, sizeof words, "%s Outermost on top. The width of a box is its sum; boxes narrower than 1/1000 are left out.",
           v->sampled ? "Functions in stack samples, by the functions that called them."
                      : "Spans of all threads, by the spans around them.");
  html_section(to, v->sampled ? "Flame graph of stack samples" : "Flame graph of spans", words);
  fprintf(to, "<div class=flame style=\"height:%upx\">", (deepest + 1) * ROW);
  for (size_t i = 0; i < n; i++) draw_box(to, &v[i]);
  fputs("</div>\n", to);
  html_section_end(to);
}

void html_flames(FILE *to, const struct tk_report *r) {
  for (size_t i = 0, end; i < r->n_flames; i = end) {
    for (end = i + 1; end < r->n_flames && same_graph(&r->flames[i], &r->flames[end]);) end++;
    draw_flame(to, r->flames + i, end - i);
  }
}
