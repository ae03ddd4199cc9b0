/* legacy.c - writes async events in the form of Chrome's legacy events (TrackEvent.legacy_event). */
#include "legacy.h"

#include <stdio.h>
#include <string.h>

/* The id of an async event, in the terms of Perfetto. */
struct legacy_id {
  uint32_t field; /* LEGACY_*_ID; 0 = none */
  uint64_t id;
  tk_id scope;
  char phase; /* phase that the begin event states: S, T or p; 0 = b or n */
};

/* Reads {"local":"0x1"} or {"global":"0x1"}. Returns false for any other spelling, which a reader would not recover. */
static bool read_id2(const struct intern_str *s, struct legacy_id *to) {
  char scope[8], text[64];
  unsigned long long id;
  if (s->len >= sizeof text || sscanf((const char *)s->bytes, "{\"%6[a-z]\":\"0x%llx\"}", scope, &id) != 2) return false;
  to->field = strcmp(scope, "local") == 0 ? LEGACY_LOCAL_ID : strcmp(scope, "global") == 0 ? LEGACY_GLOBAL_ID : 0;
  to->id = id;
  const int n = snprintf(text, sizeof text, "{\"%s\":\"0x%llx\"}", scope, id);
  return to->field && (size_t)n == s->len && memcmp(text, s->bytes, s->len) == 0;
}

static bool read_phase(const struct intern_str *s, const struct tk_event *e, struct legacy_id *to) {
  if (s->len != 1) return false;
  to->phase = (char)s->bytes[0];
  return e->kind == TK_EVENT_SPAN ? to->phase == 'S' : to->phase == 'T' || to->phase == 'p';
}

/* Reads the identity from the args. Returns false if a legacy_event cannot represent it. */
static bool read_id(const struct tk_trace *t, const struct tk_event *e, struct legacy_id *to) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  bool fits = true;
  *to = (struct legacy_id){.field = 0};
  while (fits && tk_args_next(&it, &arg)) {
    if (arg.key == KEY_ID) {
      fits = !to->field && arg.type == TK_ARG_INT;
      to->field = LEGACY_UNSCOPED_ID;
      to->id = (uint64_t)arg.i;
    } else if (arg.key == KEY_ID2) {
      fits = !to->field && arg.type == TK_ARG_JSON && read_id2(trace_str(t, arg.s), to);
    } else if (arg.key == KEY_SCOPE) {
      fits = arg.type == TK_ARG_STR;
      to->scope = arg.s;
    } else if (arg.key == KEY_PH) {
      fits = arg.type == TK_ARG_STR && read_phase(trace_str(t, arg.s), e, to);
    }
  }
  return fits && to->field;
}

bool legacy_fits(const struct tk_trace *t, const struct tk_track *track) {
  struct legacy_id id;
  for (tk_id i = track->first; i < track->first + track->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN && e->kind != TK_EVENT_INSTANT) return false;
    if (t->classes[e->cls].args || !read_id(t, e, &id)) return false;
  }
  return true;
}

uint64_t legacy_identity(const struct tk_trace *t, const struct tk_event *e) {
  const struct tk_class *c = &t->classes[e->cls];
  struct legacy_id id;
  read_id(t, e, &id);
  return hash_pair(hash_pair(hash_pair(id.id, id.field), id.scope), hash_pair(c->cat, id.phase ? c->name : 0));
}

void legacy_put(struct event_writer *w, const struct tk_event *e, bool at_end) {
  const struct tk_trace *t = w->t;
  struct buf *to = &w->legacy;
  struct legacy_id id;
  read_id(t, e, &id);
  const char begin = id.phase ? id.phase : e->kind == TK_EVENT_SPAN ? 'b' : 'n', end = id.phase ? 'F' : 'e';
  pb_u64(to, LEGACY_PHASE, (uint64_t)(at_end ? end : begin));
  pb_u64(to, id.field, id.id);
  if (id.scope) pb_bytes(to, LEGACY_ID_SCOPE, trace_str(t, id.scope)->bytes, trace_str(t, id.scope)->len);
  if (!w->legacy_thread.known) return;
  pb_i64(to, LEGACY_PID_OVERRIDE, w->legacy_thread.pid);
  pb_i64(to, LEGACY_TID_OVERRIDE, w->legacy_thread.tid);
}

void legacy_merge(const struct raw_fields *fields, struct buf *to, struct buf *legacy) {
  struct pb c = pb_over(fields->p, fields->n);
  struct pb_field f;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    if (pb_field_key(&f) == PB_KEY(EVENT_LEGACY, PB_BYTES)) buf_append(legacy, f.p, (size_t)f.value);
    else buf_append(to, from, (size_t)(c.p - from));
  }
}
