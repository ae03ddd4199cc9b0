/* tracks.c - builds processes, threads and tracks as in Perfetto.
 *
 * Process 0 and its thread 0 are idle. Every other process has a main thread whose tid is the pid, even if nothing else is
 * known about it. A missing tid, or tid 0, means the main thread. A string pid or tid gets a number, with the string as its name.
 * Perfetto's own traces have timelines that are not threads: the graph stores them as threads with a text tid. */
#include <string.h>

#include "tracks.h"
#include "sql.h"
#include "format/json.h"
#include "graph/stack.h"

/* Returns a number for a text. It exceeds 32 bits, so no system uses it as a pid or tid. Texts are numbered in the order in which they
 * appear here, because string ids of the trace depend on other strings. */
static int64_t number_of_text(struct tk_sql *s, tk_id text) {
  const uint32_t *number = map_put(&s->text_numbers, text, s->text_numbers.n + 1);
  return (int64_t)UINT32_MAX + 1 + (number ? *number : 0);
}

static int64_t tracks_number_of(struct tk_sql *s, struct tk_ident i) {
  return i.kind == TK_IDENT_STR ? number_of_text(s, i.str) : i.kind == TK_IDENT_NONE ? 0 : i.num;
}

/* Returns the name of a track. An empty name is treated as missing, but an empty text used as pid or tid is a name. */
static tk_id tracks_name_of(const struct tk_track *k, struct tk_ident i) {
  return k->name && k->name != KEY_EMPTY ? k->name : i.kind == TK_IDENT_STR ? i.str : 0;
}

static bool is_own_timeline(const struct tk_sql *s, const struct tk_track *k) {
  return s->times.exact && k->kind == TK_TRACK_THREAD && k->tid.kind == TK_IDENT_STR;
}

/* True for a track that the tables show as a process. A timeline without a process does not count as one, because its events are
 * global. */
static bool is_process(const struct tk_sql *s, const struct tk_track *k) {
  return k->kind == TK_TRACK_PROCESS && !(s->times.exact && k->pid.kind == TK_IDENT_NONE);
}

static void add_thread(struct tk_sql *s, struct sql_thread thread) {
  if (mem_grow(&s->mem, (void **)&s->threads, &s->cap_threads, (uint64_t)s->n_threads + 1, sizeof *s->threads))
    s->threads[s->n_threads++] = thread;
}

/* Returns the thread of a process with this tid, and adds it if it is new. A missing tid, 0 and the pid mean the main
 * thread, which was created with the process. */
static uint32_t thread_of(struct tk_sql *s, uint32_t upid, struct tk_ident ident, struct map *by_tid) {
  if (upid == SQL_NONE) return SQL_NONE;
  const bool main = ident.kind == TK_IDENT_NONE || (ident.kind != TK_IDENT_STR && ident.num == 0);
  const int64_t tid = main ? s->processes[upid].pid : tracks_number_of(s, ident);
  uint32_t *utid = map_put(by_tid, hash_pair(upid, (uint64_t)tid), s->n_threads);
  if (!utid) return SQL_NONE;
  if (*utid == s->n_threads)
    add_thread(s, (struct sql_thread){.upid = upid, .tid = tid, .name = ident.kind == TK_IDENT_STR ? ident.str : 0});
  if (*utid >= s->n_threads) return SQL_NONE;
  if (ident.kind == TK_IDENT_STR && !s->threads[*utid].name) s->threads[*utid].name = ident.str; /* pid and tid are the same string */
  return *utid;
}

/* True for a thread that has stack samples, but whose process is unknown. */
static bool is_stray(const struct tk_sql *s, const struct tk_track *k) {
  return s->times.exact && !s->is_filed && k->kind == TK_TRACK_THREAD && k->tid.kind == TK_IDENT_INT && k->count &&
         s->tracks[k->parent].upid == SQL_NONE && s->t->events[k->first].kind == TK_EVENT_SAMPLE;
}

/* Returns the first thread with this tid in any process, as trace_processor does. If there is none, adds one without a
 * process. */
static uint32_t stray_thread(struct tk_sql *s, int64_t tid, struct map *by_tid) {
  const uint32_t *utid = map_put(by_tid, hash_pair(SQL_NONE, (uint64_t)tid), s->n_threads);
  if (!utid) return SQL_NONE;
  if (*utid == s->n_threads) add_thread(s, (struct sql_thread){.upid = SQL_NONE, .tid = tid});
  return *utid < s->n_threads ? *utid : SQL_NONE;
}

static uint32_t thread_of_track(struct tk_sql *s, tk_id track, struct map *by_tid) {
  const struct tk_track *k = &s->t->tracks[track];
  uint32_t utid = is_stray(s, k) ? stray_thread(s, k->tid.num, by_tid) : thread_of(s, s->tracks[k->parent].upid, k->tid, by_tid);
  if (utid == SQL_NONE) return SQL_NONE;
  const tk_id other = s->threads[utid].track;
  /* a thread with the same ids already has a track: add another thread, as the file does */
  if (s->is_filed && k->kind == TK_TRACK_THREAD && other && s->t->tracks[other].kind == TK_TRACK_THREAD) {
    add_thread(s, (struct sql_thread){.upid = s->threads[utid].upid, .tid = s->threads[utid].tid, .main = s->threads[utid].main});
    utid = s->n_threads - 1;
  }
  struct sql_thread *thread = &s->threads[utid];
  if (!thread->track || k->kind == TK_TRACK_THREAD) thread->track = track;
  if (k->kind == TK_TRACK_THREAD && tracks_name_of(k, k->tid)) thread->name = tracks_name_of(k, k->tid);
  return utid;
}

static bool is_global(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_arg arg;
  struct tk_args it = tk_args_of(t, e->args);
  while (tk_args_next(&it, &arg))
    if (arg.key == KEY_SCOPE_OF_INSTANT) return arg.type == TK_ARG_STR && strcmp(tk_string(t, arg.s, NULL), "g") == 0;
  return false;
}

tk_id sql_track_of(const struct tk_sql *s, const struct tk_event *e) {
  return s->tracks[e->track].globals && is_global(s->t, e) ? GLOBAL_TRACK : e->track;
}

/* Adds the threads whose tids occur in events on process or counter tracks (Chrome JSON); such a thread exists even if it has no events
 * of its own. Also counts the global instants of a process. */
static void look_at_instants(struct tk_sql *s, tk_id track, struct map *by_tid) {
  const struct tk_track *k = &s->t->tracks[track];
  for (tk_id i = k->first; i < k->first + k->count && !s->mem.failed; i++) {
    const struct tk_event *e = &s->t->events[i];
    struct tk_arg arg;
    struct tk_args it = tk_args_of(s->t, e->args);
    while (tk_args_next(&it, &arg))
      if (arg.key == KEY_TID && (arg.type == TK_ARG_INT || arg.type == TK_ARG_STR))
        thread_of(s, s->tracks[track].upid, arg.type == TK_ARG_INT ? ident_int(arg.i) : ident_str(arg.s), by_tid);
    if (k->kind != TK_TRACK_PROCESS || !is_global(s->t, e)) continue;
    s->tracks[track].globals++;
    s->n_globals++;
  }
}

/* Adds the thread whose tid a Chrome JSON record contains, for example a metadata record of a process. */
static void look_at_record(struct tk_sql *s, const struct tk_record *r, struct map *by_tid) {
  const struct tk_track *k = &s->t->tracks[r->track];
  struct buf object = {.mem = &s->mem};
  struct json_value v;
  if (!r->phase || r->phase == 'P' || !r->strong || !r->track) return; /* profile samples already have tracks */
  const uint32_t upid = s->tracks[k->kind == TK_TRACK_PROCESS ? r->track : k->parent].upid;
  const bool whole = buf_append(&object, "{", 1) && buf_append(&object, trace_raw(s->t, r->at), r->size) &&
                     buf_append(&object, "}\0", 2);
  const char *text = (const char *)object.data;
  if (whole && json_member(text, object.len - 1, "tid", &v) &&
      v.type == JSON_NUMBER && v.num.kind == NUM_INT)
    thread_of(s, upid, ident_int(v.num.mant), by_tid);
  buf_free(&object);
}

static void look_at_records(struct tk_sql *s, struct map *by_tid) {
  for (tk_id i = 1; i <= s->t->n_records && !s->mem.failed; i++) look_at_record(s, &s->t->records[i], by_tid);
}

/* Returns a flag per track: true for a process of Chrome JSON that occurs only in 'P' records (CPU profiles) and has neither events nor
 * threads. Returns NULL if the trace has no 'P' records or has exact times, or if memory runs out. */
static bool *find_unused(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  bool *unused = t->counts.by_phase['P'] && !s->times.exact ? mem_array(&s->mem, (uint64_t)t->n_tracks + 1, 1) : NULL;
  if (!unused) return NULL;
  memset(unused, 0, (size_t)t->n_tracks + 1);
  for (tk_id i = 1; i <= t->n_records; i++) unused[t->records[i].track] |= t->records[i].phase == 'P';
  for (tk_id i = 1; i <= t->n_records; i++)
    if (t->records[i].phase != 'P') unused[t->records[i].track] = false;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (t->tracks[i].count) unused[i] = false;
    unused[t->tracks[i].parent] = false;
  }
  return unused;
}

static void add_processes(struct tk_sql *s, struct map *by_tid) {
  bool *unused = find_unused(s);
  s->processes[s->n_processes++] = (struct sql_process){0};
  add_thread(s, (struct sql_thread){.main = true});
  for (tk_id i = 1; i <= s->t->n_tracks; i++) {
    const struct tk_track *k = &s->t->tracks[i];
    if (!is_process(s, k) || (unused && unused[i])) continue;
    if (s->is_filed && k->pid.kind == TK_IDENT_INT && k->pid.num == 0 && !k->machine) { /* this process is the idle process */
      s->tracks[i].upid = 0;
      s->processes[0] = (struct sql_process){.track = i, .name = tracks_name_of(k, k->pid)};
      map_put(by_tid, hash_pair(0, 0), 0);
      continue;
    }
    uint32_t upid = s->tracks[i].upid = s->n_processes++;
    s->processes[upid] = (struct sql_process){.track = i, .name = tracks_name_of(k, k->pid),
                                              .pid = tracks_number_of(s, k->pid)};
    map_put(by_tid, hash_pair(upid, (uint64_t)s->processes[upid].pid), s->n_threads);
    add_thread(s, (struct sql_thread){.upid = upid, .tid = s->processes[upid].pid, .main = true});
  }
  mem_free(&s->mem, unused);
}

static const char *type_of(const struct tk_sql *s, const struct tk_track *k, const struct sql_track *v) {
  const bool own = s->times.exact, process = v->upid != SQL_NONE;
  switch (k->kind) {
  case TK_TRACK_PROCESS: return own ? process ? "process_track_event" : "global_track_event" : "chrome_process_instant";
  case TK_TRACK_COUNTERS:
    if (!own) return "json_counter";
    return v->utid != SQL_NONE ? "thread_counter_track_event" : process ? "process_counter_track_event" : "global_counter_track_event";
  case TK_TRACK_ASYNCS: return process ? "legacy_async_process_slice" : "legacy_async_global_slice";
  default: break;
  }
  if (!is_own_timeline(s, k)) return "thread_execution";
  return process ? "process_merged_track_event" : "global_merged_track_event";
}

/* Owner of a track: nothing (the track is global), a process, or a thread. */
enum scope { OF_ALL, OF_PROCESS, OF_THREAD };

static const char *filed_type(const struct sql_track *v) {
  static const char *const TYPES[][3] = {
      {"global_merged_track_event", "process_merged_track_event", "thread_merged_track_event"},
      {"global_track_event", "process_track_event", "thread_track_event"},
      {"global_counter_track_event", "process_counter_track_event", "thread_counter_track_event"},
  };
  const enum scope scope = v->filed.global ? OF_ALL : v->utid != SQL_NONE ? OF_THREAD : OF_PROCESS;
  switch (v->filed.kind) {
  case FORMAT_TRACK_THREAD: return v->filed.apart ? TYPES[1][OF_THREAD] : "thread_execution";
  case FORMAT_TRACK_COUNTER: return TYPES[2][scope];
  case FORMAT_TRACK_PROCESS: return TYPES[1][scope];
  default: return TYPES[v->filed.alone][scope];
  }
}

static bool is_threads(const struct tk_track *k) { return k->kind == TK_TRACK_THREAD && k->tid.kind != TK_IDENT_STR; }

/* Assigns a track to the process or thread that the file states. A named track or a counter may belong to a thread, or to
 * neither. */
static void place_filed(struct tk_sql *s, tk_id i) {
  const struct tk_track *k = &s->t->tracks[i];
  struct sql_track *v = &s->tracks[i];
  if (v->filed.kind == FORMAT_TRACK_NONE) return;
  if (v->filed.kind == FORMAT_TRACK_NAMED || v->filed.kind == FORMAT_TRACK_COUNTER) {
    const tk_id thread = v->filed.thread != i ? v->filed.thread : 0;
    v->utid = thread && is_threads(&s->t->tracks[thread]) ? s->tracks[thread].utid : SQL_NONE;
    if (v->filed.global) v->upid = SQL_NONE;
  }
  if (v->filed.kind == FORMAT_TRACK_PROCESS && k->kind == TK_TRACK_THREAD) v->utid = SQL_NONE;
  v->sort = v->filed.kind == FORMAT_TRACK_COUNTER ? SORT_COUNTER
            : v->utid != SQL_NONE ? SORT_THREAD : v->upid != SQL_NONE ? SORT_PROCESS : SORT_OTHER;
  v->type = filed_type(v);
}

static void load_filed(struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  for (tk_id i = 0; f && f->track && i <= s->t->n_tracks; i++) s->is_filed = f->track(s->t, i, &s->tracks[i].filed) || s->is_filed;
}

/* True if the track's id is only valid within a process; the track then belongs to the process. */
static bool is_local(const struct tk_trace *t, const struct tk_track *k) {
  struct tk_arg arg;
  if (!k->count || !tk_args_find(t, t->events[k->first].args, tk_string(t, KEY_ID2, NULL), &arg)) return false;
  return strstr(tk_string(t, arg.s, NULL), "\"local\"") != NULL;
}

static void place_track(struct tk_sql *s, tk_id i, struct map *by_tid) {
  const struct tk_track *k = &s->t->tracks[i];
  struct sql_track *v = &s->tracks[i];
  const bool threaded = k->kind == TK_TRACK_THREAD || k->kind == TK_TRACK_ASYNCS || (k->kind == TK_TRACK_COUNTERS && s->times.exact);
  if (k->kind != TK_TRACK_PROCESS) v->upid = s->tracks[k->parent].upid;
  const bool untold = k->kind == TK_TRACK_COUNTERS && k->tid.kind == TK_IDENT_NONE;
  const bool left = k->kind == TK_TRACK_THREAD && k->hidden && !k->count; /* its events are on the track of the process */
  if (threaded && !is_own_timeline(s, k) && !untold && !left) v->utid = thread_of_track(s, i, by_tid);
  if (k->kind == TK_TRACK_COUNTERS && !threaded && !untold) thread_of(s, v->upid, k->tid, by_tid);
  if (k->kind == TK_TRACK_ASYNCS) {
    v->utid = SQL_NONE;
    if (!is_local(s->t, k)) v->upid = SQL_NONE;
  }
  v->sort =
      k->kind == TK_TRACK_COUNTERS ? SORT_COUNTER : v->utid != SQL_NONE ? SORT_THREAD : v->upid != SQL_NONE ? SORT_PROCESS : SORT_OTHER;
  v->type = type_of(s, k, v);
  if ((k->kind == TK_TRACK_PROCESS || k->kind == TK_TRACK_COUNTERS) && !s->times.exact) look_at_instants(s, i, by_tid);
}

/* Returns the name of a track. An async track has the name of its first event. */
tk_id sql_track_name(const struct tk_sql *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  if (s->tracks[track].filed.kind == FORMAT_TRACK_PROCESS) return 0;
  if (k->kind == TK_TRACK_ASYNCS && k->count) return s->t->classes[s->t->events[k->first].cls].name;
  return k->kind == TK_TRACK_COUNTERS || is_own_timeline(s, k) ? tracks_name_of(k, k->tid) : 0;
}

/* Places the threads of unknown processes, after all other tracks have been placed. */
static void place_strays(struct tk_sql *s, struct map *by_tid) {
  for (uint32_t i = 0; i < s->n_threads && !s->mem.failed; i++)
    map_put(by_tid, hash_pair(SQL_NONE, (uint64_t)s->threads[i].tid), i);
  for (tk_id i = 1; i <= s->t->n_tracks && !s->mem.failed; i++)
    if (is_stray(s, &s->t->tracks[i])) place_track(s, i, by_tid);
}

bool sql_tracks(struct tk_sql *s) {
  const uint64_t n = (uint64_t)s->t->n_tracks + 2;
  struct map by_tid;
  tk_id n_strays = 0;
  s->tracks = mem_array(&s->mem, n, sizeof *s->tracks);
  s->processes = mem_array(&s->mem, n, sizeof *s->processes);
  if (!s->tracks || !s->processes) return false;
  for (tk_id i = 0; i <= s->t->n_tracks; i++) s->tracks[i] = (struct sql_track){.utid = SQL_NONE, .upid = SQL_NONE, .type = ""};
  load_filed(s);
  map_init(&by_tid, &s->mem);
  for (tk_id i = 1; stack_has_samples(s->t) && i <= s->t->n_events; i++)
    s->tracks[s->t->events[i].track].samples += s->t->events[i].kind == TK_EVENT_SAMPLE;
  s->tracks[GLOBAL_TRACK].sort = SORT_OTHER;
  s->tracks[GLOBAL_TRACK].type = "legacy_chrome_global_instants";
  add_processes(s, &by_tid);
  for (tk_id i = 1; i <= s->t->n_tracks && !s->mem.failed; i++) {
    if (!is_stray(s, &s->t->tracks[i])) place_track(s, i, &by_tid);
    else n_strays++;
  }
  if (n_strays) place_strays(s, &by_tid);
  if (!s->times.exact) look_at_records(s, &by_tid);
  for (tk_id i = 1; s->is_filed && i <= s->t->n_tracks; i++) place_filed(s, i);
  map_free(&by_tid);
  return !s->mem.failed;
}
