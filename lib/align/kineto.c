/* kineto.c - the collectives of one rank as Kineto writes them: kernels of NCCL and RCCL.
 *
 * Newer PyTorch says the group and a sequence number, which name the collective on every rank; older ones say name and sizes; the
 * oldest only the kernel's name.  What has a root, or goes from one rank to another, does not end at one time on all of them: it says
 * only who cannot have left before who came. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "collector.h"
#include "graph/kind.h"

/* ---- which classes ---- */

/* Names without what templates and argument types add: those differ between builds. */
static uint64_t hash_of_name(const char *name, size_t n) {
  const char *paren = memchr(name, '(', n);
  return align_mix(1, hash_bytes(name, paren ? (size_t)(paren - name) : n));
}

static bool find_classes(struct collector *c) {
  struct kinds kinds = {0};
  const char *marker = c->from->marker;
  bool any = false;
  c->of_class = arena_alloc(&c->arena, ((size_t)c->t->n_classes + 1) * sizeof *c->of_class);
  bool ok = c->of_class && kinds_init(&kinds, c->t, c->out->mem);
  for (tk_id i = 1; ok && i <= c->t->n_classes; i++) {
    size_t n;
    const char *name = tk_string(c->t, c->t->classes[i].name, &n);
    unsigned kind = kinds.of_class[i];
    bool is = marker ? strcmp(name, marker) == 0 || fnmatch(marker, name, 0) == 0
                     : (kind & (KIND_COLLECTIVE | KIND_KERNEL)) == (KIND_COLLECTIVE | KIND_KERNEL);
    c->of_class[i] = is ? hash_of_name(name, n) : 0;
    any = any || is;
  }
  kinds_free(&kinds);
  return any;
}

/* ---- groups ---- */

static const struct align_group *listed_group(const struct collector *c, const char *name) {
  for (uint32_t i = 0; i < c->from->n_groups; i++)
    if (strcmp(c->from->groups[i].name, name) == 0) return &c->from->groups[i];
  return NULL;
}

/* The ranks of "[0, 1, 2]", however they are spaced: the same as of a list in the metadata.  0 = cut short. */
static uint64_t hash_of_ranks(const char *text) {
  uint64_t h = 0;
  if (!text || *text != '[' || strstr(text, "...")) return 0;
  for (const char *p = text + 1; *p && *p != ']';) {
    char *end;
    long long rank = strtoll(p, &end, 10);
    if (end == p) return 0;
    h = align_mix(h, (uint64_t)rank);
    for (p = end; *p == ',' || *p == ' ';) p++;
  }
  return h;
}

/* The group's members as its ranks: as the rank lists them, else as the kernel says; else (left out by old versions, cut short in
 * large groups) by name and size. */
static uint64_t group_of(struct collector *c, const struct tk_event *e) {
  tk_id name, ranks;
  int64_t size = 0;
  const char *name_text = collect_text(c->t, e->args, "Process Group Name", &name);
  uint64_t said = hash_of_ranks(collect_text(c->t, e->args, "Process Group Ranks", &ranks));
  if (!name_text) return 0;
  const struct align_group *listed = listed_group(c, name_text);
  collect_number(c->t, e->args, "Group size", &size);
  uint64_t by_name = align_mix(align_mix(collect_hash(c->t, name), (uint64_t)size), 5);
  uint64_t members = listed && listed->members ? listed->members : said ? said : by_name;
  uint32_t *slot = map_put(&c->groups, align_mix(members, name), 0);
  if (!slot) return 0;
  if (!*slot) {
    if (!mem_grow(c->out->mem, (void **)&c->group, &c->cap_groups, (uint64_t)c->n_groups + 1, sizeof *c->group)) return 0;
    c->group[c->n_groups] = (struct collector_group){members, name, strtoll(name_text, NULL, 10), 0};
    *slot = ++c->n_groups;
  }
  return *slot;
}

/* ---- what it says ---- */

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; names++)
    if (strcmp(name, *names) == 0) return true;
  return false;
}

/* Whether this rank is the one that "Rank" names, which is the root's place in the group. */
static bool is_root(const struct collector *c, const struct tk_event *e, bool *known) {
  tk_id id;
  int64_t root, own = c->from->rank;
  const char *group = collect_text(c->t, e->args, "Process Group Name", &id);
  const struct align_group *listed = group ? listed_group(c, group) : NULL;
  if (listed && listed->place >= 0) own = listed->place;
  *known = own >= 0 && collect_number(c->t, e->args, "Rank", &root);
  return *known && root == own;
}

/* "[4, 0, 4]" has a zero; of "[4, 4, ...]" it is not known. */
static bool all_positive(const char *list) {
  if (!list || *list != '[' || list[1] == ']') return false;
  for (const char *p = list + 1; *p && *p != ']';) {
    char *end;
    if (strtoll(p, &end, 10) <= 0 || end == p) return false;
    for (p = end; *p == ',' || *p == ' ';) p++;
  }
  return true;
}

static unsigned says(const struct collector *c, const struct tk_event *e, const char *name) {
  static const char *const from_root[] = {"broadcast", "scatter", "_broadcast_oop", NULL};
  static const char *const to_root[] = {"gather", "reduce", "_reduce_oop", NULL};
  static const char *const uneven[] = {"all_to_allv", "alltoallv", NULL};
  tk_id id;
  bool known, out = is_one_of(name, from_root), in = is_one_of(name, to_root);
  if (strncmp(name, "send", 4) == 0) return ALIGN_SENDS;
  if (strncmp(name, "recv", 4) == 0) return ALIGN_RECEIVES;
  if (strncmp(name, "batch_isend", 11) == 0) return 0;
  if (out || in) return is_root(c, e, &known) ? out ? ALIGN_SENDS : ALIGN_RECEIVES : 0;
  if (!is_one_of(name, uneven)) return ALIGN_BARRIER;
  return (all_positive(collect_text(c->t, e->args, "In split size", &id)) ? ALIGN_SENDS : 0u) |
         (all_positive(collect_text(c->t, e->args, "Out split size", &id)) ? ALIGN_RECEIVES : 0u);
}

/* ---- one anchor ---- */

/* A message is between two: sender and receiver make the same of it. */
static uint64_t pair_of(const struct collector *c, const struct tk_event *e, bool sends) {
  int64_t other;
  if (c->from->rank < 0 || !collect_number(c->t, e->args, sends ? "Dst Rank" : "Src Rank", &other)) return 0;
  return align_mix(align_mix(11, (uint64_t)(sends ? c->from->rank : other)), (uint64_t)(sends ? other : c->from->rank));
}

/* Of a message only what both ends say alike. */
static uint64_t label_of(const struct collector *c, const struct tk_event *e, tk_id name, unsigned what) {
  static const char *const sizes[] = {"In msg nelems", "Out msg nelems", NULL};
  bool message = what == ALIGN_SENDS || what == ALIGN_RECEIVES;
  uint64_t label = align_mix(2, collect_hash(c->t, name));
  int64_t v;
  tk_id id;
  if (message && strncmp(tk_string(c->t, name, NULL), what == ALIGN_SENDS ? "send" : "recv", 4) == 0)
    return pair_of(c, e, what == ALIGN_SENDS);
  for (const char *const *key = sizes; *key; key++)
    if (what == ALIGN_BARRIER && collect_number(c->t, e->args, *key, &v)) label = align_mix(label, (uint64_t)v);
  if (collect_text(c->t, e->args, "dtype", &id)) label = align_mix(label, collect_hash(c->t, id));
  return label;
}

/* Until the groups' places are known `exact` holds the sequence number + 1 and `op` the group. */
static bool add_kernel(struct collector *c, const struct tk_event *e) {
  tk_id id = 0, ignored;
  int64_t v;
  const char *name = c->from->marker ? NULL : collect_text(c->t, e->args, "Collective name", &id);
  unsigned what = name ? says(c, e, name) : ALIGN_BARRIER;
  bool rooted = name && what != ALIGN_BARRIER && !strstr(name, "send") && !strstr(name, "recv");
  if (what == 0 && !rooted) return true;
  struct align_anchor *a = collect_add(c, e);
  if (!a) return false;
  a->says = (uint8_t)what;
  a->label = c->of_class[e->cls];
  if (!name) return true;
  a->label = label_of(c, e, id, what);
  a->op = group_of(c, e);
  bool paired = !rooted && what != ALIGN_BARRIER;
  if (paired && (!collect_text(c->t, e->args, "Process Group Name", &ignored) || !a->label)) a->op = 0;
  if (a->op && !paired && collect_number(c->t, e->args, "Seq", &v) && v >= 0) a->exact = (uint64_t)v + 1;
  return true;
}

/* ---- keys ---- */

static int by_members_and_number(const void *pa, const void *pb, void *groups) {
  const struct collector_group *a = (const struct collector_group *)groups + *(const uint32_t *)pa;
  const struct collector_group *b = (const struct collector_group *)groups + *(const uint32_t *)pb;
  if (a->members != b->members) return a->members < b->members ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

static bool place_groups(struct collector *c) {
  uint32_t *order = arena_alloc(&c->arena, ((size_t)c->n_groups + 1) * sizeof *order), place = 0;
  if (!order) return false;
  for (uint32_t i = 0; i < c->n_groups; i++) order[i] = i;
  if (c->n_groups) qsort_r(order, c->n_groups, sizeof *order, by_members_and_number, c->group);
  for (uint32_t i = 0; i < c->n_groups; i++) {
    place = i && c->group[order[i]].members == c->group[order[i - 1]].members ? place + 1 : 0;
    c->group[order[i]].place = place;
  }
  return true;
}

/* Markers are of one step. */
static void find_step(const struct collector *c, struct align_anchor *a) {
  struct tk_event at = {.ts = (tk_time)(((i128)a->start - c->t->origin_ns - c->from->later_ns) * 1000)};
  a->stepped = c->from->marker || steps_of(&c->steps, &at, &a->step);
}

/* Messages have no numbers that both ends agree upon: they are matched by their place in the step. */
static bool make_keys(struct collector *c) {
  struct align_anchor *v = c->out->v;
  if (!place_groups(c)) return false;
  for (uint32_t i = c->first; i < c->out->n; i++) {
    uint64_t seq = v[i].exact;
    uint32_t group = v[i].op;
    find_step(c, &v[i]);
    v[i].exact = v[i].op = 0;
    if (!group) continue;
    const struct collector_group *g = &c->group[group - 1];
    uint64_t who = align_mix(g->members, g->place);
    v[i].label = align_mix(v[i].label, who);
    if (seq) v[i].exact = align_mix(align_mix(who, seq), 3);
  }
  return true;
}

bool collect_kernels(struct collector *c) {
  bool marker = c->from->marker;
  if (!find_classes(c)) return !c->out->mem->failed;
  if (!marker && !steps_init(&c->steps, c->t, c->out->mem)) return false;
  for (tk_id i = 1; i <= c->t->n_events; i++) {
    const struct tk_event *e = &c->t->events[i];
    bool counts = e->kind == TK_SPAN || (marker && e->kind == TK_INSTANT);
    if (!c->of_class[e->cls] || !counts || e->flags & (TK_LOST_CLOCK | TK_UNFINISHED | TK_CLIPPED)) continue;
    if (!add_kernel(c, e)) return false;
  }
  return make_keys(c);
}
