/* align.c - first pass of a merge: loads each input, collects its anchors and frees it; then estimates the clocks
 * (align/solve/solve.h). A single input needs no first pass, so it is read only once. As many graphs as fit into a share of
 * --max-memory are kept in memory for the second pass, which need not read their inputs again. For 4 ranks of 190 MB this saves 26% of
 * the CPU time (2.04 instead of 2.74 s) and costs 30% more memory (150 instead of 115 MB). */
#include "alignment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/copies.h"
#include "align/inputs.h"
#include "align/report.h"
#include "base/os.h"
#include "base/paths.h"
#include "base/progress.h"
#include "graph/diagnostics.h"
#include "load/load.h"
#include "barrier.h"
#include "identify.h"
#include "members.h"
#include "offsets.h"
#include "select.h"
#include "op/redact.h"
#include "source/sources.h"
#include "scan/names.h"
#include "scan/weigh.h"

struct aligner {
  struct merge_alignment *out;
  const struct merge_inputs *in;
  const struct tk_merge_options *opt;
  struct tk_merge_report *report;
  struct tk_err *err;
  struct mem *mem;
  struct arena arena;
  struct merge_base base;
  bool any;
  bool has_starts;
  bool start_only; /* true: only find the start of the first event, without aligning clocks */
  struct align_input *inputs;
  struct merge_offsets offsets; /* offsets from a report that the user supplied */
  struct regexp *anchor;
  struct align_anchors anchors;
  struct align_problem problem;
  struct align_solution solution;
};

/* ---- given offsets ---- */

static bool is_called(const struct align_input *i, const char *who) {
  char rank[24];
  snprintf(rank, sizeof rank, "%lld", (long long)i->rank);
  return i->read && (strcmp(rank, who) == 0 || (*i->host && strcmp(i->host, who) == 0));
}

/* Sets the clocks of the inputs that the user's report lists. Other inputs keep their clocks. */
static bool take_report(struct aligner *a) {
  char text[256];
  size_t unknown = 0, read = 0;
  for (size_t i = 0; i < a->in->n; i++) {
    struct align_input *input = &a->inputs[i];
    if (!input->read) continue;
    read++;
    input->map = merge_offsets_of(&a->offsets, input->host, input->name, input->rank);
    input->given = input->map != NULL;
    unknown += !input->given;
  }
  if (unknown == read) return err_set(a->err, TK_EUSAGE, "%s: this clock report does not contain any of the "
                                                         "inputs", a->opt->offsets_from);
  snprintf(text, sizeof text, "the given clock report does not contain %zu of the inputs, which stay on their wall clocks", unknown);
  if (unknown) diagnostics_say(a->report->notes, NULL, TK_NOTE_INFO, text);
  return true;
}

static bool take_offsets(struct aligner *a) {
  if (a->opt->offsets_from && !take_report(a)) return false;
  if (a->opt->align == TK_ALIGN_AUTO && !a->opt->offsets_from) barrier_apply(a->inputs, a->in->n);
  for (size_t k = 0; k < a->opt->n_offsets; k++) {
    const struct tk_offset *o = &a->opt->offsets[k];
    bool found = false;
    if (!o->who) return err_set(a->err, TK_EUSAGE, "offset: missing rank or host");
    for (size_t i = 0; i < a->in->n; i++) {
      struct align_input *input = &a->inputs[i];
      if (!is_called(input, o->who)) continue;
      input->given = found = true;
      input->given_ns = o->ns;
      input->map = NULL;
    }
    if (!found) return err_set(a->err, TK_EUSAGE, "offset: no input has the rank or host '%s'", o->who);
  }
  return true;
}

/* ---- reading ---- */

/* True if this mode compares clocks. Clocks are compared even if all inputs are from one host, to test whether they really share one
 * clock. */
static bool compares_clocks(enum tk_align align) {
  return align != TK_ALIGN_CLOCK && align != TK_ALIGN_NONE && align != TK_ALIGN_START;
}

static bool lists_collectives(const struct aligner *a) {
  const bool weighed = a->in->weighed && a->opt->align != TK_ALIGN_MARKER; /* collectives show which rank is slow */
  return a->opt->collectives || a->opt->link_collectives || a->in->scans || weighed;
}

static const char *report_text(struct aligner *a, const char *text) {
  return diagnostics_text(a->report->notes, text);
}

/* True if ns + later is small enough that sums and differences of two such times cannot overflow (roughly 1824 to 2116). */
static bool is_in_range(int64_t ns, int64_t later) {
  const i128 at = (i128)ns + later;
  return at > INT64_MIN / 2 && at < INT64_MAX / 2;
}

/* Removes the data that the options do not select. Call this after anchors are collected, because data that is removed here still helps
 * to compare clocks. */
static bool keep_part(struct aligner *a, size_t i, struct tk_trace *t, int64_t later) {
  struct align_input *input = &a->inputs[i];
  tk_time start, end;
  input->wanted = merge_wants(a->opt, t, input->rank, a->err);
  if (a->err->code != TK_OK || (input->wanted && !merge_cut(t, a->opt, a->err))) return err_prefix(a->err, "%s", t->source);
  trace_extent(t, &start, &end);
  input->from_ns = trace_ns(t, later, start);
  input->to_ns = trace_ns_up(t, later, end);
  if (a->opt->steps && !t->n_events) input->from_ns = INT64_MAX, input->to_ns = INT64_MIN; /* the input has none of the selected
                                                                                              steps */
  a->out->skipped[i] = !input->wanted;
  return true;
}

/* Finds the time range of the selected steps in a scan, from the start of the first step to the end of the last. */
static bool keep_steps(struct aligner *a, size_t i, const struct scan *s) {
  struct align_input *input = &a->inputs[i];
  struct tk_range asked;
  int64_t start, end;
  const int64_t later = input->start_ns - s->start_ns;
  if (!a->opt->steps || !tk_parse_range(a->opt->steps, &asked)) return true;
  input->from_ns = INT64_MAX, input->to_ns = INT64_MIN;
  if (s->more_steps) return err_set(a->err, TK_EUSAGE, "%s: has more steps than its scan contains; select a time range "
                                                       "instead", input->name);
  if (!scan_steps_range(s, asked.first, asked.last, &start, &end)) return true;
  if (!is_in_range(start, later) || !is_in_range(end, later) || start > end)
    return err_set(a->err, TK_EFORMAT, "%s: its scan is damaged: invalid step times", input->name);
  input->from_ns = start + later;
  input->to_ns = end + later;
  return true;
}

/* Moves the anchors [from, to) to the first input's timeline. Returns false if a time is out of range (is_in_range). */
static bool place_anchors(struct aligner *a, uint32_t from, uint32_t to, int64_t later) {
  for (uint32_t k = from; k < to; k++) {
    struct align_anchor *v = &a->anchors.v[k];
    if (!is_in_range(v->start, later) || !is_in_range(v->end, later)) return false;
    v->start += later;
    v->end += later;
  }
  return true;
}

/* Stores the properties of the first selected input (struct format_starts), which writers need when they write later inputs. */
static void take_starts(struct aligner *a, const struct scan *s) {
  if (!a->has_starts) a->out->starts = s->starts;
  a->has_starts = true;
}

static void take_size(struct aligner *a, size_t i, const struct scan *s, uint32_t processes) {
  const struct format *f;
  struct merge_size *size = &a->out->sizes[i];
  const struct align_input *input = &a->inputs[i];
  *size = (struct merge_size){.lasts_ns = s->end_ns - s->start_ns, .processes = processes};
  if (input->from_ns <= input->to_ns) size->kept_ns = input->to_ns - input->from_ns;
  for (size_t row = 0; (f = format_row(row)) != NULL; row++) {
    if (f != a->in->weighed) continue;
    size->bytes = s->sizes[row].bytes[a->in->packed];
    size->bare = s->sizes[row].bare[a->in->packed];
  }
}

static bool take_scan(struct aligner *a, size_t i, const struct scan *s, uint32_t from, uint32_t to) {
  struct align_input *input = &a->inputs[i];
  const struct merge_base own = {s->zero_ns, s->clock};
  if (!a->any) a->out->base = a->base = own;
  a->any = true;
  input->read = true;
  input->stated = s->rank >= 0;
  input->rank = input->stated ? s->rank : (int64_t)i;
  input->host = s->host;
  input->merged = s->merged;
  input->world = s->world;
  input->gpu = s->gpu;
  input->comparable = merge_is_comparable(&a->base, s->clock);
  input->has_clock = s->clock != TK_CLOCK_UNKNOWN;
  bool ok = is_in_range(a->base.zero_ns, 0) && is_in_range(own.zero_ns, 0);
  const int64_t later = ok ? merge_later(&a->base, &own, a->opt->align) : 0;
  ok = ok && is_in_range(s->start_ns, later) && is_in_range(s->end_ns, later) && place_anchors(a, from, to, later);
  if (!ok) return err_set(a->err, TK_ELIMIT, "%s: its times are more than a century from those of the other inputs", input->name);
  input->start_ns = input->from_ns = s->start_ns + later;
  input->to_ns = s->end_ns + later;
  return true;
}

static bool take_input(struct aligner *a, size_t i, struct tk_trace *t) {
  const uint32_t first = a->anchors.n;
  bool compares = !a->start_only && ((compares_clocks(a->opt->align) && !a->opt->offsets_from) || lists_collectives(a));
  const struct scan_options o = {.none = !compares, .input = (uint32_t)i, .most = merge_most_anchors(a->in->n), .anchor = a->anchor,
                                 .marker = a->opt->align == TK_ALIGN_MARKER ? a->opt->marker : NULL};
  struct scan s;
  if (!scan_take(&s, &a->anchors, t, &o, a->report->notes) || !scan_take_pids(&a->out->pids[i], t, a->mem))
    return mem_refuse(a->mem, a->err);
  if (a->in->weighed && !scan_weigh(&s, t, a->in->weighed, a->err)) return false;
  if (!take_scan(a, i, &s, first, a->anchors.n) ||
      !keep_part(a, i, t, merge_later(&a->base, &(struct merge_base){s.zero_ns, s.clock}, a->opt->align)))
    return false;
  take_size(a, i, &s, a->out->pids[i].processes);
  barrier_find(&a->inputs[i], t, a->inputs[i].start_ns - s.start_ns);
  if (a->inputs[i].wanted) take_starts(a, &s);
  return true;
}

/* True if there is room to keep the graph in memory for the second pass; its size is then added to kept_bytes. */
static bool is_kept(struct aligner *a, const struct tk_trace *t) {
  if (t->store->mem.used > merge_room(a->out, &a->opt->load)) return false;
  a->out->kept_bytes += t->store->mem.used;
  return true;
}

/* Handles an input that failed to load. If the input is invalid, the second pass reports it. A system error ends the merge now, because
 * it might not recur in the second pass: the merge would then include an input that was ignored when the clocks were estimated. */
static bool refuse_input(struct aligner *a, size_t i) {
  bool wrong = a->err->code == TK_EFORMAT || a->err->code == TK_ECORRUPT;
  if (a->err->code == TK_EINTERRUPTED || (!wrong && !a->opt->keep_going)) return merge_stops(a->in->n, a->err);
  if (!wrong) a->report->ranks[i].failed = report_text(a, a->err->msg);
  err_clear(a->err);
  return true;
}

static bool read_each(struct aligner *a) {
  bool ok = true;
  for (size_t i = 0; ok && i < a->in->n; i++) {
    a->inputs[i].name = report_text(a, a->in->sources->inputs[a->in->first + i].name);
    a->inputs[i].host = "";
    if (!sources_keep(a->in->sources, a->in->first + i, &a->opt->load.progress, a->err)) return false;
    progress_phase(&a->opt->load.progress, (struct tk_phase){"aligning", a->inputs[i].name, i + 1, a->in->n, false});
    struct tk_trace *t = merge_load(a->out, a->in, i, &a->opt->load, a->err);
    bool taken = t && take_input(a, i, t);
    ok = taken || refuse_input(a, i);
    if (taken && a->inputs[i].wanted && is_kept(a, t)) a->out->kept[i] = t;
    else tk_free(t);
  }
  return ok;
}

static bool read_scans(struct aligner *a) {
  const struct merge_scans *scans = a->in->scans;
  a->anchors = *scans->anchors;
  *scans->anchors = (struct align_anchors){.mem = a->anchors.mem};
  for (uint32_t i = 0, at = 0, from; i < scans->list->n; i++) {
    for (from = at; at < a->anchors.n && a->anchors.v[at].input == i;) at++;
    a->inputs[i].name = report_text(a, scans->list->v[i].input);
    if (!take_scan(a, i, &scans->list->v[i], from, at)) return false;
    a->inputs[i].wanted = merge_wants_rank(a->opt, a->inputs[i].rank);
    if (!keep_steps(a, i, &scans->list->v[i])) return false;
    a->out->skipped[i] = !a->inputs[i].wanted;
    take_size(a, i, &scans->list->v[i], scans->list->v[i].pids.processes);
    if (a->inputs[i].wanted) take_starts(a, &scans->list->v[i]);
    if (a->inputs[i].merged && merge_selects_ranks(a->opt))
      return err_set(a->err, TK_EUSAGE, "%s: contains several ranks; a plan cannot select only some of them", a->inputs[i].name);
    a->inputs[i].host = report_text(a, scans->list->v[i].host); /* the report outlives the scans */
  }
  return true;
}

static bool read_all(struct aligner *a) {
  if (a->in->scans) return read_scans(a);
  a->out->ahead = load_ahead_start(a->in->sources, a->in->first, a->in->n, NULL, &a->opt->load, LOAD_AHEAD_MOST);
  bool ok = read_each(a);
  load_ahead_stop(a->out->ahead);
  a->out->ahead = NULL;
  return ok;
}

/* ---- hosts ---- */

/* With TK_ALIGN_START, returns the number of earlier inputs with the same host and rank; otherwise 0. Within a run each rank
 * occurs once, so this number distinguishes runs that the host executed one after the other. */
static uint32_t turn_of(struct aligner *a, struct map *seen, const struct align_input *input) {
  if (a->opt->align != TK_ALIGN_START) return 0;
  uint64_t who = hash_mix(hash_bytes(input->host, strlen(input->host)), input->stated ? (uint64_t)input->rank + 1 : 0);
  uint32_t *turn = map_put(seen, who, 0);
  return turn ? (*turn)++ : 0;
}

static uint32_t name_of_host(struct aligner *a, struct intern *names, const struct align_input *input, uint32_t turn) {
  struct buf text = {.mem = a->mem};
  buf_append(&text, input->host, strlen(input->host) + 1);
  buf_append(&text, &turn, sizeof turn);
  uint32_t name = text.data ? intern(names, text.data, text.len) : 0;
  buf_free(&text);
  return name;
}

/* Groups inputs by host name. An input becomes a host of its own if it has no host name, is a copy of another input, or has an
 * offset given by the user. */
static bool find_hosts(struct aligner *a) {
  struct align_problem *p = &a->problem;
  size_t n = a->in->n;
  struct intern names;
  struct map turns;
  uint32_t *of_name = arena_alloc(&a->arena, (n + 1) * sizeof *of_name); /* by id of the host name: ordinal of the host */
  p->host_of = arena_alloc(&a->arena, (n + 1) * sizeof *p->host_of);
  p->known = arena_alloc(&a->arena, n + 1);
  if (!of_name || !p->host_of || !p->known) return mem_refuse(a->mem, a->err);
  intern_init(&names, a->mem);
  map_init(&turns, a->mem);
  for (uint32_t i = 0; i < n; i++) {
    const struct align_input *input = &a->inputs[i];
    bool alone = !*input->host || input->given || input->copy_of;
    uint32_t before = names.n, name = alone ? 0 : name_of_host(a, &names, input, turn_of(a, &turns, input));
    p->host_of[i] = p->n_hosts;
    if (name && name <= before) p->host_of[i] = of_name[name];
    if (name) of_name[name] = p->host_of[i];
    if (p->host_of[i] < p->n_hosts) continue;
    p->known[p->n_hosts++] = *input->host || input->given || input->copy_of || !input->read;
  }
  intern_free(&names);
  map_free(&turns);
  return mem_check(a->mem, a->err);
}

static bool find_reference(struct aligner *a) {
  const char *who = a->opt->reference;
  for (uint32_t i = 0; i < a->in->n; i++) {
    if (!a->inputs[i].read || a->inputs[i].given || a->inputs[i].copy_of || (who && !is_called(&a->inputs[i], who))) continue;
    a->problem.reference = a->problem.host_of[i];
    return true;
  }
  if (!who || !a->any) return true;
  return err_set(a->err, TK_EUSAGE, "reference: no input has the rank or host '%s'", who);
}

/* Keeps inputs with a user-given offset, and copies of inputs, from influencing the alignment: moves their anchors behind the others.
 * Returns the number of the others. */
static uint32_t set_given_apart(struct aligner *a) {
  uint32_t n = 0;
  struct align_anchor *v = a->anchors.v;
  for (uint32_t i = 0; i < a->anchors.n; i++) {
    if (a->inputs[v[i].input].given || a->inputs[v[i].input].copy_of) continue;
    struct align_anchor other = v[n];
    v[n++] = v[i];
    v[i] = other;
  }
  return n;
}

/* Sets the prior probability that inputs belong to different jobs. It is low if every rank of a job occurs exactly once, and high if
 * two inputs claim the same rank. */
static bool weigh_jobs(struct aligner *a) {
  const double complete = 1e-4, usual = 1e-3, twice = 1e-2;
  struct map ranks;
  bool ok = true, all = true, again = false;
  int64_t world = 0, copies = 0;
  a->problem.other_job = usual;
  map_init(&ranks, a->mem);
  for (size_t i = 0; ok && i < a->in->n; i++) {
    const struct align_input *input = &a->inputs[i];
    copies += input->copy_of != 0;
    all = all && (input->stated || input->copy_of);
    world = world && input->world != world ? -1 : input->world;
    if (!input->stated || input->copy_of) continue;
    uint32_t *seen = map_put(&ranks, (uint64_t)input->rank, 0);
    ok = seen != NULL;
    again = again || (seen && *seen);
    if (seen) *seen = 1;
  }
  map_free(&ranks);
  all = all && world == (int64_t)a->in->n - copies;
  if (again || all) a->problem.other_job = again ? twice : complete;
  return ok || mem_refuse(a->mem, a->err);
}

static bool solve(struct aligner *a) {
  struct align_problem *p = &a->problem;
  p->mem = a->mem;
  p->anchors = &a->anchors;
  p->n_inputs = (uint32_t)a->in->n;
  p->marker = a->opt->align == TK_ALIGN_MARKER;
  p->threads = os_threads(a->opt->load.threads);
  p->clock_error_ns = (double)a->opt->clock_error / 1e3;
  if (!p->marker && !copies_find(a->inputs, p->n_inputs, &a->anchors)) return mem_refuse(a->mem, a->err);
  if (!find_hosts(a) || !find_reference(a) || !weigh_jobs(a)) return false;
  if (!inputs_list(p, a->inputs, &a->arena)) return mem_refuse(a->mem, a->err);
  uint32_t all = a->anchors.n;
  a->anchors.n = set_given_apart(a);
  bool ok = align_solve(p, &a->solution, a->err);
  ok = ok && (copies_place(p, &a->solution, a->inputs) || mem_refuse(a->mem, a->err));
  a->anchors.n = all;
  return ok;
}

/* ---- maps ---- */

static bool is_applied(const struct aligner *a, uint32_t host) {
  enum align_state state = a->solution.hosts[host].state;
  if (!compares_clocks(a->opt->align)) return false;
  return state == ALIGN_GOOD || state == ALIGN_APART || state == ALIGN_ROUGH || (state == ALIGN_POOR && a->opt->align != TK_ALIGN_AUTO);
}

static int64_t first_start(const struct aligner *a, uint32_t host) {
  int64_t start = INT64_MAX;
  for (size_t i = 0; i < a->in->n; i++)
    if (a->inputs[i].read && a->problem.host_of[i] == host && a->inputs[i].start_ns < start) start = a->inputs[i].start_ns;
  return start;
}

static bool make_maps(struct aligner *a) {
  for (size_t i = 0; i < a->in->n; i++) {
    uint32_t host = a->problem.host_of[i];
    struct align_map *m = &a->out->maps[i];
    *m = (struct align_map){.pivot_ns = a->inputs[i].start_ns};
    a->out->mapped[i] = false;
    if (!a->inputs[i].read) continue;
    if (a->inputs[i].map) {
      *m = *a->inputs[i].map;
      if (align_is_constant(m)) m->pivot_ns = a->inputs[i].start_ns; /* a constant map from a report or the user needs no pivot; this
                                                                      * sets one */
    } else if (a->inputs[i].given) {
      m->offset_ns = -a->inputs[i].given_ns;
    } else if (a->opt->align == TK_ALIGN_START) {
      if (__builtin_sub_overflow(first_start(a, host), first_start(a, a->problem.reference), &m->offset_ns))
        return err_set(a->err, TK_ELIMIT, "%s: too far in time from the reference", a->in->sources->inputs[a->in->first + i].name);
    } else if (is_applied(a, host)) {
      *m = a->solution.hosts[host].map;
    } else {
      continue;
    }
    a->out->mapped[i] = true;
  }
  return true;
}

/* ---- collectives ---- */

static bool any_given(const struct aligner *a) {
  bool any = false;
  for (size_t i = 0; i < a->in->n; i++) any = any || a->inputs[i].given;
  return any;
}

/* Finds collectives if the user gave the clock offsets. All inputs are then on one timeline already, so collectives are matched by
 * sequence number, or because they end together. */
static bool take_given_collectives(struct aligner *a) {
  size_t n = a->in->n;
  bool known = true, *still = arena_zeros(&a->arena, n + 1, 1), *usable = members_usable(a->inputs, n, a->out->mapped, &a->arena);
  uint32_t *one = arena_zeros(&a->arena, n + 1, sizeof *one);
  struct align_solution met;
  if (!still || !one || !usable) return mem_refuse(a->mem, a->err);
  members_place(&a->anchors, &a->problem, a->out->maps, a->out->mapped);
  struct align_problem p = {.mem = a->mem, .anchors = &a->anchors, .host_of = one, .known = &known, .n_inputs = (uint32_t)n,
                            .n_hosts = 1, .placed = true};
  bool ok = align_solve(&p, &met, a->err);
  const struct members_clocks clocks = {a->out->maps, still, usable};
  ok = ok && (members_take(&a->out->collectives, &a->anchors, &met, &clocks) || mem_refuse(a->mem, a->err));
  align_solution_free(&met);
  return ok;
}

static bool take_aligned_collectives(struct aligner *a) {
  const struct merge_alignment *o = a->out;
  const struct members_clocks clocks = {o->maps, o->mapped, members_usable(a->inputs, a->in->n, o->mapped, &a->arena)};
  return (clocks.usable && members_take(&a->out->collectives, &a->anchors, &a->solution, &clocks)) || mem_refuse(a->mem, a->err);
}

static bool take_collectives(struct aligner *a) {
  if (!(any_given(a) ? take_given_collectives(a) : take_aligned_collectives(a))) return false;
  members_say(&a->out->collectives, a->report->notes);
  merge_collectives_sum_up(&a->out->collectives, a->out->who, &a->report->collectives, a->mem);
  return mem_check(a->mem, a->err);
}

/* ---- entry points ---- */

static bool one_host_by_place(const struct merge_inputs *in) {
  const struct tk_input *inputs = in->sources->inputs + in->first;
  for (size_t i = 0; i < in->n; i++)
    if (!*inputs[i].host || strcmp(inputs[i].host, inputs[0].host) != 0) return false;
  return true;
}

static bool is_needed(const struct aligner *a) {
  const struct merge_inputs *in = a->in;
  const struct tk_merge_options *opt = a->opt;
  if (opt->n_offsets || opt->reference || opt->offsets_from) return true; /* needed to check that the given rank or host exists */
  if (opt->group_by == TK_GROUP_HOST && in->n > 1 && !one_host_by_place(in)) return true;
  if (in->n < 2) return false;
  if (lists_collectives(a)) return true;
  return compares_clocks(opt->align) || opt->align == TK_ALIGN_START;
}

/* True if the options set clocks, or group inputs by host. */
static bool is_moved(const struct tk_merge_options *opt) {
  return opt->n_offsets || opt->reference || opt->offsets_from || opt->group_by == TK_GROUP_HOST;
}

static void find_start(struct aligner *a) {
  for (size_t i = 0; i < a->in->n; i++) {
    const struct align_map *map = merge_map(a->out, i);
    int64_t start = a->inputs[i].from_ns, end = a->inputs[i].to_ns;
    if (!a->inputs[i].read || !a->inputs[i].wanted || start > end) continue;
    if (map && __builtin_sub_overflow(start, align_offset(map, start), &start)) continue;
    if (start < a->out->start_ns) a->out->start_ns = start;
    if (map && __builtin_sub_overflow(end, align_offset(map, end), &end)) continue;
    if (end > a->out->end_ns) a->out->end_ns = end;
  }
}

/* Redacts the hosts and names of the inputs. From here on they are only used in reports. */
static bool hide_inputs(struct aligner *a) {
  struct buf b = {.mem = a->mem};
  bool ok = true;
  for (size_t i = 0; ok && i < 2 * a->in->n; i++) {
    struct align_input *input = &a->inputs[i / 2];
    const char **of = i % 2 ? &input->name : &input->host;
    if (!*of || !**of) continue;
    b.len = 0;
    ok = redact_outside(a->opt->redact, i % 2 ? "input" : "host", *of, &b) && buf_append(&b, "", 1);
    if (ok) *of = diagnostics_text(a->report->notes, (const char *)b.data);
    ok = ok && *of;
  }
  buf_free(&b);
  return ok;
}

static const char *name_of_input(const void *arg, size_t i) { return ((const struct align_input *)arg)[i].name; }

static bool report_clocks(struct aligner *a) {
  const bool compared = compares_clocks(a->opt->align) || a->opt->align == TK_ALIGN_START || is_moved(a->opt);
  if (!compared) return align_report_none(a->report, a->opt->align, one_host_by_place(a->in)) || mem_refuse(a->mem, a->err);
  if (a->opt->redact && !hide_inputs(a)) return err_set(a->err, TK_ELIMIT, "out of memory");
  struct align_reporter reporter = {a->report, a->opt->align, a->inputs, &a->problem, &a->solution, a->out->maps, a->out->mapped,
                                    paths_folders(name_of_input, a->inputs, a->in->n, a->mem)};
  const bool compares = compares_clocks(a->opt->align);
  return (compares ? align_report(&reporter) : align_report_uncompared(&reporter)) || err_set(a->err, TK_ELIMIT, "out of memory");
}

static bool align_inputs(struct aligner *a) {
  const size_t n = a->in->n;
  a->inputs = arena_zeros(&a->arena, n + 1, sizeof *a->inputs);
  if (!merge_alignment_init(a->out, a->mem, n) || !a->inputs) return mem_refuse(a->mem, a->err);
  if (!read_all(a)) return false;
  merge_identify(a->out, a->inputs, n, a->opt);
  if (!a->start_only && (!take_offsets(a) || !solve(a) || !make_maps(a))) return false;
  find_start(a);
  if (a->start_only) return true;
  if (lists_collectives(a) && !take_collectives(a)) return false;
  return report_clocks(a);
}

/* Checks the options that need no input, compiles the expression of anchors and reads the file of offsets. */
static bool take_options(struct aligner *a) {
  const struct tk_merge_options *opt = a->opt;
  char why[256];
  if (lists_collectives(a) && opt->align == TK_ALIGN_MARKER)
    return err_set(a->err, TK_EUSAGE, "a table of collectives cannot be combined with alignment by markers");
  if (opt->align == TK_ALIGN_MARKER && !opt->marker) return err_set(a->err, TK_EUSAGE, "missing marker name");
  if (opt->clock_error < 0) return err_set(a->err, TK_EUSAGE, "the clock error must not be negative");
  if (opt->anchor && !(a->anchor = regexp_new(opt->anchor, a->mem, why, sizeof why)))
    return mem_check(a->mem, a->err) && err_set(a->err, TK_EUSAGE, "anchor '%s': %s", opt->anchor, why);
  return !opt->offsets_from || merge_offsets_read(&a->offsets, opt->offsets_from, a->err);
}

bool merge_align(struct merge_alignment *out, const struct merge_inputs *in, const struct tk_merge_options *opt, bool start,
                 struct tk_merge_report *report, struct tk_err *err) {
  struct aligner a = {.out = out, .in = in, .opt = opt, .report = report, .err = err, .mem = &out->mem};
  *out = (struct merge_alignment){.start_ns = INT64_MAX, .end_ns = INT64_MIN, .mem = {.limit = os_memory_limit(opt->load.max_memory)}};
  a.arena.mem = a.offsets.arena.mem = a.mem;
  align_anchors_init(&a.anchors, a.mem);
  a.anchors.described = lists_collectives(&a);
  a.anchors.all = a.anchors.described && !in->weighed;
  a.start_only = !is_needed(&a);
  bool ok = take_options(&a);
  if (ok && a.start_only) ok = align_report_none(report, opt->align, in->n < 2 || one_host_by_place(in));
  if (ok && (!a.start_only || (start && in->n > 1) || opt->time || in->weighed)) ok = align_inputs(&a);
  if (ok) ok = regexp_check(a.anchor, err);
  regexp_free(a.anchor);
  merge_offsets_free(&a.offsets);
  align_solution_free(&a.solution);
  align_anchors_free(&a.anchors);
  arena_free(&a.arena);
  return ok;
}
