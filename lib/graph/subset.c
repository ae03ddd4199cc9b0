/* subset.c - extracts part of a graph, selected by a byte per id (subset.h). */
#include "subset.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "args.h"

static void *array_of(struct mem *m, uint64_t n, size_t elem) { return mem_array(m, (uint64_t)n + 1, elem); }
static uint8_t *all_marked(struct mem *m, uint64_t n) {
  uint8_t *p = array_of(m, n, 1);
  if (p) memset(p, 1, n + 1);
  return p;
}

bool subset_init(struct subset *k, const struct tk_trace *t, struct mem *mem) {
  *k = (struct subset){mem, NULL, NULL, NULL, NULL, t->n_events, t->n_flow_points, t->n_records, t->n_tracks};
  k->events = all_marked(mem, t->n_events);
  k->points = all_marked(mem, t->n_flow_points);
  k->records = all_marked(mem, t->n_records);
  k->tracks = all_marked(mem, t->n_tracks);
  return k->events && k->points && k->records && k->tracks;
}

void subset_free(struct subset *k) {
  mem_free(k->mem, k->events);
  mem_free(k->mem, k->points);
  mem_free(k->mem, k->records);
  mem_free(k->mem, k->tracks);
  *k = (struct subset){0};
}

/* ---- flows ---- */

enum { HAD_START = 1, HAD_END = 2, HAS_START = 4, HAS_END = 8, SAID = 16 };
enum { WAS_WHOLE = HAD_START | HAD_END, IS_WHOLE = HAS_START | HAS_END };

/* Finds which points of each flow are kept. A start begins a new flow even if the id is in use, because producers reuse ids. */
static void survey_chains(const struct tk_trace *t, const struct subset *k, const struct chains *chains, tk_id *chain_of,
                          uint8_t *state) {
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    bool start = flow_starts(f), end = f->role == TK_FLOW_END || f->role == TK_FLOW_IN || f->role == TK_FLOW_INOUT;
    tk_id *chain = chains_of(chains, f);
    if (!*chain || start) *chain = i;
    chain_of[i] = *chain;
    state[*chain] |= (uint8_t)((start ? HAD_START : 0) | (end ? HAD_END : 0));
    if (k->points[i]) state[*chain] |= (uint8_t)((start ? HAS_START : 0) | (end ? HAS_END : 0));
  }
}

/* Drops points of dropped events, and the remaining points of a flow that has lost its start or end. */
static bool drop_points(const struct tk_trace *t, struct subset *k, struct subset_losses *kept) {
  struct chains chains;
  tk_id *chain_of = array_of(k->mem, t->n_flow_points, sizeof *chain_of);
  uint8_t *state = array_of(k->mem, t->n_flow_points, 1);
  bool ok = chain_of && state && chains_init(&chains, t, k->mem);
  if (ok) memset(state, 0, (size_t)t->n_flow_points + 1);
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound && !k->events[t->flow_points[i].at]) k->points[i] = 0;
  if (ok) survey_chains(t, k, &chains, chain_of, state);
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) {
    uint8_t *s = &state[chain_of[i]];
    if ((*s & WAS_WHOLE) != WAS_WHOLE || (*s & IS_WHOLE) == IS_WHOLE) continue;
    kept->broken_flows += !(*s & SAID) && k->points[i];
    if (k->points[i]) *s |= SAID;
    k->points[i] = 0;
  }
  if (ok) chains_free(&chains);
  mem_free(k->mem, chain_of);
  mem_free(k->mem, state);
  return ok;
}

/* ---- args that state a flow ---- */

enum { LINK_GOES = 1, LINK_STAYS = 2 };

/* Returns for each event whether any flow point defined by its fields (JSON's bind_id) is dropped (LINK_GOES), and whether any is
 * kept (LINK_STAYS). NULL when memory runs out. */
static uint8_t *survey_links(const struct tk_trace *t, const struct subset *k) {
  uint8_t *links = array_of(k->mem, t->n_events, 1);
  if (links) memset(links, 0, (size_t)t->n_events + 1);
  for (tk_id i = 1; links && i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (f->bound && f->role >= TK_FLOW_OUT) links[f->at] |= k->points[i] ? LINK_STAYS : LINK_GOES;
  }
  return links;
}

static uint32_t without_link(struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  bool any = false;
  for (uint32_t i = 0; it.shape && i < it.shape->n && !any; i++) any = it.shape->fields[i].key == KEY_BIND_ID;
  if (!any) return args;
  args_begin(t);
  while (tk_args_next(&it, &arg))
    if (arg.key != KEY_BIND_ID && arg.key != KEY_FLOW_IN && arg.key != KEY_FLOW_OUT) args_copy(t, &arg);
  return args_end(t);
}

/* Removes event fields that refer to a dropped flow. Otherwise a reader of the output would create the flow again, with only
 * one end. */
static void drop_links(struct tk_trace *to, const uint8_t *links, const tk_id *now, tk_id n_events) {
  for (tk_id i = 1; i <= n_events; i++)
    if (now[i] && links[i] == LINK_GOES) to->events[now[i]].args = without_link(to, to->events[now[i]].args);
}

/* ---- tracks ---- */

/* Number of items on a track before and after the removal, without metadata. Items of threads also count for their process. */
struct content {
  uint64_t before, after;
};

static void count_content(const struct tk_trace *t, const struct subset *k, struct content *c) {
  for (tk_id i = 1; i <= t->n_events; i++) {
    c[t->events[i].track].before++;
    c[t->events[i].track].after += k->events[i];
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    tk_id track = tk_flow_point_track(t, &t->flow_points[i]);
    c[track].before++;
    c[track].after += k->points[i];
  }
  for (tk_id i = 1; i <= t->n_records; i++) {
    if (t->records[i].phase == 'M' || !t->records[i].track) continue;
    c[t->records[i].track].before++;
    c[t->records[i].track].after += k->records[i];
  }
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (t->tracks[i].kind == TK_TRACK_PROCESS) continue;
    c[t->tracks[i].parent].before += c[i].before;
    c[t->tracks[i].parent].after += c[i].after;
  }
}

/* Hides tracks that became empty. Returns true if any track becomes hidden. */
static bool hide_emptied(const struct subset *k, struct tk_trace *to, const struct content *c) {
  bool hides = false;
  for (tk_id i = 1; i <= to->n_tracks; i++) {
    if (c[i].after || (!c[i].before && k->tracks[i])) continue;
    hides = hides || !to->tracks[i].hidden;
    to->tracks[i].hidden = true;
  }
  return hides;
}

/* ---- the arrays of the part ---- */

/* Moves the kept events of a track and recomputes their depth, for which only kept ancestors count. `n`: number of events moved
 * before; returns the new number. `to` may be t, so t->n_events must not change until all events are moved. */
static tk_id move_track(const struct tk_trace *t, const struct subset *k, struct tk_trace *to, tk_id track, uint16_t *above, tk_id n) {
  tk_id first = t->tracks[track].first, end = first + t->tracks[track].count;
  to->tracks[track].first = n + 1;
  for (tk_id i = first; i < end; i++) {
    struct tk_event e = t->events[i];
    uint16_t depth = above[e.depth];
    if (trace_nests(t, i) && e.depth < UINT16_MAX) above[e.depth + 1] = (uint16_t)(depth + k->events[i]);
    if (!k->events[i]) continue;
    e.depth = depth;
    to->events[++n] = e;
  }
  to->tracks[track].count = n + 1 - to->tracks[track].first;
  return n;
}

static bool move_events(const struct tk_trace *t, const struct subset *k, struct tk_trace *to) {
  uint16_t *above = array_of(k->mem, UINT16_MAX + 1, sizeof *above);
  if (!above) return false;
  tk_id n = 0;
  above[0] = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) n = move_track(t, k, to, i, above, n);
  to->n_events = n;
  mem_free(k->mem, above);
  return true;
}

/* Maps events to their ids in the part; needed only for flow points. */
static tk_id *new_ids(const struct tk_trace *t, const struct subset *k) {
  tk_id *now = array_of(k->mem, t->n_events, sizeof *now), n = 0;
  for (tk_id i = 1; now && i <= t->n_events; i++) now[i] = k->events[i] ? ++n : 0;
  return now;
}

static void move_flows(const struct tk_trace *t, const struct subset *k, struct tk_trace *to, const tk_id *now) {
  tk_id n = 0;
  for (tk_id i = 1; i <= to->n_tracks; i++) to->tracks[i].n_points = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    struct tk_flow_point f = t->flow_points[i];
    if (!k->points[i]) continue;
    to->tracks[tk_flow_point_track(t, &f)].n_points++;
    if (f.bound) f.at = now[f.at];
    to->flow_points[++n] = f;
  }
  to->n_flow_points = n;
}

static void move_records(const struct tk_trace *t, const struct subset *k, struct tk_trace *to) {
  tk_id n = 0;
  for (tk_id i = 1; i <= t->n_records; i++)
    if (k->records[i]) to->records[++n] = t->records[i];
  to->n_records = n;
}

static tk_id count_marked(const uint8_t *keep, tk_id n) {
  tk_id kept = 0;
  for (tk_id i = 1; i <= n; i++) kept += keep[i];
  return kept;
}

/* Allocates the arrays of a view. */
static bool make_view(const struct tk_trace *t, const struct subset *k, struct tk_trace *to) {
  *to = *t;
  to->events = calloc((size_t)count_marked(k->events, t->n_events) + 1, sizeof *to->events);
  to->flow_points = calloc((size_t)count_marked(k->points, t->n_flow_points) + 1, sizeof *to->flow_points);
  to->records = calloc((size_t)count_marked(k->records, t->n_records) + 1, sizeof *to->records);
  to->tracks = malloc(((size_t)t->n_tracks + 1) * sizeof *to->tracks);
  if (to->tracks) memcpy(to->tracks, t->tracks, ((size_t)t->n_tracks + 1) * sizeof *to->tracks);
  to->metas = malloc(((size_t)t->n_metas + 1) * sizeof *to->metas);
  if (to->metas) memcpy(to->metas, t->metas, ((size_t)t->n_metas + 1) * sizeof *to->metas);
  if (to->events && to->flow_points && to->records && to->tracks && to->metas) return true;
  subset_free_view(to);
  return false;
}

void subset_free_view(struct tk_trace *view) {
  free(view->events);
  free(view->flow_points);
  free(view->records);
  free(view->tracks);
  free(view->metas);
  view->events = NULL;
  view->flow_points = NULL;
  view->records = NULL;
  view->tracks = NULL;
  view->metas = NULL;
}

static bool drops_any(const struct tk_trace *t, const struct subset *k) {
  return memchr(k->events + 1, 0, t->n_events) || memchr(k->points + 1, 0, t->n_flow_points) ||
         memchr(k->records + 1, 0, t->n_records);
}

bool subset_take(const struct tk_trace *t, struct subset *k, struct tk_trace *to, struct subset_losses *kept, struct tk_err *err) {
  struct content *content = array_of(k->mem, t->n_tracks, sizeof *content);
  bool drops = drops_any(t, k);
  bool ok = content && (t->n_flow_points == 0 || drop_points(t, k, kept));
  tk_id *now = ok && t->n_flow_points ? new_ids(t, k) : NULL;
  uint8_t *links = now ? survey_links(t, k) : NULL;
  ok = ok && ((now && links) || t->n_flow_points == 0) && (to == t || make_view(t, k, to));
  if (ok) {
    memset(content, 0, ((size_t)t->n_tracks + 1) * sizeof *content);
    count_content(t, k, content);
    move_flows(t, k, to, now);
    move_records(t, k, to);
    ok = move_events(t, k, to);
    if (ok && links) drop_links(to, links, now, k->n_events);
    drops = hide_emptied(k, to, content) || drops;
    if (drops) trace_mark_dropped(to);
  }
  mem_free(k->mem, content);
  mem_free(k->mem, now);
  mem_free(k->mem, links);
  return ok || mem_refuse(k->mem, err);
}
