/* groups.c - reads the process groups in a rank's metadata (groups.h).
 *
 *     "distributedInfo": {"rank": 1, ..., "pg_config": [{"pg_name": "0", "ranks": [0, 1]}, ...]}
 *
 * The args of kernels also contain the group and its ranks, but the list of ranks is truncated for large groups. */
#include "groups.h"

#include <string.h>

#include "format/json.h"

enum { MOST_RANKS = 1 << 20 };

/* Reads the next value of an array; returns false at its end. */
static bool next_value(struct json *j, struct json_value *v) {
  if (!json_blank(j) || *j->p == ']') return false;
  if (*j->p == ',') j->p++;
  return json_blank(j) && json_value(j, v);
}

/* Returns a cursor at the first element of a list. Some writers store the list as text: "[0, 1]". */
static struct json array_of(const struct json_value *v) {
  if (v->type != JSON_STRING) return (struct json){.p = v->p + 1, .end = v->end, .last = true};
  return (struct json){.p = v->str.p + 1, .end = v->str.p + v->str.n, .last = true};
}

static bool is_list(const struct json_value *v) {
  return v->type == JSON_ARRAY || (v->type == JSON_STRING && v->str.n > 1 && *v->str.p == '[' && v->str.p[v->str.n - 1] == ']');
}

/* Stores a hash of the ranks in g->members, equal to the hash that align/collect/kineto.c computes from a kernel's args, and
 * the position of the rank `own` in g->place. */
static void take_ranks(const struct json_value *ranks, int64_t own, struct align_group *g) {
  struct json j = array_of(ranks);
  struct json_value v;
  uint64_t members = 0;
  for (int64_t n = 0; next_value(&j, &v); n++) {
    if (v.type != JSON_NUMBER || v.num.kind != NUM_INT) return;
    members = hash_mix(members, (uint64_t)v.num.mant);
    if (v.num.mant == own) g->place = n;
  }
  g->members = members;
}

static bool take_group(const struct json_value *config, int64_t own, struct align_group *g, struct arena *arena) {
  const char *text = (const char *)config->p;
  size_t n = (size_t)(config->end - config->p);
  struct json_value name, ranks;
  *g = (struct align_group){.place = -1};
  if (!json_member(text, n, "pg_name", &name) || name.type != JSON_STRING) return false;
  if (!json_member(text, n, "ranks", &ranks) || !is_list(&ranks)) return false;
  char *copy = arena_bytes(arena, name.str.n + 1);
  if (!copy) return false;
  memcpy(copy, name.str.p, name.str.n);
  copy[name.str.n] = 0;
  g->name = copy;
  take_ranks(&ranks, own, g);
  return true;
}

static uint64_t members_of_all(int64_t world) {
  uint64_t members = 0;
  for (int64_t rank = 0; rank < world && rank < MOST_RANKS; rank++) members = hash_mix(members, (uint64_t)rank);
  return members;
}

bool align_groups(const struct tk_trace *t, struct align_source *from, struct arena *arena) {
  const struct tk_meta *m = trace_meta(t, "distributedInfo");
  struct json_value list, config;
  uint32_t n = 0;
  if (m && json_member(trace_raw(t, m->at), m->size, "world_size", &list) && list.type == JSON_NUMBER && list.num.kind == NUM_INT)
    from->world = list.num.mant;
  if (!m || m->origin || !json_member(trace_raw(t, m->at), m->size, "pg_config", &list) || list.type != JSON_ARRAY) return true;
  struct json j = array_of(&list);
  while (next_value(&j, &config)) n++;
  struct align_group *groups = arena_alloc(arena, ((size_t)n + 1) * sizeof *groups);
  if (!groups) return false;
  j = array_of(&list);
  while (from->n_groups < n && next_value(&j, &config))
    if (config.type == JSON_OBJECT && take_group(&config, from->rank, &groups[from->n_groups], arena)) from->n_groups++;
  from->groups = groups;
  from->one_group = n == 1 && from->n_groups == 1 && from->world > 1 && groups->members == members_of_all(from->world);
  return !arena->mem->failed;
}
