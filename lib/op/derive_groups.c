/* derive_groups.c - finds steps in the same way as xprof.
 *
 * A root is an event that its producer marked (stat _r). The step of a root consists of the events nested in the root on its thread, of
 * events on other threads that these events wake (stats _pt and _p equal stats _ct and _c of the woken event), of work that they launch
 * on devices (correlation_id), and, recursively, of everything that those events contain, wake or launch. On a GPU, work that was
 * launched outside all steps belongs to the step before it. TPUs have their own lines of steps, or of modules. If no step of the host
 * is linked to these lines, the n-th entry of each core is the n-th step.
 *
 * The events of a track are in preorder, so the events nested in an event have consecutive ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "derive.h"

/* One end of a link: a producer and a consumer with the same key are linked. */
struct link {
  uint64_t key;
  tk_id event;
  bool consumer;
};

struct grouping {
  struct derive *d;
  struct buf links, by_event; /* links: array of struct link, sorted by key; by_event: array of struct place, sorted by event */
  tk_id *ends, *parents;      /* ends: by event, end of the range of nested events, 0 = asynchronous; parents: by event */
  tk_id *roots;               /* by event: nearest enclosing root */
  struct buf queue;
};

/* MOST_LINKED: limit for the links of one key, as in xprof. MOST_ABOVE: limit for the number of ancestors that are searched. */
enum { MOST_LINKED = 64, MOST_ABOVE = 256, LAUNCH = 1 << 20 };

static const struct link *links_of(const struct grouping *g, uint32_t *n) {
  *n = (uint32_t)(g->links.len / sizeof(struct link));
  return (const struct link *)(const void *)g->links.data;
}

/* ---- nesting ---- */

struct open_event {
  tk_id event;
  tk_time end;
};

static bool nest_track(struct grouping *g, const struct tk_track *k) {
  const struct derive *d = g->d;
  struct buf stack = {.mem = d->mem};
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &d->t->events[i];
    const tk_time end = derive_end(e);
    int64_t async = 0;
    g->ends[i] = 0;
    if (derive_int(d, i, d->keys.async, &async) && async) continue;
    struct open_event *open = (struct open_event *)(void *)stack.data;
    size_t n = stack.len / sizeof *open;
    while (n && (open[n - 1].end < end || open[n - 1].end < e->ts)) g->ends[open[--n].event] = i;
    g->parents[i] = n ? open[n - 1].event : 0;
    g->roots[i] = !n ? 0 : derive_int(d, open[n - 1].event, d->keys.root, &async) ? open[n - 1].event : g->roots[open[n - 1].event];
    stack.len = n * sizeof *open;
    if (!buf_append(&stack, &(struct open_event){i, end}, sizeof *open)) return false;
  }
  const struct open_event *open = (const struct open_event *)(const void *)stack.data;
  for (size_t n = stack.len / sizeof *open; n--;) g->ends[open[n].event] = k->first + k->count;
  buf_free(&stack);
  return true;
}

/* ---- links ---- */

static void add_link(struct grouping *g, int64_t type, uint64_t id, tk_id process, tk_id event, bool consumer) {
  uint64_t key = (id ^ (uint64_t)process << 48) * 0x9e3779b97f4a7c15u + (uint64_t)type;
  buf_append(&g->links, &(struct link){key, event, consumer}, sizeof(struct link));
}

/* Adds the links in the args of `event`, as links of the event `stands`. `stands` is usually the same event; on a TPU, it is
 * the step that contains the event. */
static void add_links(struct grouping *g, tk_id event, tk_id stands) {
  const struct derive *d = g->d;
  const tk_id track = d->t->events[event].track, process =
      d->t->tracks[track].kind == TK_TRACK_PROCESS ? track : d->t->tracks[track].parent;
  const bool host = d->planes[process] == PLANE_HOST;
  int64_t type, id;
  if (derive_int(d, event, d->keys.producer_type, &type) && derive_int(d, event, d->keys.producer, &id))
    add_link(g, type, (uint64_t)id, host ? process : 0, stands, false);
  if (derive_int(d, event, d->keys.consumer_type, &type) && derive_int(d, event, d->keys.consumer, &id))
    add_link(g, type, (uint64_t)id, host ? process : 0, stands, true);
  if (derive_int(d, event, d->keys.correlation, &id)) add_link(g, LAUNCH, (uint64_t)id, 0, stands, !host);
}

static int by_key(const void *a, const void *b) {
  const struct link *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->consumer != y->consumer) return x->consumer ? 1 : -1;
  return x->event < y->event ? -1 : x->event > y->event;
}

struct place {
  tk_id event;
  uint32_t first, n; /* range in `links`: the consumers of a producer, or the producers of a consumer */
  bool consumer;
};

static int by_event(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  return x->event < y->event ? -1 : x->event > y->event;
}

/* Finds the consumers of each producer, and the producers of each consumer. */
static bool place_links(struct grouping *g) {
  uint32_t n;
  if (!links_of(g, &n) || !n) return !g->d->mem->failed;
  struct link *v = (struct link *)(void *)g->links.data;
  qsort(v, n, sizeof *v, by_key);
  for (uint32_t i = 0, end, consumers; i < n; i = end) {
    for (end = i; end < n && v[end].key == v[i].key;) end++;
    for (consumers = i; consumers < end && !v[consumers].consumer;) consumers++;
    if (consumers == i || consumers == end || (consumers - i >= MOST_LINKED && end - consumers >= MOST_LINKED)) continue;
    for (uint32_t k = i; k < end; k++) {
      struct place p = {v[k].event, v[k].consumer ? i : consumers, v[k].consumer ? consumers - i : end - consumers, v[k].consumer};
      buf_append(&g->by_event, &p, sizeof p);
    }
  }
  if (g->by_event.len) qsort(g->by_event.data, g->by_event.len / sizeof(struct place), sizeof(struct place), by_event);
  return !g->d->mem->failed;
}

static const struct place *places_of(const struct grouping *g, tk_id event, const struct place **end) {
  const struct place *v = (const struct place *)(const void *)g->by_event.data;
  size_t lo = 0, hi = g->by_event.len / sizeof *v;
  if (!hi) return *end = NULL;
  *end = v + hi;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (v[mid].event < event) lo = mid + 1;
    else hi = mid;
  }
  return v + lo;
}

/* ---- propagation ---- */

static void reach_consumers(struct grouping *g, tk_id event) {
  const struct place *end, *p = places_of(g, event, &end);
  uint32_t n;
  const struct link *links = links_of(g, &n);
  for (; p < end && p->event == event; p++)
    for (uint32_t i = 0; !p->consumer && i < p->n; i++)
      if (!g->d->groups[links[p->first + i].event]) buf_append(&g->queue, &links[p->first + i].event, sizeof(tk_id));
}

/* Assigns the group to the root, the events nested in it, and the events that are reached from these through links. Events that already
 * have a group keep it, and so do the events nested in them. */
static bool propagate(struct grouping *g, tk_id root, uint32_t group) {
  struct derive *d = g->d;
  g->queue.len = 0;
  buf_append(&g->queue, &root, sizeof root);
  for (size_t at = 0; at < g->queue.len; at += sizeof(tk_id)) {
    const tk_id from = *(const tk_id *)(const void *)(g->queue.data + at);
    const tk_id end = g->ends[from] ? g->ends[from] : from + 1;
    if (d->groups[from]) continue;
    for (tk_id i = from; i < end;) {
      const bool async = i != from && !g->ends[i];
      if (d->groups[i] && !async) {
        i = g->ends[i];
        continue;
      }
      if (!async) d->groups[i] = group, reach_consumers(g, i);
      i++;
    }
  }
  return !d->mem->failed;
}

/* ---- ancestors ---- */

/* Returns the nearest ancestor for which `is` returns true; 0 if there is none. Ancestors are the spans around the event, the events
 * that woke it, and in turn their ancestors. With include_self, the event itself is tested, too. */
static tk_id find_above(struct grouping *g, tk_id event, bool include_self,
                        bool (*is)(const struct derive *d, tk_id event, int64_t arg), int64_t arg) {
  struct map seen;
  tk_id found = 0;
  uint32_t n;
  const struct link *links = links_of(g, &n);
  map_init(&seen, g->d->mem);
  g->queue.len = 0;
  buf_append(&g->queue, &event, sizeof event);
  map_put(&seen, event, 1);
  for (size_t at = 0; !found && at < g->queue.len && at < MOST_ABOVE * sizeof(tk_id); at += sizeof(tk_id)) {
    const tk_id i = *(const tk_id *)(const void *)(g->queue.data + at);
    const struct place *end, *p = places_of(g, i, &end);
    if ((i != event || include_self) && is(g->d, i, arg)) found = i;
    const tk_id parent = g->parents[i];
    uint32_t *slot = parent ? map_put(&seen, parent, 0) : NULL;
    if (slot && !(*slot)++) buf_append(&g->queue, &parent, sizeof parent);
    for (; p < end && p->event == i; p++)
      for (uint32_t k = 0; p->consumer && k < p->n; k++) {
        slot = map_put(&seen, links[p->first + k].event, 0);
        if (slot && !(*slot)++) buf_append(&g->queue, &links[p->first + k].event, sizeof(tk_id));
      }
  }
  map_free(&seen);
  return found;
}

static bool is_root_of(const struct derive *d, tk_id event, int64_t level) {
  int64_t v = 0;
  return derive_int(d, event, d->keys.root, &v) && v == level;
}

static bool has_int(const struct derive *d, tk_id event, int64_t key) {
  int64_t v;
  return derive_int(d, event, (tk_id)key, &v);
}

static bool has_text(const struct derive *d, tk_id event, int64_t key) { return derive_text(d, event, (tk_id)key) != 0; }

/* ---- steps of the host ---- */

static int by_level(const void *a, const void *b, void *arg) {
  const struct derive_root *x = a, *y = b;
  const struct tk_event *events = ((const struct derive *)arg)->t->events, *e = &events[x->event], *f = &events[y->event];
  if (x->level != y->level) return x->level > y->level ? -1 : 1;
  if (e->ts != f->ts) return e->ts < f->ts ? -1 : 1;
  if (e->dur != f->dur) return e->dur > f->dur ? -1 : 1;
  return x->event < y->event ? -1 : x->event > y->event;
}

static uint32_t new_group(struct derive *d, tk_id name) {
  if (!mem_grow(d->mem, (void **)&d->names, &d->cap_names, (uint64_t)d->n_groups + 2, sizeof *d->names)) return 0;
  d->names[++d->n_groups] = name;
  return d->n_groups;
}

/* Creates the name of a step, such as "train 3", from the name of the event and the step number of the event or an ancestor. */
static tk_id name_step(struct grouping *g, tk_id root, int64_t number) {
  struct derive *d = g->d;
  const tk_id typed = d->keys.graph_type ? find_above(g, root, true, has_text, d->keys.graph_type) : 0;
  const tk_id iteration = d->keys.iteration ? find_above(g, root, true, has_int, d->keys.iteration) : 0;
  const tk_id step = !iteration && d->keys.step ? find_above(g, root, true, has_int, d->keys.step) : 0;
  const tk_id name = typed ? derive_text(d, typed, d->keys.graph_type) : d->t->classes[d->t->events[root].cls].name;
  struct buf b = {.mem = d->mem};
  char text[24];
  if (iteration) derive_int(d, iteration, d->keys.iteration, &number);
  else if (step) derive_int(d, step, d->keys.step, &number);
  buf_append(&b, trace_str(d->t, name)->bytes, trace_str(d->t, name)->len);
  buf_text(&b, " ");
  buf_append(&b, text, num_put_i64(text, number));
  const tk_id made = trace_string(d->t, b.data, b.len);
  buf_free(&b);
  return made;
}

static bool group_hosts(struct grouping *g, struct buf *roots) {
  struct derive *d = g->d;
  struct buf all = {.mem = d->mem};
  bool ok = true;
  int64_t level;
  for (tk_id i = 1; d->keys.root && i <= d->t->n_events; i++)
    if (derive_int(d, i, d->keys.root, &level)) buf_append(&all, &(struct derive_root){i, level}, sizeof(struct derive_root));
  struct derive_root *v = (struct derive_root *)(void *)all.data;
  const size_t n = all.len / sizeof *v;
  os_sort(v, n, sizeof *v, by_level, d);
  for (size_t i = 0; ok && i < n; i++) {
    const tk_id above = g->roots[v[i].event];
    if (d->groups[v[i].event] || (above && is_root_of(d, above, v[i].level))) continue;
    if (find_above(g, v[i].event, false, is_root_of, v[i].level)) continue;
    const uint32_t group = new_group(d, 0);
    ok = group && propagate(g, v[i].event, group);
    if (ok) d->names[group] = name_step(g, v[i].event, (int64_t)group - 1);
    buf_append(roots, &v[i], sizeof *v);
  }
  buf_free(&all);
  return ok && !d->mem->failed;
}

/* ---- devices ---- */

struct timed {
  tk_time ts, dur;
  tk_id event;
};

static int derive_by_time(const void *a, const void *b) {
  const struct timed *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
  return x->event < y->event ? -1 : x->event > y->event;
}

tk_id *derive_sorted(const struct derive *d, tk_id process, uint32_t *n) {
  const struct tk_trace *t = d->t;
  struct buf all = {.mem = d->mem};
  for (tk_id i = d->first_line[process]; i; i = d->next_line[i]) {
    const struct tk_track *k = &t->tracks[i];
    for (tk_id e = k->first; e < k->first + k->count; e++)
      buf_append(&all, &(struct timed){t->events[e].ts, t->events[e].dur, e}, sizeof(struct timed));
  }
  struct timed *v = (struct timed *)(void *)all.data;
  *n = (uint32_t)(all.len / sizeof *v);
  if (*n) qsort(v, *n, sizeof *v, derive_by_time);
  tk_id *events = mem_array(d->mem, (uint64_t)*n + 1, sizeof *events);
  for (uint32_t i = 0; events && i < *n; i++) events[i] = v[i].event;
  buf_free(&all);
  return events;
}

static bool fill_gpu(struct derive *d, tk_id process) {
  uint32_t n, group = 0;
  tk_id *events = derive_sorted(d, process, &n);
  for (uint32_t i = 0; events && i < n; i++) {
    if (d->groups[events[i]]) group = d->groups[events[i]];
    else d->groups[events[i]] = group;
  }
  mem_free(d->mem, events);
  return events != NULL;
}

/* Returns the line whose events are the steps of a core: its line of steps or, if it has none, its line of modules. */
static tk_id grouping_line(const struct derive *d, tk_id process) {
  tk_id steps = 0, modules = 0;
  for (tk_id i = d->first_line[process]; i; i = d->next_line[i]) {
    const struct tk_track *k = &d->t->tracks[i];
    if (!k->count) continue;
    const char *name = tk_string(d->t, k->name, NULL);
    if (strcmp(name, "Steps") == 0 || strcmp(name, "Sparse Core Steps") == 0) steps = i;
    if (strcmp(name, "XLA Modules") == 0 || strcmp(name, "Sparse Core Modules") == 0) modules = i;
  }
  return steps ? steps : modules;
}

static void link_tpu(struct grouping *g, tk_id process, tk_id line) {
  const struct derive *d = g->d;
  const struct tk_trace *t = d->t;
  const struct tk_track *steps = &t->tracks[line];
  for (tk_id e = steps->first; e < steps->first + steps->count; e++) add_links(g, e, e);
  for (tk_id i = d->first_line[process]; i; i = d->next_line[i]) {
    const struct tk_track *k = &t->tracks[i];
    if (i == line) continue;
    tk_id s = steps->first;
    for (tk_id e = k->first; e < k->first + k->count; e++) {
      while (s < steps->first + steps->count && derive_end(&t->events[s]) <= t->events[e].ts) s++;
      if (s == steps->first + steps->count) break;
      if (t->events[s].ts <= t->events[e].ts && derive_end(&t->events[e]) <= derive_end(&t->events[s])) add_links(g, e, s);
    }
  }
}

static bool any_grouped(const struct derive *d, const struct tk_track *line) {
  for (tk_id e = line->first; e < line->first + line->count; e++)
    if (d->groups[e]) return true;
  return false;
}

/* Makes each event of the line a step. Steps are numbered by position, from 0. */
static bool group_in_step(struct derive *d, const struct tk_track *line, uint32_t base) {
  uint32_t group = base;
  for (tk_id e = line->first; e < line->first + line->count; e++) {
    char number[24];
    if (++group > d->n_groups && !new_group(d, trace_string(d->t, number, num_put_i64(number, group - 1)))) return false;
    d->groups[e] = group;
  }
  return true;
}

/* Assigns the events of a core to the steps of a line. An event belongs to a step if it overlaps the step or touches its end;
 * if modules are the steps, an event may also belong to the next module. */
static bool group_by_line(struct derive *d, tk_id process, tk_id line) {
  const struct tk_trace *t = d->t;
  const struct tk_track *steps = &t->tracks[line];
  const bool own = strstr(tk_string(t, steps->name, NULL), "Modules") != NULL;
  uint32_t *groups = mem_array(d->mem, (uint64_t)steps->count + 1, sizeof *groups);
  if (!groups) return false;
  for (tk_id e = 0; e < steps->count; e++) groups[e] = d->groups[steps->first + e];
  for (tk_id i = d->first_line[process]; i; i = d->next_line[i]) {
    const struct tk_track *k = &t->tracks[i];
    tk_id s = steps->first;
    for (tk_id e = k->first; e < k->first + k->count && (i != line || own); e++) {
      const struct tk_event *ev = &t->events[e];
      while (s < steps->first + steps->count && derive_end(&t->events[s]) < ev->ts) s++;
      if (s == steps->first + steps->count) break;
      if (t->events[s].ts <= derive_end(ev)) d->groups[e] = groups[s - steps->first];
    }
  }
  mem_free(d->mem, groups);
  return true;
}

static bool group_devices(struct grouping *g) {
  struct derive *d = g->d;
  const uint32_t base = d->n_groups;
  bool grouped = false, ok = true;
  for (tk_id i = 1; i <= d->t->n_tracks; i++) {
    const tk_id line = d->t->tracks[i].kind == TK_TRACK_PROCESS && d->planes[i] == PLANE_TPU ? grouping_line(d, i) : 0;
    grouped = grouped || (line && any_grouped(d, &d->t->tracks[line]));
  }
  for (tk_id i = 1; ok && i <= d->t->n_tracks; i++) {
    if (d->t->tracks[i].kind != TK_TRACK_PROCESS) continue;
    if (d->planes[i] == PLANE_GPU && !d->has_tpu) ok = fill_gpu(d, i);
    const tk_id line = d->planes[i] == PLANE_TPU ? grouping_line(d, i) : 0;
    if (!line) continue;
    if (!grouped) ok = group_in_step(d, &d->t->tracks[line], base);
    ok = ok && group_by_line(d, i, line);
  }
  return ok;
}

static bool begin_groups(struct grouping *g, struct derive *d) {
  const size_t n = (size_t)d->t->n_events + 1;
  *g = (struct grouping){.d = d, .links = {.mem = d->mem}, .by_event = {.mem = d->mem}, .queue = {.mem = d->mem}};
  g->ends = mem_array(d->mem, n, sizeof *g->ends);
  g->parents = mem_zeros(d->mem, n, sizeof *g->parents);
  g->roots = mem_zeros(d->mem, n, sizeof *g->roots);
  if (!g->ends || !g->parents || !g->roots) return false;
  for (tk_id i = 1; i < n; i++) g->ends[i] = i + 1;
  return true;
}

static void end_groups(struct grouping *g) {
  struct mem *mem = g->d->mem;
  mem_free(mem, g->ends);
  mem_free(mem, g->parents);
  mem_free(mem, g->roots);
  buf_free(&g->links);
  buf_free(&g->by_event);
  buf_free(&g->queue);
}

/* Finds nesting and links of the events on all tracks except the tracks of TPUs. */
static bool link_tracks(struct grouping *g) {
  const struct tk_trace *t = g->d->t;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    const tk_id process = k->kind == TK_TRACK_PROCESS ? i : k->parent;
    if (g->d->planes[process] == PLANE_TPU) continue;
    if (k->kind == TK_TRACK_THREAD && !nest_track(g, k)) return false;
    for (tk_id e = k->first; e < k->first + k->count; e++) add_links(g, e, e);
  }
  return true;
}

static void link_tpus(struct grouping *g) {
  const struct tk_trace *t = g->d->t;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const bool is_tpu = t->tracks[i].kind == TK_TRACK_PROCESS && g->d->planes[i] == PLANE_TPU;
    const tk_id line = is_tpu ? grouping_line(g->d, i) : 0;
    if (line) link_tpu(g, i, line);
  }
}

static bool group(struct grouping *g, struct buf *roots) {
  if (!link_tracks(g)) return false;
  link_tpus(g);
  return place_links(g) && group_hosts(g, roots) && group_devices(g);
}

bool derive_groups(struct derive *d, struct buf *roots) {
  struct grouping g;
  const bool ok = begin_groups(&g, d) && group(&g, roots);
  end_groups(&g);
  return ok && !d->mem->failed;
}
