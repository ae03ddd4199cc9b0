/* identity.c - rank and host, from what the trace says, else from its file's name.
 *
 *     distributedInfo.rank                  Kineto, any version of torch
 *     rank3.json, trace_rank-3.json.gz,     how people name them
 *     worker3_step_12.<time>.pt.trace.json
 *     <host>_<pid>.<time>.pt.trace.json     tensorboard_trace_handler
 *     rank3/trace.json                      the folder's name
 *     host_name                             Kineto's C++ exporter
 *     <host>.xplane.pb                      in a run directory (rundir.h) */
#include "identity.h"

#include <stdio.h>
#include <string.h>

#include "format/json.h"
#include "io/rundir.h"

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

static bool stated_rank(const struct tk_trace *t, int64_t *rank) {
  const struct tk_meta *m = trace_meta(t, "distributedInfo");
  struct json_value v;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "rank", &v)) return false;
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0) return false;
  return *rank = v.num.mant, true;
}

static void set_host(struct identity *id, const char *p, size_t n) {
  if (n >= sizeof id->host) n = sizeof id->host - 1;
  memcpy(id->host, p, n);
  id->host[n] = 0;
}

static void find_host(const struct tk_trace *t, struct identity *id) {
  const struct tk_meta *m = trace_meta(t, "host_name");
  const char *name = base_name(t->source), *suffix = strstr(name, ".pt.trace.json"), *at;
  int64_t rank;
  if (m && m->size > 2 && *trace_raw(t, m->at) == '"') {
    set_host(id, trace_raw(t, m->at) + 1, m->size - 2);
    return;
  }
  at = suffix && !rundir_rank(name, &rank) ? strrchr(name, '_') : NULL;
  if (!at || at > suffix || at == name || !digit(at[1])) return;
  const char *q = at + 1;
  while (digit(*q)) q++;
  if (*q == '.') set_host(id, name, (size_t)(at - name));
}

static bool rank_of_folder(const char *path, int64_t *rank) {
  const char *end = strrchr(path, '/'), *from = end;
  char folder[256];
  while (from && from > path && from[-1] != '/' && from[-1] != ':') from--;
  if (!from || end == from || (size_t)(end - from) >= sizeof folder) return false;
  memcpy(folder, from, (size_t)(end - from));
  folder[end - from] = 0;
  return rundir_rank(folder, rank);
}

/* A merged trace is of many ranks: what its first one says of itself is not of the whole. */
static bool is_merged(const struct tk_trace *t) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value v;
  return m && json_member(trace_raw(t, m->at), m->size, "ranks", &v);
}

struct identity identity_of(const struct tk_trace *t) {
  struct identity id = {.rank = -1, .rank_from = ""};
  if (is_merged(t)) return id;
  if (stated_rank(t, &id.rank)) id.rank_from = "distributedInfo";
  else if (rundir_rank(base_name(t->source), &id.rank)) id.rank_from = "file name";
  else if (rank_of_folder(t->source, &id.rank)) id.rank_from = "folder name";
  find_host(t, &id);
  if (!*id.host) set_host(&id, t->host, strlen(t->host));
  return id;
}

/* ---- by track ---- */

/* Does the value spell this pid?  In the block's "pids" integers stand as such, text as text. */
static bool is_pid(const struct tk_trace *t, struct json *j, const struct json_value *v, struct tk_ident pid) {
  if (v->type == JSON_NUMBER) return v->num.kind == NUM_INT && pid.kind != TK_IDENT_STR && pid.num == v->num.mant;
  if (v->type != JSON_STRING) return false;
  if (pid.kind == TK_IDENT_STR) return json_is(j, &v->str, tk_string(t, pid.str, NULL));
  const uint8_t *end;
  struct num n = num_scan(v->str.p, &end);
  return n.kind == NUM_INT && end == v->str.p + v->str.n && pid.num == n.mant;
}

/* The processes of one rank of a merged trace. */
static void place_pids(struct tk_trace *t, const struct json_value *pids, struct match_origin origin, struct match_origin *out) {
  struct json j = {.p = pids->p + 1, .end = pids->end, .last = true};
  struct json_string key;
  struct json_value v;
  while (json_blank(&j) && *j.p != '}' && json_key(&j, &key) && json_value(&j, &v)) {
    for (tk_id i = 1; i <= t->n_tracks; i++)
      if (t->tracks[i].kind == TK_PROCESS && is_pid(t, &j, &v, t->tracks[i].pid)) out[i] = origin;
    if (!json_blank(&j) || *j.p++ != ',') return;
  }
}

static void place_rank(struct tk_trace *t, const struct json_value *block, struct match_origin *out) {
  struct match_origin origin = {"", -1};
  struct json_value v;
  const char *text = (const char *)block->p;
  size_t n = (size_t)(block->end - block->p);
  if (json_member(text, n, "rank", &v) && v.type == JSON_NUMBER && v.num.kind == NUM_INT) origin.rank = v.num.mant;
  if (json_member(text, n, "host", &v) && v.type == JSON_STRING)
    origin.host = tk_string(t, trace_string(t, v.str.p, v.str.n), NULL);
  if (json_member(text, n, "pids", &v) && v.type == JSON_OBJECT) place_pids(t, &v, origin, out);
}

static void place_ranks(struct tk_trace *t, struct match_origin *out) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value ranks, block;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "ranks", &ranks) || ranks.type != JSON_ARRAY) return;
  struct json j = {.p = ranks.p + 1, .end = ranks.end, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &block)) {
    place_rank(t, &block, out);
    if (!json_blank(&j) || *j.p++ != ',') return;
  }
}

struct match_origin *identity_of_tracks(struct tk_trace *t, struct mem *mem) {
  struct identity id = identity_of(t);
  struct match_origin *out = mem_resize(mem, NULL, 0, ((size_t)t->n_tracks + 1) * sizeof *out);
  struct match_origin origin = {*id.host ? tk_string(t, trace_text(t, id.host), NULL) : "", id.rank};
  if (!out) return NULL;
  for (tk_id i = 0; i <= t->n_tracks; i++) out[i] = origin;
  place_ranks(t, out);
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind != TK_PROCESS) out[i] = out[t->tracks[i].parent];
  return out;
}

void identity_free_tracks(struct match_origin *origins, const struct tk_trace *t, struct mem *mem) {
  if (origins) mem_resize(mem, origins, ((size_t)t->n_tracks + 1) * sizeof *origins, 0);
}
