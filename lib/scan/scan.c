/* scan.c - collects the data of a trace that is needed to compare clocks (scan.h). */
#include "scan.h"

#include <math.h>
#include <stdio.h>

#include "align/collect/groups.h"
#include "align/collect/launches.h"
#include "align/collect/programs.h"
#include "op/renumber.h"
#include "source/identity.h"

/* Adds a note if the GPU's clock differs from the CPU's. Kernels that begin before their launch show the least amount by which
 * the GPU's clock is behind; waits that end before the work for which they wait show by how much it is ahead. */
static bool check_launches(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem,
                           struct tk_diagnostics *notes, struct align_gpu *gpu) {
  enum { FEWEST = 3 };
  const tk_time rounding = 2000000;
  struct launch_check c;
  char text[256], time[32];
  if (!launches_check(t, origins, mem, &c)) return false;
  if (!origins && c.kernels >= FEWEST) gpu->high = ceil((double)c.soonest / 1e3);
  if (!origins && c.waits >= FEWEST) gpu->low = floor((double)c.middle / 1e3);
  bool behind = c.most > rounding && c.early >= 3 && c.early >= c.kernels / 100;
  bool ahead = c.middle > rounding && c.late >= 3;
  tk_print_duration(behind ? c.most : c.middle, time);
  if (behind)
    snprintf(text, sizeof text,
             "its GPU clock is behind its CPU clock by at least %s: %u of %u kernels start before their launch", time, c.early,
             c.kernels);
  else if (ahead)
    snprintf(text, sizeof text,
             "its GPU clock is ahead of its CPU clock by at least %s: %u of %u waits end before the work they wait for", time, c.late,
             c.waits);
  if (behind || ahead) diagnostics_say(notes, t->source, TK_NOTE_INFO, text);
  return true;
}

static bool take_anchors(struct scan *s, struct align_anchors *anchors, struct tk_trace *t, const struct scan_options *opt,
                         struct tk_diagnostics *notes) {
  struct align_source from = {.input = opt->input, .rank = s->compared ? -1 : s->rank, .most = opt->most ? opt->most : SCAN_ANCHORS,
                              .marker = opt->marker, .anchor = opt->anchor};
  struct mem *mem = anchors->mem;
  struct arena arena = {.mem = mem};
  bool ok = align_groups(t, &from, &arena) && align_programs(t, &from, &arena);
  struct track_origin *origins = ok && s->merged ? identity_of_tracks(t, mem) : NULL;
  if (s->merged) from.groups = NULL, from.n_groups = 0, from.one_group = false; /* the groups found are those of the first rank */
  from.origins = origins;
  ok = ok && (origins || !s->merged) && align_collect(anchors, t, &from) && check_launches(t, origins, mem, notes, &s->gpu);
  if (origins) identity_free_tracks(origins, mem);
  s->world = from.world;
  arena_free(&arena);
  return ok;
}

static uint64_t mark_event(uint64_t mark, const struct tk_trace *t, tk_id i) {
  const struct tk_event *e = &t->events[i];
  size_t n;
  const char *name = tk_string(t, t->classes[e->cls].name, &n);
  return hash_mix(hash_mix(hash_mix(mark, (uint64_t)e->ts), (uint64_t)e->dur), hash_bytes(name, n));
}

uint64_t scan_mark(const struct tk_trace *t) {
  enum { ENDS = 64 };
  uint64_t mark = hash_mix(t->counts.bytes, hash_mix(t->n_events, hash_mix((uint64_t)t->origin_ns, (uint64_t)t->zero_ns)));
  for (tk_id i = 1; i <= t->n_events; i++)
    if (i <= ENDS || i + ENDS > t->n_events) mark = mark_event(mark, t, i);
  return mark;
}

bool scan_take_pids(struct scan_pids *to, struct tk_trace *t, struct mem *mem) {
  struct buf pids = {.mem = mem};
  mem_free(mem, to->v);
  const uint32_t processes = renumber_pids_of(t, &pids);
  *to = (struct scan_pids){(int64_t *)(void *)pids.data, (uint32_t)(pids.len / sizeof *to->v), processes};
  return !mem->failed;
}

bool scan_take(struct scan *s, struct align_anchors *anchors, struct tk_trace *t, const struct scan_options *opt,
               struct tk_diagnostics *notes) {
  const struct identity id = identity_of(t);
  tk_time start, end;
  trace_extent(t, &start, &end);
  *s = (struct scan){.rank = id.rank, .merged = identity_is_merged(t), .zero_ns = t->zero_ns, .clock = t->clock, .format = t->format};
  s->compared = id.rank_note != NULL;
  s->gpu = (struct align_gpu){-INFINITY, INFINITY};
  s->mark = scan_mark(t);
  s->input = diagnostics_text(notes, t->source);
  s->host = diagnostics_text(notes, id.host);
  s->start_ns = trace_ns(t, 0, start);
  s->end_ns = trace_ns_up(t, 0, end);
  s->records = t->counts.read;
  s->events = t->n_events;
  s->flow_points = t->n_flow_points;
  s->size = t->counts.bytes;
  s->run = s->step = "";
  format_find_starts(&s->starts, t);
  return opt->none || take_anchors(s, anchors, t, opt, notes);
}
