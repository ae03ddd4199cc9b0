/* report_geometry.c - launch geometry of kernels: occupancy, registers and shared memory as means over time, grid and block of the
 * longest kernel.
 *
 * Kineto states each in a separate arg, XLA all in one text: "regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1
 * block:256,1,1 occ_pct:62.5". */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "graph/args.h"

struct geometry_keys report_geometry_keys(const struct tk_trace *t) {
  return (struct geometry_keys){report_key_of(t, "est. achieved occupancy %"), report_key_of(t, "warps per SM"),
                                report_key_of(t, "registers per thread"), report_key_of(t, "shared memory"),
                                report_key_of(t, "grid"), report_key_of(t, "block"),
                                report_key_of(t, "kernel_details")};
}

static void add_mean(struct report_mean *m, double v, tk_time time) {
  if (v < 0 || v - v != 0) return;
  m->area += v * (double)time;
  m->time += time;
}

/* Returns the value of a key in XLA's text, and in *n its length, up to the next space or line break; NULL if the key is
 * missing. */
static const char *detail(const char *details, const char *key, size_t *n) {
  const char *at = strstr(details, key);
  if (!at || (at > details && at[-1] != ' ' && at[-1] != '\n')) return NULL;
  at += strlen(key);
  *n = strcspn(at, " \n");
  return at;
}

static bool number_in(const char *details, const char *key, double *v) {
  size_t n;
  const char *at = detail(details, key, &n);
  if (!at || n == 0 || n > 30 || *at < '0' || *at > '9') return false;
  *v = num_double(at, n);
  return true;
}

static bool keep_size(struct report_geometry *g, struct tk_report_impl *impl, const char *text, size_t n, bool is_grid) {
  enum { MOST = 60 };
  if (!text || n == 0 || n > MOST) return true;
  const uint32_t id = intern(&impl->texts, text, n);
  if (is_grid) g->grid = id;
  else g->block = id;
  return id != 0;
}

/* Keeps "[8, 1, 1]" as "8,1,1". */
static bool keep_list(struct reporter *p, struct report_geometry *g, const struct tk_event *e, tk_id key, bool is_grid) {
  char text[64];
  size_t n = 0;
  struct tk_arg arg;
  if (!key || !args_of_event(p->t, e, key, &arg) || (arg.type != TK_ARG_JSON && arg.type != TK_ARG_STR)) return true;
  for (const char *s = tk_string(p->t, arg.s, NULL); *s && n < sizeof text; s++)
    if (!strchr("[] ", *s)) text[n++] = *s;
  return keep_size(g, p->impl, text, n, is_grid);
}

static bool add_details(struct reporter *p, struct report_geometry *g, const char *details, tk_time time) {
  double v, more = 0;
  size_t n = 0;
  if (number_in(details, "occ_pct:", &v) && v > 0) add_mean(&g->occupancy, v, time);
  if (number_in(details, "regs:", &v)) add_mean(&g->registers, v, time);
  if (number_in(details, "static_shared:", &v)) {
    if (!number_in(details, "dynamic_shared:", &more)) more = 0;
    add_mean(&g->shared, v + more, time);
  }
  if (time < g->longest) return true;
  g->longest = time;
  const char *grid = detail(details, "grid:", &n);
  if (!keep_size(g, p->impl, grid, n, true)) return false;
  const char *block = detail(details, "block:", &n);
  return keep_size(g, p->impl, block, n, false);
}

/* Reads the occupancy that Kineto estimated. It rounds to whole percents, and also writes 0 if it cannot estimate: 0 counts only if
 * the kernel has so few warps that it is the rounded value. */
static bool occupancy_of(const struct reporter *p, const struct geometry_keys *k, const struct tk_event *e, double *v) {
  static const double MOST_WARPS = 64, HALF_PERCENT = .005; /* of a multiprocessor */
  double warps;
  if (!report_number_of(p->t, e, k->occupancy, v)) return false;
  return *v > 0 || (report_number_of(p->t, e, k->warps, &warps) && warps > 0 && warps < HALF_PERCENT * MOST_WARPS);
}

bool report_geometry_add(struct reporter *p, const struct geometry_keys *k, const struct tk_event *e, tk_time time,
                         struct report_geometry *g) {
  struct tk_arg arg;
  double v;
  if (k->details && args_of_event(p->t, e, k->details, &arg) && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF))
    return add_details(p, g, tk_string(p->t, arg.s, NULL), time);
  if (occupancy_of(p, k, e, &v)) add_mean(&g->occupancy, v, time);
  if (report_number_of(p->t, e, k->registers, &v)) add_mean(&g->registers, v, time);
  if (report_number_of(p->t, e, k->shared, &v)) add_mean(&g->shared, v, time);
  if (time < g->longest) return true;
  g->longest = time;
  return keep_list(p, g, e, k->grid, true) && keep_list(p, g, e, k->block, false);
}
