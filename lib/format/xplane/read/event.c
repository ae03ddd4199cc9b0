/* event.c - converts an XEvent to an event, and XStats to args: handles any order of fields and all repairs.
 *
 * An event takes 18 to 60 bytes in the file and is decoded in place in the window. */
#include "event.h"
#include "format/pb_out.h"
#include "reader.h"
#include "alike.h"
#include "graph/args.h"

#include <string.h>

enum { SEEN = 1 << 10 }; /* maximum number of bytes to examine for a chain of events */
static const int64_t DAYS_100_PS = (int64_t)100 * 86400 * 1000000000000;

/* ---- events ---- */

/* Returns the key of args for this stat until the end of the plane, such as "#7". The key stays if the stat has no name. */
static tk_id provisional_key(struct xplane_reader *r, int64_t id) {
  char text[24] = "#";
  uint32_t at = xplane_stat_at(r, id);
  if (!at) return KEY_EMPTY;
  if (r->apart && !r->stats[at].key) {
    r->unknown = true;
    return KEY_EMPTY;
  }
  if (!r->stats[at].key) r->stats[at].key = trace_string(r->t, text, 1 + num_put_i64(text + 1, id));
  return r->stats[at].key;
}

/* An event under construction: the fields of XEvent. */
struct xevent {
  int64_t id, offset, duration, occurrences;
  bool aggregated, has_stats, odd, damaged;
};

/* Renames the first of two args from stats with the same name: the last stat becomes the arg, as in xprof, and the earlier one
 * is kept under another key. */
static void keep_earlier(struct xplane_reader *r, int64_t id, tk_id key) {
  char text[64];
  uint32_t at = xplane_stat_at(r, id);
  if (!at) return;
  if (r->apart && !r->stats[at].earlier) {
    r->unknown = true;
    return;
  }
  if (!r->stats[at].earlier) {
    size_t n = strlen(XPLANE_EARLIER);
    memcpy(text, XPLANE_EARLIER "#", n + 1);
    r->stats[at].earlier = trace_string(r->t, text, n + 1 + num_put_i64(text + n + 1, id));
  }
  tk_id to = r->stats[at].earlier;
  const struct arg_builder *b = &r->t->store->builder;
  if (to < b->n_stamps && b->stamps[to] == b->serial)
    xplane_note(r, TK_NOTE_INFO, "more than two stats with the same name on an event: the last two are kept");
  args_rename(r->t, key, to);
}

static void event_stat(struct xplane_reader *r, struct xevent *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct xstat s;
  if (!xplane_stat(&c, &s, &e->odd)) {
    xplane_note_damage(r, pb_in_offset(&r->s), "stat of an event", c.fault);
    e->damaged = true;
    return;
  }
  if (s.more) xplane_note(r, TK_NOTE_INFO, "unknown fields of stats: dropped");
  r->stat_bytes += f->value + (f->value < 0x80 ? 2 : 3); /* lengths of 16 KB or more are rare */
  xplane_see_stat(r, &s);
  tk_id key = provisional_key(r, s.id);
  const struct arg_builder *b = &r->t->store->builder;
  if (!e->has_stats) args_begin(r->t);
  else if (key < b->n_stamps && b->stamps[key] == b->serial) keep_earlier(r, s.id, key);
  e->has_stats = true;
  xplane_arg(r, &s, key);
}

static bool event_fields(struct xplane_reader *r, struct pb *c, struct xevent *e) {
  struct pb_field f;
  for (const uint8_t *from = c->p; pb_next(c, &f); from = c->p) {
    switch (pb_field_key(&f)) {
      case PB_KEY(XEVENT_METADATA_ID, PB_VARINT): e->id = (int64_t)f.value; break;
      case PB_KEY(XEVENT_OFFSET_PS, PB_VARINT):
        e->offset = (int64_t)f.value;
        e->aggregated = false;
        break;
      case PB_KEY(XEVENT_NUM_OCCURRENCES, PB_VARINT):
        e->occurrences = (int64_t)f.value;
        e->aggregated = true;
        e->offset = 0;
        break;
      case PB_KEY(XEVENT_DURATION_PS, PB_VARINT): e->duration = (int64_t)f.value; break;
      case PB_KEY(XEVENT_STATS, PB_BYTES):
        event_stat(r, e, &f);
        break;
      default:
        e->odd = e->odd || f.number <= XEVENT_NUM_OCCURRENCES;
        if (f.number > XEVENT_NUM_OCCURRENCES) buf_append(&r->event_fields, from, (size_t)(c->p - from));
    }
  }
  return !c->fault;
}

static void reserved_arg(struct xplane_reader *r, struct xevent *e, tk_id key, int64_t value) {
  if (!e->has_stats) args_begin(r->t);
  e->has_stats = true;
  args_int(r->t, key, value);
}

/* Keeps fields that our schema lacks, so that they can be written back into an XEvent. */
static void keep_fields(struct xplane_reader *r, struct xevent *e) {
  struct buf *b = &r->event_fields;
  if (!e->has_stats) args_begin(r->t);
  e->has_stats = true;
  xplane_note(r, TK_NOTE_INFO, "unknown fields of events: kept only in XPlane output");
  xplane_arg(r, &(struct xstat){.field = XSTAT_BYTES, .p = b->data, .value = b->len}, KEY_XPLANE_FIELDS);
  b->len = 0;
}

/* Moves unusable values of the event, such as a time out of range, to args. Returns the event's flags. */
static uint8_t make_usable(struct xplane_reader *r, struct xevent *e) {
  uint8_t flags = 0;
  if (e->odd) xplane_note_odd(r);
  if (e->aggregated) {
    xplane_note(r, TK_NOTE_INFO,
                "aggregated events (num_occurrences) have no time: placed at the start of their line");
    reserved_arg(r, e, KEY_XPLANE_OCCURRENCES, e->occurrences);
  }
  if (e->duration < 0 || e->duration >= DAYS_100_PS) {
    xplane_note(r, TK_NOTE_REPAIR,
                e->duration < 0 ? "negative duration: set to 0" : "duration of more than 100 days: set to 0");
    reserved_arg(r, e, KEY_REPAIRED_DUR, e->duration);
    e->duration = 0;
    flags |= TK_FLAG_REPAIRED;
  }
  if (e->offset >= DAYS_100_PS || e->offset <= -DAYS_100_PS) {
    xplane_note(r, TK_NOTE_REPAIR, "events more than 100 days from the start of their line: excluded from time ranges");
    reserved_arg(r, e, KEY_XPLANE_OFFSET, e->offset);
    e->offset = 0;
    flags |= TK_FLAG_LOST_CLOCK;
  } else if (e->offset < 0) {
    xplane_note(r, TK_NOTE_INFO, "events that start before the timestamp of their line: kept");
  }
  return flags;
}

/* True if a damaged length made this event contain other events. The cursor is then moved to the first of them. */
static bool holds_events(struct xplane_reader *r, const uint8_t *p, size_t n, uint64_t end) {
  struct pb_in *s = &r->s;
  const uint64_t at = pb_in_offset(s) - n;
  for (size_t i = 1; i < n; i++) {
    const size_t seen = (size_t)(s->end - p) - i;
    if (!xplane_is_chain(&XPLANE_LINE_LEVEL, p + i, seen < SEEN ? seen : SEEN, end - at - i)) continue;
    return pb_in_back(s, at + i);
  }
  return false;
}

static void event_add_event(struct xplane_reader *r, const struct xplane_line *line, const struct xevent *e, uint8_t flags) {
  struct tk_event *ev = trace_add_event(r->t);
  ev->ts = e->offset;
  ev->dur = e->duration;
  ev->cls = xplane_class_of(r, e->id);
  ev->track = line->track;
  ev->args = e->has_stats ? args_end(r->t) : 0;
  ev->kind = TK_EVENT_SPAN;
  ev->flags = flags | (e->damaged ? TK_FLAG_REPAIRED : 0);
  if (e->has_stats && !ev->flags && !e->odd) xplane_learn_alike(r, e->id, ev->args);
}

static bool is_usable(const struct xevent *e) {
  return !e->odd && !e->aggregated && e->duration >= 0 && e->duration < DAYS_100_PS && e->offset >= 0 && e->offset < DAYS_100_PS;
}

void xplane_read_event(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n, uint64_t end) {
  const uint64_t at = pb_in_offset(&r->s) - n;
  struct pb c = pb_over(p, n);
  struct xevent e = {0};
  r->seen.n = 0;
  if (!event_fields(r, &c, &e) || ((e.odd || e.damaged) && holds_events(r, p, n, end))) {
    if (c.fault) holds_events(r, p, n, end);
    xplane_note_damage(r, at, "event", c.fault ? c.fault : "wrong length");
    r->event_fields.len = 0;
    return;
  }
  if (r->event_fields.len) keep_fields(r, &e);
  event_add_event(r, line, &e, is_usable(&e) ? 0 : make_usable(r, &e));
}

/* True if the content of a field begins like an entry of a map: with a key and a message. */
bool xplane_looks_like_entry(const uint8_t *p, const uint8_t *end) {
  const uint8_t *const from = p;
  if (end - p < 12 || *p++ != PB_KEY(MAP_KEY, PB_VARINT)) return false;
  while (*p++ & 0x80 && p < from + 11) {}
  return *p == PB_KEY(MAP_VALUE, PB_BYTES);
}

bool xplane_read_event_apart(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct xevent e = {0};
  const uint64_t stat_bytes = r->stat_bytes;
  r->seen.n = 0;
  r->unknown = xplane_looks_like_entry(p, r->s.end);
  if (!r->unknown && event_fields(r, &c, &e) && !r->unknown && !r->event_fields.len && is_usable(&e) && xplane_class_of(r, e.id)) {
    event_add_event(r, line, &e, 0);
    return true;
  }
  r->event_fields.len = 0;
  r->stat_bytes = stat_bytes;
  return false;
}
