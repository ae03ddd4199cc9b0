/* finish_tracks.c - converts nodes to tracks of the graph.
 *
 *     process                      its instants on the process track; its slices, if any, on a named track
 *     thread                       thread; several uuids with one pid and tid are merged
 *     counter                      counter track of its process, with its thread's tid
 *     other node TK_TRACK_THREAD with a string as its tid (fields.h): "name", "name [2]", "parent/name" */
#include <stdio.h>
#include <string.h>

#include "finish_tracks.h"
#include "finish_filed.h"
#include "format/pb_out.h"
#include "reader.h"
#include "track.h"
#include "machine.h"
#include "gpu.h"
#include "counters.h"

enum { PARENTS_MOST = 512 };

/* A process of a machine. */
struct process_slot {
  uint32_t machine;
  int64_t pid;
  tk_id track;
};

struct track_finisher {
  struct perfetto *r;
  struct process_slot *processes;
  uint32_t n_processes, cap_processes;
  struct map pids;   /* machine and pid -> index in `processes` */
  struct map absent; /* machine -> process without an id, the parent of the machine's tracks that belong to no process */
  struct map theirs; /* hash of a process without an id, a kind, and a tid or name -> track */
  struct map tids;   /* process and text of a tid -> how often the text was used */
  struct map renumbered; /* process -> its original pid, if another machine uses the same pid */
  uint32_t next_pid;     /* next free pid for a process in `renumbered` */
};

/* Location of a track: its process, and the thread or named track above it. */
struct home {
  tk_id process;
  uint32_t thread, named; /* indices of nodes */
};

/* Returns the pid or tid of a node, including ids that our writer stores as text because they are not numbers. */
static struct tk_ident ident_of(const struct perfetto *r, const struct node *n, int64_t num) {
  const struct intern_str *s = trace_str(r->t, n->ident_text);
  struct tk_ident i = ident_int(num);
  const uint8_t *end;
  if (n->ident_text) {
    struct num v = num_scan(s->bytes, &end);
    i = v.kind == NUM_INT && end == s->bytes + s->len ? ident_int(v.mant) : ident_str(n->ident_text);
  } else if (n->form & FORM_ABSENT) {
    i = ident_none();
  }
  if (n->form & FORM_QUOTED && i.kind == TK_IDENT_INT) i.kind = TK_IDENT_QUOTED;
  return i;
}

/* Returns the process (without an id) for those tracks of a machine that belong to no process. trace_process supports only one
 * such process, so processes of named machines are added here. */
static tk_id process_of_none(struct track_finisher *s, uint32_t machine) {
  struct tk_trace *t = s->r->t;
  tk_id name = machine_name(s->r, machine);
  uint32_t *slot = map_put(&s->absent, machine, 0);
  if (!slot) return 0;
  if (*slot) return *slot;
  if (!name) return *slot = trace_process(t, ident_none());
  struct tk_track *k = trace_add_track(t);
  k->kind = TK_TRACK_PROCESS;
  k->machine = name;
  k->renamed = true;
  return *slot = t->n_tracks;
}

/* Returns the track with this kind, tid and name in a process. trace_track finds processes by pid, so among processes without a
 * pid it only finds the process of the unnamed machine. */
static tk_id track_in(struct track_finisher *s, tk_id process, enum tk_track_kind kind, struct tk_ident tid, tk_id name) {
  struct tk_trace *t = s->r->t;
  struct tk_ident pid = t->tracks[process].pid;
  if (pid.kind != TK_IDENT_NONE || !t->tracks[process].machine) return trace_track(t, kind, pid, tid, name);
  uint64_t site = kind == TK_TRACK_COUNTERS ? name : (uint64_t)tid.num ^ tid.str;
  uint64_t key = hash_pair(site, (uint64_t)process << 8 | kind);
  uint32_t *slot;
  for (;; key++) {
    slot = map_put(&s->theirs, key, 0);
    if (!slot) return 0;
    if (!*slot) break;
    const struct tk_track *k = &t->tracks[*slot];
    bool same = kind == TK_TRACK_COUNTERS ? k->name == name : trace_ident_equal(k->tid, tid);
    if (same && k->kind == kind && k->parent == process) return *slot;
  }
  *trace_add_track(t) = (struct tk_track){.kind = (uint8_t)kind, .pid = pid, .tid = tid, .name = name, .parent = process};
  return *slot = t->n_tracks;
}

/* Returns a pointer to the track id of a process, which is initially 0; NULL when memory runs out. */
static tk_id *find_process(struct track_finisher *s, uint32_t machine, int64_t pid) {
  uint64_t key = hash_pair((uint64_t)pid, machine);
  uint32_t *slot;
  for (;; key++) {
    slot = map_put(&s->pids, key, 0);
    if (!slot) return NULL;
    if (!*slot) break;
    struct process_slot *p = &s->processes[*slot];
    if (p->machine == machine && p->pid == pid) return &p->track;
  }
  struct mem *mem = &s->r->t->store->mem;
  if (!mem_grow(mem, (void **)&s->processes, &s->cap_processes, (uint64_t)s->n_processes + 2, sizeof *s->processes)) return NULL;
  s->processes[*slot = ++s->n_processes] = (struct process_slot){machine, pid, 0};
  return &s->processes[*slot].track;
}

static tk_id process_as(struct track_finisher *s, uint32_t machine, int64_t pid, struct tk_ident ident) {
  struct tk_trace *t = s->r->t;
  tk_id *site = find_process(s, machine, pid), before = t->n_tracks, id;
  if (!site) return 0;
  if (*site) return *site;
  if (ident.kind == TK_IDENT_NONE) return *site = process_of_none(s, machine);
  tk_id name = machine_name(s->r, machine);
  id = trace_process(t, ident);
  bool taken = false;
  while (id && id <= before && t->tracks[id].machine != name) {
    taken = true;
    id = trace_process(t, ident_int(s->next_pid++));
    perfetto_note(s->r, TK_NOTE_INFO, "process ids used by several machines: those of later machines are renumbered");
  }
  if (id) {
    t->tracks[id].renamed = true; /* because no record names it */
    t->tracks[id].machine = name;
    if (taken) map_put(&s->renumbered, id, (uint32_t)pid);
  }
  return *site = id;
}

static tk_id process(struct track_finisher *s, uint32_t machine, int64_t pid) { return process_as(s, machine, pid, ident_int(pid)); }

static tk_id process_of_node(struct track_finisher *s, const struct node *n) {
  return n->no_process ? process_of_none(s, n->machine) : process(s, n->machine, n->pid);
}

static struct home home_of(struct track_finisher *s, uint32_t at) {
  struct perfetto *r = s->r;
  struct home h = {0};
  uint32_t n = at;
  for (unsigned i = 0; i < PARENTS_MOST; i++) {
    const struct node *k = &r->nodes[n];
    if (k->kind == NODE_THREAD && n != at) h.thread = n;
    if (k->kind == NODE_NAMED && n != at && !h.named && !h.thread) h.named = n;
    if (k->kind == NODE_PROCESS || k->kind == NODE_THREAD) {
      h.process = process_of_node(s, k);
      return h;
    }
    if (k->up) {
      n = k->up;
      continue;
    }
    if (!k->has_parent) {
      h.process = process_of_none(s, k->machine);
      return h;
    }
    n = track_find_node(r, k->machine, k->parent_uuid);
    if (!n || (!r->nodes[n].described && !r->nodes[n].is_default)) {
      perfetto_note(r, TK_NOTE_REPAIR, "tracks whose parent has no descriptor: kept without a parent");
      return (struct home){.process = process_of_none(s, r->nodes[at].machine)};
    }
  }
  perfetto_note(r, TK_NOTE_REPAIR, "tracks with circular parents: kept without a parent");
  return (struct home){.process = process_of_none(s, r->nodes[at].machine)};
}

/* ---- named tracks ---- */

/* Makes a string unique among the tids of its process, by appending a number. Tracks without a process share one namespace across
 * all machines, as they do in JSON. */
static tk_id unique_text(struct track_finisher *s, tk_id process, const char *text, size_t n) {
  tk_id proc = s->r->t->tracks[process].pid.kind == TK_IDENT_NONE ? 0 : process;
  struct buf *b = &s->r->json;
  char number[24];
  uint32_t *used = map_put(&s->tids, (uint64_t)proc << 32 | trace_string(s->r->t, text, n), 0);
  while (used && *used) {
    b->len = 0;
    buf_append(b, text, n);
    size_t digits = (size_t)snprintf(number, sizeof number, " [%u]", ++*used);
    buf_append(b, number, digits);
    uint32_t *mine = map_put(&s->tids, (uint64_t)proc << 32 | trace_string(s->r->t, b->data, b->len), 0);
    if (mine && !*mine) {
      *mine = 1;
      return trace_string(s->r->t, b->data, b->len);
    }
    used = map_get(&s->tids, (uint64_t)proc << 32 | trace_string(s->r->t, text, n));
  }
  if (used) *used = 1;
  return trace_string(s->r->t, text, n);
}

static tk_id finish_name_of(const struct perfetto *r, const struct node *n) {
  if (n->kind == NODE_PROCESS) return trace_text(r->t, "process");
  if (n->is_default && !n->name) return trace_text(r->t, "Default Track");
  return n->name ? n->name : n->first_name ? n->first_name : trace_text(r->t, "track");
}

static struct tk_ident named_ident(struct track_finisher *s, uint32_t at, const struct home *h) {
  struct perfetto *r = s->r;
  struct buf *b = &r->text;
  struct node *n = &r->nodes[at];
  size_t len, prefix = 0;
  const char *text;
  int64_t rest = 0;
  uint32_t code = NAMED_OF_PROCESS;
  b->len = 0;
  if (h->named && r->nodes[h->named].tid_text.str) {
    text = tk_string(r->t, r->nodes[h->named].tid_text.str, &prefix);
    buf_append(b, text, prefix);
    buf_append(b, "/", 1);
    code = NAMED_OF_TRACK;
    rest = (int64_t)prefix;
  } else if (h->thread) {
    code = NAMED_OF_THREAD;
    rest = r->nodes[h->thread].tid;
  } else if (n->kind == NODE_PROCESS) {
    code = NAMED_IS_PROCESS;
  } else if (r->t->tracks[h->process].pid.kind == TK_IDENT_NONE) {
    code = NAMED_GLOBAL;
  }
  text = tk_string(r->t, finish_name_of(r, n), &len);
  buf_append(b, text, len);
  struct tk_ident i = ident_str(unique_text(s, h->process, (const char *)b->data, b->len));
  i.num = (int64_t)((uint64_t)rest * NAMED_CODES + code);
  return i;
}

static tk_id named_track(struct track_finisher *s, uint32_t at) {
  struct perfetto *r = s->r;
  struct home h = home_of(s, at);
  struct node *n = &r->nodes[at];
  struct tk_track *k;
  if (!n->tid_text.str) n->tid_text = named_ident(s, at, &h);
  k = trace_add_track(r->t);
  k->kind = TK_TRACK_THREAD;
  k->parent = h.process;
  k->pid = r->t->tracks[h.process].pid;
  k->tid = n->tid_text;
  k->renamed = true;
  k->in_packets = n->in_packets;
  k->name = finish_name_of(r, n);
  k->has_sort = n->has_rank && n->kind != NODE_PROCESS;
  k->sort_index = n->rank;
  return r->t->n_tracks;
}

/* Adds a named track after its parents: walks up the chain of parents, then adds tracks on the way down. */
static tk_id finish_named(struct track_finisher *s, uint32_t at) {
  uint32_t chain[PARENTS_MOST], n = 0;
  for (uint32_t up = at; up && n < PARENTS_MOST; up = home_of(s, up).named) {
    if (s->r->nodes[up].tracks[ON_TRACK]) break;
    chain[n++] = up;
  }
  while (n-- > 0) s->r->nodes[chain[n]].tracks[ON_TRACK] = named_track(s, chain[n]);
  return s->r->nodes[at].tracks[ON_TRACK];
}

/* ---- other tracks ---- */

/* Adds another thread with the same id. For queries, each uuid of a thread is a separate thread, as in trace_processor. */
static tk_id another_thread(struct track_finisher *s, tk_id like) {
  struct tk_track *k = trace_add_track(s->r->t);
  const struct tk_track *first = &s->r->t->tracks[like];
  *k = (struct tk_track){
      .kind = TK_TRACK_THREAD, .pid = first->pid, .tid = first->tid, .parent = first->parent, .machine = first->machine};
  return s->r->t->n_tracks;
}

static tk_id finish_thread(struct track_finisher *s, struct node *n) {
  struct tk_trace *t = s->r->t;
  const tk_id proc = process(s, n->machine, n->pid), before = t->n_tracks;
  tk_id id = track_in(s, proc, TK_TRACK_THREAD, ident_of(s->r, n, n->tid), 0);
  if (s->r->filed && id <= before && n->uuid) id = another_thread(s, id);
  struct tk_track *k = &t->tracks[id];
  k->renamed = true;
  k->no_lanes = (n->form & FORM_NO_LANES) != 0;
  if (n->own_name || n->name) k->name = n->own_name ? n->own_name : n->name;
  if (n->ident_text && k->name == n->ident_text) k->name = 0; /* the text was only shown because the thread had no name */
  if (n->has_rank) k->has_sort = true, k->sort_index = n->rank;
  return id;
}

/* ---- tracks whose events come from packets ---- */

/* Adds a separate track for events from packets that are not TrackEvents, even if TrackEvents use an equal track, because the two kinds
 * of events are written differently. */
static tk_id packets_track(struct track_finisher *s, tk_id process, enum tk_track_kind kind, struct tk_ident tid) {
  struct tk_track *k = trace_add_track(s->r->t);
  const struct tk_ident pid = s->r->t->tracks[process].pid;
  *k = (struct tk_track){.kind = (uint8_t)kind, .pid = pid, .tid = tid, .parent = process, .renamed = true, .in_packets = true};
  return s->r->t->n_tracks;
}

/* Adds a thread. The name in a track descriptor has priority over all others, as in trace_processor. */
static tk_id finish_task(struct track_finisher *s, const struct node *n) {
  struct tk_trace *t = s->r->t;
  const tk_id proc = process_of_node(s, n);
  const struct tk_track like = {.kind = TK_TRACK_THREAD, .pid = t->tracks[proc].pid, .tid = ident_int(n->tid)};
  const tk_id described = n->no_process ? 0 : trace_find(t, &like);
  if (s->r->filed && described) return described;
  const tk_id id = packets_track(s, proc, TK_TRACK_THREAD, like.tid);
  t->tracks[id].name = described && t->tracks[described].name ? t->tracks[described].name : n->own_name;
  return id;
}

/* Names processes and threads that no descriptor names. */
static void finish_names(struct track_finisher *s) {
  struct tk_trace *t = s->r->t;
  for (uint32_t i = 1; i <= s->r->n_nodes; i++) {
    const struct node *n = &s->r->nodes[i];
    if (!n->in_packets || !n->own_name || n->no_process) continue;
    const uint32_t *slot = map_get(&s->pids, hash_pair((uint64_t)n->pid, n->machine));
    const struct process_slot *p = slot && *slot ? &s->processes[*slot] : NULL;
    if (!p || p->machine != n->machine || p->pid != n->pid) continue;
    const struct tk_track like = {.kind = TK_TRACK_THREAD, .pid = t->tracks[p->track].pid, .tid = ident_int(n->tid)};
    const tk_id id = n->kind == NODE_PROCESS ? p->track : n->kind == NODE_THREAD ? trace_find(t, &like) : 0;
    if (id && !t->tracks[id].name) t->tracks[id].name = n->own_name;
  }
}

/* Sets in_packets for a process if it is set for all of its tracks and no descriptor describes the process. */
static void finish_packets(struct track_finisher *s) {
  struct tk_trace *t = s->r->t;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].in_packets) t->tracks[t->tracks[i].parent].in_packets = true;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (!t->tracks[i].in_packets) t->tracks[t->tracks[i].parent].in_packets = false;
  for (uint32_t i = 1; i <= s->r->n_nodes; i++) {
    const struct node *n = &s->r->nodes[i];
    if (n->kind == NODE_PROCESS && !n->in_packets) t->tracks[n->tracks[ON_PROCESS]].in_packets = false;
  }
}

static tk_id finish_process(struct track_finisher *s, const struct node *n) {
  tk_id id = process_as(s, n->machine, n->pid, ident_of(s->r, n, n->pid));
  struct tk_track *k = &s->r->t->tracks[id];
  if (n->own_name || n->name) k->name = n->own_name ? n->own_name : n->name;
  if (n->ident_text && k->name == n->ident_text) k->name = 0;
  if (n->labels) k->labels = n->labels;
  if (n->has_rank) k->has_sort = true, k->sort_index = n->rank;
  return id;
}

/* Returns the name of the track of a counter with an id: `name` and the id. Sets of->counter_name to `name`, which its events
 * have. */
static tk_id with_id(struct perfetto *r, struct node *of, const char *name, size_t n) {
  const struct tk_arg id = {.type = TK_ARG_STR, .s = of->counter_id};
  of->counter_name = trace_string(r->t, name, n);
  return trace_counter_name(r->t, of->counter_name, &id);
}

/* Returns the counter track to which a series belongs. tracekit's writer names the track of a series "<counter> <series>". */
static tk_id finish_series(struct track_finisher *s, uint32_t at, tk_id process) {
  struct perfetto *r = s->r;
  struct node *n = &r->nodes[at];
  size_t len, series;
  const char *name = tk_string(r->t, n->name, &len);
  tk_string(r->t, n->ident_text, &series);
  if (len < series + 1) return 0;
  tk_id counter = trace_string(r->t, name, len - series - 1), id = n->counter_id;
  size_t tail = id ? series + 6 + trace_str(r->t, id)->len : 0; /* the name ends with " id: ID series" */
  if (id && len >= tail) counter = with_id(r, n, name, len - tail);
  else n->counter_name = counter;
  return track_in(s, process, TK_TRACK_COUNTERS, n->thread, counter);
}

static tk_id finish_counter(struct track_finisher *s, uint32_t at) {
  struct perfetto *r = s->r;
  struct home h = home_of(s, at);
  struct node *n = &r->nodes[at];
  if (n->form & FORM_COUNTER && n->name) return track_in(s, h.process, TK_TRACK_COUNTERS, n->thread, n->name);
  tk_id id = n->form & FORM_SERIES && n->ident_text ? finish_series(s, at, h.process) : 0;
  if (id) r->t->tracks[id].by_series = true;
  if (id) return id;
  struct tk_track *k = trace_add_track(r->t);
  if (!n->described) perfetto_note(r, TK_NOTE_REPAIR, "counter samples on a track without a descriptor: kept on a separate track");
  k->kind = TK_TRACK_COUNTERS;
  k->in_packets = n->in_packets;
  k->parent = h.process;
  k->pid = r->t->tracks[h.process].pid;
  if (h.thread) k->tid = ident_int(r->nodes[h.thread].tid);
  k->name = n->name ? n->name : trace_text(r->t, "counter");
  k->renamed = true;
  k->has_sort = n->has_rank;
  k->sort_index = n->rank;
  n->counter_name = k->name;
  return r->t->n_tracks;
}

static tk_id finish_on_track(struct track_finisher *s, uint32_t at) {
  struct node *n = &s->r->nodes[at];
  if (n->kind == NODE_THREAD && n->in_packets) return finish_task(s, n);
  if (n->kind == NODE_THREAD) return finish_thread(s, n);
  if (n->kind == NODE_PROCESS && !n->has_slices) return finish_process(s, n);
  if (!n->described)
    perfetto_note(s->r, n->is_default ? TK_NOTE_FACT : TK_NOTE_REPAIR,
                  n->is_default ? "track events that name no track: placed on the default track"
                                : "track events on a track without a descriptor: moved to a global track");
  return finish_named(s, at);
}

static tk_id track_of(struct track_finisher *s, uint32_t site) {
  struct perfetto *r = s->r;
  uint32_t at = site / ASPECTS, aspect = site % ASPECTS;
  tk_id *id = &r->nodes[at].tracks[aspect];
  struct tk_ident tid = ident_none();
  if (*id) return *id;
  if (aspect == ON_TRACK) return *id = finish_on_track(s, at);
  if (aspect == ON_COUNTER) return *id = finish_counter(s, at);
  tk_id proc = home_of(s, at).process;
  if (aspect != ON_ASYNCS) return *id = proc;
  if (r->nodes[at].kind == NODE_THREAD) tid = ident_int(r->nodes[at].tid);
  if (r->nodes[at].form & FORM_ASYNC) tid = r->nodes[at].thread;
  if (r->nodes[at].in_packets) return *id = packets_track(s, proc, TK_TRACK_ASYNCS, tid);
  return *id = track_in(s, proc, TK_TRACK_ASYNCS, tid, 0);
}

static tk_id event_track(struct track_finisher *s, const struct tk_event *e) {
  struct tk_trace *t = s->r->t;
  if (e->kind != TK_EVENT_COUNTER || e->track % ASPECTS != ON_PROCESS) return track_of(s, e->track);
  /* in the legacy phase C, the name of the event is the name of the counter */
  tk_id proc = track_of(s, e->track), id = track_in(s, proc, TK_TRACK_COUNTERS, ident_none(), t->classes[e->cls].name);
  return id;
}

/* Adds tracks without events, because they may group other tracks or determine their order. */
static void finish_empty(struct track_finisher *s) {
  for (uint32_t i = 1; i <= s->r->n_nodes; i++) {
    const struct node *n = &s->r->nodes[i];
    if (!n->described || n->form & (FORM_LANE | FORM_ASYNC | FORM_GLOBAL | FORM_SERIES | FORM_COUNTER)) continue;
    if (n->kind == NODE_NAMED && !n->is_default) track_of(s, i * ASPECTS + ON_TRACK);
    if (n->kind == NODE_COUNTER) track_of(s, i * ASPECTS + ON_COUNTER);
  }
}

/* Converts the sites of records to tracks. Clears `renamed` of tracks whose name is contained in a record. */
static void finish_records(struct track_finisher *s) {
  struct perfetto *r = s->r;
  for (tk_id i = 1; i <= r->t->n_records; i++) {
    struct tk_record *rec = &r->t->records[i];
    if (!rec->track) continue;
    bool thread = r->nodes[rec->track / ASPECTS].kind == NODE_THREAD;
    rec->track = track_of(s, thread ? rec->track : rec->track - rec->track % ASPECTS + ON_PROCESS);
    if (rec->kind != TK_RECORD_OTHER) r->t->tracks[rec->track].renamed = false;
  }
}

/* True if the output must use the same uuid for the track. Tracks that our own writer described may get any uuid, because it
 * describes them anew. */
static bool keeps_uuid(const struct node *n) { return (n->uuid || n->is_default) && (n->as_it_came || !n->described); }

static bool keeps_parent(const struct perfetto *r, const struct node *n) {
  uint32_t parent = n->has_parent ? track_find_node(r, n->machine, n->parent_uuid) : 0;
  return parent && keeps_uuid(&r->nodes[parent]);
}

/* Returns the named track below which a counter is shown; 0 if it belongs to a thread or process. */
static tk_id parent_of_counter(const struct perfetto *r, const struct node *n) {
  const uint32_t parent = n->kind == NODE_COUNTER && n->has_parent ? track_find_node(r, n->machine, n->parent_uuid) : 0;
  return parent && r->nodes[parent].kind == NODE_NAMED ? r->nodes[parent].tracks[ON_TRACK] : 0;
}

static void append_passthrough_track(struct track_finisher *s, tk_id track, const struct node *n, struct buf *all) {
  struct perfetto *r = s->r;
  const uint32_t *pid = map_get(&s->renumbered, track);
  const struct intern_str *fields = trace_str(r->t, n->fields), *inner = trace_str(r->t, n->inner_fields);
  struct buf *b = &r->copy;
  const tk_id up = parent_of_counter(r, n);
  if (!pid && !n->fields && !n->inner_fields && !keeps_uuid(n) && !keeps_parent(r, n) && !up) return;
  b->len = 0;
  pb_u64(b, PASSTHROUGH_TRACK, track);
  if (n->fields) pb_bytes(b, PASSTHROUGH_FIELDS, fields->bytes, fields->len);
  if (n->inner_fields) pb_bytes(b, PASSTHROUGH_INNER_FIELDS, inner->bytes, inner->len);
  if (pid) pb_i64(b, PASSTHROUGH_PID, (int32_t)*pid);
  if (keeps_uuid(n)) pb_u64(b, PASSTHROUGH_UUID, n->uuid);
  if (keeps_parent(r, n)) pb_u64(b, PASSTHROUGH_PARENT, n->parent_uuid);
  if (up) pb_u64(b, PASSTHROUGH_PARENT_TRACK, up);
  pb_message(all, 1, b);
}

/* Finds the node of each track of the graph. If several nodes describe the same track, the first one counts. */
static void find_nodes(const struct perfetto *r, uint32_t *node_of) {
  for (uint32_t i = r->n_nodes; i >= 1; i--) {
    const struct node *n = &r->nodes[i];
    enum aspect on = n->kind == NODE_COUNTER ? ON_COUNTER : n->kind == NODE_PROCESS ? ON_PROCESS : ON_TRACK;
    const bool has_entry = n->fields || n->inner_fields || keeps_uuid(n) || keeps_parent(r, n) || parent_of_counter(r, n);
    if (n->tracks[on] && has_entry) node_of[n->tracks[on]] = i;
    if (n->kind == NODE_PROCESS && n->tracks[ON_TRACK] != n->tracks[on]) node_of[n->tracks[ON_TRACK]] = i;
  }
}

/* Appends an entry for each async track whose events are legacy events. */
static void append_legacy_tracks(struct track_finisher *s, struct buf *all) {
  struct perfetto *r = s->r;
  struct buf *b = &r->copy;
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    const struct node *n = &r->nodes[i];
    if (!n->tracks[ON_ASYNCS] || n->form & FORM_ASYNC || n->in_packets) continue;
    b->len = 0;
    pb_u64(b, PASSTHROUGH_TRACK, n->tracks[ON_ASYNCS]);
    pb_u64(b, PASSTHROUGH_LEGACY, 1);
    pb_message(all, 1, b);
  }
}

/* Stores "perfetto.tracks": by track, properties that the graph cannot represent. */
static void passthrough_tracks(struct track_finisher *s) {
  struct perfetto *r = s->r;
  struct mem *mem = &r->t->store->mem;
  struct buf *all = &r->packets;
  size_t size = ((size_t)r->t->n_tracks + 1) * sizeof(uint32_t);
  uint32_t *node_of = mem_alloc(mem, size);
  if (!node_of) return;
  memset(node_of, 0, size);
  find_nodes(r, node_of);
  all->len = 0;
  for (tk_id i = 1; i <= r->t->n_tracks; i++)
    append_passthrough_track(s, i, node_of[i] ? &r->nodes[node_of[i]] : &(struct node){0}, all);
  mem_free(mem, node_of);
  append_legacy_tracks(s, all);
  if (all->len == 0) return;
  perfetto_add_passthrough(r, PASSTHROUGH_TRACKS, all->data, all->len);
}

/* Adds the tracks of all processes and threads, because even those without events have names. */
static void finish_nodes(struct track_finisher *s) {
  struct perfetto *r = s->r;
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    struct node *n = &r->nodes[i];
    if (n->kind == NODE_PROCESS && !n->in_packets) n->tracks[ON_PROCESS] = finish_process(s, n);
  }
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    struct node *n = &r->nodes[i];
    if (!n->is_of_gpu) continue;
    n->tracks[ON_PROCESS] = finish_process(s, n);
    r->t->tracks[n->tracks[ON_PROCESS]].in_packets = true;
  }
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    struct node *n = &r->nodes[i];
    if (n->kind == NODE_THREAD && !n->in_packets && !n->tracks[ON_TRACK]) n->tracks[ON_TRACK] = finish_thread(s, n);
  }
}

void perfetto_finish_tracks(struct perfetto *r) {
  struct track_finisher s = {.r = r, .next_pid = 10000000};
  struct tk_trace *t = r->t;
  map_init(&s.pids, &t->store->mem);
  map_init(&s.absent, &t->store->mem);
  map_init(&s.theirs, &t->store->mem);
  map_init(&s.tids, &t->store->mem);
  map_init(&s.renumbered, &t->store->mem);
  finish_nodes(&s);
  for (tk_id i = 1; i <= t->n_events; i++) t->events[i].track = event_track(&s, &t->events[i]);
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (!t->flow_points[i].bound) t->flow_points[i].at = track_of(&s, t->flow_points[i].at);
  finish_empty(&s);
  finish_names(&s);
  finish_packets(&s);
  finish_records(&s);
  perfetto_name_counters(r);
  if (r->filed) perfetto_filed_tracks(r);
  else passthrough_tracks(&s);
  gpu_name_machines(r);
  machine_passthrough(r);
  mem_free(&t->store->mem, s.processes);
  map_free(&s.pids);
  map_free(&s.absent);
  map_free(&s.theirs);
  map_free(&s.renumbered);
  map_free(&s.tids);
}
