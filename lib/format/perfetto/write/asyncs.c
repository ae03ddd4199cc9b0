/* asyncs.c - writes async spans, which are matched by an identity rather than by a thread's stack.
 *
 * Perfetto shows tracks with the same name and parent as one group of lanes. So a span is written on a free lane with the name of its
 * event. As in the JSON importer, spans and instants inside this span are nested on the same lane if they have the same identity
 * (category, scope, id). Spans of the same identity that end later get a separate lane.
 *
 * First every event is assigned a lane, in order of time; then the lanes are written one after another. */
#include <string.h>

#include "asyncs.h"
#include "writer.h"
#include "lanes.h"
#include "event.h"
#include "descriptors.h"
#include "legacy.h"
#include "passthrough.h"

struct asyncs {
  struct perfetto_sink *s;
  const struct tk_track *track;
  const struct tk_event *e;  /* the track's events */
  uint32_t *lane, *below;    /* by event: its lane; 1 + index of the open event of the same identity around it */
  struct map groups, open;   /* name, or identity of a legacy event -> group of lanes; identity -> 1 + index of innermost open event */
  struct heap *list;
  uint32_t n_list, cap_list;
  uint64_t first_lane;       /* uuid of the first lane; the uuids of the other lanes follow */
  uint32_t n_lanes;
  uint64_t home;             /* uuid of the track of all events, if they are written as legacy events; 0 = on lanes */
};

/* Returns a hash of the identity; 0 if there is none. Events of the legacy phases S, T, p and F do not nest. */
static uint64_t identity(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  uint64_t h = 0;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == KEY_PH) return 0;
    if (arg.key == KEY_ID || arg.key == KEY_ID2 || arg.key == KEY_SCOPE)
      h = hash_pair(hash_pair(h, arg.key), hash_pair((uint64_t)arg.type, arg.u));
  }
  return h ? hash_pair(h, t->classes[e->cls].cat) | 1 : 0;
}

static tk_time asyncs_end_of(const struct tk_event *e) { return e->flags & TK_FLAG_UNFINISHED ? INT64_MAX : e->ts + e->dur; }

static struct heap *group_of(struct asyncs *a, uint64_t key) {
  uint32_t *slot = map_put(&a->groups, key, UINT32_MAX);
  if (!slot || !mem_grow(&a->s->mem, (void **)&a->list, &a->cap_list, (uint64_t)a->n_list + 1, sizeof *a->list)) return NULL;
  if (*slot == UINT32_MAX) {
    *slot = a->n_list;
    a->list[a->n_list++] = (struct heap){.mem = &a->s->mem};
  }
  return &a->list[*slot];
}

/* Returns a free lane with the event's name, adding one if necessary. */
static uint32_t free_lane(struct asyncs *a, const struct tk_event *e) {
  struct perfetto_sink *s = a->s;
  tk_id name = s->t->classes[e->cls].name;
  struct heap *g = group_of(a, name);
  uint64_t uuid = g ? lanes_take(g, e->ts, asyncs_end_of(e)) : 0;
  size_t n;
  const char *text = tk_string(s->t, name, &n);
  if (!g) return 0;
  if (!uuid) {
    struct child c = {.parent = s->uuids[a->track->parent], .name = n ? text : "async", .n = n ? n : 5, .form = FORM_ASYNC,
                      .tid = a->track->tid};
    uuid = descriptor_child(s, &c);
    lanes_add(g, uuid, asyncs_end_of(e));
    if (a->n_lanes++ == 0) a->first_lane = uuid;
  }
  return (uint32_t)((uuid - a->first_lane) / a->s->step);
}

/* Returns a free lane for legacy events of this identity. Its number serves only to write spans in order: importers choose the track by
 * the identity. */
static uint32_t legacy_lane(struct asyncs *a, const struct tk_event *e, uint64_t id) {
  struct heap *g = group_of(a, id);
  uint64_t lane = g ? lanes_take(g, e->ts, asyncs_end_of(e)) : 0;
  if (!g) return 0;
  if (!lane) lanes_add(g, lane = ++a->n_lanes, asyncs_end_of(e));
  return (uint32_t)lane - 1;
}

static void choose_lane(struct asyncs *a, uint32_t i) {
  const struct tk_event *e = &a->e[i];
  uint64_t id = a->home ? legacy_identity(a->s->t, e) : e->flags & TK_FLAG_LOST_CLOCK ? 0 : identity(a->s->t, e);
  uint32_t *top = id ? map_put(&a->open, id, 0) : NULL;
  while (top && *top && asyncs_end_of(&a->e[*top - 1]) <= e->ts) *top = a->below[*top - 1];
  bool nests = top && *top && asyncs_end_of(e) <= asyncs_end_of(&a->e[*top - 1]);
  a->lane[i] = nests ? a->lane[*top - 1] : a->home ? legacy_lane(a, e, id) : free_lane(a, e);
  if (!top || e->kind != TK_EVENT_SPAN || (*top && !nests)) return;
  a->below[i] = *top;
  *top = i + 1;
}

/* Writes the events of a lane in order of time. Before each event, closes the spans that have ended. */
static void write_lane(struct asyncs *a, uint32_t lane, const uint32_t *first, const uint32_t *end) {
  struct perfetto_sink *s = a->s;
  writer_track(&s->w, a->home ? a->home : a->first_lane + (uint64_t)lane * s->step);
  for (const uint32_t *at = first; at < end; at++) {
    const struct tk_event *e = &a->e[*at];
    uint32_t height = s->stack.n;
    while (height && asyncs_end_of(&s->t->events[s->stack.v[height - 1].event]) <= e->ts) height--;
    lanes_close_slices(&s->w, &s->stack, height);
    if (e->kind == TK_EVENT_SPAN) lanes_open_slices(&s->w, &s->stack, a->track->first + *at);
    else event_instant(&s->w, a->track->first + *at);
  }
  lanes_close_slices(&s->w, &s->stack, 0);
}

/* Writes all lanes. A counting sort groups the events by lane and keeps their order of time. */
static void write_lanes(struct asyncs *a) {
  struct mem *mem = &a->s->mem;
  uint32_t n = a->track->count, *order = a->below; /* `below` is no longer needed */
  size_t size = ((size_t)a->n_lanes + 2) * sizeof(uint32_t);
  uint32_t *ends = mem_alloc(mem, size);
  if (!ends) return;
  memset(ends, 0, size);
  for (uint32_t i = 0; i < n; i++) ends[a->lane[i] + 1]++;
  for (uint32_t l = 0; l < a->n_lanes; l++) ends[l + 1] += ends[l];
  for (uint32_t i = 0; i < n; i++) order[ends[a->lane[i]]++] = i;
  for (uint32_t l = 0; l < a->n_lanes; l++) write_lane(a, l, order + (l ? ends[l - 1] : 0), order + ends[l]);
  mem_free(mem, ends);
}

/* Decides whether the track's events are written as legacy events, as they were in the input, and on which track: that of their thread
 * or, if they belong to none or an operation removed it, their process. */
static void begin_legacy(struct asyncs *a, tk_id track) {
  struct perfetto_sink *s = a->s;
  const struct tk_track *k = a->track;
  const bool has_thread = k->tid.kind == TK_IDENT_INT;
  s->w.legacy_thread.known = false;
  if (!passthrough_track(s, track).is_legacy || !(has_thread || k->tid.kind == TK_IDENT_NONE) || !legacy_fits(s->t, k)) return;
  const tk_id thread = has_thread ? descriptor_thread_of(s, k->parent, k->tid.num) : 0;
  a->home = s->uuids[thread ? thread : k->parent];
  s->w.is_legacy = true;
  if (has_thread && !thread) s->w.legacy_thread = (struct legacy_thread){s->pids[k->parent], k->tid.num, true};
}

void asyncs_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct asyncs a = {.s = s, .track = k, .e = s->t->events + k->first};
  size_t size = (size_t)k->count * sizeof(uint32_t);
  if (k->count == 0) return;
  begin_legacy(&a, track);
  a.lane = mem_alloc(&s->mem, size);
  a.below = mem_alloc(&s->mem, size);
  map_init(&a.groups, &s->mem);
  map_init(&a.open, &s->mem);
  if (a.lane && a.below) {
    for (uint32_t i = 0; i < k->count; i++) choose_lane(&a, i);
    if (!s->mem.failed) write_lanes(&a);
  }
  s->w.is_legacy = false;
  for (uint32_t i = 0; i < a.n_list; i++) heap_free(&a.list[i]);
  mem_free(&s->mem, a.list);
  mem_free(&s->mem, a.lane);
  mem_free(&s->mem, a.below);
  map_free(&a.groups);
  map_free(&a.open);
}
