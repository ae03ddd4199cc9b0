/* lanes.c - moves events back from threads that our writer made for overlapping spans (format/chrome/lanes.h). */
#include "lanes.h"
#include "format/chrome/lanes.h"
#include "reader.h"

static uint64_t lanes_hash_of(const struct chrome *r, struct tk_ident pid, struct tk_ident tid) {
  const struct intern_str *p = trace_str(r->t, pid.str), *q = trace_str(r->t, tid.str);
  const uint64_t key[] = {(uint64_t)pid.num, (uint64_t)tid.num, pid.str ? p->hash : 0, tid.str ? q->hash : 0};
  return hash_text(key, sizeof key);
}

tk_id chrome_find_thread(struct chrome *r, struct tk_ident pid, struct tk_ident tid) {
  const uint32_t *of = r->lanes.n ? map_get(&r->lanes, lanes_hash_of(r, pid, tid)) : NULL;
  return of ? *of : trace_track(r->t, TK_TRACK_THREAD, pid, tid, 0);
}

static struct tk_ident ident_of(const struct chrome *r, const struct tk_arg *arg) {
  if (arg->type == TK_ARG_INT) return ident_int(arg->i);
  return arg->type == TK_ARG_STR ? chrome_ident(r, arg->s) : ident_none();
}

/* True if the event declares its thread to be a lane, or is on a lane. A thread that already has events does not become a
 * lane. */
bool chrome_is_of_lane(struct chrome *r, const struct chrome_event *e, uint32_t args) {
  if (r->t->store->without & TK_WITHOUT_RESTORING) return false;
  const uint64_t hash = lanes_hash_of(r, e->pid, e->tid);
  struct tk_arg of;
  if (r->lanes.n && map_get(&r->lanes, hash)) return true;
  if (!tk_args_find(r->t, args, LANE_OF, &of) || trace_has_thread(r->t, e->pid, e->tid)) return false;
  const struct tk_ident tid = ident_of(r, &of);
  if (trace_ident_equal(tid, e->tid)) return false;
  const tk_id track = chrome_find_thread(r, e->pid, tid);
  return map_put(&r->lanes, hash, track) != NULL;
}

void chrome_settle_lanes(struct chrome *r) {
  for (tk_id i = 1; i <= r->t->n_tracks; i++) r->t->tracks[i].no_lanes = r->lanes.n == 0;
}
