/* shrink_account.c - counts removed events by process, kind of track, and name (shrink_account.h). */
#include "shrink_account.h"

static struct gone *shrink_row_of(struct shrunk *out, const struct tk_trace *t, const struct tk_event *e) {
  const struct tk_track *k = &t->tracks[e->track];
  tk_id process = k->kind == TK_TRACK_PROCESS ? e->track : k->parent, name = t->classes[e->cls].name;
  uint32_t kind = k->kind, *slot;
  uint64_t h = hash_pair((uint64_t)process << 8 | kind, name);
  for (;; h++) {
    slot = map_put(&out->index, h, 0);
    if (!slot) return NULL;
    if (!*slot) break;
    struct gone *g = &out->gone[*slot];
    if (g->process == process && g->name == name && g->kind == kind) return g;
  }
  if (!mem_grow(out->mem, (void **)&out->gone, &out->cap_gone, (uint64_t)out->n_gone + 2, sizeof *out->gone)) return NULL;
  *slot = ++out->n_gone;
  out->gone[*slot] = (struct gone){.process = process, .name = name, .kind = kind};
  return &out->gone[*slot];
}

/* True if the args contain both keys of a coalesced span, `count` and `total`. */
static bool carries_count(const struct shrink *s, const struct tk_args *it) {
  unsigned met = 0;
  for (uint32_t i = 0; it->shape && i < it->shape->n; i++)
    met |= (it->shape->fields[i].key == s->count ? 1u : 0) | (it->shape->fields[i].key == s->total ? 2u : 0);
  return met == 3;
}

/* Returns the number and total duration of the original spans: 1 and the span's own duration, or the number and total of the
 * spans that were merged into it, now or by an earlier shrink. */
static void stands_for(const struct shrink *s, const struct tk_event *e, uint64_t *count, i128 *total) {
  struct tk_args it = tk_args_of(s->t, e->args);
  struct tk_arg arg;
  uint64_t n = 0;
  i128 sum = -1;
  *count = 1;
  *total = e->dur;
  if (!carries_count(s, &it)) return;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == s->count && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT)) n = arg.u;
    if (arg.key == s->total && (arg.type == TK_ARG_INT || arg.type == TK_ARG_DECIMAL))
      if (!num_scale(arg.i, (arg.type == TK_ARG_DECIMAL ? arg.exp : 0) + 6, &sum)) sum = -1;
  }
  if (n == 0 || n > INT64_MAX || sum < 0) return;
  *count = n;
  *total = sum;
}

void shrink_account(const struct shrink *s, struct shrunk *out, const struct tk_event *e, enum rung rung) {
  struct gone *g = shrink_row_of(out, s->t, e);
  uint64_t count;
  i128 total;
  stands_for(s, e, &count, &total);
  if (g) {
    g->count += count;
    g->total += total;
  }
  out->rungs[rung].events++;
  out->rungs[rung].time += total;
}

void shrink_account_init(struct shrunk *s, struct mem *mem) {
  *s = (struct shrunk){.mem = mem};
  map_init(&s->index, mem);
}

void shrink_account_free(struct shrunk *s) {
  if (!s->mem) return;
  mem_free(s->mem, s->gone);
  map_free(&s->index);
  *s = (struct shrunk){0};
}
