/* read_event.c - lines and their events: XEvent -> event, XStat -> arg.
 *
 * An event takes 18 to 60 bytes on the wire and is decoded where it stands in the window.  What its line says stands in a side
 * table. */
#include "reader.h"

#include <string.h>

static const int64_t DAYS_100_NS = (int64_t)100 * 86400 * 1000000000;
static const int64_t DAYS_100_PS = (int64_t)100 * 86400 * 1000000000000;

/* ---- events ---- */

/* The key of event args until the plane's end: "#7", which is also what stays if nothing names it. */
static tk_id provisional_key(struct xplane_reader *r, int64_t id) {
  char text[24] = "#";
  uint32_t at = xplane_stat_at(r, id);
  if (!at) return KEY_EMPTY;
  if (!r->stats[at].key) r->stats[at].key = trace_string(r->t, text, 1 + num_put_i64(text + 1, id));
  return r->stats[at].key;
}

/* An event under construction: what XEvent says. */
struct xevent {
  int64_t id, offset, duration, occurrences;
  bool aggregated, has_stats, odd;
};

/* Of two stats of one name the last is the arg, as in xprof; the earlier one stays beside it. */
static void keep_earlier(struct xplane_reader *r, int64_t id, tk_id key) {
  char text[64];
  uint32_t at = xplane_stat_at(r, id);
  if (!at) return;
  if (!r->stats[at].earlier) {
    size_t n = strlen(XPLANE_EARLIER);
    memcpy(text, XPLANE_EARLIER "#", n + 1);
    r->stats[at].earlier = trace_string(r->t, text, n + 1 + num_put_i64(text + n + 1, id));
  }
  tk_id to = r->stats[at].earlier;
  const struct arg_builder *b = &r->t->store->builder;
  if (to < b->n_stamps && b->stamps[to] == b->serial)
    xplane_note(r, TK_NOTE_INFO, "more than two stats of one name on an event: the last two are kept");
  args_rename(r->t, key, to);
}

static bool event_stat(struct xplane_reader *r, struct xevent *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct xstat s;
  if (!xplane_stat(&c, &s, &e->odd)) return xplane_damaged(r, &c, "a stat");
  r->stat_bytes += f->value + (f->value < 0x80 ? 2 : 3); /* a length of 16 KB or more is rare */
  tk_id key = provisional_key(r, s.id);
  const struct arg_builder *b = &r->t->store->builder;
  if (!e->has_stats) args_begin(r->t);
  else if (key < b->n_stamps && b->stamps[key] == b->serial) keep_earlier(r, s.id, key);
  e->has_stats = true;
  xplane_arg(r, &s, key);
  return true;
}

static bool event_fields(struct xplane_reader *r, struct pb *c, struct xevent *e) {
  struct pb_field f;
  while (pb_next(c, &f)) {
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
        if (!event_stat(r, e, &f)) return false;
        break;
      default: e->odd = e->odd || f.number <= XEVENT_NUM_OCCURRENCES;
    }
  }
  return !c->fault || xplane_damaged(r, c, "an event");
}

static void reserved_arg(struct xplane_reader *r, struct xevent *e, tk_id key, int64_t value) {
  if (!e->has_stats) args_begin(r->t);
  e->has_stats = true;
  args_int(r->t, key, value);
}

/* Values that cannot stand as they are go into args.  Returns the flags. */
static uint8_t make_usable(struct xplane_reader *r, struct xevent *e) {
  uint8_t flags = 0;
  if (e->odd) xplane_note_odd(r);
  if (e->aggregated) {
    xplane_note(r, TK_NOTE_INFO,
                "aggregated events (num_occurrences) have no time of their own: they stand at their line's start");
    reserved_arg(r, e, KEY_XPLANE_OCCURRENCES, e->occurrences);
  }
  if (e->duration < 0 || e->duration >= DAYS_100_PS) {
    xplane_note(r, TK_NOTE_REPAIR,
                e->duration < 0 ? "negative duration: 0 is taken" : "duration of more than 100 days: 0 is taken");
    reserved_arg(r, e, KEY_REPAIRED_DUR, e->duration);
    e->duration = 0;
    flags |= TK_REPAIRED;
  }
  if (e->offset >= DAYS_100_PS || e->offset <= -DAYS_100_PS) {
    xplane_note(r, TK_NOTE_REPAIR, "events more than 100 days from their line have lost their clock");
    reserved_arg(r, e, KEY_XPLANE_OFFSET, e->offset);
    e->offset = 0;
    flags |= TK_LOST_CLOCK;
  } else if (e->offset < 0) {
    xplane_note(r, TK_NOTE_INFO, "events that start before their line");
  }
  return flags;
}

static bool read_event(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct xevent e = {0};
  struct tk_event *ev;
  uint8_t flags = 0;
  if (!event_fields(r, &c, &e)) return false;
  if (e.odd || e.aggregated || e.duration < 0 || e.duration >= DAYS_100_PS || e.offset < 0 || e.offset >= DAYS_100_PS)
    flags = make_usable(r, &e);
  ev = trace_add_event(r->t);
  ev->ts = e.offset;
  ev->dur = e.duration;
  ev->cls = xplane_class_of(r, e.id);
  ev->track = line->track;
  ev->args = e.has_stats ? args_end(r->t) : 0;
  ev->kind = TK_SPAN;
  ev->flags = flags;
  return true;
}

/* ---- lines ---- */

/* The domain of a line: those that are less than 100 days from the domain's first one. */
static uint32_t domain_of(struct xplane_reader *r, int64_t timestamp_ns) {
  for (uint32_t i = r->n_domains; i-- > 0;) {
    if (r->domains[i].segment != r->segment) break;
    i128 apart = (i128)timestamp_ns - r->domains[i].ref_ns;
    if (apart < DAYS_100_NS && apart > -(i128)DAYS_100_NS) return i;
  }
  if (r->n_domains == DOMAINS) return DOMAINS - 1;
  r->domains[r->n_domains] = (struct xplane_domain){.ref_ns = timestamp_ns, .min = INT64_MAX, .segment = r->segment};
  /* Times near zero count from zero: what they print is what the file says. */
  if (timestamp_ns < DAYS_100_NS && timestamp_ns > -DAYS_100_NS) r->domains[r->n_domains].ref_ns = 0;
  return r->n_domains++;
}

/* Offsets become times, now that the line's timestamp is certain. */
static void place_line(struct xplane_reader *r, struct xplane_line *line) {
  struct tk_trace *t = r->t;
  struct xplane_domain *d = &r->domains[line->domain = domain_of(r, line->timestamp_ns)];
  i128 base = ((i128)line->timestamp_ns - d->ref_ns) * 1000;
  bool lost = base >= DAYS_100_PS || base <= -(i128)DAYS_100_PS;
  line->zero_ps = lost ? 0 : (int64_t)base;
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    struct tk_event *e = &t->events[i];
    i128 ts = base + e->ts;
    if (e->flags & TK_LOST_CLOCK) continue;
    if (lost || ts >= DAYS_100_PS || ts <= -(i128)DAYS_100_PS) {
      e->flags |= TK_LOST_CLOCK;
      xplane_note(r, TK_NOTE_REPAIR, "events more than 100 days from the rest have lost their clock");
      continue;
    }
    e->ts = (tk_time)ts;
    d->n_events++;
    if (e->ts < d->min) d->min = e->ts;
  }
}

static enum pb_status line_text(struct xplane_reader *r, const struct pb_field *f, tk_id *id) {
  const uint8_t *p;
  enum pb_status status = pb_in_bytes(&r->s, f->value, &p);
  if (status == PB_FIELD) *id = xplane_text(r, p, (size_t)f->value);
  return status;
}

static enum pb_status line_field(struct xplane_reader *r, struct xplane_line *line, const struct pb_field *f) {
  enum pb_status status = PB_FIELD;
  const uint8_t *p;
  switch (pb_field_key(f)) {
    case PB_KEY(XLINE_EVENTS, PB_BYTES):
      status = pb_in_bytes(&r->s, f->value, &p);
      return status == PB_FIELD && !read_event(r, line, p, (size_t)f->value) ? PB_FAIL : status;
    case PB_KEY(XLINE_ID, PB_VARINT): line->id = (int64_t)f->value; break;
    case PB_KEY(XLINE_NAME, PB_BYTES): return line_text(r, f, &line->name);
    case PB_KEY(XLINE_TIMESTAMP_NS, PB_VARINT): line->timestamp_ns = (int64_t)f->value; break;
    case PB_KEY(XLINE_DURATION_PS, PB_VARINT): line->duration_ps = (int64_t)f->value; break;
    case PB_KEY(XLINE_DISPLAY_ID, PB_VARINT): line->display_id = (int64_t)f->value; break;
    case PB_KEY(XLINE_DISPLAY_NAME, PB_BYTES): return line_text(r, f, &line->display_name);
    default:
      if (f->number <= XLINE_EVENTS || (f->number >= XLINE_DURATION_PS && f->number <= XLINE_DISPLAY_NAME)) xplane_note_odd(r);
      if (f->wire == PB_BYTES) status = pb_in_skip(&r->s, f->value);
  }
  return status;
}

/* The name of a line is often behind its events, so what it is of is finished here. */
enum pb_status xplane_read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, uint64_t end) {
  enum { TICK = 1 << 16 };
  struct xplane_line line = {.process = process, .first = r->t->n_events + 1, .ordinal = ordinal};
  enum pb_status status;
  struct pb_field f;
  uint32_t n = 0;
  line.track = xplane_new_track(r, TK_THREAD, process);
  while ((status = pb_in_next(&r->s, end, &f)) == PB_FIELD) {
    if ((status = line_field(r, &line, &f)) != PB_FIELD) break;
    if (++n % TICK == 0 && !xplane_tick(r)) return PB_FAIL;
  }
  if (status == PB_FAIL) {
    err_prefix(r->err, "line '%s'", tk_string(r->t, line.name, NULL));
    return status;
  }
  line.count = r->t->n_events + 1 - line.first;
  if (strcmp(tk_string(r->t, line.name, NULL), XPLANE_COUNTERS) == 0) line.kind = XLINE_COUNTERS;
  r->t->tracks[line.track].name = xplane_shown(line.display_name ? line.display_name : line.name);
  place_line(r, &line);
  buf_append(&r->lines, &line, sizeof line);
  return status;
}
