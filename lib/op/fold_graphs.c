/* fold_graphs.c - tk_fold_graphs: moves the work of replayed CUDA graphs from hundreds of streams to a few lanes.
 *
 * CUPTI reports every node of a replayed graph on a separate stream, and Kineto copies the annotations around the replay onto each of
 * these streams. This file moves the work to lanes; each kind of work gets as many lanes as it has events in progress at once. The arg
 * "stream" still contains the original stream. If all work of a stream is moved, the annotations on the stream are removed, as in
 * torch.cuda._annotate_cuda_graph_trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/args.h"
#include "graph/kind.h"
#include "graph/subset.h"

enum lane_kind { NOT_FOLDED, KERNELS, COLLECTIVES, COPIES, LANE_KINDS };
static const char *const LANE_NAMES[LANE_KINDS] = {
    [KERNELS] = "graph kernels", [COLLECTIVES] = "graph collectives", [COPIES] = "graph copies"};

struct moved {
  tk_time ts, end;
  tk_id event, process;
  uint32_t lane; /* ordinal of the lane among the lanes of its kind, from 1 */
  uint8_t kind;
};

struct folder {
  struct tk_trace *t;
  struct mem *mem;
  struct moved *v;
  uint32_t n, cap;
  uint8_t *kinds;   /* by event: enum lane_kind */
  tk_id *lane_of;   /* by event: the track to which it moves; 0 = it stays */
};

/* ---- choose ---- */

static bool is_graph_work(const struct tk_trace *t, const struct kinds *kinds, const struct tk_event *e, tk_id node) {
  static const uint8_t ODD = TK_FLAG_LOST_CLOCK | TK_FLAG_UNFINISHED;
  struct tk_arg arg;
  if (e->kind != TK_EVENT_SPAN || e->flags & ODD || t->tracks[e->track].kind != TK_TRACK_THREAD) return false;
  const unsigned kind = kinds_of(kinds, e);
  if (!(kind & KIND_DEVICE) || !(kind & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET))) return false;
  return args_of_event(t, e, node, &arg) && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) && arg.u;
}

static bool choose(struct folder *f, const struct kinds *kinds, tk_id node) {
  const struct tk_trace *t = f->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    f->kinds[i] = NOT_FOLDED;
    if (!is_graph_work(t, kinds, e, node)) continue;
    const unsigned kind = kinds_of(kinds, e);
    f->kinds[i] = kind & KIND_COLLECTIVE ? COLLECTIVES : kind & (KIND_MEMCPY | KIND_MEMSET) ? COPIES : KERNELS;
    f->n++;
  }
  return true;
}

static bool is_annotation(const struct kinds *kinds, const struct tk_event *e) {
  return kinds_of(kinds, e) & (KIND_ANNOTATION | KIND_STEP) || kinds->of_class[e->cls] & KIND_REPEAT;
}

/* Drops the annotations on streams from which all work is moved. Returns the number of dropped events. */
static uint64_t drop_annotations(const struct folder *f, const struct kinds *kinds, struct subset *keep) {
  const struct tk_trace *t = f->t;
  uint64_t dropped = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    const struct tk_track *track = &t->tracks[k];
    bool any = false, only = true;
    for (tk_id i = track->first; i < track->first + track->count; i++) {
      any = any || f->kinds[i];
      only = only && (f->kinds[i] || is_annotation(kinds, &t->events[i]));
    }
    for (tk_id i = track->first; any && only && i < track->first + track->count; i++) {
      keep->events[i] = f->kinds[i] != NOT_FOLDED;
      dropped += !f->kinds[i];
    }
  }
  return dropped;
}

/* ---- lanes ---- */

static int moved_in_order(const void *p, const void *q) {
  const struct moved *a = p, *b = q;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

static int moved_by_lane(const void *p, const void *q) {
  const struct moved *a = p, *b = q;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
  return moved_in_order(p, q);
}

/* Assigns each event to the first free lane of its kind. */
static bool assign_lanes(struct folder *f) {
  tk_time *ends = NULL;
  uint32_t n = 0, cap = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    struct moved *m = &f->v[i];
    if (i && (m[-1].process != m->process || m[-1].kind != m->kind)) n = 0;
    uint32_t lane = 0;
    while (lane < n && ends[lane] > m->ts) lane++;
    if (lane == n && !mem_grow(f->mem, (void **)&ends, &cap, (uint64_t)n + 1, sizeof *ends)) break;
    if (lane == n) n++;
    ends[lane] = m->end;
    m->lane = lane + 1;
  }
  mem_free(f->mem, ends);
  return !f->mem->failed;
}

static int64_t highest_tid(const struct tk_trace *t, tk_id process) {
  int64_t most = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].parent == process && t->tracks[i].tid.kind == TK_IDENT_INT && t->tracks[i].tid.num > most)
      most = t->tracks[i].tid.num;
  return most;
}

static tk_id add_lane(struct tk_trace *t, const struct moved *m, int64_t tid) {
  char name[64];
  const struct tk_track from = t->tracks[t->events[m->event].track];
  if (m->lane == 1) snprintf(name, sizeof name, "%s", LANE_NAMES[m->kind]);
  else snprintf(name, sizeof name, "%s %u", LANE_NAMES[m->kind], m->lane);
  const tk_id text = trace_text(t, name);
  struct tk_track *k = trace_add_track(t);
  *k = (struct tk_track){.kind = TK_TRACK_THREAD, .parent = m->process, .pid = from.pid, .tid = ident_int(tid), .name = text,
                         .sort_index = from.sort_index, .has_sort = from.has_sort, .renamed = true};
  return t->n_tracks;
}

/* Adds one track per lane, and sorts f->v by lane. */
static uint32_t add_lanes(struct folder *f) {
  int64_t tid = 0;
  tk_id lane = 0;
  uint32_t n = 0;
  qsort(f->v, f->n, sizeof *f->v, moved_by_lane);
  for (uint32_t i = 0; i < f->n; i++) {
    const struct moved *m = &f->v[i];
    const bool begins = !i || m[-1].process != m->process;
    if (begins) tid = highest_tid(f->t, m->process);
    if (begins || m[-1].kind != m->kind || m[-1].lane != m->lane) {
      lane = add_lane(f->t, m, ++tid);
      n++;
    }
    f->lane_of[m->event] = lane;
  }
  return n;
}

/* ---- move ---- */

/* Copies the events that stay on a track, and recomputes their depth. */
static tk_id copy_track(const struct folder *f, tk_id track, struct tk_event *to, tk_id *now, uint16_t *above, tk_id n) {
  struct tk_track *k = &f->t->tracks[track];
  const tk_id first = k->first, end = k->first + k->count;
  k->first = n + 1;
  above[0] = 0;
  for (tk_id i = first; i < end; i++) {
    struct tk_event e = f->t->events[i];
    const uint16_t depth = above[e.depth];
    const bool stays = !f->lane_of[i];
    if (trace_nests(f->t, i) && e.depth < UINT16_MAX) above[e.depth + 1] = (uint16_t)(depth + stays);
    if (!stays) continue;
    e.depth = depth;
    to[++n] = e;
    now[i] = n;
  }
  k->count = n + 1 - k->first;
  if (end > first && !k->count) k->hidden = true;
  return n;
}

static tk_id copy_lanes(const struct folder *f, struct tk_event *to, tk_id *now, tk_id n) {
  for (uint32_t i = 0; i < f->n; i++) {
    const tk_id event = f->v[i].event;
    struct tk_track *k = &f->t->tracks[f->lane_of[event]];
    struct tk_event e = f->t->events[event];
    e.track = f->lane_of[event];
    e.depth = 0;
    e.flags &= (uint8_t)~TK_FLAG_OVERLAPS;
    if (!k->count++) k->first = n + 1;
    to[++n] = e;
    now[event] = n;
  }
  return n;
}

static void move_points(struct tk_trace *t, const tk_id *now) {
  for (tk_id i = 1; i <= t->n_tracks; i++) t->tracks[i].n_points = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound) t->flow_points[i].at = now[t->flow_points[i].at];
}

static bool move_all(struct folder *f) {
  struct tk_trace *t = f->t;
  struct tk_event *to = mem_array(f->mem, (uint64_t)t->n_events + 1, sizeof *to);
  tk_id *now = mem_array(f->mem, (uint64_t)t->n_events + 1, sizeof *now), n = 0;
  uint16_t *above = mem_array(f->mem, (uint64_t)UINT16_MAX + 2, sizeof *above);
  const bool ok = to && now && above;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++)
    if (t->tracks[i].count) n = copy_track(f, i, to, now, above, n);
  if (ok) {
    copy_lanes(f, to, now, n);
    move_points(t, now);
    memcpy(t->events + 1, to + 1, (size_t)t->n_events * sizeof *to);
    for (tk_id i = 1; i <= t->n_flow_points; i++) t->tracks[tk_flow_point_track(t, &t->flow_points[i])].n_points++;
    trace_mark_dropped(t);
    t->edits |= TK_EDIT_RENAMED;
  }
  mem_free(f->mem, to);
  mem_free(f->mem, now);
  mem_free(f->mem, above);
  return ok;
}

/* ---- entry points ---- */

static bool collect(struct folder *f, const struct kinds *kinds, tk_id node) {
  f->n = 0;
  choose(f, kinds, node);
  if (!f->n) return true;
  const uint32_t n = f->n;
  f->v = mem_array(f->mem, n, sizeof *f->v);
  f->n = 0;
  for (tk_id i = 1; f->v && i <= f->t->n_events; i++) {
    const struct tk_event *e = &f->t->events[i];
    if (f->kinds[i]) f->v[f->n++] = (struct moved){e->ts, e->ts + e->dur, i, f->t->tracks[e->track].parent, 0, f->kinds[i]};
  }
  if (f->v) qsort(f->v, f->n, sizeof *f->v, moved_in_order);
  return f->v != NULL;
}

/* Removes the annotations on streams from which all work is moved. Must be the first step, because it changes the ids of events. */
static bool strip(struct folder *f, const struct kinds *kinds, tk_id node, struct tk_folded *done, struct tk_err *err) {
  struct subset keep;
  struct subset_losses losses = {0};
  choose(f, kinds, node);
  bool ok = subset_init(&keep, f->t, f->mem);
  if (ok && f->n) done->annotations = drop_annotations(f, kinds, &keep);
  if (ok && done->annotations) ok = subset_take(f->t, &keep, f->t, &losses, err);
  subset_free(&keep);
  return ok;
}

static bool fold(struct folder *f, tk_id node, struct tk_folded *done, struct tk_err *err) {
  struct kinds kinds;
  const size_t n = (size_t)f->t->n_events + 1;
  f->kinds = mem_alloc(f->mem, n);
  f->lane_of = mem_zeros(f->mem, n, sizeof *f->lane_of);
  bool ok = f->kinds && f->lane_of && kinds_init(&kinds, f->t, f->mem);
  if (!ok) return false;
  ok = strip(f, &kinds, node, done, err) && collect(f, &kinds, node) && assign_lanes(f);
  kinds_free(&kinds);
  if (!ok || !f->n) return ok;
  done->events = f->n;
  done->lanes = add_lanes(f);
  if (done->annotations)
    trace_note(f->t, TK_NOTE_FACT, UINT64_MAX, "annotations were removed from streams whose work was moved to CUDA graph tracks");
  return !f->t->store->mem.failed && move_all(f);
}

bool tk_fold_graphs(struct tk_trace *t, struct tk_folded *done, struct tk_err *err) {
  static const char NODE[] = "graph node id";
  struct mem mem = {0};
  struct tk_folded unused;
  struct tk_err own;
  if (!trace_is_sealed(t, err)) return false;
  struct folder f = {.t = t, .mem = &mem};
  if (!done) done = &unused;
  if (!err) err = &own;
  err_clear(err);
  *done = (struct tk_folded){0};
  mem.limit = t->store->mem.limit;
  const tk_id node = trace_text_id(t, NODE);
  bool ok = !node || fold(&f, node, done, err);
  mem_free(&mem, f.kinds);
  mem_free(&mem, f.lane_of);
  mem_free(&mem, f.v);
  return (ok && mem_check(&t->store->mem, err)) || mem_refuse(&mem, err);
}
