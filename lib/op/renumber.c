/* renumber.c - adjusts one rank's graph so that it can be combined with others on one timeline.
 *
 * Pids: a process keeps its pid unless a previous rank uses it; otherwise the process gets the next pid from 10,000,000 on
 * (above any real pid, and small enough for viewers that cut pids to 32 bits). A process that was empty when pids were assigned
 * but now has events gets a pid from 1,000,000,000 on. Each rank gets new ids for flows and async events, from a set that no
 * other rank uses, so that no flow leads to another rank. Args are rewritten only if they contain such ids, or the scope of a
 * global instant: it must not become global to all ranks. Correlation ids are unchanged, because they are interpreted within a
 * rank. Processes are named "rank 3 - host - python" (label.h), and sorted by rank and then by their previous order.
 *
 *     sort index = kind * KIND_ROOM (if requested) + position of the rank * SORT_ROOM + position of the process in its rank
 *
 * The sort index must fit into 32 bits, because viewers cut off higher bits. */
#include "renumber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/accelerator.h"
#include "base/text.h"
#include "base/utf8.h"
#include "graph/args.h"

enum { FIRST_NEW_PID = 10000000, FIRST_SPARE_PID = 1000000000, SORT_ROOM = 1000, KIND_ROOM = 1 << 29 };

void renumber_ids_init(struct merge_ids *ids, struct mem *mem) {
  *ids = (struct merge_ids){.mem = mem, .next_pid = FIRST_NEW_PID, .first_id = 1, .graphs = 1};
  map_init(&ids->pids, mem);
}

void renumber_ids_free(struct merge_ids *ids) { map_free(&ids->pids); }

/* ---- processes ---- */

/* Finds processes without events, flow points or records on any of their tracks. They will not be shown on the timeline. */
static void find_empty(const struct tk_trace *t, bool *empty) {
  empty[0] = false;
  for (tk_id i = 1; i <= t->n_tracks; i++) empty[i] = t->tracks[i].kind == TK_TRACK_PROCESS;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->count || k->n_points) empty[k->kind == TK_TRACK_PROCESS ? i : k->parent] = false;
  }
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    if (!r->track || r->phase == 'M') continue;
    empty[t->tracks[r->track].kind == TK_TRACK_PROCESS ? r->track : t->tracks[r->track].parent] = false;
  }
}

static void hide_empty(struct tk_trace *t) {
  bool *empty = mem_array(&t->store->mem, (uint64_t)t->n_tracks + 1, sizeof *empty);
  if (!empty) return;
  find_empty(t, empty);
  for (tk_id i = 1; i <= t->n_tracks; i++) t->tracks[i].hidden = empty[i];
  mem_free(&t->store->mem, empty);
}

uint32_t renumber_pids_of(struct tk_trace *t, struct buf *pids) {
  bool *empty = mem_array(pids->mem, (uint64_t)t->n_tracks + 1, sizeof *empty);
  uint32_t n = 0;
  if (!empty) return 0;
  find_empty(t, empty);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    const int64_t pid = ident_is_number(k->pid) ? k->pid.num : 0;
    if (k->kind != TK_TRACK_PROCESS || empty[i]) continue;
    if (k->pid.kind != TK_IDENT_STR) buf_append(pids, &pid, sizeof pid);
    n++;
  }
  mem_free(pids->mem, empty);
  return n;
}

bool renumber_give_pid(struct merge_ids *ids, const int64_t *pids, uint32_t n, struct pid_change *changes) {
  for (uint32_t i = 0; i < n; i++) {
    int64_t now = pids[i];
    uint32_t *taken;
    while ((taken = map_put(&ids->pids, (uint64_t)now, 0)) != NULL && *taken) now = ids->next_pid++;
    if (!taken) return false;
    *taken = 1;
    changes[i] = (struct pid_change){pids[i], now};
  }
  return true;
}

static struct tk_ident with_suffix(struct tk_trace *t, struct tk_ident pid, const char *suffix) {
  struct buf text = {.mem = &t->store->mem};
  size_t n;
  const char *s = tk_string(t, pid.str, &n);
  buf_append(&text, s, n);
  buf_text(&text, suffix);
  pid = ident_str(trace_string(t, text.data, text.len));
  buf_free(&text);
  return pid;
}

/* Pids that were assigned beforehand to the processes of a rank; each of them is used once. */
struct given {
  const struct merge_place *place;
  bool *used;
  uint32_t next;
  int64_t spare, step; /* spare: next pid for a process without an assigned pid; step: distance between such pids */
};

static int64_t take_given(struct given *g, int64_t pid) {
  const uint32_t n = g->place->n_pids;
  for (uint32_t k = 0, i = g->next; k < n; k++, i = i + 1 < n ? i + 1 : 0) { /* the first try usually matches, because the order
                                                                                is the same */
    if (g->used[i] || g->place->pids[i].was != pid) continue;
    g->used[i] = true;
    g->next = i + 1 < n ? i + 1 : 0;
    return g->place->pids[i].now;
  }
  pid = g->spare;
  g->spare += g->step;
  return pid;
}

static struct tk_ident new_pid(struct tk_trace *t, struct given *g, struct tk_ident pid) {
  if (pid.kind == TK_IDENT_STR) return with_suffix(t, pid, g->place->suffix);
  if (!ident_is_number(pid)) pid = ident_int(0);
  pid.num = take_given(g, pid.num);
  return pid;
}

/* Returns the name of a process. Kineto calls all processes "python" and distinguishes them by labels; the result is "GPU 0" or "python
 * (CPU)". The name is also kept if it is descriptive: "Communication (NPU 0)". */
static const char *process_text(const struct tk_trace *t, const struct tk_track *k, struct tk_ident was, char *text, size_t size) {
  const char *name = tk_string(t, k->name, NULL), *labels = tk_string(t, k->labels, NULL);
  if (accelerator_is_label(labels) && !accelerator_is_process(name)) snprintf(text, size, "%s", labels);
  else if (*name) snprintf(text, size, *labels ? "%s (%s)" : "%s", name, labels);
  else if (was.kind == TK_IDENT_STR) snprintf(text, size, "%s", tk_string(t, was.str, NULL));
  else if (ident_is_number(was)) snprintf(text, size, "pid %lld", (long long)was.num);
  else *text = 0;
  return text;
}

static void name_process(struct tk_trace *t, struct tk_track *k, struct tk_ident was, const struct merge_place *place) {
  char text[2048], process[2048], pid[24] = "";
  struct label_values values = place->values;
  if (ident_is_number(was)) snprintf(pid, sizeof pid, "%lld", (long long)was.num);
  values.of[LABEL_PID] = was.kind == TK_IDENT_STR ? tk_string(t, was.str, NULL) : pid;
  values.of[LABEL_PROCESS] = process_text(t, k, was, process, sizeof process);
  size_t n = label_expand(place->label, &values, text, sizeof text);
  if (n == 0) n = label_expand("{process}", &values, text, sizeof text);
  while (n && !utf8_valid((const uint8_t *)text, n)) n--; /* remove a character that was cut in the middle */
  k->name = trace_string(t, text, n);
  k->renamed = true;
}

/* For a merged trace: assigns the process to the machine of its rank. */
static void set_own_machine(struct tk_trace *t, struct tk_track *k, const struct track_origin *origin) {
  char text[512], rank[24];
  struct label_values values = {{[LABEL_HOST] = origin->host}};
  snprintf(rank, sizeof rank, "%lld", (long long)origin->rank);
  if (origin->rank >= 0) values.of[LABEL_RANK] = rank;
  if (!k->machine && label_expand(LABEL_DEFAULT, &values, text, sizeof text)) k->machine = trace_text(t, text);
}

/* Sets the machine of a process to its rank, because viewers separate machines. If the rank has several machines, they stay
 * distinct. */
static void set_machine(struct tk_trace *t, struct tk_track *k, const struct merge_place *place) {
  char text[2048];
  snprintf(text, sizeof text, k->machine ? "%s - %s" : "%s", place->machine, tk_string(t, k->machine, NULL));
  k->machine = trace_text(t, text);
}

static int64_t own_order(const struct tk_track *k) { return k->has_sort ? k->sort_index : INT64_MAX; }

static int by_order(const void *a, const void *b) {
  const struct merge_pid *x = a, *y = b;
  if (x->order != y->order) return x->order < y->order ? -1 : 1;
  return x->track < y->track ? -1 : x->track > y->track;
}

/* Returns the kind by which processes are grouped: 0 = CPU, 1 = accelerator, 2 = neither, such as Kineto's "Spans". */
static int64_t kind_of(const struct tk_trace *t, const struct tk_track *k, struct tk_ident was) {
  const char *labels = tk_string(t, k->labels, NULL), *name = tk_string(t, k->name, NULL);
  if (accelerator_of(t, (tk_id)(k - t->tracks)).family) return 1;
  if (text_begins(labels, "CPU") || strstr(name, "/host:")) return 0;
  return was.kind == TK_IDENT_STR || strstr(name, "/device:") ? 2 : 0;
}

static int64_t place_of(const struct merge_place *place, int64_t kind) {
  int64_t most = ((place->by_kind ? KIND_ROOM : INT32_MAX) - SORT_ROOM) / SORT_ROOM;
  int64_t order = place->order < 0 ? 0 : place->order > most ? most : place->order;
  return (place->by_kind ? kind * KIND_ROOM : 0) + order * SORT_ROOM;
}

/* Sorts the processes of a rank by their sort index; processes without a sort index come last. */
static void sort_processes(struct tk_trace *t, struct merge_pid *was, uint32_t n, const struct merge_place *place) {
  for (uint32_t i = 0; i < n; i++) was[i].order = own_order(&t->tracks[was[i].track]);
  qsort(was, n, sizeof *was, by_order);
  for (uint32_t i = 0; i < n; i++) {
    struct tk_track *k = &t->tracks[was[i].track];
    struct merge_place own = *place;
    if (own.origins && own.origins[was[i].track].rank >= 0) own.order = own.origins[was[i].track].rank;
    k->sort_index = place_of(&own, was[i].kind) + (i < SORT_ROOM ? i : SORT_ROOM - 1);
    k->has_sort = true;
  }
}

static void renumber_processes(struct tk_trace *t, struct merge_ids *ids, const struct merge_place *place, struct merge_pid *was,
                               uint32_t *n_was) {
  struct given given = {.place = place, .spare = FIRST_SPARE_PID + (int64_t)ids->ordinal, .step = ids->graphs};
  *n_was = 0;
  given.used = mem_array(ids->mem, (uint64_t)place->n_pids + 1, sizeof *given.used);
  if (!given.used) return;
  memset(given.used, 0, place->n_pids * sizeof *given.used);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || k->hidden) continue;
    was[(*n_was)++] = (struct merge_pid){.track = i, .was = k->pid, .kind = kind_of(t, k, k->pid)};
    k->pid = new_pid(t, &given, k->pid);
    const struct track_origin *origin = place->origins ? &place->origins[i] : NULL;
    if (!origin || origin->rank < 0) name_process(t, k, was[*n_was - 1].was, place);
    if (origin) set_own_machine(t, k, origin);
    else set_machine(t, k, place);
  }
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind != TK_TRACK_PROCESS) t->tracks[i].pid = t->tracks[t->tracks[i].parent].pid;
  sort_processes(t, was, *n_was, place);
  mem_free(ids->mem, given.used);
}

/* ---- ids of flows and async events ---- */

struct renumber {
  struct tk_trace *t;
  struct merge_ids *ids;
  struct map pids, texts; /* original pid -> index of the process; filled when needed */
  bool indexed;
  struct map numbers, strings; /* old id -> ordinal of the new id in this rank */
  uint32_t n;
};

static int64_t fresh(struct renumber *r, bool is_str, int64_t old) {
  uint32_t *slot = map_put(is_str ? &r->strings : &r->numbers, (uint64_t)old, UINT32_MAX);
  if (!slot) return 0;
  if (*slot == UINT32_MAX) *slot = r->n++;
  return r->ids->first_id + r->ids->ordinal + (int64_t)*slot * r->ids->graphs;
}

static const char GLOBAL[] = "{\"global\":";

/* Rewrites {"global":"0x1"} as {"global":"0x2a"}. Local ids stay unchanged, because the new pid distinguishes them. */
static void global_id2(struct renumber *r, struct tk_arg *arg) {
  char text[64];
  size_t n;
  const char *old = tk_string(r->t, arg->s, &n);
  if (n <= sizeof GLOBAL || memcmp(old, GLOBAL, sizeof GLOBAL - 1) != 0) return;
  int len = snprintf(text, sizeof text, "%s\"0x%llx\"}", GLOBAL, (unsigned long long)fresh(r, true, arg->s));
  arg->s = trace_string(r->t, text, (size_t)len);
}

static bool is_identity(const struct tk_event *e, tk_id key) {
  return key == KEY_BIND_ID || (e->flags & TK_FLAG_ASYNC && (key == KEY_ID || key == KEY_ID2)) || key == KEY_END_PID;
}

/* Replaces an id. A number that is not an integer is looked up as text; a bit that string ids never have keeps the two apart. */
static void fresh_id(struct renumber *r, struct tk_arg *arg) {
  static const uint64_t NO_STRING = 1ull << 63;
  int64_t id;
  switch (arg->type) {
  case TK_ARG_INT: id = fresh(r, false, arg->i); break;
  case TK_ARG_UINT: id = fresh(r, false, (int64_t)arg->u); break;
  case TK_ARG_DECIMAL: id = fresh(r, true, (int64_t)(((uint64_t)arg->i * 64 + (uint64_t)(arg->exp & 63)) | NO_STRING)); break;
  case TK_ARG_STR:
  case TK_ARG_NUMBER: id = fresh(r, true, arg->s); break;
  default: return;
  }
  *arg = (struct tk_arg){.key = arg->key, .type = TK_ARG_INT, .i = id};
}

static uint64_t key_of_pid(struct tk_ident pid) { return pid.kind == TK_IDENT_STR ? pid.str : (uint64_t)pid.num; }

/* Indexes the processes by original pid; if several have the same pid, the first one is used. Called when the first event needs the
 * index. */
static void index_processes(struct renumber *r, const struct merge_pid *was, uint32_t n_was) {
  r->indexed = true;
  for (uint32_t i = 0; i < n_was; i++) map_put(was[i].was.kind == TK_IDENT_STR ? &r->texts : &r->pids, key_of_pid(was[i].was), i);
}

/* Updates an arg that contains the pid of the process that ended an async event, if another process of the rank began the
 * event. */
static void end_pid(struct renumber *r, struct tk_arg *arg, const struct merge_pid *was, uint32_t n_was) {
  struct tk_ident pid = arg->type == TK_ARG_INT ? ident_int(arg->i) : ident_str(arg->s);
  if (!r->indexed) index_processes(r, was, n_was);
  const uint32_t *at = map_get(pid.kind == TK_IDENT_STR ? &r->texts : &r->pids, key_of_pid(pid));
  if (!at || !trace_ident_equal(was[*at].was, pid)) return;
  pid = r->t->tracks[was[*at].track].pid;
  *arg = (struct tk_arg){.key = arg->key, .type = TK_ARG_STR, .s = pid.str};
  if (ident_is_number(pid)) *arg = (struct tk_arg){.key = arg->key, .type = TK_ARG_INT, .i = pid.num};
}

static void renumber_args(struct renumber *r, struct tk_event *e, const struct merge_pid *was, uint32_t n_was) {
  struct tk_args it = tk_args_of(r->t, e->args);
  struct tk_arg arg;
  bool any = false;
  for (uint32_t i = 0; it.shape && i < it.shape->n && !any; i++)
    any = is_identity(e, it.shape->fields[i].key);
  if (!any) return;
  args_begin(r->t);
  while (tk_args_next(&it, &arg)) {
    bool id = is_identity(e, arg.key);
    if (id && arg.key == KEY_END_PID) end_pid(r, &arg, was, n_was);
    else if (id && arg.key == KEY_ID2) global_id2(r, &arg);
    else if (id) fresh_id(r, &arg);
    args_copy(r->t, &arg);
  }
  e->args = args_end(r->t);
}

static void renumber_ids(struct tk_trace *t, struct merge_ids *ids, const struct merge_pid *was, uint32_t n_was) {
  struct renumber r = {.t = t, .ids = ids};
  map_init(&r.numbers, &t->store->mem);
  map_init(&r.strings, &t->store->mem);
  map_init(&r.pids, &t->store->mem);
  map_init(&r.texts, &t->store->mem);
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    struct tk_flow_point *f = &t->flow_points[i];
    f->id = fresh(&r, f->id_kind == TK_FLOW_ID_STR, f->id);
    f->id_kind = TK_FLOW_ID_INT;
  }
  for (tk_id i = 1; i <= t->n_events; i++) renumber_args(&r, &t->events[i], was, n_was);
  map_free(&r.numbers);
  map_free(&r.strings);
  map_free(&r.pids);
  map_free(&r.texts);
}

bool renumber(struct tk_trace *t, struct merge_ids *ids, const struct merge_place *place, struct merge_pid *was, uint32_t *n_was,
              struct tk_err *err) {
  hide_empty(t);
  renumber_processes(t, ids, place, was, n_was);
  renumber_ids(t, ids, was, *n_was);
  t->edits |= TK_EDIT_RENAMED;
  return mem_check(&t->store->mem, err) && mem_check(ids->mem, err);
}

/* True for a visible process that existed on the traced system. False for a process without a pid, and for a process that the Perfetto
 * reader created for a GPU or for the CPUs. */
static bool is_described(const struct tk_track *k) {
  return k->kind == TK_TRACK_PROCESS && !k->hidden && k->pid.kind != TK_IDENT_NONE && (ident_is_number(k->pid) || !k->in_packets);
}

bool renumber_names(struct tk_trace *t, const struct merge_place *place, struct tk_err *err) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    struct tk_track *k = &t->tracks[i];
    const bool has_rank = place->origins && place->origins[i].rank >= 0;
    if (is_described(k) && !has_rank) name_process(t, k, k->pid, place);
  }
  t->edits |= TK_EDIT_NAMED;
  return mem_check(&t->store->mem, err);
}
