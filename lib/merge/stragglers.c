/* stragglers.c - finds the slow rank, its cost, the step in which it cost most, and the names that took longer (stragglers.h). */
#include "stragglers.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "format/json.h"
#include "format/json_put.h"
#include "scan/names.h"

enum { FEWEST = 3 }; /* with fewer ranks, no rank is chosen as typical */
enum { MOST_RANKS = 16, MOST_NAMES = 8 };

/* ---- finding the ranks ---- */

struct placed {
  i128 by;
  uint32_t input;
};

static int by_measure(const void *a, const void *b) {
  const struct placed *x = a, *y = b;
  if (x->by != y->by) return x->by < y->by ? -1 : 1;
  return x->input < y->input ? -1 : x->input > y->input;
}

static bool stragglers_is_wanted(const struct merger *m, uint32_t input) {
  return !m->alignment.skipped[input] && !m->report->ranks[input].failed;
}

static bool have_met(const struct merger *m, const struct merge_tally *tally) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_inputs; i++) n += stragglers_is_wanted(m, i) && tally[i].met;
  return n >= FEWEST;
}

static void choose(struct stragglers *s, const struct merger *m, struct placed *v) {
  uint32_t n = 0, slow = UINT32_MAX;
  int64_t most = INT64_MIN;
  s->met = have_met(m, s->tally);
  for (uint32_t i = 0; i < m->n_inputs; i++) {
    const int64_t lasts = m->alignment.sizes[i].lasts_ns, size = s->met ? s->tally[i].cost_ns : lasts;
    if (!stragglers_is_wanted(m, i) || (s->met && !s->tally[i].met)) continue;
    v[n++] = (struct placed){s->met ? s->tally[i].wait_ns : lasts, i};
    if (slow == UINT32_MAX || size > most) slow = i, most = size;
  }
  s->compared = n;
  if (n < FEWEST) return;
  qsort(v, n, sizeof *v, by_measure);
  s->slow = slow;
  s->typical = v[v[n / 2].input == slow ? n / 2 - 1 : n / 2].input;
}

bool stragglers_find(struct stragglers *s, struct merger *m) {
  *s = (struct stragglers){.slow = UINT32_MAX, .typical = UINT32_MAX};
  if (!m->alignment.sizes) return true; /* a single input was not read in the first pass */
  struct placed *v = mem_array(&m->mem, m->n_inputs, sizeof *v);
  s->tally = mem_zeros(&m->mem, m->n_inputs, sizeof *s->tally);
  if (s->tally && v) {
    merge_collectives_tally(&m->alignment.collectives, s->tally);
    choose(s, m, v);
  }
  mem_free(&m->mem, v);
  return mem_check(&m->mem, m->err);
}

void stragglers_free(struct stragglers *s, struct merger *m) { mem_free(&m->mem, s->tally); }

/* ---- the report ---- */

struct telling {
  struct merger *m;
  const struct scan_list *list;
  struct stragglers *s;
  struct tk_stragglers *to;
};

static struct tk_straggler told(struct telling *t, uint32_t i) {
  const struct merge_tally *tally = &t->s->tally[i];
  return (struct tk_straggler){.rank = t->m->report->ranks[i].rank, .host = t->m->report->ranks[i].host, .met = tally->met,
                               .last = tally->last, .wait_ns = tally->wait_ns, .cost_ns = tally->cost_ns,
                               .lasts_ns = t->m->alignment.sizes[i].lasts_ns};
}

/* Lists the ranks by cost (by duration if they have no collectives in common), highest first. */
static bool tell_ranks(struct telling *t) {
  struct merger *m = t->m;
  struct placed *v = mem_array(&m->mem, m->n_inputs, sizeof *v);
  uint32_t n = 0;
  t->to->ranks = calloc(MOST_RANKS, sizeof *t->to->ranks);
  if (!v || !t->to->ranks) {
    mem_free(&m->mem, v);
    return err_set(m->err, TK_ELIMIT, "out of memory");
  }
  for (uint32_t i = 0; i < m->n_inputs; i++)
    if (stragglers_is_wanted(m, i))
      v[n++] = (struct placed){t->s->met ? -(i128)t->s->tally[i].cost_ns : -(i128)m->alignment.sizes[i].lasts_ns, i};
  qsort(v, n, sizeof *v, by_measure);
  for (uint32_t i = 0; i < n && i < MOST_RANKS; i++) t->to->ranks[t->to->n_ranks++] = told(t, v[i].input);
  mem_free(&m->mem, v);
  return true;
}

/* Finds the step in which the slow rank delayed the others most. */
static bool tell_step(struct telling *t) {
  const struct merge_collectives *c = &t->m->alignment.collectives;
  struct map at;
  struct placed *v = NULL;
  uint32_t n = 0, cap = 0;
  map_init(&at, &t->m->mem);
  for (uint32_t i = 1; t->s->met && i < c->n; i++) {
    const struct merge_meeting *last = &c->v[i];
    const bool is_last = i + 1 == c->n || c->v[i + 1].collective != last->collective;
    if (!is_last || last->input != t->s->slow || !last->stepped || c->v[i - 1].collective != last->collective) continue;
    uint32_t *row = map_put(&at, (uint64_t)last->step, UINT32_MAX);
    if (!row || (*row == UINT32_MAX && !mem_grow(&t->m->mem, (void **)&v, &cap, (uint64_t)n + 1, sizeof *v))) break;
    if (*row == UINT32_MAX) v[*row = n++] = (struct placed){0, i};
    v[*row].by += last->start_ns - c->v[i - 1].start_ns;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (t->to->stepped && v[i].by <= t->to->step_cost_ns) continue;
    t->to->stepped = true;
    t->to->step = c->v[v[i].input].step;
    t->to->step_cost_ns = (int64_t)v[i].by;
  }
  mem_free(&t->m->mem, v);
  map_free(&at);
  return mem_check(&t->m->mem, t->m->err);
}

static const struct scan_name *stragglers_name_of(const struct scan *s, const struct scan_name *like) {
  for (uint32_t i = 0; i < s->n_names; i++)
    if (s->names[i].n_name == like->n_name && memcmp(s->names[i].name, like->name, like->n_name) == 0) return &s->names[i];
  return NULL;
}

static int64_t more_of(const struct tk_straggler_name *n) { return n->self_ns[0] - n->self_ns[1]; }

static int by_more(const void *a, const void *b) {
  const int64_t x = more_of(a), y = more_of(b);
  if (x != y) return x > y ? -1 : 1;
  return strcmp(((const struct tk_straggler_name *)a)->name, ((const struct tk_straggler_name *)b)->name);
}

static int64_t as_signed(uint64_t ns) { return ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)ns; }

/* Lists the names in which the slow rank spent more self time than the typical one. A name missing from the typical rank's scan counts
 * as 0 there: a scan contains the names with the most time. */
static bool tell_names(struct telling *t) {
  const struct scan *slow = &t->list->v[t->s->slow], *typical = &t->list->v[t->s->typical];
  struct tk_diagnostics *notes = t->m->report->notes;
  struct tk_straggler_name *v = calloc((size_t)slow->n_names + 1, sizeof *v);
  uint32_t n = 0;
  if (!v) return err_set(t->m->err, TK_ELIMIT, "out of memory");
  for (uint32_t i = 0; i < slow->n_names; i++) {
    const struct scan_name *a = &slow->names[i], *b = stragglers_name_of(typical, a);
    v[n] = (struct tk_straggler_name){.count = {a->count, b ? b->count : 0},
                                      .self_ns = {as_signed(a->self_ns), b ? as_signed(b->self_ns) : 0},
                                      .p50_ns = {as_signed(scan_quantile(a, 0.5)), b ? as_signed(scan_quantile(b, 0.5)) : 0}};
    v[n].name = diagnostics_bytes(notes, a->name, a->n_name);
    n += more_of(&v[n]) > 0;
  }
  qsort(v, n, sizeof *v, by_more);
  t->to->names = v;
  t->to->n_names = n < MOST_NAMES ? n : MOST_NAMES;
  return true;
}

bool stragglers_report(struct merger *m, const struct scan_list *list) {
  struct stragglers s;
  struct telling t = {m, list, &s, NULL};
  bool ok = stragglers_find(&s, m);
  if (ok && s.slow != UINT32_MAX) {
    t.to = m->report->stragglers = calloc(1, sizeof *t.to);
    ok = t.to || err_set(m->err, TK_ELIMIT, "out of memory");
    if (ok) t.to->met = s.met, t.to->compared = s.compared, t.to->typical = told(&t, s.typical);
    ok = ok && tell_ranks(&t) && tell_step(&t) && tell_names(&t) && diagnostics_check(m->report->notes, m->err);
  }
  stragglers_free(&s, m);
  return ok;
}

void stragglers_free_report(struct tk_merge_report *report) {
  if (report->stragglers) free(report->stragglers->ranks), free(report->stragglers->names);
  free(report->stragglers);
  report->stragglers = NULL;
}

/* ---- as JSON ---- */

static void put_rank(struct buf *b, const struct tk_straggler *r) {
  json_put_int(b, "{\"rank\":", r->rank);
  json_put_text(b, ",\"host\":", r->host);
  json_put_int(b, ",\"met\":", (int64_t)r->met);
  json_put_int(b, ",\"last\":", (int64_t)r->last);
  json_put_int(b, ",\"wait_ns\":", r->wait_ns);
  json_put_int(b, ",\"cost_ns\":", r->cost_ns);
  json_put_int(b, ",\"lasts_ns\":", r->lasts_ns);
  buf_text(b, "}");
}

static void stragglers_put_name(struct buf *b, const struct tk_straggler_name *n) {
  json_put_text(b, "{\"name\":", n->name);
  json_put_int(b, ",\"count\":", (int64_t)n->count[0]);
  json_put_int(b, ",\"self_ns\":", n->self_ns[0]);
  json_put_int(b, ",\"p50_ns\":", n->p50_ns[0]);
  json_put_int(b, ",\"typical_count\":", (int64_t)n->count[1]);
  json_put_int(b, ",\"typical_self_ns\":", n->self_ns[1]);
  json_put_int(b, ",\"typical_p50_ns\":", n->p50_ns[1]);
  buf_text(b, "}");
}

void stragglers_print(struct buf *b, const struct tk_stragglers *s) {
  buf_text(b, s->met ? "{\"by\":\"collectives\",\"ranks\":[" : "{\"by\":\"length\",\"ranks\":[");
  for (size_t i = 0; i < s->n_ranks; i++) {
    buf_text(b, i ? ",\n" : "\n");
    put_rank(b, &s->ranks[i]);
  }
  json_put_int(b, "],\n\"compared\":", (int64_t)s->compared);
  buf_text(b, ",\n\"typical\":");
  put_rank(b, &s->typical);
  if (s->stepped) {
    json_put_int(b, ",\"step\":{\"number\":", s->step);
    json_put_int(b, ",\"cost_ns\":", s->step_cost_ns);
    buf_text(b, "}");
  }
  buf_text(b, ",\"names\":[");
  for (size_t i = 0; i < s->n_names; i++) {
    buf_text(b, i ? ",\n" : "\n");
    stragglers_put_name(b, &s->names[i]);
  }
  buf_text(b, "]}");
}
