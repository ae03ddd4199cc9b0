/* legacy.c - writes async events in the form of Chrome's legacy events (TrackEvent.legacy_event). */
#include "legacy.h"

#include <string.h>

/* The id of an async event, in the terms of Perfetto. */
struct legacy_id {
  uint32_t field; /* LEGACY_*_ID; 0 = none */
  uint64_t id;
  tk_id scope;
  char phase; /* phase that the begin event states: S, T or p; 0 = b or n */
};

/* Reads hexadecimal digits as a reader writes them, and the end of the object: 1f"}. */
static bool read_digits(const uint8_t *p, size_t n, uint64_t *id) {
  static const char DIGITS[] = "0123456789abcdef";
  size_t i = 0;
  const char *digit;
  *id = 0;
  for (; i < n && i < 16 && p[i] && (digit = strchr(DIGITS, p[i])) != NULL; i++) *id = *id << 4 | (uint64_t)(digit - DIGITS);
  return i > 0 && (i == 1 || *p != '0') && n - i == 2 && memcmp(p + i, "\"}", 2) == 0;
}

/* Reads {"local":"0x1"} or {"global":"0x1"}. Returns false for any other spelling, which a reader would not recover. */
static bool read_id2(const struct intern_str *s, struct legacy_id *to) {
  static const char LOCAL[] = "{\"local\":\"0x", GLOBAL[] = "{\"global\":\"0x";
  const size_t n = s->len > sizeof LOCAL && memcmp(s->bytes, LOCAL, sizeof LOCAL - 1) == 0 ? sizeof LOCAL - 1 : sizeof GLOBAL - 1;
  to->field = n == sizeof LOCAL - 1 ? LEGACY_LOCAL_ID : LEGACY_GLOBAL_ID;
  if (s->len <= n || (to->field == LEGACY_GLOBAL_ID && memcmp(s->bytes, GLOBAL, n) != 0)) return false;
  return read_digits(s->bytes + n, s->len - n, &to->id);
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
