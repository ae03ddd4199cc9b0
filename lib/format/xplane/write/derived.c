/* derived.c - finds data that tk_derive added. It is not written to an XSpace, because xprof derives it itself and would show
 * it twice. Each event of a derived line has a mark; on an original event, an arg lists the added args. */
#include <string.h>

#include "derived.h"
#include "writer.h"

static bool is_made(const struct xplane_graph *g, const struct tk_event *ev) {
  struct tk_args it = tk_args_of(g->t, ev->args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    if (arg.key == g->key_derived) return arg.type == TK_ARG_TRUE;
  return false;
}

void xplane_find_derived(struct xplane_graph *g, struct mem *mem) {
  const struct tk_trace *t = g->t;
  g->key_derived = xplane_find_text(t, TK_DERIVED, strlen(TK_DERIVED));
  g->derived = g->key_derived ? mem_array(mem, (uint64_t)t->n_tracks + 1, 1) : NULL;
  for (tk_id i = 0; g->derived && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    tk_id e = k->first;
    if (i && k->kind == TK_TRACK_THREAD)
      while (e < k->first + k->count && is_made(g, &t->events[e])) e++;
    g->derived[i] = i && k->kind == TK_TRACK_THREAD && k->count && e == k->first + k->count;
  }
}

const char *xplane_derived_args(const struct xplane_graph *g, const struct tk_event *ev) {
  struct tk_args it = tk_args_of(g->t, ev->args);
  struct tk_arg arg;
  while (g->key_derived && tk_args_next(&it, &arg))
    if (arg.key == g->key_derived && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF)) return tk_string(g->t, arg.s, NULL);
  return "";
}

bool xplane_is_derived_arg(const struct xplane_graph *g, const char *args, tk_id key) {
  const char *name;
  size_t n;
  if (!g->key_derived || key == g->key_derived) return g->key_derived != 0;
  name = tk_string(g->t, key, &n);
  for (const char *at = args; n && (at = strstr(at, name)) != NULL; at += n)
    if ((at == args || at[-1] == ',') && (at[n] == ',' || !at[n])) return true;
  return false;
}
