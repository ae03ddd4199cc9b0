/* record.c - keeps events raw: metadata, objects, memory dumps, unknown phases.
 *
 * The text of a record omits pid, tid and ts. They are written from the record's track and time, so that renaming a process or moving
 * the clock does not change the text. */
#include <string.h>

#include "record.h"
#include "reader.h"
#include "spelling.h"
#include "lanes.h"

/* Copies the members of an object, except pid and, if drop_tid or drop_ts is set, tid or ts: the track and time of the record
 * contain them. */
static bool copy_members(struct json *j, bool drop_tid, bool drop_ts, struct buf *out) {
  struct json_string key;
  struct json_value dropped;
  const uint8_t *text;
  size_t n;
  bool any = false;
  for (j->p++; json_blank(j);) {
    if (*j->p == ',') j->p++;
    if (!json_blank(j) || *j->p == '}') return j->status == JSON_OK;
    if (!json_key(j, &key)) return false;
    if (json_is(j, &key, "pid") || (drop_tid && json_is(j, &key, "tid")) || (drop_ts && json_is(j, &key, "ts"))) {
      if (!json_value(j, &dropped)) return false;
      continue;
    }
    if (any) buf_append(out, ",", 1);
    any = true;
    text = json_string_text(j, &key, &n);
    if (!json_quote(out, text, n) || !buf_append(out, ":", 1) || !json_copy(j, out)) return false;
  }
  return false;
}

static const struct record_name {
  const char *name, *arg;
  enum tk_record_kind kind;
} NAMES[] = {{"process_name", "name", TK_RECORD_PROCESS_NAME},
             {"process_labels", "labels", TK_RECORD_PROCESS_LABELS},
             {"process_sort_index", "sort_index", TK_RECORD_PROCESS_SORT},
             {"thread_name", "name", TK_RECORD_THREAD_NAME},
             {"thread_sort_index", "sort_index", TK_RECORD_THREAD_SORT},
             {NULL, NULL, TK_RECORD_OTHER}};

static bool of_thread(enum tk_record_kind kind) { return kind == TK_RECORD_THREAD_NAME || kind == TK_RECORD_THREAD_SORT; }

static bool sort_value(const struct tk_trace *t, const struct tk_arg *arg, int64_t *out) {
  i128 v;
  if (arg->type == TK_ARG_INT) {
    *out = arg->i;
    return true;
  }
  if (arg->type == TK_ARG_DECIMAL && num_scale(arg->i, arg->exp, &v)) {
    *out = (int64_t)v;
    return true;
  }
  if (arg->type != TK_ARG_STR) return false;
  const struct intern_str *s = trace_str(t, arg->s);
  if (!num_scaled(s->bytes, s->bytes + s->len, 0, &v)) return false;
  *out = (int64_t)v;
  return true;
}

/* Sets a name, labels or sort index of a track from a metadata record. The last record counts. */
static void name_track(struct chrome *r, tk_id track, const struct record_name *n, uint32_t args) {
  struct tk_track *k = &r->t->tracks[track];
  struct tk_arg arg;
  tk_id *slot = n->kind == TK_RECORD_PROCESS_LABELS ? &k->labels : &k->name;
  if (!track || !tk_args_find(r->t, args, n->arg, &arg)) return;
  if (n->kind == TK_RECORD_PROCESS_SORT || n->kind == TK_RECORD_THREAD_SORT) {
    k->has_sort = sort_value(r->t, &arg, &k->sort_index);
  } else if (arg.type == TK_ARG_STR) {
    if (*slot && *slot != arg.s && n->kind == TK_RECORD_PROCESS_NAME)
      trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, "process named more than once: the last name is used");
    *slot = arg.s;
  }
}

/* Stores a record's time in its ts, or at the end of its text until the trace's clock is known. */
static void keep_time(struct chrome *r, struct tk_record *rec, tk_id id, i128 ps) {
  struct buf *raw = &r->t->store->raw;
  char text[80] = ",\"ts\":";
  size_t n;
  rec->has_ts = r->has_origin && chrome_relative(r, ps, &rec->ts);
  if (rec->has_ts) return;
  n = 6 + num_put_us(text + 6, ps);
  if (rec->size == 0) memmove(text, text + 1, --n);
  buf_append(raw, text, n);
  rec->size += (uint32_t)n;
  chrome_add_pending(r, (struct pending){ps, id, (uint32_t)n, PENDING_RECORD});
}

void chrome_record(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from) {
  struct buf *raw = &r->t->store->raw;
  struct json j = {.p = from, .end = r->j.end, .last = r->j.last, .scratch = r->j.scratch};
  const struct record_name *n = NAMES;
  const char *name = tk_string(r->t, e->name, NULL);
  while (n->name && (e->ph != 'M' || strcmp(name, n->name) != 0)) n++;
  if (of_thread(n->kind) && chrome_is_of_lane(r, e, args)) return;
  struct tk_record *rec = trace_add_record(r->t);
  rec->kind = (uint8_t)n->kind;
  rec->phase = (char)e->ph;
  rec->strong = n->name || e->pid.kind != TK_IDENT_NONE || e->tid.kind != TK_IDENT_NONE;
  if (rec->strong) rec->track = of_thread(n->kind) ? chrome_thread(r, e->pid, e->tid) : trace_process(r->t, e->pid);
  rec->respelled = (uint8_t)chrome_respelled(r, e, rec->track);
  rec->at = raw->len;
  copy_members(&j, of_thread(n->kind), e->ts.kind == WHEN_OK, raw);
  rec->size = (uint32_t)(raw->len - rec->at);
  r->j.scratch = j.scratch;
  if (e->ts.kind == WHEN_OK) keep_time(r, rec, r->t->n_records, e->ts.ps);
  if (n->name) name_track(r, rec->track, n, args);
}

/* ---- tracks of events without ids ---- */

/* Returns the track on which trace_processor places the events of a track without pid or tid: a missing pid is 0, and a missing tid is
 * the pid. Returns 0 if the track has its ids, or if there is no such track. */
static tk_id stand_in_of(const struct tk_trace *t, const struct tk_track *k) {
  struct tk_track want = {.kind = k->kind, .pid = k->pid, .tid = k->tid};
  const bool is_thread = k->kind == TK_TRACK_THREAD;
  if (!is_thread && k->kind != TK_TRACK_PROCESS) return 0;
  if (k->pid.kind != TK_IDENT_NONE && (!is_thread || k->tid.kind != TK_IDENT_NONE)) return 0;
  if (want.pid.kind == TK_IDENT_NONE) want.pid = ident_int(0);
  if (is_thread && want.tid.kind == TK_IDENT_NONE) want.tid = want.pid;
  return trace_find(t, &want);
}

void chrome_name_stand_ins(struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const tk_id other = t->tracks[i].name ? 0 : stand_in_of(t, &t->tracks[i]);
    if (other) t->tracks[i].name = t->tracks[other].name;
  }
}
