/* seal_ties.c - stores the file order of simultaneous events of a thread, if it differs from the order in the graph.
 *
 * Preorder puts parents first. Producers may list events that start together in another order: a child before its parent, an
 * instant before both. Viewers show the same, but a file that is read and written again should keep its order. Such events are
 * few, so the order of all others is not stored. */
#include <stdlib.h>
#include <string.h>

#include "seal_ties.h"
#include "seal.h"

struct place {
  uint32_t in_file, in_graph;
};

static int by_file(const void *pa, const void *pb) {
  const struct place *a = pa, *b = pb;
  return (a->in_file > b->in_file) - (a->in_file < b->in_file);
}

/* Stores the file positions of n simultaneous events, listed in the order of the graph. */
static bool add_tie(struct seal_tie_list *l, tk_id first, const uint32_t *in_file, uint32_t n) {
  struct place *places = mem_array(l->mem, n, sizeof *places);
  uint32_t at = l->n_tied;
  if (!places || !mem_grow(l->mem, (void **)&l->tied, &l->cap_tied, (uint64_t)at + n, sizeof *l->tied) ||
      !mem_grow(l->mem, (void **)&l->ties, &l->cap_ties, (uint64_t)l->n_ties + 1, sizeof *l->ties)) {
    mem_free(l->mem, places);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) places[i] = (struct place){in_file[i], i};
  qsort(places, n, sizeof *places, by_file);
  for (uint32_t i = 0; i < n; i++) l->tied[at + i] = places[i].in_graph;
  l->ties[l->n_ties++] = (struct trace_tie){first, n, at};
  l->n_tied += n;
  mem_free(l->mem, places);
  return true;
}

static bool in_order(const uint32_t *in_file, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (in_file[i - 1] > in_file[i]) return false;
  return true;
}

/* True if an end event comes after other events of the tie. Such an end belongs to a begin of the same time, and the pair must
 * stay where nesting puts it. */
static bool has_end(const struct tk_event *e, const uint32_t *in_file, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (e[in_file[i]].kind == TK_EVENT_END) return true;
  return false;
}

bool seal_keep_tie(struct seal_tie_list *list, const struct tk_event *e, tk_id first, const uint32_t *in_file, uint32_t n) {
  uint32_t a = 0;
  while (a < n && (!seal_is_timed(&e[in_file[a]]) || e[in_file[a]].kind == TK_EVENT_END)) a++;
  if (n - a < 2 || in_order(in_file + a, n - a) || has_end(e, in_file + a, n - a)) return true;
  return add_tie(list, first + a, in_file + a, n - a);
}

static bool append_ties(struct tk_store *s, const struct seal_tie_list *list) {
  const uint32_t before = s->n_tied;
  if (!list->n_ties) return true;
  if (!mem_grow(&s->mem, (void **)&s->tied, &s->cap_tied, (uint64_t)before + list->n_tied, sizeof *s->tied) ||
      !mem_grow(&s->mem, (void **)&s->ties, &s->cap_ties, (uint64_t)s->n_ties + list->n_ties, sizeof *s->ties))
    return false;
  memcpy(s->tied + before, list->tied, list->n_tied * sizeof *s->tied);
  s->n_tied += list->n_tied;
  for (uint32_t i = 0; i < list->n_ties; i++) {
    const struct trace_tie tie = list->ties[i];
    s->ties[s->n_ties++] = (struct trace_tie){tie.first, tie.n, before + tie.at};
  }
  return true;
}

bool seal_add_ties(struct tk_trace *t, struct seal_tie_list *list) {
  const bool ok = append_ties(t->store, list);
  mem_free(list->mem, list->ties);
  mem_free(list->mem, list->tied);
  *list = (struct seal_tie_list){.mem = list->mem};
  return ok;
}

const struct trace_tie *seal_tie_at(const struct tk_trace *t, tk_id event) {
  const struct tk_store *s = t->store;
  uint32_t lo = 0, hi = t->edits & TK_EDIT_DROPPED ? 0 : s->n_ties;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->ties[mid].first < event) lo = mid + 1;
    else hi = mid;
  }
  return lo < s->n_ties && s->ties[lo].first >= event && !(t->edits & TK_EDIT_DROPPED) ? &s->ties[lo] : NULL;
}
