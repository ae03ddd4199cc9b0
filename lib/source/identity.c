/* identity.c - finds rank and host in the trace's metadata, or otherwise in the file name.
 *
 *     distributedInfo.rank                  Kineto, any version of torch
 *     metadata event global_rank            Composer, composer/profiler/json_trace_handler.py
 *     tracekit.rank                         tracekit, in a file whose name does not state the rank of its input
 *     gpu3.json next to gpu4.json           the number in which the names of the inputs differ (ranks.h)
 *     profiler_info_3.json next to it       torch_npu (rundir.h)
 *     rank3.json, trace_rank-3.json.gz,     common file names
 *     worker3_step_12.<time>.pt.trace.json
 *     <host>_<pid>.<time>.pt.trace.json     tensorboard_trace_handler
 *     rank3/trace.json, rank3/d0/trace.json the folder's name
 *     host_name                             Kineto's C++ exporter
 *     <host>.xplane.pb                      in a run directory (rundir.h) */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "identity.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "format/json.h"
#include "merged.h"
#include "rundir.h"

static bool stated_rank(const struct tk_trace *t, int64_t *rank) {
  const struct tk_meta *m = trace_meta(t, "distributedInfo");
  struct json_value v;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "rank", &v)) return false;
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0) return false;
  *rank = v.num.mant;
  return true;
}

static bool rank_of_records(const struct tk_trace *t, int64_t *rank) {
  struct merged_record r = {0};
  if (!merged_next_record(t, &r)) return false;
  *rank = r.rank;
  return true;
}

/* Takes the rank that was recorded when the trace was converted (identity_lost_rank). */
static bool converted_rank(const struct tk_trace *t, int64_t *rank) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value v;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "rank", &v)) return false;
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0) return false;
  *rank = v.num.mant;
  return true;
}

static void set_host(struct identity *id, const char *p, size_t n) {
  if (n >= sizeof id->host) n = sizeof id->host - 1;
  memcpy(id->host, p, n);
  id->host[n] = 0;
}

/* Takes the host that save_provenance recorded when the trace was converted. */
static bool converted_host(const struct tk_trace *t, struct identity *id) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value v;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "host", &v) || v.type != JSON_STRING) return false;
  set_host(id, (const char *)v.str.p, v.str.n);
  return true;
}

static void find_host(const struct tk_trace *t, struct identity *id) {
  const struct tk_meta *m = trace_meta(t, "host_name");
  const char *name = path_leaf(t->source), *suffix = strstr(name, ".pt.trace.json"), *at;
  int64_t rank;
  if (m && m->size > 2 && *trace_raw(t, m->at) == '"') {
    set_host(id, trace_raw(t, m->at) + 1, m->size - 2);
    return;
  }
  if (converted_host(t, id)) return;
  at = suffix && !rundir_rank(name, &rank) ? strrchr(name, '_') : NULL;
  if (!at || at > suffix || at == name || !ascii_digit(at[1])) return;
  const char *q = at + 1;
  while (ascii_digit(*q)) q++;
  if (*q != '.' || (size_t)(q - name) >= sizeof id->host) return;
  set_host(id, name, (size_t)(q - name));
  if (rundir_is_worker(id->host)) *id->host = 0; /* in "gpu_3", gpu is not the name of a host */
  else id->host[at - name] = 0;
}

/* Finds a rank in the name of the file's folder or of the parent folder. */
static bool rank_of_folder(const char *path, int64_t *rank) {
  const char *end = strrchr(path, '/');
  char folder[256];
  for (unsigned i = 0; end && i < 2; i++) {
    const char *from = end;
    while (from > path && from[-1] != '/' && from[-1] != ':') from--;
    if (end == from || (size_t)(end - from) >= sizeof folder) return false;
    memcpy(folder, from, (size_t)(end - from));
    folder[end - from] = 0;
    if (rundir_rank(folder, rank)) return true;
    end = from > path && from[-1] == '/' ? from - 1 : NULL;
  }
  return false;
}

static bool is_merged_here(const struct tk_trace *t) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value v;
  return m && json_member(trace_raw(t, m->at), m->size, "ranks", &v);
}

bool identity_is_merged(const struct tk_trace *t) {
  struct mem mem = {0};
  if (is_merged_here(t)) return true;
  int64_t *rank = mem_array(&mem, (uint64_t)t->n_tracks + 1, sizeof *rank);
  const bool several = rank && merged_ranks(t, rank, &mem) > 1;
  mem_free(&mem, rank);
  return several;
}

struct identity identity_of(const struct tk_trace *t) {
  struct identity id = {.rank = -1, .rank_from = ""};
  if (identity_is_merged(t)) return id;
  if (stated_rank(t, &id.rank)) id.rank_from = "distributedInfo";
  else if (rank_of_records(t, &id.rank)) id.rank_from = "metadata";
  else if (converted_rank(t, &id.rank)) id.rank_from = "tracekit";
  else if (t->store->rank_from) id.rank = t->store->rank, id.rank_from = t->store->rank_from, id.rank_note = t->store->rank_note;
  else if (rundir_rank(path_leaf(t->source), &id.rank)) id.rank_from = "file name";
  else if (rank_of_folder(t->source, &id.rank)) id.rank_from = "folder name";
  find_host(t, &id);
  if (!*id.host) set_host(&id, t->host, strlen(t->host));
  return id;
}

int64_t identity_lost_rank(const struct tk_trace *t, const char *output) {
  static const char *const STATED[] = {"", "distributedInfo", "metadata", "tracekit", NULL};
  const struct identity id = identity_of(t);
  int64_t rank;
  for (const char *const *p = STATED; *p; p++)
    if (strcmp(id.rank_from, *p) == 0) return -1;
  const bool is_named = rundir_rank(path_leaf(output), &rank) || rank_of_folder(output, &rank);
  return is_named && rank == id.rank ? -1 : id.rank;
}

/* ---- by track ---- */

/* Index of processes by pid: the last process of each pid, with links to earlier ones. */
struct pids {
  struct tk_trace *t;
  struct mem *mem;
  struct map numbers, texts; /* pid as a number, or string id of a pid that is text -> track */
  tk_id *before;             /* by track: previous process with the same pid */
  bool *is_placed;           /* by track: the name of its machine already determines the rank */
  struct map machines;       /* name of a machine -> 1 + index of its origin */
  struct track_origin *of_machines;
  uint32_t n_machines, cap_machines;
};

static bool pids_init(struct pids *p, struct tk_trace *t, struct mem *mem) {
  *p = (struct pids){.t = t, .mem = mem, .before = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *p->before)};
  p->is_placed = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *p->is_placed);
  if (p->is_placed) memset(p->is_placed, 0, ((size_t)t->n_tracks + 1) * sizeof *p->is_placed);
  map_init(&p->numbers, mem);
  map_init(&p->texts, mem);
  map_init(&p->machines, mem);
  for (tk_id i = 1; p->before && i <= t->n_tracks; i++) {
    struct tk_ident pid = t->tracks[i].pid;
    if (t->tracks[i].kind != TK_TRACK_PROCESS || pid.kind == TK_IDENT_NONE) continue;
    bool text = pid.kind == TK_IDENT_STR;
    uint32_t *last = map_put(text ? &p->texts : &p->numbers, text ? pid.str : (uint64_t)pid.num, 0);
    if (!last) return false;
    p->before[i] = *last;
    *last = i;
  }
  return p->before && p->is_placed;
}

static void pids_free(struct pids *p) {
  map_free(&p->numbers);
  map_free(&p->texts);
  map_free(&p->machines);
  mem_free(p->mem, p->of_machines);
  mem_free(p->mem, p->before);
  mem_free(p->mem, p->is_placed);
}

static void set_origin(const struct pids *p, const struct map *of, uint64_t pid, struct track_origin origin, struct track_origin *out) {
  const uint32_t *last = map_get(of, pid);
  for (tk_id i = last ? *last : 0; i; i = p->before[i])
    if (!p->is_placed[i]) out[i] = origin;
}

/* Sets the origin of the processes with one pid from the list "pids" of the trace's metadata. A string of digits may be a pid that is
 * text or a number. */
static void place_pid(const struct pids *p, struct json *j, const struct json_value *v, struct track_origin origin,
                      struct track_origin *out) {
  const uint8_t *end;
  size_t n;
  if (v->type == JSON_NUMBER && v->num.kind == NUM_INT) set_origin(p, &p->numbers, (uint64_t)v->num.mant, origin, out);
  if (v->type != JSON_STRING) return;
  const uint8_t *text = json_string_text(j, &v->str, &n);
  tk_id str = text ? intern_id(&p->t->store->strings, text, n) : 0;
  if (str) set_origin(p, &p->texts, str, origin, out);
  struct num number = num_scan(v->str.p, &end);
  if (number.kind == NUM_INT && end == v->str.p + v->str.n) set_origin(p, &p->numbers, (uint64_t)number.mant, origin, out);
}

/* Sets the origin of the processes of one rank in a merged trace. */
static void place_pids(const struct pids *p, const struct json_value *pids, struct track_origin origin, struct track_origin *out) {
  struct json j = {.p = pids->p + 1, .end = pids->end, .last = true, .scratch = {.mem = p->mem}};
  struct json_string key;
  struct json_value v;
  while (json_blank(&j) && *j.p != '}' && json_key(&j, &key) && json_value(&j, &v)) {
    place_pid(p, &j, &v, origin, out);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  buf_free(&j.scratch);
}

static struct track_origin origin_of_block(const struct pids *p, const struct json_value *block) {
  struct track_origin origin = {"", -1, false};
  struct json_value v;
  const char *text = (const char *)block->p;
  const size_t n = (size_t)(block->end - block->p);
  if (json_member(text, n, "rank", &v) && v.type == JSON_NUMBER && v.num.kind == NUM_INT) origin.rank = v.num.mant;
  origin.is_given = json_member(text, n, "rank_from", &v) && v.type == JSON_STRING && v.str.n == strlen(IDENTITY_GIVEN) &&
                    memcmp(v.str.p, IDENTITY_GIVEN, v.str.n) == 0;
  if (json_member(text, n, "host", &v) && v.type == JSON_STRING)
    origin.host = tk_string(p->t, trace_string(p->t, v.str.p, v.str.n), NULL);
  return origin;
}

/* Stores the origin (rank and host) of the machine that a rank's block of the metadata names. Only the blocks of ranks that
 * kept their pids in the merge name a machine. */
static void add_machine(struct pids *p, const struct json_value *block, struct track_origin *out) {
  (void)out;
  struct json_value v;
  if (!json_member((const char *)block->p, (size_t)(block->end - block->p), "machine", &v) || v.type != JSON_STRING) return;
  struct json j = {.scratch = {.mem = p->mem}};
  size_t n;
  const uint8_t *text = json_string_text(&j, &v.str, &n);
  const tk_id name = text ? intern_id(&p->t->store->strings, text, n) : 0;
  buf_free(&j.scratch);
  if (!name) return;
  if (!mem_grow(p->mem, (void **)&p->of_machines, &p->cap_machines, (uint64_t)p->n_machines + 1, sizeof *p->of_machines)) return;
  p->of_machines[p->n_machines++] = origin_of_block(p, block);
  map_put(&p->machines, name, p->n_machines);
}

/* Returns 1 + the index of the machine's origin; 0 if no block names it. If the name ends in a number that a reader added because
 * machines of two ranks had equal names ("rank 2 [2]"), the number is ignored. */
static uint32_t machine_at(const struct pids *p, tk_id machine) {
  const uint32_t *at = machine ? map_get(&p->machines, machine) : NULL;
  size_t n;
  const char *name = tk_string(p->t, machine, &n), *number = at || !n ? NULL : strrchr(name, '[');
  if (number && number > name + 1 && name[n - 1] == ']') machine = intern_id(&p->t->store->strings, name, (size_t)(number - name) - 1);
  if (number && machine) at = map_get(&p->machines, machine);
  return at ? *at : 0;
}

static void place_machines(struct pids *p, struct track_origin *out) {
  for (tk_id i = 1; i <= p->t->n_tracks; i++) {
    const struct tk_track *k = &p->t->tracks[i];
    const uint32_t at = k->kind == TK_TRACK_PROCESS ? machine_at(p, k->machine) : 0;
    if (!at) continue;
    out[i] = p->of_machines[at - 1];
    p->is_placed[i] = true;
  }
}

static void place_rank(struct pids *p, const struct json_value *block, struct track_origin *out) {
  struct json_value v;
  if (json_member((const char *)block->p, (size_t)(block->end - block->p), "pids", &v) && v.type == JSON_OBJECT)
    place_pids(p, &v, origin_of_block(p, block), out);
}

static void each_rank(struct pids *p, const struct json_value *ranks, struct track_origin *out,
                      void (*place)(struct pids *, const struct json_value *, struct track_origin *)) {
  struct json j = {.p = ranks->p + 1, .end = ranks->end, .last = true};
  struct json_value block;
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &block)) {
    place(p, &block, out);
    if (!json_blank(&j) || *j.p++ != ',') return;
  }
}

/* Sets the rank of each process in a trace of several ranks that another program merged. */
static bool place_others(struct tk_trace *t, struct track_origin *out, struct mem *mem) {
  int64_t *rank = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *rank);
  const bool several = rank && merged_ranks(t, rank, mem) > 1;
  for (tk_id i = 1; several && i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS) out[i].rank = rank[i];
  mem_free(mem, rank);
  return !mem->failed;
}

static bool place_ranks(struct tk_trace *t, struct track_origin *out, struct mem *mem) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value ranks;
  struct pids pids;
  if (!m || !json_member(trace_raw(t, m->at), m->size, "ranks", &ranks)) return place_others(t, out, mem);
  if (ranks.type != JSON_ARRAY) return true;
  const bool ok = pids_init(&pids, t, mem);
  if (ok) each_rank(&pids, &ranks, out, add_machine);
  if (ok) place_machines(&pids, out);
  if (ok) each_rank(&pids, &ranks, out, place_rank);
  pids_free(&pids);
  return ok;
}

struct track_origin *identity_of_tracks(struct tk_trace *t, struct mem *mem) {
  struct identity id = identity_of(t);
  struct track_origin *out = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *out);
  struct track_origin origin = {*id.host ? tk_string(t, trace_text(t, id.host), NULL) : "", id.rank, false};
  if (!out) return NULL;
  for (tk_id i = 0; i <= t->n_tracks; i++) out[i] = origin;
  if (!place_ranks(t, out, mem)) {
    identity_free_tracks(out, mem);
    return NULL;
  }
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind != TK_TRACK_PROCESS) out[i] = out[t->tracks[i].parent];
  return out;
}

void identity_free_tracks(struct track_origin *origins, struct mem *mem) {
  mem_free(mem, origins);
}
