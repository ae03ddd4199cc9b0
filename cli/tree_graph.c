/* tree_graph.c - see tree_graph.h. */
#include "tree_graph.h"

#include "print/json.h"
#include "print/tty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sample weights can be negative, for example freed bytes. A flame graph cannot show them. */
static bool is_negative(const struct tk_tree_node *n) { return n->self.s < 0 || n->self.ps < 0; }

static uint64_t self_ns(const struct tk_tree_node *n) {
  return is_negative(n) ? 0 : (uint64_t)n->self.s * 1000000000u + (uint64_t)(n->self.ps + 500) / 1000;
}

/* Maximum length of a path, because paths are written in full: 60,000 levels would take gigabytes. The time of a deeper node
 * is added to its deepest ancestor within this limit. */
enum { DEEPEST = 500 };

/* A buffer for the path of one node, and the self times of all nodes. */
struct paths {
  uint32_t *path;
  uint64_t *ns; /* self time per node, in ns */
};

static void free_paths(struct paths *p) {
  free(p->path);
  free(p->ns);
}

/* Computes p->ns, the self time of each shown node including its descendants below DEEPEST. Returns false with a message if
 * out of memory. */
static bool find_paths(const struct tk_tree_report *r, const bool *shown, struct paths *p) {
  uint64_t deeper = 0, negative = 0;
  uint32_t *counts_as = calloc(r->n_nodes + 1, sizeof *counts_as); /* per node: the node to which its time is added */
  *p = (struct paths){malloc(DEEPEST * sizeof *p->path), counts_as ? calloc(r->n_nodes + 1, sizeof *p->ns) : NULL};
  for (uint32_t i = 0; p->ns && i < r->n_nodes; i++) {
    counts_as[i] = r->nodes[i].depth < DEEPEST ? i : counts_as[r->nodes[i].parent];
    if (!shown[i]) continue;
    deeper += counts_as[i] != i;
    negative += is_negative(&r->nodes[i]);
    p->ns[counts_as[i]] += self_ns(&r->nodes[i]);
  }
  free(counts_as);
  if (deeper) tty_say("%llu paths have more than %d names: they are cut to that length, with their "
                      "time", (unsigned long long)deeper, DEEPEST);
  if (negative) tty_say("%llu paths with a negative weight: left out", (unsigned long long)negative);
  if (p->path && p->ns) return true;
  tty_say("out of memory");
  free_paths(p);
  return false;
}

/* Stores the path to node i, outermost node first. Returns its length. */
static size_t path_of(const struct tk_tree_report *r, uint32_t i, uint32_t *path) {
  const size_t n = r->nodes[i].depth + 1;
  for (size_t k = n; k-- > 0; i = r->nodes[i].parent) path[k] = i;
  return n;
}

/* ---- folded stacks ---- */

/* Prints a name, with commas in place of semicolons, because semicolons separate names. */
static void tree_put_name(const struct tk_tree_node *n) {
  const char *text = n->name ? n->name : "(none)", *end = text + (n->name ? n->name_len : strlen(text));
  for (const char *stop; text < end; text = stop + 1) {
    stop = memchr(text, ';', (size_t)(end - text));
    tty_text(stdout, text, (size_t)((stop ? stop : end) - text));
    if (!stop) return;
    putchar(',');
  }
}

bool tree_graph_folded(const struct tk_tree_report *r, const bool *shown) {
  struct paths p;
  if (!find_paths(r, shown, &p)) return false;
  for (uint32_t i = 0; i < r->n_nodes; i++) {
    size_t n = p.ns[i] ? path_of(r, i, p.path) : 0;
    for (size_t k = 0; k < n; k++) {
      if (k) putchar(';');
      tree_put_name(&r->nodes[p.path[k]]);
    }
    if (n) printf(" %llu\n", (unsigned long long)p.ns[i]);
  }
  free_paths(&p);
  return true;
}

/* ---- speedscope ---- */

static void put_samples(struct json *j, const struct tk_tree_report *r, const struct paths *p) {
  json_open(j, "samples", '[');
  for (uint32_t i = 0; i < r->n_nodes; i++) {
    if (!p->ns[i]) continue;
    size_t n = path_of(r, i, p->path);
    json_open(j, NULL, '[');
    for (size_t k = 0; k < n; k++) json_uint(j, NULL, p->path[k]);
    json_close(j, ']');
  }
  json_close(j, ']');
}

static void put_weights(struct json *j, const struct tk_tree_report *r, const struct paths *p, uint64_t *sum) {
  json_open(j, "weights", '[');
  for (uint32_t i = 0; i < r->n_nodes; i++) {
    if (p->ns[i]) json_uint(j, NULL, p->ns[i]);
    *sum += p->ns[i];
  }
  json_close(j, ']');
}

bool tree_graph_speedscope(const struct tk_tree_report *r, const bool *shown, const char *name) {
  struct json j = { .to = stdout };
  uint64_t sum = 0;
  struct paths p;
  if (!find_paths(r, shown, &p)) return false;
  json_open(&j, NULL, '{');
  json_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
  json_string(&j, "exporter", "tracekit tree");
  json_open(&j, "shared", '{');
  json_open(&j, "frames", '[');
  for (uint32_t i = 0; i < r->n_nodes; i++) {
    const struct tk_tree_node *n = &r->nodes[i];
    json_open(&j, NULL, '{');
    json_text(&j, "name", n->name ? n->name : "(none)", n->name ? n->name_len : 6);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
  json_open(&j, "profiles", '[');
  json_open(&j, NULL, '{');
  json_string(&j, "type", "sampled");
  json_string(&j, "name", name);
  json_string(&j, "unit", "nanoseconds");
  put_samples(&j, r, &p);
  put_weights(&j, r, &p, &sum);
  json_uint(&j, "startValue", 0);
  json_uint(&j, "endValue", sum);
  json_close(&j, '}');
  json_close(&j, ']');
  json_close(&j, '}');
  free_paths(&p);
  return true;
}

/* ---- SVG ---- */

enum { WIDTH = 1200, ROW = 18, LETTER = 7, MARGIN = 10 };

struct box {
  double x, width; /* in ns */
};

/* Computes a box per node, as wide as its self time plus its children; the children are placed side by side from its left edge.
 * Sets *all to the width of the whole graph. Returns NULL with a message if out of memory. */
static struct box *boxes_of(const struct tk_tree_report *r, const bool *shown, double *all) {
  struct box *b = calloc(r->n_nodes + 1, sizeof *b);
  double *next = calloc(r->n_nodes + 1, sizeof *next);
  *all = 0;
  for (size_t i = r->n_nodes; b && next && i-- > 0;) {
    const uint32_t parent = r->nodes[i].parent;
    if (!shown[i]) continue;
    b[i].width += (double)self_ns(&r->nodes[i]);
    if (parent != UINT32_MAX) b[parent].width += b[i].width;
    else *all += b[i].width;
  }
  double at = 0;
  for (size_t i = 0; b && next && i < r->n_nodes; i++) {
    const uint32_t parent = r->nodes[i].parent;
    double *left = parent == UINT32_MAX ? &at : &next[parent];
    b[i].x = next[i] = *left;
    *left += b[i].width;
  }
  if (!b || !next) tty_say("out of memory");
  if (!next) free(b), b = NULL;
  free(next);
  return b;
}

/* Prints the first n characters as XML text; characters that XML does not allow are escaped as on a terminal. */
static void put_xml(const char *text, size_t len, size_t n) {
  char *safe = NULL;
  size_t size;
  FILE *to = tty_open_text(&safe, &size);
  if (!to) return;
  tty_text(to, text, len);
  if (!tty_close_text(to, &safe)) return;
  for (const char *p = safe; *p; p++) {
    n -= (*p & 0xc0) != 0x80;
    if (n + 1 == 0) break;
    if (*p == '<') fputs("&lt;", stdout);
    else if (*p == '&') fputs("&amp;", stdout);
    else if (*p == '>') fputs("&gt;", stdout);
    else putchar(*p);
  }
  free(safe);
}

/* Prints a warm colour, light enough for black text; equal names get equal colours. */
static void put_colour(const char *name, size_t n) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  printf("hsl(%u,75%%,%u%%)", (unsigned)(hash >> 8) % 50 + 5, 62 + (unsigned)(hash >> 20) % 14);
}

static void put_box(const struct tk_tree_node *n, struct box box, double scale) {
  const char *name = n->name ? n->name : "(none)";
  const size_t len = n->name ? n->name_len : strlen(name), y = MARGIN + (size_t)n->depth * ROW;
  const double width = box.width * scale;
  const size_t letters = width > LETTER ? (size_t)(width / LETTER) : 0;
  char x[32], w[32], total[48], self[48];
  tk_print_total(n->total, total);
  tk_print_total(n->self, self);
  tty_fraction(MARGIN + box.x * scale, 2, x);
  printf("<g><title>");
  put_xml(name, len, SIZE_MAX / 2);
  printf(": %s, self %s, x%llu</title>", total, self, (unsigned long long)n->count);
  printf("<rect x=\"%s\" y=\"%zu\" width=\"%s\" height=\"%d\" fill=\"", x, y, tty_fraction(width, 2, w), ROW - 1);
  put_colour(name, len);
  printf("\"/>");
  if (letters > 2) {
    printf("<text x=\"%s\" y=\"%zu\">", tty_fraction(MARGIN + box.x * scale + 3, 2, x), y + ROW - 5);
    put_xml(name, len, letters - 1);
    printf("</text>");
  }
  printf("</g>\n");
}

bool tree_graph_svg(const struct tk_tree_report *r, const bool *shown) {
  double all;
  uint32_t deepest = 0;
  struct box *boxes = boxes_of(r, shown, &all);
  if (!boxes) return false;
  const double scale = all > 0 ? (WIDTH - 2 * MARGIN) / all : 0;
  for (size_t i = 0; i < r->n_nodes; i++) /* a box narrower than 0.05 pixels is invisible */
    if (shown[i] && boxes[i].width * scale >= 0.05 && r->nodes[i].depth > deepest) deepest = r->nodes[i].depth;
  printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n", WIDTH,
         2 * MARGIN + (deepest + 1) * ROW);
  printf("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
  for (size_t i = 0; i < r->n_nodes; i++)
    if (shown[i] && boxes[i].width * scale >= 0.05) put_box(&r->nodes[i], boxes[i], scale);
  puts("</svg>");
  free(boxes);
  return true;
}
