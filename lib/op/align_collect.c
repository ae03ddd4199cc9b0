/* align_collect.c - the collectives of one rank as anchors: a few bytes for each, all that is kept of an input between two passes.
 *
 * Kineto's kernels of NCCL and RCCL.  Newer PyTorch says the group and a sequence number, which name the collective on every rank;
 * older ones say name and sizes; the oldest only the kernel's name.  Sends and receives are no barriers and are left out. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "kind.h"
#include "steps.h"

enum { MOST_ANCHORS = 4096 }; /* of an input: more make nothing better */

/* Of a rank's groups with the same members, each has its place in the order of its name: names are counters of a process and need
 * not agree between ranks, their order does. */
struct group {
  uint64_t members;
  tk_id name;
  int64_t number;
  uint32_t place;
};

struct collector {
  struct align_anchors *out;
  const struct tk_trace *t;
  struct arena arena;
  uint64_t *of_class;   /* hash of the name of a collective's class, 0 = something else */
  struct map groups;    /* hash of members and name -> group + 1 */
  struct group *group;
  uint32_t n_groups, cap_groups;
  struct steps steps;
  const char *marker;
  uint32_t input, first; /* of the input's own anchors */
  int64_t later_ns;
};

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
  x ^= x >> 32;
  return x ? x : 1;
}

static uint64_t hash_of(const struct tk_trace *t, tk_id s) {
  size_t n;
  const char *p = tk_string(t, s, &n);
  return hash_bytes(p, n);
}

/* ---- which classes ---- */

/* Names without what templates and argument types add: those differ between builds. */
static uint64_t hash_of_name(const char *name, size_t n) {
  const char *paren = memchr(name, '(', n);
  return mix(1, hash_bytes(name, paren ? (size_t)(paren - name) : n));
}

static bool find_classes(struct collector *c) {
  struct kinds kinds = {0};
  bool any = false;
  c->of_class = arena_alloc(&c->arena, ((size_t)c->t->n_classes + 1) * sizeof *c->of_class);
  bool ok = c->of_class && kinds_init(&kinds, c->t, c->out->mem);
  for (tk_id i = 1; ok && i <= c->t->n_classes; i++) {
    size_t n;
    const char *name = tk_string(c->t, c->t->classes[i].name, &n);
    unsigned kind = kinds.of_class[i];
    bool is = c->marker ? strcmp(name, c->marker) == 0 || fnmatch(c->marker, name, 0) == 0
                        : (kind & (KIND_COLLECTIVE | KIND_KERNEL)) == (KIND_COLLECTIVE | KIND_KERNEL);
    c->of_class[i] = is ? hash_of_name(name, n) : 0;
    any = any || is;
  }
  kinds_free(&kinds);
  return any;
}

/* ---- one anchor ---- */

static const char *text_arg(const struct collector *c, const struct tk_event *e, const char *key, tk_id *id) {
  struct tk_arg arg;
  *id = 0;
  if (!tk_args_find(c->t, e->args, key, &arg) || arg.type != TK_ARG_STR) return NULL;
  return tk_string(c->t, *id = arg.s, NULL);
}

static bool number_arg(const struct collector *c, const struct tk_event *e, const char *key, int64_t *out) {
  struct tk_arg arg;
  if (!tk_args_find(c->t, e->args, key, &arg) || arg.type != TK_ARG_INT) return false;
  return *out = arg.i, true;
}

/* The group's members as its ranks, else (left out by old versions, cut short in large groups) by name and size. */
static uint64_t group_of(struct collector *c, const struct tk_event *e) {
  tk_id name, ranks;
  int64_t size = 0;
  const char *name_text = text_arg(c, e, "Process Group Name", &name), *ranks_text = text_arg(c, e, "Process Group Ranks", &ranks);
  bool complete = ranks_text && *ranks_text == '[' && ranks_text[1] != ']' && !strstr(ranks_text, "...");
  if (!name_text) return 0;
  number_arg(c, e, "Group size", &size);
  uint64_t members = complete ? hash_of(c->t, ranks) : mix(mix(hash_of(c->t, name), (uint64_t)size), 5);
  uint32_t *slot = map_put(&c->groups, mix(members, name), 0);
  if (!slot) return 0;
  if (!*slot) {
    if (!mem_grow(c->out->mem, (void **)&c->group, &c->cap_groups, (uint64_t)c->n_groups + 1, sizeof *c->group)) return 0;
    c->group[c->n_groups] = (struct group){members, name, strtoll(name_text, NULL, 10), 0};
    *slot = ++c->n_groups;
  }
  return *slot;
}

static bool begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }
static bool is_pairwise(const char *name) { return begins(name, "send") || begins(name, "recv") || begins(name, "batch_isend"); }
/* One rank's data go to others, or theirs to it; or sizes differ from rank to rank. */
static bool is_loose(const char *name) {
  static const char *const names[] = {"all_to_allv", "alltoallv", "broadcast", "gather", "scatter", "reduce", "_broadcast_oop",
                                      "_reduce_oop", NULL};
  for (const char *const *p = names; *p; p++)
    if (strcmp(name, *p) == 0) return true;
  return false;
}

/* Until the groups' places are known `exact` holds the sequence number + 1 and `counted` the group. */
static bool add(struct collector *c, const struct tk_event *e) {
  static const char *const sizes[] = {"In msg nelems", "Out msg nelems", NULL};
  const struct tk_trace *t = c->t;
  struct align_anchors *out = c->out;
  struct align_anchor a = {.label = c->of_class[e->cls], .input = c->input};
  tk_id id;
  int64_t v;
  const char *name = c->marker ? NULL : text_arg(c, e, "Collective name", &id);
  if (name && is_pairwise(name)) return true;
  if (name) {
    a.label = mix(2, hash_of(t, id));
    a.loose = is_loose(name);
    a.counted = group_of(c, e);
    for (const char *const *key = sizes; *key; key++)
      if (number_arg(c, e, *key, &v)) a.label = mix(a.label, (uint64_t)v);
    if (text_arg(c, e, "dtype", &id)) a.label = mix(a.label, hash_of(t, id));
    if (a.counted && number_arg(c, e, "Seq", &v) && v >= 0) a.exact = (uint64_t)v + 1;
  }
  i128 start = ((i128)t->origin_ns + c->later_ns) * 1000 + e->ts, end = start + e->dur;
  a.start = (int64_t)(start / 1000);
  a.end = (int64_t)(end / 1000);
  if (!mem_grow(out->mem, (void **)&out->v, &out->cap, (uint64_t)out->n + 1, sizeof *out->v)) return false;
  out->v[out->n++] = a;
  return true;
}

/* ---- keys ---- */

static int by_members_and_number(const void *pa, const void *pb, void *groups) {
  const struct group *a = (const struct group *)groups + *(const uint32_t *)pa;
  const struct group *b = (const struct group *)groups + *(const uint32_t *)pb;
  if (a->members != b->members) return a->members < b->members ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

static bool place_groups(struct collector *c) {
  uint32_t *order = arena_alloc(&c->arena, ((size_t)c->n_groups + 1) * sizeof *order), place = 0;
  if (!order) return false;
  for (uint32_t i = 0; i < c->n_groups; i++) order[i] = i;
  qsort_r(order, c->n_groups, sizeof *order, by_members_and_number, c->group);
  for (uint32_t i = 0; i < c->n_groups; i++) {
    place = i && c->group[order[i]].members == c->group[order[i - 1]].members ? place + 1 : 0;
    c->group[order[i]].place = place;
  }
  return true;
}

static int by_end(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

/* What an anchor's label and step are called; 0 = it is in no step.  Markers are of one step. */
static uint64_t label_in_step(const struct collector *c, const struct align_anchor *a) {
  struct tk_event at = {.ts = (tk_time)(((i128)a->start - c->t->origin_ns - c->later_ns) * 1000)};
  int64_t step = 0;
  if (!c->marker && !steps_of(&c->steps, &at, &step)) return 0;
  return mix(a->label, (uint64_t)step);
}

/* The how manieth of how many of its label in its step: only steps have numbers that ranks agree upon. */
static bool count_in_steps(struct collector *c) {
  struct align_anchor *v = c->out->v;
  struct map all, seen;
  uint32_t *n = NULL, *k = NULL;
  map_init(&all, c->out->mem);
  map_init(&seen, c->out->mem);
  for (uint32_t i = c->first; i < c->out->n; i++) {
    v[i].counted = label_in_step(c, &v[i]);
    if (v[i].counted && (n = map_put(&all, v[i].counted, 0))) ++*n;
  }
  for (uint32_t i = c->first; i < c->out->n; i++) {
    if (!v[i].counted) continue;
    n = map_get(&all, v[i].counted);
    k = map_put(&seen, v[i].counted, 0);
    if (n && k) v[i].counted = mix(mix(v[i].counted, *n), ++*k);
  }
  map_free(&all);
  map_free(&seen);
  return !c->out->mem->failed;
}

static bool make_keys(struct collector *c) {
  struct align_anchor *v = c->out->v;
  if (!place_groups(c)) return false;
  for (uint32_t i = c->first; i < c->out->n; i++) {
    uint64_t seq = v[i].exact, group = v[i].counted;
    v[i].exact = v[i].counted = 0;
    if (!group) continue;
    const struct group *g = &c->group[group - 1];
    uint64_t who = mix(g->members, g->place);
    v[i].label = mix(v[i].label, who);
    if (seq) v[i].exact = mix(mix(who, seq), 3);
  }
  if (c->out->n - c->first) qsort(v + c->first, c->out->n - c->first, sizeof *v, by_end);
  return count_in_steps(c);
}

/* Of very many collectives those are kept whose keys end in zeros: the same ones on every rank, whatever else each has.  How many zeros
 * may differ, for the fewer lie among the more. */
static void thin_out(struct collector *c) {
  struct align_anchor *v = c->out->v;
  for (uint32_t i = c->first; i < c->out->n; i++)
    if (!v[i].exact) return;
  for (uint64_t mask = 1; c->out->n - c->first > MOST_ANCHORS; mask = mask << 1 | 1) {
    uint32_t n = c->first;
    for (uint32_t i = c->first; i < c->out->n; i++)
      if (!(v[i].exact & mask)) v[n++] = v[i];
    c->out->n = n;
  }
}

static bool collect(struct collector *c) {
  if (!find_classes(c)) return !c->out->mem->failed;
  if (!c->marker && !steps_init(&c->steps, c->t, c->out->mem)) return false;
  for (tk_id i = 1; i <= c->t->n_events; i++) {
    const struct tk_event *e = &c->t->events[i];
    bool counts = e->kind == TK_SPAN || (c->marker && e->kind == TK_INSTANT);
    if (!c->of_class[e->cls] || !counts || e->flags & (TK_LOST_CLOCK | TK_UNFINISHED | TK_CLIPPED)) continue;
    if (!add(c, e)) return false;
  }
  if (!make_keys(c)) return false;
  thin_out(c);
  return true;
}

bool align_collect(struct align_anchors *a, const struct tk_trace *t, uint32_t input, const char *marker, int64_t later_ns) {
  struct collector c = {.out = a, .t = t, .arena = {.mem = a->mem}, .marker = marker};
  c.input = input;
  c.first = a->n;
  c.later_ns = later_ns;
  map_init(&c.groups, a->mem);
  bool ok = collect(&c);
  map_free(&c.groups);
  steps_free(&c.steps);
  if (c.group) mem_resize(a->mem, c.group, (size_t)c.cap_groups * sizeof *c.group, 0);
  arena_free(&c.arena);
  return ok;
}

void align_anchors_free(struct align_anchors *a) {
  if (a->v) mem_resize(a->mem, a->v, (size_t)a->cap * sizeof *a->v, 0);
  *a = (struct align_anchors){0};
}
