/* report_geometry.c - launch geometry of kernels: occupancy, registers and shared memory (means over time), and the grid and
 * block of the longest kernel.
 *
 * Kineto stores each value in a separate arg, XLA stores all of them in one string: "regs:32 static_shared:0
 * dynamic_shared:1024 grid:8,1,1 block:256,1,1 occ_pct:62.5". */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "report_args.h"

static void add_mean(struct report_mean *m, double v, tk_time time) {
  if (v < 0 || v - v != 0) return;
  m->area += v * (double)time;
  m->time += time;
}

/* Returns the value of a key in XLA's text, which ends at the next space or line break; sets *n to its length. NULL if the key is
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

/* Stores "[8, 1, 1]" as "8,1,1". */
static bool keep_list(struct reporter *p, struct report_geometry *g, const struct report_args *args, enum report_arg which) {
  char text[64];
  size_t n = 0;
  const struct tk_arg *arg = &args->v[which];
  if (!(args->known >> which & 1) || (arg->type != TK_ARG_JSON && arg->type != TK_ARG_STR)) return true;
  for (const char *s = tk_string(p->t, arg->s, NULL); *s && n < sizeof text; s++)
    if (!strchr("[] ", *s)) text[n++] = *s;
  return keep_size(g, p->impl, text, n, which == ARG_GRID);
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

/* Reads the occupancy that Kineto estimated. Kineto rounds to whole percents, and also writes 0 if it has no estimate. So 0 is accepted
 * only if the kernel has so few warps that its occupancy is below half a percent. */
static bool occupancy_of(const struct report_args *args, double *v) {
  static const double MOST_WARPS = 64, HALF_PERCENT = .005; /* MOST_WARPS: warps of a multiprocessor */
  double warps;
  if (!report_args_number(args, ARG_OCCUPANCY, v)) return false;
  return *v > 0 || (report_args_number(args, ARG_WARPS, &warps) && warps > 0 && warps < HALF_PERCENT * MOST_WARPS);
}

bool report_geometry_add(struct reporter *p, const struct report_args *args, tk_time time, struct report_geometry *g) {
  const char *details = report_args_text(args, ARG_KERNEL_DETAILS);
  double v;
  if (details) return add_details(p, g, details, time);
  if (occupancy_of(args, &v)) add_mean(&g->occupancy, v, time);
  if (report_args_number(args, ARG_REGISTERS, &v)) add_mean(&g->registers, v, time);
  if (report_args_number(args, ARG_SHARED, &v)) add_mean(&g->shared, v, time);
  if (time < g->longest) return true;
  g->longest = time;
  return keep_list(p, g, args, ARG_GRID) && keep_list(p, g, args, ARG_BLOCK);
}
