/* steps_runs.c - finds the steps that apply to the events of each track (enum steps_source).
 *
 * Each device runs behind its host by a different time, so the steps of a device apply to its own work. On the other tracks of a rank,
 * the steps of its thread with the most steps apply. */
#include <stdlib.h>

#include "base/map.h"
#include "steps.h"

/* Runs that apply to groups (ranks of hosts) and devices, as indices of steps.runs; 0 = none. */
struct chooser {
  struct steps *s;
  const struct tk_trace *t;
  const struct track_origin *origins;
  uint32_t *group_of, n_groups; /* by track; origin.h */
  uint32_t *of_device;          /* by track that represents a device */
  uint32_t *of_group;
};

/* ---- runs ---- */

static tk_id device_of(const struct chooser *c, tk_id track) {
  const struct tk_track *k = &c->t->tracks[track];
  return k->kind == TK_TRACK_PROCESS ? track : k->parent;
}

static enum steps_source source_of(const struct kinds *kinds, tk_id track) {
  if (kinds->of_track[track] & KIND_DEVICE) return STEPS_DEVICE;
  return kinds_of(kinds, &kinds->t->events[kinds->t->tracks[track].first]) & KIND_DEVICE ? STEPS_COPIES : STEPS_HOST;
}

static void prefer(const struct steps *s, uint32_t *best, uint32_t run) {
  const struct steps_run *a = &s->runs[*best], *b = &s->runs[run];
  if (b->source > a->source || (b->source == a->source && b->n > a->n)) *best = run;
}

/* Adds a run for each track with steps, and chooses the runs that apply to devices and to groups. */
static void add_runs(struct chooser *c, const struct kinds *kinds) {
  struct steps *s = c->s;
  for (uint32_t i = 0, n; i < s->n; i += n) {
    const tk_id track = s->v[i].track;
    for (n = 1; i + n < s->n && s->v[i + n].track == track;) n++;
    const enum steps_source source = source_of(kinds, track);
    s->own[track] = s->n_runs;
    s->runs[s->n_runs] = (struct steps_run){.v = &s->v[i], .n = n, .source = source};
    prefer(s, source == STEPS_DEVICE ? &c->of_device[device_of(c, track)] : &c->of_group[c->group_of[track]], s->n_runs++);
  }
}

/* ---- groups without steps of a host ---- */

static int longest_first(const void *p, const void *q) {
  const struct step *a = p, *b = q;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->end != b->end) return a->end > b->end ? -1 : 1;
  return (a->track > b->track) - (a->track < b->track);
}

/* Sorts steps and removes each step that is within another one, which does not change the time that they cover. Returns how
 * many remain. */
static uint32_t keep_outer(struct step *v, uint32_t n) {
  uint32_t kept = 0;
  qsort(v, n, sizeof *v, longest_first);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || v[i].end > v[kept - 1].end) v[kept++] = v[i];
  return kept;
}

/* True if the run of a track is joined, with others, into the run of its group. */
static bool is_joined(const struct chooser *c, tk_id track) {
  const uint32_t own = c->s->own[track];
  return own && c->of_device[device_of(c, track)] == own && !c->of_group[c->group_of[track]];
}

/* Copies the steps of devices to `joined`, where each group has a range. `at`: by group, the end of the copied part of its
 * range. */
static void gather(struct chooser *c, uint32_t *at) {
  for (tk_id k = 1; k <= c->t->n_tracks; k++) {
    if (!is_joined(c, k)) continue;
    const struct steps_run *run = &c->s->runs[c->s->own[k]];
    uint32_t *to = &at[c->group_of[k]];
    for (uint32_t i = 0; i < run->n; i++) c->s->joined[(*to)++] = run->v[i];
  }
}

/* Adds the joined run of each group. `end`: by group, the end of its range in `joined`. */
static void add_joined(struct chooser *c, const uint32_t *end) {
  struct steps *s = c->s;
  for (uint32_t g = 0, from = 0; g < c->n_groups; from = end[g++]) {
    if (end[g] == from) continue;
    s->runs[s->n_runs] = (struct steps_run){
        .v = s->joined + from, .n = keep_outer(s->joined + from, end[g] - from), .source = STEPS_JOINED};
    c->of_group[g] = s->n_runs++;
  }
}

static bool join_devices(struct chooser *c) {
  struct steps *s = c->s;
  uint32_t *at = mem_zeros(s->mem, (uint64_t)c->n_groups + 1, sizeof *at), sum = 0;
  if (!at) return false;
  for (tk_id k = 1; k <= c->t->n_tracks; k++)
    if (is_joined(c, k)) at[c->group_of[k] + 1] += s->runs[s->own[k]].n;
  for (uint32_t g = 0; g <= c->n_groups; g++) sum = at[g] += sum;
  s->joined = sum ? mem_array(s->mem, sum, sizeof *s->joined) : NULL;
  if (s->joined) gather(c, at);
  if (s->joined) add_joined(c, at);
  mem_free(s->mem, at);
  return s->joined || !sum;
}

/* ---- entry points ---- */

/* Adds the run for groups without any: the track with the most steps. */
static uint32_t add_others(struct steps *s) {
  s->runs[s->n_runs] = (struct steps_run){.v = &s->v[s->main], .n = s->n_main, .source = STEPS_OTHERS};
  return s->n_runs++;
}

static void apply(struct chooser *c) {
  const uint32_t others = add_others(c->s);
  for (tk_id k = 1; k <= c->t->n_tracks; k++) {
    const uint32_t device = c->of_device[device_of(c, k)], group = c->of_group[c->group_of[k]];
    c->s->applied[k] = device ? device : group ? group : others;
  }
}

/* ---- numbers ---- */

/* True if the device numbers its steps like the host: for most of them, the middle is not before the start of the host's step with the
 * same number, because no work runs before its launch. */
static bool is_numbered_alike(const struct steps_run *device, const struct steps_run *host, struct mem *mem) {
  struct map at;
  uint32_t alike = 0;
  map_init(&at, mem);
  for (uint32_t i = 0; i < host->n && map_put(&at, (uint64_t)host->v[i].number, i); i++) continue;
  for (uint32_t i = 0; i < device->n; i++) {
    const struct step *step = &device->v[i];
    const uint32_t *of_host = map_get(&at, (uint64_t)step->number);
    alike += of_host && step->start + (step->end - step->start) / 2 >= host->v[*of_host].start;
  }
  map_free(&at);
  return 2 * alike > device->n;
}

/* Gives devices the steps of their host if the host numbers the same steps differently. */
static void compare_numbers(struct chooser *c) {
  struct steps *s = c->s;
  for (tk_id k = 1; k <= c->t->n_tracks; k++) {
    struct steps_run *run = &s->runs[s->own[k]];
    const struct steps_run *host = &s->runs[c->of_group[c->group_of[k]]];
    const bool both = s->own[k] && (run->source == STEPS_DEVICE || run->source == STEPS_COPIES) && host->source == STEPS_HOST;
    if (both && !is_numbered_alike(run, host, s->mem)) run->host = host;
  }
}

static uint32_t count_tracks(const struct steps *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n; i++) n += !i || s->v[i].track != s->v[i - 1].track;
  return n;
}

static bool choose_runs(struct chooser *c, const struct kinds *kinds) {
  struct steps *s = c->s;
  const uint64_t n = (uint64_t)c->t->n_tracks + 1;
  c->group_of = origin_groups(c->origins, c->t->n_tracks, &c->n_groups, s->mem);
  c->of_device = mem_zeros(s->mem, n, sizeof *c->of_device);
  c->of_group = c->group_of ? mem_zeros(s->mem, c->n_groups, sizeof *c->of_group) : NULL;
  s->own = mem_zeros(s->mem, n, sizeof *s->own);
  s->applied = mem_zeros(s->mem, n, sizeof *s->applied);
  s->runs = c->group_of ? mem_zeros(s->mem, (uint64_t)count_tracks(s) + c->n_groups + 2, sizeof *s->runs) : NULL;
  if (!c->of_device || !c->of_group || !s->own || !s->applied || !s->runs) return false;
  s->n_runs = 1;
  add_runs(c, kinds);
  if (!join_devices(c)) return false;
  apply(c);
  compare_numbers(c);
  return !s->mem->failed;
}

bool steps_runs_init(struct steps *s, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem) {
  struct chooser c = {.s = s, .t = kinds->t, .origins = origins};
  if (!steps_init(s, kinds->t, mem)) return false;
  const bool ok = !s->n || choose_runs(&c, kinds);
  mem_free(mem, c.group_of);
  mem_free(mem, c.of_device);
  mem_free(mem, c.of_group);
  return ok;
}

const struct steps_run *steps_runs_of(const struct steps *s, tk_id track) {
  static const struct steps_run NONE = {.source = STEPS_NONE};
  return s->runs ? &s->runs[s->applied[track]] : &NONE;
}

const struct steps_run *steps_runs_own(const struct steps *s, tk_id track) {
  const uint32_t own = s->runs ? s->own[track] : 0;
  return own ? &s->runs[own] : steps_runs_of(s, track);
}

/* Returns the last step that starts at or before ts, if it has not ended by then. Later steps of a run end later. */
const struct step *steps_runs_at(const struct steps_run *run, tk_time ts) {
  uint32_t lo = 0, hi = run->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (run->v[mid].start <= ts) lo = mid + 1;
    else hi = mid;
  }
  return lo && run->v[lo - 1].end > ts ? &run->v[lo - 1] : NULL;
}

const struct tk_event *steps_decider(const struct steps *s, const struct tk_event *e) {
  if (s->decided_by) {
    const tk_id by = s->decided_by[e - s->events];
    if (by == STEPS_BEFORE) return NULL;
    e = &s->events[by];
  }
  return e->flags & TK_FLAG_LOST_CLOCK ? NULL : e;
}

const struct step *steps_at(const struct steps *s, const struct tk_event *e) {
  const struct tk_event *by = steps_decider(s, e);
  return by ? steps_runs_at(steps_runs_own(s, by->track), by->ts) : NULL;
}

bool steps_of(const struct steps *s, const struct tk_event *e, int64_t *number) {
  const struct step *step = steps_at(s, e);
  if (step) *number = step->number;
  return step != NULL;
}

/* ---- ranges ---- */

struct steps_span {
  tk_time start, end;
  bool any; /* the range is not empty */
};

/* True if the track has copies of the steps that a thread of its rank marks. */
static bool steps_are_copies(const struct steps *s, tk_id track) {
  return s->runs && s->runs[s->own[track]].source == STEPS_COPIES && steps_runs_of(s, track)->source == STEPS_HOST;
}

static void steps_extend(struct steps_span *range, const struct steps *s, const struct step *v, uint32_t n, struct tk_range numbers,
                         bool copies) {
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].number < numbers.first || v[i].number > numbers.last || steps_are_copies(s, v[i].track) != copies) continue;
    if (!range->any || v[i].start < range->start) range->start = v[i].start;
    if (!range->any || v[i].end > range->end) range->end = v[i].end;
    range->any = true;
  }
}

bool steps_range(const struct steps *s, int64_t first, int64_t last, tk_time *start, tk_time *end) {
  struct steps_span range = {.any = false};
  for (int copies = 0; copies < 2 && !range.any; copies++) {
    steps_extend(&range, s, s->v, s->n, (struct tk_range){first, last}, copies);
    steps_extend(&range, s, s->inner, s->n_inner, (struct tk_range){first, last}, copies);
  }
  if (!range.any) return false;
  *start = range.start;
  *end = range.end;
  return true;
}
