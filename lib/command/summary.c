/* summary.c - counts the contents of a graph for `info`, and lists the components of this build. */
#include <stdio.h>
#include <string.h>
#include <archive.h>
#include <zlib.h>

#include "graph/chain.h"
#include "graph/kind.h"
#include "source/identity.h"
#ifdef TK_HAVE_ISAL
#include <isa-l.h>
#endif

static void count_events(const struct tk_trace *t, struct tk_summary *s) {
  s->start = INT64_MAX;
  s->end = INT64_MIN;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_SPAN) s->spans++;
    else if (e->kind == TK_EVENT_INSTANT) s->instants++;
    else if (e->kind == TK_EVENT_SAMPLE) s->samples++;
    else s->counters++;
    s->overlaps += (e->flags & TK_FLAG_OVERLAPS) != 0;
    s->unfinished += (e->flags & TK_FLAG_UNFINISHED) != 0;
    if (e->depth > s->max_depth) s->max_depth = e->depth;
    if (e->flags & TK_FLAG_LOST_CLOCK) {
      s->lost_clock++;
      continue;
    }
    if (e->ts < s->start) s->start = e->ts;
    if (e->ts + e->dur > s->end) s->end = e->ts + e->dur;
  }
  if (s->start > s->end) s->start = s->end = 0;
}

static void count_tracks(const struct tk_trace *t, struct tk_summary *s) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    s->processes += k->kind == TK_TRACK_PROCESS;
    s->threads += k->kind == TK_TRACK_THREAD;
    s->counter_tracks += k->kind == TK_TRACK_COUNTERS;
    s->async_tracks += k->kind == TK_TRACK_ASYNCS;
  }
}

/* True for a track that shows that the unnamed machine took part: Perfetto's packets of the machine that recorded name none. */
static bool is_of_unnamed(const struct tk_trace *t, const struct tk_track *k) {
  if (k->kind == TK_TRACK_PROCESS) return !k->machine && !k->hidden && k->pid.kind != TK_IDENT_NONE;
  return k->count && !t->tracks[k->parent].machine;
}

static void count_machines(const struct tk_trace *t, struct tk_summary *s, struct mem *mem) {
  struct map seen;
  bool unnamed = false;
  map_init(&seen, mem);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    unnamed = unnamed || is_of_unnamed(t, k);
    uint32_t *slot = k->kind == TK_TRACK_PROCESS && k->machine ? map_put(&seen, k->machine, 0) : NULL;
    if (!slot || *slot) continue;
    *slot = 1;
    s->machines++;
  }
  s->machines += s->machines && unnamed;
  map_free(&seen);
}

/* Counts flows, and flow points without a partner. Points are sorted by time, so storing the last point of each flow is enough: it is
 * either a start without an end so far, or a step or end whose start was found. */
static void count_flows(const struct tk_trace *t, struct tk_summary *s, struct mem *mem) {
  struct chains open;
  if (!chains_init(&open, t, mem)) return;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *last = chains_of(&open, f);
    if (flow_starts(f)) s->dangling_points += *last && flow_starts(&t->flow_points[*last]);
    else if (*last) s->flow_pairs++;
    else s->dangling_points++;
    if (flow_starts(f) || *last) *last = i;
  }
  for (uint32_t i = 0; i <= open.mask; i++) s->dangling_points += open.slots[i] && flow_starts(&t->flow_points[open.slots[i]]);
  chains_free(&open);
}

static void count_memory(const struct tk_trace *t, struct tk_summary *s) {
  const struct tk_store *st = t->store;
  s->arg_bytes = st->pool.len;
  s->arg_shapes = st->n_shapes;
  s->n_strings = st->strings.n;
  for (uint32_t i = 1; i <= st->strings.n; i++) s->string_bytes += st->strings.strs[i].len;
  s->memory = (uint64_t)t->n_events * sizeof *t->events + (uint64_t)t->n_flow_points * sizeof *t->flow_points + st->pool.len +
              (uint64_t)t->n_classes * sizeof *t->classes + (uint64_t)t->n_tracks * sizeof *t->tracks +
              (uint64_t)t->n_stacks * sizeof *t->stacks + (uint64_t)t->n_frames * sizeof *t->frames;
}

static void count_kinds(const struct tk_trace *t, struct tk_summary *s, struct mem *mem) {
  struct kinds kinds;
  uint64_t counts[TK_KINDS] = {0};
  if (kinds_init(&kinds, t, mem)) kinds_count(&kinds, counts);
  kinds_free(&kinds);
  for (size_t i = 0; kind_words[i].word && i < TK_KINDS; i++) {
    s->kinds[i].name = kind_words[i].word;
    s->kinds[i].events = counts[i];
  }
}

int64_t tk_lost_rank(const struct tk_trace *t, const char *output) { return t && output ? identity_lost_rank(t, output) : -1; }

bool tk_summarise(const struct tk_trace *t, struct tk_summary *s, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_err own;
  if (!trace_is_sealed(t, err)) return false;
  struct identity id = identity_of(t);
  *s = (struct tk_summary){.records = t->n_records, .flow_points = t->n_flow_points, .stacks = t->n_stacks, .frames = t->n_frames};
  count_events(t, s);
  count_tracks(t, s);
  count_machines(t, s, &mem);
  count_flows(t, s, &mem);
  count_memory(t, s);
  count_kinds(t, s, &mem);
  s->rank = id.rank;
  s->rank_from = id.rank_from;
  memcpy(s->host, id.host, sizeof s->host);
  if (!err) err = &own;
  err_clear(err);
  return mem_check(&mem, err);
}

#ifdef TK_HAVE_ISAL
#define ISAL_TEXT "\nISA-L"
#else
#define ISAL_TEXT ""
#endif

unsigned tk_version(void) { return TK_VERSION_NUMBER; }

const char *tk_build_info(void) { return "tracekit " TK_VERSION "\nzlib " ZLIB_VERSION "\n" ARCHIVE_VERSION_STRING ISAL_TEXT; }
