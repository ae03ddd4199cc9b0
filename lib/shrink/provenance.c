/* provenance.c - writes the account of dropped events into the provenance: totals by rung, and one row per process and event name. */
#include "provenance.h"

#include <string.h>

#include "format/json.h"
#include "format/json_put.h"

static void provenance_put_string(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *s = tk_string(t, id, &n);
  json_quote(b, s, n);
}

static void put_pid(struct buf *b, const struct tk_trace *t, struct tk_ident pid) {
  char text[24];
  if (pid.kind == TK_IDENT_STR) provenance_put_string(b, t, pid.str);
  else if (pid.kind == TK_IDENT_NONE) buf_text(b, "null");
  else buf_append(b, text, num_put_i64(text, pid.num));
}

static void put_gone(struct buf *b, const struct tk_trace *t, const struct gone *g) {
  static const char *const KINDS[] = {"", "process", "thread", "counter", "async"};
  const struct tk_track *k = &t->tracks[g->process];
  buf_text(b, "[");
  put_pid(b, t, k->pid);
  buf_text(b, ",");
  provenance_put_string(b, t, k->name);
  buf_text(b, ",\"");
  buf_text(b, KINDS[g->kind]);
  buf_text(b, "\",");
  provenance_put_string(b, t, g->name);
  buf_text(b, ",");
  json_put_uint(b, "", g->count);
  buf_text(b, ",");
  json_put_us(b, "", g->total);
  buf_text(b, "]");
}

/* Appends the accounts of earlier shrinks, oldest first. */
static void put_before(struct buf *b, const struct tk_trace *t) {
  const struct tk_meta *m = trace_meta(t, "tracekit");
  struct json_value shrink, before;
  if (!m || m->origin || !json_member(trace_raw(t, m->at), m->size, "shrink", &shrink) || shrink.type != JSON_OBJECT) return;
  buf_text(b, ",\"before\":[");
  const char *text = (const char *)shrink.p;
  if (json_member(text, (size_t)(shrink.end - shrink.p), "before", &before) && before.type == JSON_ARRAY && before.end - before.p > 2) {
    buf_append(b, before.p + 1, (size_t)(before.end - before.p) - 2);
    buf_text(b, ",");
  }
  buf_append(b, text, (size_t)(shrink.end - shrink.p));
  buf_text(b, "]");
}

const char *shrink_provenance(struct buf *b, const struct tk_trace *t, const struct shrunk *done) {
  bool any = false;
  buf_text(b, "\"shrink\":{\"rungs\":[");
  for (int r = 0; r < RUNGS; r++) {
    const struct rung_report *rung = &done->rungs[r];
    if (!rung->events && !rung->args) continue;
    buf_text(b, any ? ",{\"rung\":\"" : "{\"rung\":\"");
    buf_text(b, shrink_ladder_names[r]);
    buf_text(b, "\",\"events\":");
    json_put_uint(b, "", rung->events);
    buf_text(b, ",\"args\":");
    json_put_uint(b, "", rung->args);
    buf_text(b, ",\"total_us\":");
    json_put_us(b, "", rung->time);
    buf_text(b, "}");
    any = true;
  }
  buf_text(b, "],\"coalesced\":");
  json_put_uint(b, "", done->coalesced);
  buf_text(b, ",\"columns\":[\"pid\",\"process\",\"kind\",\"name\",\"count\",\"total_us\"],\"dropped\":[");
  for (uint32_t i = 1; i <= done->n_gone; i++) {
    buf_text(b, i > 1 ? ",\n" : "\n");
    put_gone(b, t, &done->gone[i]);
  }
  buf_text(b, "]");
  put_before(b, t);
  buf_text(b, "}");
  return buf_append(b, "", 1) ? (const char *)b->data : NULL;
}
