/* seal_frames.c - ends a Python frame together with its caller, if the profiler missed the return of the frame.
 *
 * PyTorch's tracer lets such a frame last until the end of the trace (pytorch#190950), so it would contain everything that follows.
 * Callers are found by the id that each frame stores. */
#include <string.h>

#include "seal.h"
#include "args.h"

/* A frame that outlasts its caller by less than a microsecond is not shortened: times are rounded. */
static const tk_time ROUNDING = 1000000;

struct frames {
  struct tk_trace *t;
  tk_id id, parent; /* keys of the args with a frame's own id and its caller's id */
  struct map by_id; /* Python id -> event id */
};

static bool id_of(const struct frames *f, const struct tk_event *e, tk_id key, uint64_t *id) {
  struct tk_arg arg;
  for (struct tk_args it = tk_args_of(f->t, e->args); tk_args_next(&it, &arg);)
    if (arg.key == key) return arg.type == TK_ARG_INT ? (*id = arg.u, true) : false;
  return false;
}

/* Stores the original duration as an arg before it changes. */
static void keep_dur(struct tk_trace *t, struct tk_event *e) {
  char text[64];
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  args_str(t, KEY_REPAIRED_DUR, TK_ARG_NUMBER, trace_string(t, text, num_put_us(text, e->dur)));
  e->args = args_end(t);
}

static bool cut_frame(struct frames *f, struct tk_event *e) {
  uint64_t id;
  const uint32_t *at = id_of(f, e, f->parent, &id) ? map_get(&f->by_id, id) : NULL;
  if (!at) return false;
  const struct tk_event *caller = &f->t->events[*at];
  const tk_time end = caller->ts + caller->dur;
  if (caller >= e || end < e->ts || e->ts + e->dur - end <= ROUNDING) return false;
  keep_dur(f->t, e);
  e->dur = end - e->ts;
  e->flags |= TK_FLAG_REPAIRED;
  return true;
}

static bool has_overlaps(const struct tk_trace *t, const struct tk_track *k) {
  for (tk_id i = k->first; i < k->first + k->count; i++)
    if (t->events[i].kind == TK_EVENT_SPAN && t->events[i].flags & TK_FLAG_OVERLAPS) return true;
  return false;
}

uint32_t seal_cut_frames(struct tk_trace *t, const struct tk_track *k) {
  struct frames f = {.t = t, .id = trace_text_id(t, "Python id")};
  uint32_t n = 0;
  uint64_t id;
  f.parent = trace_text_id(t, "Python parent id");
  if (!f.id || !f.parent || !has_overlaps(t, k)) return 0;
  map_init(&f.by_id, &t->store->mem);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_PAIRED)) continue;
    n += cut_frame(&f, e);
    if (id_of(&f, e, f.id, &id)) map_put(&f.by_id, id, i);
  }
  map_free(&f.by_id);
  return n;
}
