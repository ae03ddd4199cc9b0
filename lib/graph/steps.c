/* steps.c - finds training steps from the spans that mark them (steps.h). */
#include "steps.h"

#include <string.h>

#include "step_names.h"

static bool number_at(const char *p, int64_t *number) {
  const uint8_t *end;
  struct num n = num_scan((const uint8_t *)p, &end);
  if (n.kind != NUM_INT || *end || n.mant < 0) return false;
  *number = n.mant;
  return true;
}

static const char PYTORCH[] = "ProfilerStep#";

static bool is_pytorch(const char *name) { return strncmp(name, PYTORCH, sizeof PYTORCH - 1) == 0; }

static bool steps_by_name(const char *name, bool on_steps, int64_t *number) {
  if (is_pytorch(name)) return number_at(name + sizeof PYTORCH - 1, number);
  return on_steps && number_at(name, number);
}

static bool steps_has_key(const struct tk_args *it, tk_id key) {
  for (uint32_t i = 0; it->shape && i < it->shape->n; i++)
    if (it->shape->fields[i].key == key) return true;
  return false;
}

static bool by_arg(const struct tk_trace *t, const struct tk_event *e, tk_id key, int64_t *number) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  if (!key || !steps_has_key(&it, key)) return false;
  while (tk_args_next(&it, &arg)) {
    if (arg.key != key) continue;
    if (arg.type == TK_ARG_STR) return number_at(tk_string(t, arg.s, NULL), number);
    if (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) return false;
    *number = arg.i;
    return true;
  }
  return false;
}

static void find_main(struct steps *s) {
  for (uint32_t i = 0, n; i < s->n; i += n) {
    for (n = 1; i + n < s->n && s->v[i + n].track == s->v[i].track;) n++;
    if (n <= s->n_main) continue;
    s->main = i;
    s->n_main = n;
  }
}

/* Returns, by class, whether the name may mark a step. Testing classes is faster, because there are fewer names than events. */
static bool *find_named(const struct tk_trace *t, struct mem *mem) {
  bool *named = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *named);
  for (tk_id i = 0; named && i <= t->n_classes; i++) named[i] = is_pytorch(tk_string(t, t->classes[i].name, NULL));
  return named;
}

static bool steps_append(struct mem *mem, struct step **v, uint32_t *n, uint32_t *cap, struct step step) {
  if (!mem_grow(mem, (void **)v, cap, (uint64_t)*n + 1, sizeof **v)) return false;
  (*v)[(*n)++] = step;
  return true;
}

/* Adds a step, or an inner span if the last step of its track contains the span, because callers expect that the steps of a
 * track do not nest. A last step that never ended ends where the new step begins. Returns false if memory runs out. */
static bool add_step(struct steps *s, const struct tk_trace *t, tk_id event, int64_t number) {
  const struct tk_event *e = &t->events[event];
  const struct step step = {number, e->ts, e->ts + e->dur, e->track, event};
  struct step *last = s->n && s->v[s->n - 1].track == e->track ? &s->v[s->n - 1] : NULL;
  if (last && t->events[last->event].flags & TK_FLAG_UNFINISHED) last->end = e->ts;
  if (last && step.start < last->end && step.end <= last->end)
    return steps_append(s->mem, &s->inner, &s->n_inner, &s->cap_inner, step);
  return steps_append(s->mem, &s->v, &s->n, &s->cap, step);
}

/* Removes inner spans with the same number as a step. */
static bool forget_inner(struct steps *s) {
  struct map numbers;
  bool ok = true;
  uint32_t kept = 0;
  map_init(&numbers, s->mem);
  for (uint32_t i = 0; ok && s->n_inner && i < s->n; i++) ok = map_put(&numbers, (uint64_t)s->v[i].number, 1) != NULL;
  for (uint32_t i = 0; ok && i < s->n_inner; i++)
    if (!map_get(&numbers, (uint64_t)s->inner[i].number)) s->inner[kept++] = s->inner[i];
  s->n_inner = kept;
  map_free(&numbers);
  return ok;
}

static bool add_track(struct steps *s, const struct tk_trace *t, tk_id track, const bool *named, tk_id key) {
  const struct tk_track *k = &t->tracks[track];
  const bool on_steps = strcmp(tk_string(t, k->name, NULL), "Steps") == 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    int64_t number;
    if (!(on_steps || key || named[e->cls]) || e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (!steps_by_name(tk_string(t, t->classes[e->cls].name, NULL), on_steps, &number) && !by_arg(t, e, key, &number)) continue;
    if (!add_step(s, t, i, number)) return false;
  }
  return true;
}

/* ---- steps by the names of other spans ---- */

/* Numbers the steps of a track from 0 in order, unless all their names contain numbers, which increase. */
static void number_track(struct steps *s, uint32_t from, bool ordinal) {
  for (uint32_t i = from + 1; i < s->n && !ordinal; i++) ordinal = s->v[i].number <= s->v[i - 1].number;
  for (uint32_t i = from; i < s->n; i++)
    if (ordinal) s->v[i].number = i - from;
}

/* Adds the outermost spans of the track that mark steps. */
static bool add_marked(struct steps *s, const struct tk_trace *t, tk_id track, const struct step_names *names) {
  const struct tk_track *k = &t->tracks[track];
  const uint32_t from = s->n;
  bool ordinal = names->ordinal;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    int64_t number = 0;
    if (!names->marks[e->cls] || e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (s->n > from && e->ts < s->v[s->n - 1].end) continue;
    if (!step_names_number(tk_string(t, t->classes[e->cls].name, NULL), &number)) ordinal = true;
    const struct step step = {number, e->ts, e->ts + e->dur, track, i};
    if (!steps_append(s->mem, &s->v, &s->n, &s->cap, step)) return false;
  }
  number_track(s, from, ordinal);
  return true;
}

/* Adds a step from each outermost marked event of the track to the next one. The last marked event begins no step, because the
 * trace may end before the step does. */
static bool add_cuts(struct steps *s, const struct tk_trace *t, tk_id track, const struct step_names *names) {
  const struct tk_track *k = &t->tracks[track];
  const uint32_t from = s->n;
  tk_time end = INT64_MIN;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    struct step *last = s->n > from ? &s->v[s->n - 1] : NULL;
    if (!names->marks[e->cls] || e->kind == TK_EVENT_COUNTER || e->flags & TK_FLAG_LOST_CLOCK || e->ts < end) continue;
    if (last && e->ts == last->start) continue;
    if (last) last->end = e->ts;
    end = e->ts + e->dur;
    const struct step step = {s->n - from, e->ts, end, track, i};
    if (!steps_append(s->mem, &s->v, &s->n, &s->cap, step)) return false;
  }
  s->n -= s->n > from;
  return true;
}

static bool add_by_name(struct steps *s, const struct tk_trace *t) {
  struct step_names names;
  bool ok = step_names_find(&names, t, s->mem);
  for (tk_id i = 1; ok && names.marks && i <= t->n_tracks; i++)
    ok = names.cuts ? add_cuts(s, t, i, &names) : add_marked(s, t, i, &names);
  step_names_free(&names, s->mem);
  return ok;
}

bool steps_init(struct steps *s, const struct tk_trace *t, struct mem *mem) {
  static const char STEP_NUM[] = "step_num";
  const tk_id key = trace_text_id(t, STEP_NUM);
  *s = (struct steps){.mem = mem};
  bool *named = t->store->step_name ? NULL : find_named(t, mem), ok = named || t->store->step_name;
  for (tk_id i = 1; ok && named && i <= t->n_tracks; i++) ok = add_track(s, t, i, named, key);
  mem_free(mem, named);
  ok = ok && (s->n || add_by_name(s, t)) && forget_inner(s);
  if (ok) find_main(s);
  return ok;
}

const char *steps_name(const struct steps *s, const struct tk_trace *t, size_t *n) {
  if (!s->n_main) return NULL;
  const char *name = tk_string(t, t->classes[t->events[s->v[s->main].event].cls].name, n);
  return strspn(name, "0123456789") == *n ? NULL : name;
}

void steps_free(struct steps *s) {
  void *const blocks[] = {s->v, s->inner, s->runs, s->own, s->applied, s->joined, s->decided_by};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(s->mem, blocks[i]);
  *s = (struct steps){0};
}
