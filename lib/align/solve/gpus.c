/* gpus.c - compares the bounds that launches and waits put on a GPU's clock with the result from collectives (gpus.h).
 *
 * A kernel does not start before its launch, and a wait does not end before the work it waits for. This bounds how far the GPU
 * clock is ahead of the CPU clock, from both sides if there are waits. */
#include "gpus.h"

#include "base/keyed.h"

#define US 1e3
#define ROUNDING (2 * US)
#define NEAR (1000 * US) /* a GPU clock is never farther off; a larger lead means two machines with one name */
#define ALIKE (12 * US)  /* clocks that differ by less are the same */
#define LATENCY (30 * US) /* largest difference between the shortest launches of two ranks */

static const char ONLY_GPU[] = "its GPU clock differs from its CPU clock by an unknown amount, so only its GPU rows are aligned";

static const struct align_gpu UNKNOWN = {-INFINITY, INFINITY};

/* Lists the inputs of each host. */
struct lists {
  uint32_t *first, *input; /* first: by host, plus a final entry: index in `input` */
};

static bool list_inputs(const struct align_problem *p, struct arena *arena, struct lists *out) {
  *out = (struct lists){arena_alloc(arena, ((size_t)p->n_hosts + 2) * sizeof *out->first),
                        arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof *out->input)};
  if (!out->first || !out->input) return false;
  keyed_lists(p->host_of, p->n_inputs, p->n_hosts, out->first, out->input);
  return true;
}

static uint32_t count_of(const struct lists *l, uint32_t host) { return l->first[host + 1] - l->first[host]; }

/* ---- GPU clock of one host ---- */

static bool is_off(struct align_gpu g) { return g.low > ROUNDING || g.high < -ROUNDING; }

/* Returns the medians of the lower and of the upper bounds of a host's inputs. */
static struct align_gpu bounds_of(const struct align_problem *p, const struct lists *l, uint32_t host, double *room) {
  struct align_gpu out = UNKNOWN;
  uint32_t lows = 0, highs = 0, n = p->n_inputs;
  for (uint32_t k = l->first[host]; k < l->first[host + 1]; k++) {
    const struct align_gpu *g = &p->gpu[l->input[k]];
    if (isfinite(g->low)) room[lows++] = g->low;
    if (isfinite(g->high)) room[n + highs++] = g->high;
  }
  if (lows) out.low = curve_median(room, lows);
  if (highs) out.high = curve_median(room + n, highs);
  return out;
}

static void widen(struct align_host *o, double by) {
  for (uint32_t i = 0; i < o->n_stretches; i++) o->stretches[i].error_ns += by;
  for (uint32_t i = 0; i + 1 < o->n_stretches; i++) o->gaps[i].error_ns += by;
  o->error_ns += by;
}

static bool is_placed(const struct align_host *o) { return o->state == ALIGN_GOOD || o->state == ALIGN_APART; }

/* Widens the error and the bounds of a host whose GPU clock differs from its CPU clock: if the GPU clock is ahead by g, the CPU
 * tracks must be g later than the collectives indicate. */
static void admit_gpu(struct align_host *o, struct align_gpu g) {
  o->of_gpu = true;
  if (!isfinite(g.low) || !isfinite(g.high)) {
    o->bounded = false;
    o->state = ALIGN_ROUGH;
    o->why = ONLY_GPU;
    return;
  }
  widen(o, fmax(fabs(g.low), fabs(g.high)));
  o->low_ns += fmin(0, -g.high);
  o->high_ns += fmax(0, -g.low);
}

/* ---- hosts with the same name ---- */

/* Returns how far the clock of `host` is ahead of the clock of `of`, at a reading. */
static double ahead_at(const struct align_work *w, uint32_t host, uint32_t of, double t) {
  double wall = (double)(w->pivot[host] - w->pivot[of]);
  return wall + curve_at(&w->curve[host], t) - curve_at(&w->curve[of], t + wall);
}

static double ahead(const struct align_work *w, uint32_t host, uint32_t of) { return ahead_at(w, host, of, 0); }

/* True if launches show that `by`, the lead of `host` over `of`, is due to the GPU of `host` and not to the GPU of `of`. */
static bool is_shown(struct align_gpu host, struct align_gpu of, double by) {
  if (is_off(host) != is_off(of)) return is_off(host);
  return isfinite(host.high) && isfinite(of.high) && fabs(host.high - of.high - by) < LATENCY && fabs(host.high) > fabs(of.high);
}

/* Widens the error and the bounds of `host`, because the clock of `of`, which has the same host name, may be the right one for
 * the CPU tracks of `host`. */
static void admit_name(const struct align_work *w, struct align_solution *s, uint32_t host, uint32_t of) {
  struct align_host *o = &s->hosts[host];
  const struct align_host *m = &s->hosts[of];
  const double by = ahead(w, host, of);
  const bool root = w->root[host] == host;
  o->of_gpu = true;
  if (root || is_placed(o)) widen(o, fabs(by));
  if (!is_placed(o)) return;
  for (uint32_t k = 0; k < w->curve[host].n; k++) {
    const double then = ahead_at(w, host, of, w->curve[host].x[k]);
    o->low_ns = fmin(o->low_ns, -then + (w->root[of] == of ? 0 : m->low_ns));
    o->high_ns = fmax(o->high_ns, -then + (w->root[of] == of ? 0 : m->high_ns));
  }
}

/* Compares a host with `main`, the host to which most inputs of the same name belong. If both have one input, either of the two
 * may have the differing GPU clock. */
static void compare(const struct align_work *w, struct align_solution *s, const struct lists *l, uint32_t host, uint32_t main) {
  const double by = ahead(w, host, main);
  const struct align_gpu a = s->hosts[host].gpu, b = s->hosts[main].gpu;
  if (w->root[host] != w->root[main] || fabs(by) > NEAR || fabs(by) < ALIKE || count_of(l, host) > 1) return;
  const bool main_is_off = count_of(l, main) == 1 && is_shown(b, a, -by);
  if (!main_is_off) admit_name(w, s, host, main);
  if (main_is_off || (count_of(l, main) == 1 && !is_shown(a, b, by))) admit_name(w, s, main, host);
}

/* ---- entry points ---- */

/* Sets (*main)[name], for each host name (numbered as in p->origin), to the host to which most inputs with this name belong. */
static bool find_mains(const struct align_problem *p, const struct lists *l, struct arena *arena, uint32_t **main) {
  if (!(*main = arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof **main))) return false;
  for (uint32_t i = 0; i < p->n_inputs; i++) (*main)[i] = UINT32_MAX;
  for (uint32_t i = 0; i < p->n_inputs; i++) {
    uint32_t *of = &(*main)[p->origin[i]];
    if (*of == UINT32_MAX || count_of(l, p->host_of[i]) > count_of(l, *of)) *of = p->host_of[i];
  }
  return true;
}

/* If the GPU clock of the reference differs, or may differ, from its CPU clock, adds the error of the reference to the error of
 * a host that was placed relative to it. */
static void admit_root(const struct align_work *w, struct align_solution *s, uint32_t host) {
  struct align_host *o = &s->hosts[host];
  const struct align_host *root = &s->hosts[w->root[host]];
  const double by = root->error_ns;
  if (w->root[host] == host || !is_placed(o)) return;
  if (root->of_gpu && by > 0) widen(o, by), o->low_ns -= by, o->high_ns += by;
  else if (is_off(root->gpu)) admit_gpu(o, (struct align_gpu){-root->gpu.high, -root->gpu.low});
}

bool gpus_widen(const struct align_work *w, struct align_solution *s) {
  const struct align_problem *p = w->p;
  struct arena arena = {.mem = p->mem};
  struct lists l;
  uint32_t *main;
  double *room = arena_alloc(&arena, 2 * ((size_t)p->n_inputs + 1) * sizeof *room);
  const bool ok = room && list_inputs(p, &arena, &l) && find_mains(p, &l, &arena, &main);
  for (uint32_t h = 0; ok && h < p->n_hosts; h++) s->hosts[h].gpu = p->gpu ? bounds_of(p, &l, h, room) : UNKNOWN;
  for (uint32_t i = 0; ok && i < p->n_inputs; i++) {
    const uint32_t host = p->host_of[i], of = main[p->origin[i]];
    if (host != of && l.input[l.first[host]] == i) compare(w, s, &l, host, of);
  }
  for (uint32_t h = 0; ok && h < p->n_hosts; h++) {
    struct align_host *o = &s->hosts[h];
    if (!o->of_gpu && is_placed(o) && is_off(o->gpu)) admit_gpu(o, o->gpu);
  }
  for (uint32_t h = 0; ok && h < p->n_hosts; h++) admit_root(w, s, h);
  for (uint32_t h = 0; ok && h < p->n_hosts; h++)
    if (w->root[h] == h) s->hosts[h].error_ns = 0;
  arena_free(&arena);
  return ok;
}
