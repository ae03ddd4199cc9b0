/* chrome_record.c - events that are kept raw: metadata, objects, memory dumps, phases that we do not know.
 *
 * A record's text leaves out pid, tid and ts: they stand in its track and its time, so that whoever renames a process or moves
 * the clock need not touch the text. */
#include <string.h>

#include "chrome.h"

/* Which members a record's track and time say already. */
struct said {
  bool tid, ts;
};

static bool append_key(struct json *j, const struct json_string *key, struct buf *out) {
  size_t n;
  const uint8_t *text = json_text(j, key, &n);
  return json_quote(out, text, n) && buf_append(out, ":", 1);
}

static bool copy_members(struct json *j, struct said said, struct buf *out) {
  struct json_string key;
  bool any = false;
  for (j->p++; json_blank(j);) {
    if (*j->p == ',') j->p++;
    if (!json_blank(j) || *j->p == '}') return j->status == JSON_OK;
    if (!json_key(j, &key)) return false;
    if (json_is(j, &key, "pid") || (said.tid && json_is(j, &key, "tid")) || (said.ts && json_is(j, &key, "ts"))) {
      if (!json_blank(j) || !json_skip(j)) return false;
      continue;
    }
    if (any) buf_append(out, ",", 1);
    any = true;
    if (!append_key(j, &key, out) || !json_copy(j, out)) return false;
  }
  return false;
}

static const struct record_name {
  const char *name, *arg;
  enum tk_record_kind kind;
} NAMES[] = {{"process_name", "name", TK_REC_PROCESS_NAME},
             {"process_labels", "labels", TK_REC_PROCESS_LABELS},
             {"process_sort_index", "sort_index", TK_REC_PROCESS_SORT},
             {"thread_name", "name", TK_REC_THREAD_NAME},
             {"thread_sort_index", "sort_index", TK_REC_THREAD_SORT},
             {NULL, NULL, TK_REC_OTHER}};

static bool of_thread(enum tk_record_kind kind) { return kind == TK_REC_THREAD_NAME || kind == TK_REC_THREAD_SORT; }

static bool sort_value(const struct tk_trace *t, const struct tk_arg *arg, int64_t *out) {
  i128 v;
  if (arg->type == TK_ARG_INT) return *out = arg->i, true;
  if (arg->type == TK_ARG_DECIMAL && num_scale(arg->i, arg->exp, &v)) return *out = (int64_t)v, true;
  if (arg->type != TK_ARG_STR) return false;
  const struct intern_str *s = trace_str(t, arg->s);
  if (!num_scaled(s->bytes, s->bytes + s->len, 0, &v)) return false;
  return *out = (int64_t)v, true;
}

/* The last name given counts. */
static void name_track(struct chrome *r, const struct tk_record *rec, const struct record_name *n, uint32_t args) {
  struct tk_track *k = &r->t->tracks[rec->track];
  struct tk_arg arg;
  tk_id *slot = rec->kind == TK_REC_PROCESS_LABELS ? &k->labels : &k->name;
  if (!rec->track || !tk_args_find(r->t, args, n->arg, &arg)) return;
  if (rec->kind == TK_REC_PROCESS_SORT || rec->kind == TK_REC_THREAD_SORT) {
    k->has_sort = sort_value(r->t, &arg, &k->sort_index);
  } else if (arg.type == TK_ARG_STR) {
    if (*slot && *slot != arg.s && rec->kind == TK_REC_PROCESS_NAME)
      trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, "process named again: the last name counts");
    *slot = arg.s;
  }
}

static bool near_origin(const struct chrome *r, const struct when *w) {
  i128 ns = w->ps / 1000 - r->origin_ns;
  return r->has_origin && ns < INT64_MAX / 2000 && ns > -(INT64_MAX / 2000);
}

void chrome_record(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from) {
  struct buf *raw = &r->t->store->raw;
  struct tk_record *rec = trace_add_record(r->t);
  struct json j = {.p = from, .end = r->j.end, .last = r->j.last, .scratch = r->j.scratch};
  const struct record_name *n = NAMES;
  const char *name = tk_string(r->t, e->name, NULL);
  while (n->name && (e->ph != 'M' || strcmp(name, n->name) != 0)) n++;
  rec->kind = (uint8_t)n->kind;
  rec->phase = (char)e->ph;
  rec->strong = e->pid.kind != TK_IDENT_NONE || e->tid.kind != TK_IDENT_NONE;
  rec->has_ts = e->ts.kind == WHEN_OK && near_origin(r, &e->ts);
  if (rec->has_ts) rec->ts = (tk_time)(e->ts.ps - (i128)r->origin_ns * 1000);
  if (rec->strong) rec->track = of_thread(n->kind) ? chrome_thread(r, e->pid, e->tid) : trace_process(r->t, e->pid);
  rec->at = raw->len;
  copy_members(&j, (struct said){of_thread(n->kind), rec->has_ts}, raw);
  rec->size = (uint32_t)(raw->len - rec->at);
  r->j.scratch = j.scratch;
  if (n->name) name_track(r, rec, n, args);
}
