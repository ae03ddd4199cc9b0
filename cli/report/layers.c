/* layers.c - see layers.h. */
#include "layers.h"

#include "print/html.h"
#include "print/table.h"
#include "print/tty.h"
#include "print/wrap.h"
#include "shared/figures.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INDENT = 40 };

/* ---- the choice ---- */

static int by_device(const void *p, const void *q) {
  const struct tk_report_layer *const *a = p, *const *b = q;
  const double x = figure_seconds((*a)->device), y = figure_seconds((*b)->device);
  if (x != y) return x > y ? -1 : 1;
  return (*a > *b) - (*a < *b);
}

/* Sets the flags of the `top` layers with the most device time, and of the layers that contain these. */
static void choose(const struct tk_report *r, const struct tk_report_layer **order, size_t top, bool *shown) {
  for (size_t i = 0; i < r->n_layers; i++) order[i] = &r->layers[i];
  qsort(order, r->n_layers, sizeof *order, by_device);
  for (size_t i = 0; i < r->n_layers && i < top; i++) {
    const struct tk_report_layer *l = order[i];
    shown[l - r->layers] = true;
    for (const struct tk_report_layer *up = l; l->depth > 0 && up-- > r->layers;) {
      if (up->depth >= l->depth) continue;
      shown[up - r->layers] = true;
      l = up;
    }
  }
}

/* Returns a flag for each layer that is to be shown; NULL if out of memory. */
static bool *choose_layers(const struct tk_report *r, size_t top) {
  const struct tk_report_layer **order = malloc((r->n_layers + 1) * sizeof *order);
  bool *shown = calloc(r->n_layers + 1, sizeof *shown);
  if (order && shown) choose(r, order, top, shown);
  if (!order) free(shown), shown = NULL;
  free(order);
  return shown;
}

static bool any_steps(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_layers; i++) any = any || r->layers[i].per_step >= 0;
  return any;
}

/* Returns the kind of the layers, such as "modules"; a string that names all kinds if the layers differ in kind. */
static const char *word_of(const struct tk_report *r) {
  const char *word = r->layers[0].kind;
  for (size_t i = 1; i < r->n_layers; i++)
    if (strcmp(r->layers[i].kind, word) != 0) word = "scopes, modules or annotations";
  return word;
}

/* ---- text ---- */

static void layer_row(struct table *t, const struct tk_report_layer *l, bool steps) {
  char text[48] = "-";
  const int indent = l->depth < MOST_INDENT ? 2 * (int)l->depth : 2 * MOST_INDENT;
  if (steps && l->per_step >= 0) tk_print_duration(l->per_step, text);
  else if (!steps) tk_print_total(l->device, text);
  table_cell(t, "%s", text);
  table_cell(t, "%s", tty_fraction(100 * l->of_work, 1, text));
  table_cell(t, "%s", tty_count(l->launched, text));
  table_cell(t, "%*s%s", indent, "", l->name ? l->name : "(none)");
}

bool layers_print(const struct tk_report *r, size_t top) {
  struct table t = { .align = "rrrl", .drop = "..a.", .width = tty_page_width(stdout), .bars = 2 };
  bool *shown = r->n_layers ? choose_layers(r, top) : NULL, steps = any_steps(r), hidden = false;
  if (!r->n_layers || !shown) return !r->n_layers;
  wrap_title(steps ? "Layers: device time per step (indented: within the one above)"
                   : "Layers: device time (indented: within the one above)");
  table_cell(&t, "device");
  table_cell(&t, "%%device");
  table_cell(&t, "work");
  table_cell(&t, "%s", word_of(r));
  for (size_t i = 0; i < r->n_layers; i++) {
    if (shown[i]) layer_row(&t, &r->layers[i], steps);
    hidden = hidden || !shown[i];
  }
  free(shown);
  if (!table_print(&t, stdout)) return false;
  if (hidden) puts("more: tracekit tree --layers");
  return true;
}

/* ---- the page ---- */

static void draw_row(struct html_table *t, const struct tk_report_layer *l, bool steps) {
  char name[600];
  size_t n = 0;
  for (uint32_t d = 0; d < l->depth && d < MOST_INDENT; d++) n += (size_t)snprintf(name + n, sizeof name - n, "· ");
  snprintf(name + n, sizeof name - n, "%s", l->name ? l->name : "(none)");
  html_cell(t, name);
  if (steps) html_cell_time(t, l->per_step >= 0, l->per_step);
  else html_cell_total(t, true, l->device);
  html_cell_percent(t, l->of_work, 1);
  html_cell_count(t, l->launched);
}

void layers_draw(FILE *to, const struct tk_report *r, size_t top) {
  const bool steps = any_steps(r);
  const struct html_column columns[] = {
    { "layer", false, true }, { steps ? "device, per step" : "device", false, false }, { "% of device", false, false },
    { "kernels, copies and fills", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  bool *shown = r->n_layers ? choose_layers(r, top) : NULL;
  char words[300];
  if (!shown) return;
  snprintf(words, sizeof words, "Layers are %s. Device: time in which any device ran work of the layer, and its share of the time in "
                                "which any device ran work. Dots show how deep layers are nested.", word_of(r));
  html_section(to, "Layers", words);
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_layers; i++)
    if (shown[i]) draw_row(&t, &r->layers[i], steps);
  html_table_end(&t);
  html_section_end(to);
  free(shown);
}
