/* step_launches.c - see step_launches.h. */
#include "step_launches.h"

#include "launched.h"

struct linker {
  struct steps *s;
  const struct kinds *kinds;
  const tk_id *launch_of;
  tk_time *first; /* by stream, and by process of a device: start of the first work found by find_first; INT64_MAX = none */
};

static tk_id device_process(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}

/* True for work that belongs to the step of its launch, if the launch is known. This is so if steps are marked on the host and not on
 * the device. */
static bool follows_host(const struct linker *l, tk_id event) {
  const struct tk_event *e = &l->kinds->t->events[event];
  return steps_runs_of(l->s, e->track)->source == STEPS_HOST && launched_is_work(l->kinds, e);
}

static bool is_in_host_step(const struct linker *l, tk_id launch) {
  return launch && steps_runs_of(l->s, l->kinds->t->events[launch].track)->source == STEPS_HOST;
}

/* Finds, for each stream and device, the first work whose launch is on a thread with host steps. Returns false if there is none at
 * all. */
static bool find_first(struct linker *l) {
  const struct tk_trace *t = l->kinds->t;
  bool any = false;
  for (tk_id i = 0; i <= t->n_tracks; i++) l->first[i] = INT64_MAX;
  for (tk_id i = 1; i <= t->n_events; i++) {
    if (!is_in_host_step(l, l->launch_of[i]) || !follows_host(l, i)) continue;
    const struct tk_event *e = &t->events[i];
    const tk_id of[] = {e->track, device_process(t, e->track)};
    for (int k = 0; k < 2; k++)
      if (e->ts < l->first[of[k]]) l->first[of[k]] = e->ts;
    any = true;
  }
  return any;
}

/* Returns the event whose time decides the step of work: its launch, or the work itself if the launch is unknown. A stream runs work in
 * launch order. So work without a known launch that precedes all linked work of its stream was launched before the recording began;
 * STEPS_BEFORE is returned for it. */
static tk_id decider_of(const struct linker *l, tk_id event) {
  const struct tk_event *e = &l->kinds->t->events[event];
  if (is_in_host_step(l, l->launch_of[event])) return l->launch_of[event];
  const tk_time own = l->first[e->track], first = own != INT64_MAX ? own : l->first[device_process(l->kinds->t, e->track)];
  return first != INT64_MAX && e->ts < first ? STEPS_BEFORE : event;
}

/* True for an annotation on a stream that is a copy of a host annotation. */
static bool is_copy(const struct linker *l, tk_id event) {
  const struct tk_event *e = &l->kinds->t->events[event];
  const bool repeats = (l->kinds->of_class[e->cls] & (KIND_REPEAT | KIND_TALLY)) == KIND_REPEAT;
  return repeats && e->kind == TK_EVENT_SPAN && steps_runs_of(l->s, e->track)->source == STEPS_HOST;
}

/* Returns the first work inside the copy of an annotation; 0 = none. `next`: first work after the copy on the same track, which may be
 * outside the copy. Otherwise, work before it that starts at the same time is returned. */
static tk_id work_of_copy(const struct linker *l, tk_id copy, tk_id next) {
  const struct tk_event *events = l->kinds->t->events, *e = &events[copy];
  if (next && events[next].ts < e->ts + e->dur) return next;
  for (tk_id i = copy - 1; i && events[i].track == e->track && events[i].ts == e->ts; i--)
    if (follows_host(l, i)) return i;
  return 0;
}

/* Assigns copies of annotations to the step of the first work inside them. */
static void link_copies(const struct linker *l, const struct tk_track *k, tk_id *by) {
  tk_id next = 0;
  for (tk_id i = k->first + k->count; i-- > k->first;) {
    const tk_id work = is_copy(l, i) ? work_of_copy(l, i, next) : 0;
    if (work && by[work] != work) by[i] = by[work];
    if (follows_host(l, i)) next = i;
  }
}

static bool link_work(struct linker *l) {
  const struct tk_trace *t = l->kinds->t;
  tk_id *by = mem_array(l->s->mem, (uint64_t)t->n_events + 1, sizeof *by);
  if (!by) return false;
  for (tk_id i = 0; i <= t->n_events; i++) by[i] = i && follows_host(l, i) ? decider_of(l, i) : i;
  for (tk_id k = 1; k <= t->n_tracks; k++) link_copies(l, &t->tracks[k], by);
  l->s->decided_by = by;
  l->s->events = t->events;
  return true;
}

bool step_launches_link(struct steps *s, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch_of) {
  const struct tk_trace *t = kinds->t;
  struct linker l = {.s = s, .kinds = kinds, .launch_of = launch_of};
  tk_id *found = NULL;
  if (!s->n || s->is_linked) return true;
  s->is_linked = true;
  if (!launch_of) l.launch_of = found = mem_zeros(s->mem, (uint64_t)t->n_events + 1, sizeof *found);
  l.first = mem_array(s->mem, (uint64_t)t->n_tracks + 1, sizeof *l.first);
  bool ok = l.launch_of && l.first && (!found || launched_each(kinds, origins, s->mem, launched_keep, found));
  ok = ok && (!find_first(&l) || link_work(&l));
  mem_free(s->mem, found);
  mem_free(s->mem, l.first);
  return ok;
}
