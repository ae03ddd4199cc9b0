/* members.c - see members.h.
 *
 * XLA on CPUs records the program, the run and the operation of a collective, which together are a key that is equal on all hosts, but
 * not which devices took part. The ends of the members differ by up to milliseconds, because each member ends when its thread is
 * scheduled. Such ends cannot align clocks, but the keys show which spans belong together. If one of these spans ends before another
 * begins, they cannot be one collective and are left out: either a clock is off, or their devices were in different collectives. */
#include "members.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "graph/diagnostics.h"
#include "pairs.h"

bool *members_usable(const struct align_input *inputs, size_t n, const bool *mapped, struct arena *arena) {
  bool *usable = arena_zeros(arena, n + 1, 1);
  for (size_t i = 0; usable && i < n; i++) usable[i] = inputs[i].read && !inputs[i].copy_of && (inputs[i].comparable || mapped[i]);
  return usable;
}

void members_place(struct align_anchors *anchors, const struct align_problem *p, const struct align_map *maps, const bool *mapped) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < anchors->n; i++) {
    struct align_anchor *v = &anchors->v[i];
    const struct align_map *map = mapped[v->input] ? &maps[v->input] : NULL;
    if (!map && p->host_of[v->input] != p->reference) continue;
    if (map && __builtin_sub_overflow(v->start, align_offset(map, v->start), &v->start)) continue;
    if (map && __builtin_sub_overflow(v->end, align_offset(map, v->end), &v->end)) continue;
    anchors->v[n++] = *v;
  }
  anchors->n = n;
}

/* ---- rows ---- */

static struct merge_meeting row_of(const struct align_anchor *a, uint32_t collective, const struct members_clocks *clocks) {
  return (struct merge_meeting){.collective = collective, .input = a->input, .device = a->device, .name = a->name, .group = a->group,
                                .seq = a->seq, .bytes = a->bytes, .step = a->step, .stepped = a->stepped,
                                .vague = a->says & ALIGN_VAGUE,
                                .start_ns = members_placed(clocks, a->input, a->start),
                                .end_ns = members_placed(clocks, a->input, a->end)};
}

/* Adds the collectives that the alignment found. */
static void add_found(struct merge_collectives *c, const struct align_anchors *anchors, const struct align_solution *found,
                      const struct members_clocks *clocks) {
  for (; c->n < found->n_met; c->n++) {
    const struct align_meeting *m = &found->met[c->n];
    c->v[c->n] = row_of(&anchors->v[m->anchor], m->collective, clocks);
    c->n_collectives = m->collective + 1;
  }
}

/* ---- by key ---- */

static bool is_keyed(const struct align_anchor *a) { return a->says & ALIGN_KEYED && a->exact; }

/* Returns the number of anchors that have keys. */
static uint32_t count_keyed(const struct align_anchors *anchors) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < anchors->n; i++) n += is_keyed(&anchors->v[i]);
  return n;
}

/* Maps the keys of anchors that the alignment found to their collectives, and clears the ALIGN_KEYED flag of these anchors, because
 * they have rows already. */
static bool take_found(struct align_anchors *anchors, const struct align_solution *found, struct map *numbers) {
  for (uint32_t i = 0; i < found->n_met; i++) {
    struct align_anchor *a = &anchors->v[found->met[i].anchor];
    if (is_keyed(a) && !map_put(numbers, a->exact, found->met[i].collective)) return false;
    a->says &= (uint8_t)~ALIGN_KEYED;
  }
  return true;
}

/* Moves the anchors that have a key and a usable clock to the front. Returns their number. */
static uint32_t choose_anchors(struct align_anchors *anchors, const bool *usable) {
  struct align_anchor *v = anchors->v;
  uint32_t n = 0;
  for (uint32_t i = 0; i < anchors->n; i++) {
    if (!is_keyed(&v[i]) || !usable[v[i].input]) continue;
    const struct align_anchor other = v[n];
    v[n++] = v[i];
    v[i] = other;
  }
  return n;
}

static int by_arrival(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

/* Appends rows for n anchors. New collectives are numbered in the order of their first arrivals. */
static bool append_rows(struct merge_collectives *c, struct align_anchor *v, uint32_t n, const struct members_clocks *clocks,
                   struct map *numbers) {
  uint32_t next = c->n_collectives;
  if (n) qsort(v, n, sizeof *v, by_arrival);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t *number = map_put(numbers, v[i].exact, next);
    if (!number) return false;
    next += *number == next;
    c->v[c->n] = row_of(&v[i], *number, clocks);
    c->v[c->n++].keyed = true;
  }
  return true;
}

static int by_member(const void *pa, const void *pb) {
  const struct merge_meeting *a = pa, *b = pb;
  if (a->collective != b->collective) return a->collective < b->collective ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

/* True if the members are different devices and there is a moment at which all of them are in the collective. */
static bool have_met(const struct merge_meeting *v, uint32_t n) {
  int64_t last_start = INT64_MIN, first_end = INT64_MAX;
  for (uint32_t i = 0; i < n; i++) {
    if (i && v[i].input == v[i - 1].input && v[i].device == v[i - 1].device) return false;
    if (v[i].start_ns > last_start) last_start = v[i].start_ns;
    if (v[i].end_ns < first_end) first_end = v[i].end_ns;
  }
  return last_start <= first_end;
}

/* Appends the rows [from, to) of a collective: all of them if the members overlap in time, otherwise only the rows that the
 * alignment found. */
static void keep_rows(struct merge_collectives *c, uint32_t from, uint32_t to) {
  const uint32_t first = c->n;
  bool keyed = false, vague = false;
  for (uint32_t i = from; i < to; i++) keyed = keyed || c->v[i].keyed, vague = vague || c->v[i].vague;
  if (to - from < 2) return;
  const bool met = !keyed || have_met(&c->v[from], to - from);
  c->keyed += keyed && met;
  c->vague += vague && met;
  c->apart += !met;
  for (uint32_t i = from; i < to; i++) {
    if (c->v[i].keyed && !met) continue;
    c->v[c->n] = c->v[i];
    c->v[c->n++].collective = c->n_collectives;
  }
  c->n_collectives += c->n > first;
}

static void keep_met(struct merge_collectives *c) {
  const uint32_t end = c->n;
  if (end) qsort(c->v, end, sizeof *c->v, by_member);
  c->n = c->n_collectives = 0;
  for (uint32_t i = 0, k; i < end; i = k) {
    for (k = i; k < end && c->v[k].collective == c->v[i].collective;) k++;
    keep_rows(c, i, k);
  }
}

/* Adds the members that are known only by their keys. */
static bool add_keyed(struct merge_collectives *c, struct align_anchors *anchors, const struct align_solution *found,
                      const struct members_clocks *clocks) {
  struct map numbers;
  map_init(&numbers, anchors->mem);
  bool ok = take_found(anchors, found, &numbers);
  const uint32_t n = ok ? choose_anchors(anchors, clocks->usable) : 0;
  ok = ok && append_rows(c, anchors->v, n, clocks, &numbers);
  if (ok && n) keep_met(c);
  map_free(&numbers);
  return ok;
}

/* ---- all ---- */

static int by_coming(const void *pa, const void *pb) {
  const struct merge_meeting *a = pa, *b = pb;
  if (a->collective != b->collective) return a->collective < b->collective ? -1 : 1;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

bool members_take(struct merge_collectives *c, struct align_anchors *anchors, const struct align_solution *found,
                  const struct members_clocks *clocks) {
  const uint64_t most = (uint64_t)found->n_met + count_keyed(anchors);
  *c = (struct merge_collectives){.v = mem_array(anchors->mem, most + 1, sizeof *c->v)};
  if (!c->v) return false;
  add_found(c, anchors, found, clocks);
  if (!pairs_take(c, anchors, clocks)) return false;
  if (!add_keyed(c, anchors, found, clocks)) return false;
  c->texts = anchors->texts;
  anchors->texts = (struct intern){.mem = NULL};
  if (c->n) qsort(c->v, c->n, sizeof *c->v, by_coming);
  return true;
}

void members_say(const struct merge_collectives *c, struct tk_diagnostics *notes) {
  static const char VAGUE[] = ", and all devices that ran an operation count as one group, because the traces do not record the groups";
  char text[400];
  if (c->keyed) {
    snprintf(text, sizeof text, "collectives matched by program, run and operation alone: %u; waits in them are measured by the clocks "
                                "of the hosts%s", c->keyed, c->vague ? VAGUE : "");
    diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
  }
  if (!c->apart) return;
  snprintf(text, sizeof text, "collectives with equal program, run and operation that are left out: %u; by the clocks of the hosts, a "
                              "rank leaves before another arrives, so a clock is wrong or the ranks are in different groups", c->apart);
  diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
}
