/* tree_waiting.c - see tree_waiting.h.
 *
 * backward() returns when the autograd threads are done. So during a launch by an autograd thread, the span of the caller is open. If
 * spans of several threads are open at that time, the caller is unknown. */
#include "tree_waiting.h"

#include "base/os.h"
#include "base/text.h"

/* Maximum number of open spans. If there are more, the caller counts as unknown, so that the time is linear in the size of the
 * input. */
enum { MOST_OPEN = 1024 };

/* Selected spans of one process, sorted by start. */
struct waiting {
  struct tree *tree;
  tk_id process;    /* process of the spans; 0 = none yet */
  struct buf spans; /* tk_id of each */
  struct buf open;  /* tk_id of the spans that are open at the current time, sorted by start */
  size_t next;      /* index of the first span that starts after the current time */
};

/* Returns an array by track: true for threads with spans of autograd's engine, named as in torch/csrc/autograd/engine.cpp. Returns
 * NULL if memory runs out. */
static bool *find_autograd(const struct tk_trace *t, struct mem *mem) {
  bool *tracks = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *tracks);
  bool *nodes = mem_zeros(mem, (uint64_t)t->n_classes + 1, sizeof *nodes);
  for (tk_id i = 1; nodes && i <= t->n_classes; i++)
    nodes[i] = text_begins(tk_string(t, t->classes[i].name, NULL), "autograd::engine::evaluate_function");
  for (tk_id i = 1; tracks && nodes && i <= t->n_events; i++)
    if (nodes[t->events[i].cls]) tracks[t->events[i].track] = true;
  if (!nodes) mem_free(mem, tracks), tracks = NULL;
  mem_free(mem, nodes);
  return tracks;
}

static int waiting_order(const void *p, const void *q, void *arg) {
  const struct tk_event *v = arg;
  const tk_id a = *(const tk_id *)p, b = *(const tk_id *)q;
  if (v[a].ts != v[b].ts) return v[a].ts < v[b].ts ? -1 : 1;
  return (a > b) - (a < b);
}

static bool collect_spans(struct waiting *w, tk_id process) {
  const struct tk_trace *t = w->tree->t;
  bool ok = true;
  w->process = process;
  w->spans.len = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    if (t->tracks[k].parent != process || t->tracks[k].kind != TK_TRACK_THREAD) continue;
    for (tk_id i = t->tracks[k].first; ok && i < t->tracks[k].first + t->tracks[k].count; i++)
      if (w->tree->node_of[i]) ok = buf_append(&w->spans, &i, sizeof i);
  }
  os_sort(w->spans.data, w->spans.len / sizeof(tk_id), sizeof(tk_id), waiting_order, t->events);
  return ok;
}

/* Advances the current time: opens spans that start, and closes spans that end, by `now`. */
static bool waiting_until(struct waiting *w, tk_time now) {
  const struct tk_event *v = w->tree->t->events;
  const tk_id *spans = (const tk_id *)w->spans.data;
  bool ok = true;
  for (; ok && w->next < w->spans.len / sizeof *spans && v[spans[w->next]].ts <= now; w->next++)
    ok = buf_append(&w->open, &spans[w->next], sizeof *spans);
  tk_id *open = (tk_id *)w->open.data;
  size_t n = 0;
  for (size_t i = 0; i < w->open.len / sizeof *open; i++)
    if (v[open[i]].ts + v[open[i]].dur > now) open[n++] = open[i];
  w->open.len = n * sizeof *open;
  return ok;
}

/* Returns the node of the innermost open span; 0 if no span is open, or if several threads have open spans. */
static uint32_t waiting_node(const struct waiting *w) {
  const struct tk_event *v = w->tree->t->events;
  const tk_id *open = (const tk_id *)w->open.data;
  const size_t n = w->open.len / sizeof *open;
  for (size_t i = 1; i < n; i++)
    if (v[open[i]].track != v[open[0]].track) return 0;
  return n ? w->tree->node_of[open[n - 1]] : 0;
}

/* True if all events of the track are inside selected spans of the same track, for example because all spans are selected. */
static bool is_covered(const struct tree *tree, const struct tk_track *k) {
  tk_id i = k->first;
  while (i < k->first + k->count && tree->around[i]) i++;
  return i == k->first + k->count;
}

static bool hang_thread(struct waiting *w, const struct tk_track *k) {
  struct tree *tree = w->tree;
  bool ok = k->parent == w->process || collect_spans(w, k->parent);
  w->open.len = w->next = 0;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    if (tree->around[i]) continue;
    ok = waiting_until(w, tree->t->events[i].ts);
    if (w->open.len > MOST_OPEN * sizeof(tk_id)) break;
    tree->around[i] = ok ? waiting_node(w) : 0;
  }
  return ok;
}

bool tree_waiting_hang(struct tree *tree) {
  const struct tk_trace *t = tree->t;
  struct waiting w = {.tree = tree, .spans = {.mem = tree->mem}, .open = {.mem = tree->mem}};
  bool *is_autograd = find_autograd(t, tree->mem), ok = is_autograd;
  for (tk_id k = 1; ok && k <= t->n_tracks; k++)
    if (is_autograd[k] && !is_covered(tree, &t->tracks[k])) ok = hang_thread(&w, &t->tracks[k]);
  buf_free(&w.spans);
  buf_free(&w.open);
  mem_free(tree->mem, is_autograd);
  return ok && !tree->mem->failed;
}
