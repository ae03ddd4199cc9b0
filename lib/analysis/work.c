/* work.c - see work.h.
 *
 * The device line of an XLA program shows operations that contain other operations: while, call, conditional. The inner operations are
 * the work, and an outer operation is counted only in the gaps between them. Otherwise, the whole duration of a loop around an
 * all-reduce would count as compute. */
#include "work.h"

#include <string.h>

#include "work_devices.h"
#include "op/launched.h"
#include "graph/args.h"

/* An open operation that may contain others. */
struct open {
  tk_id event;    /* 0 = none at this depth */
  bool begun;     /* true if the first part of the operation has been recorded */
  tk_time cursor; /* start of the part that is not recorded yet */
};

struct finder {
  struct works *w;
  const struct match *m;
  const struct scope *scope;
  tk_id collective;       /* string id of the key "Collective name" */
  struct work_devices devices;
  struct open *open;      /* by depth: the open operation */
  bool leaves_out;        /* true if the match excludes work of the current track */
  bool beside;            /* true if the current track is an asynchronous line */
};

/* True for the asynchronous lines of a TPU. They show transfers by DMA or to other devices, which run in parallel to operations and to
 * each other. So a longer transfer on such a line does not contain a shorter one. */
static bool is_async_line(const struct tk_trace *t, tk_id track) {
  return strncmp(tk_string(t, t->tracks[track].name, NULL), "Async XLA Ops", 13) == 0;
}

static unsigned work_class_of(const struct finder *f, const struct tk_event *e, unsigned kind) {
  struct tk_arg arg;
  if (kind & KIND_MEMSET) return WORK_FILL;
  if (kind & KIND_COLLECTIVE || (f->collective && args_of_event(f->m->t, e, f->collective, &arg))) return WORK_COMMUNICATION;
  return kind & (KIND_MEMCPY | KIND_TRANSFER) ? WORK_COPY : WORK_COMPUTE;
}

static bool add_piece(struct finder *f, tk_id event, tk_time start, tk_time end, bool first) {
  const struct tk_event *e = &f->m->t->events[event];
  const struct window *win = scope_window(f->scope, e);
  struct works *w = f->w;
  if (!mem_grow(w->mem, (void **)&w->v, &w->cap, (uint64_t)w->n + 1, sizeof *w->v)) return false;
  if (start < win->start) start = win->start;
  if (end > win->end) end = win->end;
  w->v[w->n++] = (struct work){.start = start, .end = end > start ? end : start, .event = event,
                               .launch = w->launch_of ? w->launch_of[event] : 0,
                               .class = (uint8_t)work_class_of(f, e, kinds_of(&f->m->kinds, e)), .first = first, .beside = f->beside};
  return true;
}

/* Records the last part of each open operation at `depth` or deeper. */
static bool close_down_to(struct finder *f, uint32_t depth, uint32_t *deepest) {
  bool ok = true;
  for (; ok && *deepest > depth; --*deepest) {
    const struct open last = f->open[*deepest - 1];
    f->open[*deepest - 1].event = 0;
    if (!last.event) continue;
    const struct tk_event *e = &f->m->t->events[last.event];
    if (!last.begun || last.cursor < e->ts + e->dur) ok = add_piece(f, last.event, last.cursor, e->ts + e->dur, !last.begun);
  }
  return ok;
}

/* Records the part of the enclosing operation that ends where this event starts. */
static bool interrupt(struct finder *f, const struct tk_event *e, uint32_t deepest) {
  uint32_t d = e->depth < deepest ? e->depth : deepest;
  while (d && !f->open[d - 1].event) d--;
  if (!d) return true;
  const struct open outer = f->open[d - 1];
  f->open[d - 1].begun = true;
  f->open[d - 1].cursor = e->ts + e->dur;
  return (e->ts <= outer.cursor && outer.begun) || add_piece(f, outer.event, outer.cursor, e->ts, !outer.begun);
}

/* True if the work is selected. Sets leaves_out if the match excludes work that is in the scope. */
static bool takes(struct finder *f, tk_id work) {
  const bool in_scope = scope_holds(f->scope, &f->m->t->events[work]), passes = in_scope && match_event(f->m, work);
  f->leaves_out = f->leaves_out || (in_scope && !passes);
  return passes;
}

static bool take_nested(struct finder *f, const struct tk_track *k) {
  const struct tk_trace *t = f->m->t;
  uint32_t deepest = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || !(kinds_of(&f->m->kinds, e) & WORK_KINDS) ||
        e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
    if (!takes(f, i)) continue;
    if (!close_down_to(f, e->depth, &deepest) || !interrupt(f, e, deepest)) return false;
    while (deepest < e->depth) f->open[deepest++] = (struct open){0};
    f->open[deepest++] = (struct open){.event = i, .cursor = e->ts};
  }
  return close_down_to(f, 0, &deepest);
}

static bool take_flat(struct finder *f, const struct tk_track *k) {
  const struct tk_trace *t = f->m->t;
  bool ok = true;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    const unsigned kind = kinds_of(&f->m->kinds, e);
    if (e->kind != TK_EVENT_SPAN || !(kind & KIND_DEVICE) || !(kind & WORK_KINDS) ||
        e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
    if (takes(f, i)) ok = add_piece(f, i, e->ts, e->ts + e->dur, true);
  }
  return ok;
}

/* Returns the row for the device of a track; NULL if memory runs out. */
static struct work_row *work_row_of(struct finder *f, tk_id track) {
  struct works *w = f->w;
  const tk_id process = work_devices_of(&f->devices, track);
  const struct track_origin *o = f->m->origins ? &f->m->origins[track] : NULL;
  uint32_t *slot = &w->row_of[process];
  if (*slot) return &w->rows[*slot - 1];
  if (!mem_grow(w->mem, (void **)&w->rows, &w->cap_rows, (uint64_t)w->n_rows + 1, sizeof *w->rows)) return NULL;
  w->rows[w->n_rows] = (struct work_row){.process = process, .track = track, .rank = o ? o->rank : -1, .host = o ? o->host : ""};
  *slot = ++w->n_rows;
  return &w->rows[*slot - 1];
}

static uint64_t count_unfinished(const struct finder *f, const struct tk_track *k) {
  uint64_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &f->m->t->events[i];
    const unsigned kind = kinds_of(&f->m->kinds, e);
    if (e->kind == TK_EVENT_SPAN && e->flags & TK_FLAG_UNFINISHED && kind & KIND_DEVICE && kind & WORK_KINDS)
      n += scope_holds(f->scope, e) && match_event(f->m, i);
  }
  return n;
}

static bool take_track(struct finder *f, tk_id track) {
  struct works *w = f->w;
  const struct tk_track *k = &f->m->t->tracks[track];
  const uint32_t first = w->n;
  if (k->count == 0 || !work_devices_shows(&f->devices, track)) return true;
  f->leaves_out = false;
  const bool has_ops = (f->m->kinds.of_track[track] & (KIND_DEVICE | KIND_OP)) == (KIND_DEVICE | KIND_OP);
  f->beside = is_async_line(f->m->t, track);
  const bool nests = has_ops && k->kind == TK_TRACK_THREAD && !f->beside;
  if (!(nests ? take_nested(f, k) : take_flat(f, k))) return false;
  if (f->leaves_out) w->partial[work_devices_of(&f->devices, track)] = true;
  const uint64_t unfinished = count_unfinished(f, k);
  struct work_row *row = w->n > first || unfinished ? work_row_of(f, track) : NULL;
  if (!row) return !w->mem->failed;
  row->unfinished += unfinished;
  if (w->n == first) return true;
  if (!mem_grow(w->mem, (void **)&w->streams, &w->cap_streams, (uint64_t)w->n_streams + 1, sizeof *w->streams)) return false;
  w->streams[w->n_streams++] = (struct work_stream){track, (uint32_t)(row - w->rows), first, w->n - first};
  return true;
}

bool works_find(struct works *w, const struct match *m, const struct scope *scope, bool launches, struct mem *mem) {
  struct finder f = {.w = w, .m = m, .scope = scope};
  const struct tk_trace *t = m->t;
  *w = (struct works){.mem = mem};
  w->row_of = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *w->row_of);
  w->partial = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *w->partial);
  if (launches) w->launch_of = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *w->launch_of);
  f.open = mem_array(mem, UINT16_MAX + 2, sizeof *f.open);
  bool ok = w->row_of && w->partial && (w->launch_of || !launches) && f.open;
  if (ok) {
    f.collective = trace_text_id(t, "Collective name");
    ok = work_devices_init(&f.devices, &m->kinds, m->origins, mem);
  }
  ok = ok && (!launches || launched_each(&m->kinds, m->origins, mem, launched_keep, w->launch_of));
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) ok = take_track(&f, i);
  work_devices_free(&f.devices);
  mem_free(mem, f.open);
  return ok;
}

void works_free(struct works *w) {
  if (!w->mem) return;
  mem_free(w->mem, w->v);
  mem_free(w->mem, w->streams);
  mem_free(w->mem, w->rows);
  mem_free(w->mem, w->row_of);
  mem_free(w->mem, w->partial);
  mem_free(w->mem, w->launch_of);
  *w = (struct works){.mem = NULL};
}
