/* report.c - implements tk_report_trace for a single trace, and tk_report_sources, which loads several traces one after the other,
 * moves them to one timeline and compares the collectives of their ranks, as a merge does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "graph/diagnostics.h"
#include "load/evident.h"
#include "merge/align.h"
#include "merge/alignment.h"
#include "merge/members.h"
#include "source/identity.h"
#include "source/sources.h"

/* ---- waiting in collectives ---- */

/* Selected time range of an input, on the common timeline. map, zero_ns: clock map of the input (NULL = none), and the start of its
 * first event by its own clock. */
struct meeting_range {
  int64_t from_ns, to_ns;
  const struct align_map *map;
  int64_t zero_ns;
};

struct meetings {
  struct tk_report *r;
  const struct merge_collectives *c;
  const struct merge_who *who;
  const struct meeting_range *ranges; /* by input: selected range */
  struct map of_rank; /* rank -> 1 + index of its row in the report */
  struct mem *mem;
};

static int64_t report_rank_of(const struct meetings *m, const struct merge_meeting *v) {
  return m->who[v->input].merged ? (int64_t)v->device - 1 : m->who[v->input].rank;
}

static struct tk_report_meeting *report_row_of(struct meetings *m, int64_t rank) {
  struct tk_report *r = m->r;
  uint32_t *slot = map_put(&m->of_rank, (uint64_t)rank, 0);
  if (!slot) return NULL;
  if (*slot) return &r->meetings[*slot - 1];
  if (!mem_grow(&r->impl->mem, (void **)&r->meetings, &r->impl->cap_meetings, r->n_meetings + 1, sizeof *r->meetings)) return NULL;
  r->meetings[r->n_meetings++] = (struct tk_report_meeting){.rank = rank};
  *slot = (uint32_t)r->n_meetings;
  return &r->meetings[r->n_meetings - 1];
}

static void add_ns(struct tk_total *total, int64_t ns) {
  const int64_t ps = total->ps + ns % 1000000000 * 1000;
  total->s += ns / 1000000000 + ps / 1000000000000;
  total->ps = ps % 1000000000000;
}

static int64_t meeting_edge(const struct tk_trace *t, int64_t later, const struct align_map *map, tk_time edge) {
  if (edge == INT64_MIN || edge == INT64_MAX) return edge;
  const int64_t reading = trace_ns(t, later, edge);
  return map ? num_sub(reading, align_offset(map, reading)) : reading;
}

/* Returns the selected range of the trace that was added to the report last. `map`: clock map; NULL if the trace needs none. */
static struct meeting_range meeting_range_of(const struct tk_report *r, const struct tk_trace *t, int64_t later,
                                             const struct align_map *map) {
  const struct window *w = &r->impl->scope.window;
  return (struct meeting_range){meeting_edge(t, later, map, w->start), meeting_edge(t, later, map, w->end), map,
                                trace_ns(t, later, r->impl->zero)};
}

/* Returns a time of the common timeline as the time since the first event of an input. */
static tk_time since_first(const struct meeting_range *range, int64_t ns) {
  const struct align_map *map = range->map;
  const int64_t reading = map ? ns + align_offset(map, ns + align_offset(map, ns)) : ns;
  return num_sub(reading, range->zero_ns) < INT64_MAX / 1000 ? num_sub(reading, range->zero_ns) * 1000 : INT64_MAX;
}

/* Stores the range from the arrival of the next-to-last rank to the end of the collective, if the row's rank never arrived later. */
static void see_delay(const struct meetings *m, struct tk_report_meeting *row, const struct merge_meeting *last, int64_t cost) {
  const struct meeting_range *range = &m->ranges[last->input];
  const tk_time from = since_first(range, last->start_ns - cost), to = since_first(range, last->end_ns);
  if (cost * 1000 <= row->delay || from < 0) return;
  row->delay = cost * 1000;
  row->delay_at = from;
  row->delay_length = to > from ? to - from : 0;
}

/* True if all ranks of the collective in rows [from, to) arrive within the selected range. */
static bool is_selected(const struct meetings *m, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    const struct merge_meeting *v = &m->c->v[i];
    if (v->start_ns < m->ranges[v->input].from_ns || v->start_ns >= m->ranges[v->input].to_ns) return false;
  }
  return true;
}

/* Adds the collective in rows [from, to) to the report rows of its ranks. If several ranks arrive last at the same time, none of them
 * is charged with a delay. Returns false if memory runs out. */
static bool count_ranks(struct meetings *m, uint32_t from, uint32_t to) {
  const struct merge_meeting *v = m->c->v, *last = &v[to - 1];
  const double members = to - from;
  const int64_t cost = last->start_ns - v[to - 2].start_ns;
  for (uint32_t i = from; i < to; i++) {
    struct tk_report_meeting *row = report_row_of(m, report_rank_of(m, &v[i]));
    if (!row) return false;
    row->met++;
    add_ns(&row->wait, last->start_ns - v[i].start_ns);
    if (!cost) continue;
    row->chance += 1.0 / members;
    row->variance += (members - 1) / (members * members);
    if (i + 1 < to) {
      add_ns(&row->peer_cost, (int64_t)((double)cost / (members - 1)));
      continue;
    }
    row->last++;
    add_ns(&row->cost, cost);
    see_delay(m, row, last, cost);
  }
  return true;
}

/* Adds the collective to the report row of its name. The shortest member waited least, so its duration shows the speed of the links.
 * Returns false if memory runs out. */
static bool count_collective(struct meetings *m, uint32_t from, uint32_t to) {
  const struct merge_meeting *v = m->c->v;
  int64_t shortest = INT64_MAX, bytes = 0, wait = 0;
  uint32_t name = 0;
  for (uint32_t i = from; i < to; i++) {
    if (!name) name = v[i].name;
    if (v[i].bytes > bytes) bytes = v[i].bytes;
    if (v[i].end_ns - v[i].start_ns < shortest) shortest = v[i].end_ns - v[i].start_ns;
    wait += v[to - 1].start_ns - v[i].start_ns;
  }
  if (!name) return true;
  const char *text = (const char *)m->c->texts.strs[name].bytes;
  struct report_collective *k = report_collective(m->r->impl, text);
  if (!k) return false;
  k->met++;
  k->core += (i128)shortest * 1000;
  k->wait += (i128)wait * 1000;
  if (!bytes) return true;
  k->met_known += to - from;
  k->met_bytes += (double)bytes * (to - from);
  const int64_t ranks = k->group_size > (int64_t)(to - from) ? k->group_size : (int64_t)(to - from);
  k->core_sized++;
  k->core_time += (i128)shortest * 1000;
  k->core_bus_bytes += (double)bytes * report_bus_factor(text, ranks);
  return true;
}

static int by_rank(const void *p, const void *q) {
  const struct tk_report_meeting *a = p, *b = q;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

/* ---- waiting in messages ---- */

static bool is_end_selected(const struct meetings *m, const struct merge_end *e) {
  return e->start_ns >= m->ranges[e->input].from_ns && e->start_ns < m->ranges[e->input].to_ns;
}

/* Adds one side of a message to the report row of its name. A side waits from its own start to that of the other side, but not after
 * its own end: NCCL can buffer a short message, so that a send ends before the receive starts. Returns false if memory runs out. */
static bool count_end(struct meetings *m, const struct merge_end *e, const struct merge_end *other) {
  const int64_t length = e->end_ns - e->start_ns, others = other->end_ns - other->start_ns, wait = other->start_ns - e->start_ns;
  struct report_collective *k = e->name ? report_collective(m->r->impl, (const char *)m->c->texts.strs[e->name].bytes) : NULL;
  if (!k) return !e->name;
  const int64_t shortest = length < others ? length : others;
  k->met++;
  k->core += (i128)shortest * 1000;
  k->wait += wait > 0 ? (i128)(wait < length ? wait : length) * 1000 : 0;
  if (e->bytes <= 0) return true;
  k->core_sized++;
  k->core_time += (i128)shortest * 1000;
  k->core_bus_bytes += (double)e->bytes;
  return true;
}

/* Adds the messages whose ends both start within the selected ranges. */
static bool add_pairs(struct meetings *m) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < m->c->n_pairs; i++) {
    const struct merge_pair *p = &m->c->pairs[i];
    if (!is_end_selected(m, &p->sent) || !is_end_selected(m, &p->received)) continue;
    m->r->impl->messages++;
    ok = count_end(m, &p->sent, &p->received) && count_end(m, &p->received, &p->sent);
  }
  return ok;
}

/* Adds the collectives and messages within the selected ranges. */
static bool add_meetings(struct tk_report *r, const struct merge_collectives *c, const struct merge_who *who,
                         const struct meeting_range *ranges) {
  struct meetings m = {.r = r, .c = c, .who = who, .ranges = ranges, .mem = &r->impl->mem};
  bool ok = add_pairs(&m);
  map_init(&m.of_rank, m.mem);
  for (uint32_t i = 0, k; ok && i < c->n; i = k) {
    for (k = i; k < c->n && c->v[k].collective == c->v[i].collective;) k++;
    if (k - i < 2 || !is_selected(&m, i, k)) continue;
    r->met++;
    ok = count_ranks(&m, i, k) && count_collective(&m, i, k);
  }
  if (r->n_meetings) qsort(r->meetings, r->n_meetings, sizeof *r->meetings, by_rank);
  map_free(&m.of_rank);
  return ok;
}

/* Finds the collectives within a merged trace, whose ranks are already on one timeline. */
static bool meet_within(struct tk_report *r, struct tk_trace *t, const struct track_origin *origins, struct tk_err *err) {
  struct mem mem = {.limit = r->impl->mem.limit};
  struct align_anchors anchors;
  struct align_solution met = {.mem = NULL};
  struct merge_collectives c = {.n = 0};
  struct align_map map = {.pivot_ns = 0};
  const struct merge_who who = {.host = "", .merged = true};
  const struct meeting_range range = meeting_range_of(r, t, 0, NULL);
  const struct align_source from = {.rank = -1, .origins = origins};
  uint32_t one = 0;
  bool known = true, still = false;
  const struct members_clocks clocks = {&map, &still, &known};
  align_anchors_init(&anchors, &mem);
  anchors.all = anchors.described = true;
  struct align_problem p = {.mem = &mem, .anchors = &anchors, .host_of = &one, .known = &known, .n_inputs = 1, .n_hosts = 1,
                            .placed = true};
  bool ok = align_collect(&anchors, t, &from);
  if (ok && anchors.n) {
    ok = align_solve(&p, &met, err) && members_take(&c, &anchors, &met, &clocks) &&
         add_meetings(r, &c, &who, &range);
    align_solution_free(&met);
    if (ok) members_say(&c, r->notes);
  }
  merge_collectives_free(&c, &mem);
  align_anchors_free(&anchors);
  return ok || mem_refuse(&mem, err);
}

/* ---- one trace ---- */

static bool add_trace(struct tk_report *r, struct tk_trace *t, const struct report_place *place, bool alone, struct tk_err *err) {
  struct mem mem = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  diagnostics_add_notes(r->notes, t, t->source);
  bool ok = origins ? report_add(r, t, origins, place, err) : err_set(err, TK_ELIMIT, "out of memory");
  if (ok && alone && identity_is_merged(t)) ok = meet_within(r, t, origins, err);
  identity_free_tracks(origins, &mem);
  return ok;
}

static bool open_report(struct tk_report *r, const struct tk_report_options *opt, struct tk_report_options *own, struct tk_err *err) {
  const size_t first = offsetof(struct tk_report_options, limits);
  if (!options_take(own, sizeof *own, first, opt, err) || !RESERVED(&own->select, err)) return false;
  own->load.max_memory = os_memory_limit(own->load.max_memory);
  return report_open(r, own, err);
}

bool tk_report_trace(struct tk_trace *t, const struct tk_report_options *opt, struct tk_report **report, struct tk_err *err) {
  struct tk_report_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !trace_is_sealed(t, err)) return false;
  const struct report_place place = {.input = t->source};
  return open_report(*report, opt, &own, err) && add_trace(*report, t, &place, true, err) && report_close(*report, err);
}

/* ---- several traces ---- */

struct run {
  struct tk_report *r;
  struct tk_sources *s;
  const struct tk_report_options *opt;
  struct tk_err *err;
  struct merge_alignment alignment;
  struct meeting_range *ranges; /* by input: selected range */
};

/* Returns the name that the user gave to the run of an input; NULL if there is none. */
static const char *label_of(const struct run *run, size_t i) {
  const size_t operand = sources_operand(run->s, i);
  return operand < run->opt->n_labels ? run->opt->labels[operand] : NULL;
}

static bool add_input(struct run *run, size_t i) {
  const struct merge_inputs in = {.sources = run->s, .n = run->s->n};
  struct merge_alignment *a = &run->alignment;
  struct tk_trace *t = merge_load(a, &in, i, &run->opt->load, run->err);
  if (!t && run->opt->keep_going && run->err->code != TK_EINTERRUPTED) {
    diagnostics_say_left_out(run->r->notes, run->s->inputs[i].name, run->err->msg);
    err_clear(run->err);
    return true;
  }
  if (!t) return merge_stops(run->s->n, run->err);
  const struct align_map *map = merge_map(a, i);
  const struct merge_base own = {t->zero_ns, t->clock};
  struct report_place place = {run->s->inputs[i].name, merge_later(&a->base, &own, TK_ALIGN_AUTO), label_of(run, i)};
  const int64_t later = place.later_ns;
  if (map) place.later_ns -= align_offset(map, t->origin_ns + place.later_ns);
  bool ok = add_trace(run->r, t, &place, false, run->err);
  run->ranges[i] = meeting_range_of(run->r, t, later, map);
  tk_free(t);
  return ok;
}

/* Returns an earlier input that claims the same rank and has another format; SIZE_MAX if there is none. */
static size_t other_recording_of(const struct run *run, size_t i) {
  const struct merge_who *who = run->alignment.who;
  const char *format = run->s->inputs[i].format;
  if (!who || !format || who[i].rank == INT64_MAX) return SIZE_MAX;
  for (size_t k = 0; k < i; k++) {
    const char *other = run->s->inputs[k].format;
    if (who[k].rank == who[i].rank && other && strcmp(other, format) != 0) return k;
  }
  return SIZE_MAX;
}

/* Adds a note if two inputs are recordings of the same rank by different profilers that were not joined, because their work may be
 * counted twice. */
static void note_recordings(const struct run *run) {
  char text[512];
  bool differ = false;
  for (size_t i = 1; i < run->s->n && !differ; i++) {
    const char *format = run->s->inputs[i].format, *first = run->s->inputs[0].format;
    differ = format && first && strcmp(format, first) != 0;
  }
  for (size_t i = 1; differ && i < run->s->n; i++) {
    const size_t other = other_recording_of(run, i);
    if (other == SIZE_MAX) continue;
    snprintf(text, sizeof text, "has the same rank as %s, in another format: work that both recorded is counted twice; if "
                                "they are recordings of one rank, join them (see --join)", run->s->inputs[other].name);
    diagnostics_say(run->r->notes, run->s->inputs[i].name, TK_NOTE_INFO, text);
  }
}

static bool add_inputs(struct run *run) {
  const struct merge_inputs in = {.sources = run->s, .n = run->s->n};
  const struct tk_merge_options options = {.load = run->opt->load, .link_collectives = true,
                                           .keep_going = run->opt->keep_going};
  struct tk_merge_report merged = {.n_ranks = 0};
  struct mem *mem = &run->r->impl->mem;
  run->ranges = mem_array(mem, run->s->n, sizeof *run->ranges);
  for (size_t i = 0; run->ranges && i < run->s->n; i++) run->ranges[i] = (struct meeting_range){INT64_MIN, INT64_MAX, NULL, 0};
  bool ok = (run->ranges || mem_refuse(mem, run->err)) && merge_report_init(&merged, run->s->n, run->err) &&
            merge_align(&run->alignment, &in, &options, true, &merged, run->err);
  for (size_t i = 0; ok && i < run->s->n; i++) ok = add_input(run, i);
  const struct merge_alignment *a = &run->alignment;
  ok = ok && (add_meetings(run->r, &a->collectives, a->who, run->ranges) || mem_refuse(mem, run->err));
  if (ok) diagnostics_add(run->r->notes, merged.notes);
  if (ok) note_recordings(run);
  mem_free(mem, run->ranges);
  merge_alignment_free(&run->alignment);
  merge_report_clear(&merged);
  return ok;
}

static bool add_one(struct run *run) {
  struct tk_trace *t = tk_sources_load(run->s, 0, &run->opt->load, run->err);
  if (!t) return false;
  const struct report_place place = {.input = t->source, .label = label_of(run, 0)};
  bool ok = add_trace(run->r, t, &place, true, run->err);
  tk_free(t);
  return ok;
}

bool tk_report_sources(struct tk_sources *s, const struct tk_report_options *opt, struct tk_report **report, struct tk_err *err) {
  struct tk_report_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !open_report(*report, opt, &own, err)) return false;
  if (!load_join_evident(s, TK_ALIGN_AUTO, &own.load, err)) return false;
  struct run run = {.r = *report, .s = s, .opt = &own, .err = err};
  return (s->n == 1 ? add_one(&run) : add_inputs(&run)) && report_close(*report, err);
}
