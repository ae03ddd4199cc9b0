/* shares.c - computes how much of the requested size each rank may use (share.h).
 *
 *     size = bytes that belong to no rank + for each rank, its bytes other than events + the rest, which is divided
 *
 * If all needs can be met, all bytes are divided in proportion to the needs. Otherwise, the ranks to be kept whole get what they need,
 * up to half of the rest; the others get equal shares, but no more than they need; and bytes left over go to the ranks to be kept
 * whole. The need of a rank is an estimate, raised by a tenth. For ranks to be kept whole it is raised by half, because ids in a trace
 * of many ranks are longer than in a trace of one rank (Perfetto, 1,000 ranks: 13%). */
#include <stdlib.h>
#include <string.h>

#include "shares.h"
#include "base/err.h"
#include "share.h"
#include "op/window.h"
#include "stragglers.h"

/* Bytes reserved outside of all ranks, for the names of a rank, and for the names of a process. PACKED_PART: assumed compression
 * ratio. */
enum { OUTSIDE = 256, NAMING = 512, NAMING_PROCESS = 384, PACKED_PART = 4 };

const char *const merge_role_names[] = {"", "slow", "typical"};

uint64_t merge_gone_room(uint64_t to) {
  const uint64_t most = 1 << 20;
  return to / 16 < most ? to / 16 : most;
}

/* ---- ranks to keep whole ---- */

static bool shares_is_wanted(const struct merger *m, uint32_t input) {
  return !m->alignment.skipped[input] && !m->report->ranks[input].failed;
}

static bool find_roles(struct merger *m) {
  struct stragglers s;
  const bool ok = stragglers_find(&s, m);
  if (ok && s.slow != UINT32_MAX) m->shares.roles[s.slow] = MERGE_ROLE_SLOW;
  if (ok && s.typical != UINT32_MAX) m->shares.roles[s.typical] = MERGE_ROLE_TYPICAL;
  stragglers_free(&s, m);
  return ok;
}

/* ---- needs ---- */

struct need {
  uint64_t floor, most; /* floor: bytes without events; most: additional bytes for all events */
  uint64_t given;
  uint32_t input;
  bool whole;
};

/* Returns the fraction of the trace that is in the selected time range, in units of 1/1024. */
static uint64_t part_of_time(struct merger *m) {
  const struct merge_alignment *a = &m->alignment;
  const i128 length = ((i128)a->end_ns - a->start_ns) * 1000;
  struct window_frame f = {.end = length > INT64_MAX ? INT64_MAX : (tk_time)length, .clock = a->base.clock, .origin_ns = a->start_ns,
                           .zero_ns = a->base.zero_ns};
  struct window w;
  struct tk_err unused = {0};
  if (!m->opt->time || f.end <= 0 || !window_parse(m->opt->time, &f, &w, &unused)) return 1024;
  const i128 from = w.start < 0 ? 0 : w.start, to = w.end > f.end ? f.end : w.end;
  return to <= from ? 1 : (uint64_t)((to - from) * 1023 / f.end) + 1;
}

static void find_need(const struct merger *m, struct need *n, uint64_t part) {
  const struct merge_size *s = &m->alignment.sizes[n->input];
  const uint64_t packed = m->packed ? PACKED_PART : 1;
  n->floor = s->bare + s->bare / 10 + (NAMING + (uint64_t)NAMING_PROCESS * s->processes) / packed;
  const uint64_t events = s->bytes > s->bare ? s->bytes - s->bare : 0;
  n->whole = m->shares.roles[n->input] != MERGE_ROLE_NONE;
  n->most = (uint64_t)((i128)(events + events / (n->whole ? 2 : 10)) * part / 1024) + NAMING / packed;
  const int64_t kept = s->kept_ns < s->lasts_ns ? s->kept_ns : s->lasts_ns;
  if (m->opt->steps && s->lasts_ns > 0) n->most = (uint64_t)((i128)n->most * kept / s->lasts_ns) + NAMING;
  if (!s->bytes) n->most = m->opt->to; /* the size is unknown */
}

/* ---- dividing ---- */

static int by_most(const void *a, const void *b) {
  const struct need *x = a, *y = b;
  if (x->most != y->most) return x->most < y->most ? -1 : 1;
  return x->input < y->input ? -1 : x->input > y->input;
}

static uint64_t give(struct need *n, uint64_t bytes) {
  const uint64_t more = n->most - n->given < bytes ? n->most - n->given : bytes;
  n->given += more;
  return more;
}

/* Divides all bytes in proportion to the needs. Used if all needs can be met; each rank gets more than its need, because needs are
 * estimates and may be too low. */
static void give_all(struct need *v, uint32_t n, uint64_t left, i128 need) {
  for (uint32_t i = 0; i < n; i++) v[i].given = (uint64_t)((i128)v[i].most * left / need);
}

/* Divides the bytes. Ranks to be kept whole get up to half of them. The other ranks are served in ascending order of need, so that
 * bytes left over by small needs go to larger ones. Bytes that are still left go to the ranks to be kept whole. */
static void share_out(struct need *v, uint32_t n, uint64_t left) {
  uint32_t whole = 0;
  i128 need = 0;
  qsort(v, n, sizeof *v, by_most);
  for (uint32_t i = 0; i < n; i++) whole += v[i].whole, need += v[i].most;
  if (need <= left) {
    give_all(v, n, left, need ? need : 1);
    return;
  }
  const uint64_t half = whole ? left / 2 / whole : 0;
  for (uint32_t i = 0; i < n; i++)
    if (v[i].whole) left -= give(&v[i], half);
  for (uint32_t i = 0, others = n - whole; i < n; i++)
    if (!v[i].whole) left -= give(&v[i], left / others--);
  for (uint32_t i = 0; i < n && whole; i++)
    if (v[i].whole) left -= give(&v[i], left / whole--);
}

static bool too_small(struct merger *m, uint32_t n, i128 least) {
  char size[32], target[32];
  tk_print_size(m->opt->to, target);
  tk_print_size(least > INT64_MAX ? INT64_MAX : (uint64_t)least, size);
  return err_set(m->err, TK_ELIMIT, "cannot be shrunk to %s: even without events, the %u inputs need %s", target, n, size);
}

static bool share(struct merger *m, struct need *v) {
  const uint64_t part = part_of_time(m), clocks = strlen(m->report->align.json) / (m->packed ? PACKED_PART : 1);
  const i128 outside = (i128)OUTSIDE + clocks + merge_gone_room(m->opt->to);
  i128 least = outside;
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_inputs; i++) {
    if (!shares_is_wanted(m, i)) continue;
    v[n].input = i;
    find_need(m, &v[n], part);
    least += v[n++].floor;
  }
  if (least > m->opt->to) return too_small(m, n, least);
  share_out(v, n, m->opt->to - (uint64_t)least);
  for (uint32_t i = 0; i < n; i++) m->shares.of[v[i].input] = v[i].floor + v[i].given;
  return true;
}

bool merge_fits(const struct tk_merge_options *opt, uint64_t bytes, struct tk_err *err) {
  char size[32], target[32];
  tk_print_size(opt->to, target);
  tk_print_size(bytes, size);
  return !opt->to || bytes <= opt->to || err_set(err, TK_ELIMIT, "cannot be shrunk to %s: the merged trace has %s", target, size);
}

bool merge_shares_plan(struct merger *m) {
  if (!m->opt->to || !m->weighed || !m->alignment.sizes) return true;
  struct need *v = mem_zeros(&m->mem, m->n_inputs + 1, sizeof *v);
  m->shares.of = mem_zeros(&m->mem, m->n_inputs, sizeof *m->shares.of);
  m->shares.roles = mem_alloc(&m->mem, m->n_inputs);
  if (!v || !m->shares.of || !m->shares.roles) return mem_refuse(&m->mem, m->err);
  memset(m->shares.roles, 0, m->n_inputs);
  const bool ok = find_roles(m) && share(m, v);
  mem_free(&m->mem, v);
  return ok;
}
