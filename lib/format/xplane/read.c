/* read.c - XSpace -> graph: one pass over the bytes.  See xplane.h for how names come after what they name.
 *
 *     XSpace    errors, warnings, hostnames           kept as they are
 *       XPlane  -> process track                      its fields but the lines are kept as they are: metadata, stats, HLO
 * protos XLine -> thread track                       id, display_id, timestamp and duration in a side table XEvent -> event
 * decoded in the window, 18 to 60 bytes each XStat -> arg                            typed
 *
 * What is malformed is an error; a file that was cut keeps what came before the cut. */
#include "xplane.h"

#include <string.h>

#include "format/json.h"
#include "format/pb_out.h"

static const int64_t DAYS_100_NS = (int64_t)100 * 86400 * 1000000000;
static const int64_t DAYS_100_PS = (int64_t)100 * 86400 * 1000000000000;

void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text) {
  trace_note(r->t, kind, pb_in_offset(&r->s), text);
}

bool xplane_damaged(struct xplane_reader *r, const struct pb *c, const char *where) {
  uint64_t at = pb_in_offset(&r->s);
  return err_at(r->err, c->limit ? TK_ELIMIT : TK_ECORRUPT, at, "%s in %s before byte %llu", c->fault, where,
                (unsigned long long)at);
}

static void note_odd(struct xplane_reader *r) {
  xplane_note(r, TK_NOTE_REPAIR, "fields of another wire type than their own: passed over");
}

/* ---- strings ---- */

tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n) {
  bool repaired = false;
  tk_id id = intern_text(&r->t->store->strings, p, n, r->n_opaque != 0, &repaired);
  if (repaired) xplane_note(r, TK_NOTE_REPAIR, "text that is not UTF-8: replaced by U+FFFD");
  return id;
}

/* ---- stats ---- */

bool xplane_stat(struct pb *c, struct xstat *s, bool *odd) {
  struct pb_field f;
  *s = (struct xstat){0};
  while (pb_next(c, &f)) {
    switch (pb_field_key(&f)) {
      case PB_KEY(XSTAT_METADATA_ID, PB_VARINT): s->id = (int64_t)f.value; break;
      case PB_KEY(XSTAT_DOUBLE, PB_FIXED64):
      case PB_KEY(XSTAT_UINT64, PB_VARINT):
      case PB_KEY(XSTAT_INT64, PB_VARINT):
      case PB_KEY(XSTAT_REF, PB_VARINT):
      case PB_KEY(XSTAT_STR, PB_BYTES):
      case PB_KEY(XSTAT_BYTES, PB_BYTES):
      case PB_KEY(XSTAT_COMPRESSED_STR, PB_BYTES):
        s->field = (uint8_t)f.number; /* members of a oneof: the last on the wire counts */
        s->value = f.value;
        s->p = f.p;
        break;
      default: *odd = *odd || f.number <= XSTAT_COMPRESSED_STR;
    }
  }
  return !c->fault;
}

uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id) {
  unsigned slot = (unsigned)id & 255;
  uint32_t *at;
  if (r->stat_cache[slot].at && r->stat_cache[slot].id == id) return r->stat_cache[slot].at;
  at = map_put(&r->stat_ids, (uint64_t)id, 0);
  if (!at) return 0;
  if (!*at) {
    if (!mem_grow(&r->t->store->mem, (void **)&r->stats, &r->cap_stats, (uint64_t)r->n_stats + 2, sizeof *r->stats)) return 0;
    r->stats[ *at = ++r->n_stats] = (struct xplane_stat_name){.id = id, .type = TK_ARG_TYPES};
  }
  r->stat_cache[slot].id = id;
  return r->stat_cache[slot].at = *at;
}

/* The key of event args until the plane's end: "#7", which is also what stays if nothing names it. */
static tk_id provisional_key(struct xplane_reader *r, int64_t id) {
  char text[24] = "#";
  uint32_t at = xplane_stat_at(r, id);
  if (!at) return KEY_EMPTY;
  if (!r->stats[at].key) r->stats[at].key = trace_string(r->t, text, 1 + num_put_i64(text + 1, id));
  return r->stats[at].key;
}

/* A ref is packed as the place of its target in r->stats, at the width of any string id, and resolved at the plane's end. */
static void add_ref(struct xplane_reader *r, tk_id key, int64_t target) {
  struct buf *payload = &r->t->store->builder.payload;
  uint32_t at = xplane_stat_at(r, target);
  uint8_t wide[5];
  size_t before = payload->len;
  args_str(r->t, key, TK_ARG_REF, 0);
  if (payload->len != before + 1) return;
  payload->len = before;
  for (unsigned i = 0; i < 5; i++) wide[i] = (uint8_t)((at >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  buf_append(payload, wide, 5);
}

/* Bytes share the table of strings: from the first that are no text on, text is checked again each time. */
static tk_id opaque(struct xplane_reader *r, const struct xstat *s) {
  if (!utf8_valid(s->p, (size_t)s->value)) r->n_opaque++;
  return trace_string(r->t, s->p, (size_t)s->value);
}

void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key) {
  struct tk_trace *t = r->t;
  switch (s->field) {
    case XSTAT_DOUBLE: args_double(t, key, pb_as_double(s->value)); return;
    case XSTAT_UINT64: args_uint(t, key, TK_ARG_UINT, s->value); return;
    case XSTAT_INT64: args_int(t, key, (int64_t)s->value); return;
    case XSTAT_STR: args_str(t, key, TK_ARG_STR, xplane_text(r, s->p, (size_t)s->value)); return;
    case XSTAT_REF: add_ref(r, key, (int64_t)s->value); return;
    case XSTAT_COMPRESSED_STR:
      xplane_note(r, TK_NOTE_INFO, "compressed strings: kept as bytes");
      args_str(t, key, TK_ARG_BYTES, opaque(r, s));
      return;
    case XSTAT_BYTES: args_str(t, key, TK_ARG_BYTES, opaque(r, s)); return;
    default: args_flag(t, key, TK_ARG_NULL);
  }
}

/* ---- classes ---- */

tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from) {
  static const struct xplane_class none = {0};
  tk_id id;
  trace_add_class(r->t);
  id = r->t->n_classes;
  while (r->classes.len < (size_t)id * sizeof none && buf_append(&r->classes, &none, sizeof none)) {
  }
  buf_append(&r->classes, &from, sizeof from);
  return id;
}

tk_id xplane_class_of(struct xplane_reader *r, int64_t id) {
  unsigned slot = (unsigned)id & 1023;
  tk_id *cls;
  uint32_t n;
  if (r->class_cache[slot].cls && r->class_cache[slot].id == id) return r->class_cache[slot].cls;
  cls = map_put(&r->class_ids, (uint64_t)id, 0);
  if (!cls) return 0;
  if (!*cls) {
    const struct xplane_plane *p = xplane_planes(r, &n);
    *cls = xplane_new_class(r, (struct xplane_class){.process = n ? p[n - 1].process : 0, .id = id});
  }
  r->class_cache[slot].id = id;
  return r->class_cache[slot].cls = *cls;
}

/* ---- events ---- */

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
  if (e->odd) note_odd(r);
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

static tk_id new_track(struct xplane_reader *r, enum tk_track_kind kind, tk_id parent) {
  struct tk_track *k = trace_add_track(r->t);
  k->kind = (uint8_t)kind;
  k->parent = parent;
  k->renamed = true; /* no record says its name */
  return r->t->n_tracks;
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
      if (f->number <= XLINE_EVENTS || (f->number >= XLINE_DURATION_PS && f->number <= XLINE_DISPLAY_NAME)) note_odd(r);
      if (f->wire == PB_BYTES) status = pb_in_skip(&r->s, f->value);
  }
  return status;
}

static bool tick(struct xplane_reader *r) {
  struct tk_progress progress = r->opt->progress;
  if (!mem_check(&r->t->store->mem, r->err)) return false;
  if (progress.tick && !progress.tick(progress.arg, in_raw_read(r->s.in), in_raw_total(r->s.in)))
    return err_set(r->err, TK_EINTERRUPTED, "interrupted");
  return true;
}

/* "" is no name to show. */
static tk_id shown(tk_id name) { return name == KEY_EMPTY ? 0 : name; }

/* The name of a line is often behind its events, so what it is of is finished here. */
static enum pb_status read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, uint64_t end) {
  enum { TICK = 1 << 16 };
  struct xplane_line line = {.process = process, .first = r->t->n_events + 1, .ordinal = ordinal};
  enum pb_status status;
  struct pb_field f;
  uint32_t n = 0;
  line.track = new_track(r, TK_THREAD, process);
  while ((status = pb_in_next(&r->s, end, &f)) == PB_FIELD) {
    if ((status = line_field(r, &line, &f)) != PB_FIELD) break;
    if (++n % TICK == 0 && !tick(r)) return PB_FAIL;
  }
  if (status == PB_FAIL) {
    err_prefix(r->err, "line '%s'", tk_string(r->t, line.name, NULL));
    return status;
  }
  line.count = r->t->n_events + 1 - line.first;
  if (strcmp(tk_string(r->t, line.name, NULL), XPLANE_COUNTERS) == 0) line.kind = XLINE_COUNTERS;
  r->t->tracks[line.track].name = shown(line.display_name ? line.display_name : line.name);
  place_line(r, &line);
  buf_append(&r->lines, &line, sizeof line);
  return status;
}

/* ---- planes ---- */

static void forget_plane(struct xplane_reader *r) {
  struct mem *mem = &r->t->store->mem;
  if (r->n_stats == 0 && r->class_ids.n == 0) return; /* files of a million empty planes exist */
  map_free(&r->class_ids);
  map_free(&r->stat_ids);
  map_init(&r->class_ids, mem);
  map_init(&r->stat_ids, mem);
  r->n_stats = 0;
  memset(r->class_cache, 0, sizeof r->class_cache);
  memset(r->stat_cache, 0, sizeof r->stat_cache);
  /* Shapes of a plane were indexed under provisional keys. */
  map_free(&r->t->store->shape_index);
  map_init(&r->t->store->shape_index, mem);
}

/* A field as it is on the wire, but for varints that took more bytes than they need. */
static void keep_field(struct buf *b, const struct pb_field *f) {
  uint8_t *q;
  if (f->wire == PB_BYTES) pb_bytes(b, f->number, f->p, (size_t)f->value);
  else if (f->wire == PB_VARINT) pb_u64(b, f->number, f->value);
  else if (f->wire == PB_FIXED64) pb_fixed64(b, f->number, f->value);
  else if ((q = buf_reserve(b, 16)) != NULL) {
    q = pb_key(q, f->number, PB_FIXED32);
    for (unsigned i = 0; i < 4; i++) *q++ = (uint8_t)(f->value >> (8 * i));
    b->len = (size_t)(q - b->data);
  }
}

/* A field that is not a line: kept as it is, and looked at when the plane ends. */
static enum pb_status plane_field(struct xplane_reader *r, struct xplane_plane *plane, struct pb_field *f) {
  enum pb_status status = PB_FIELD;
  if (f->wire == PB_BYTES) status = pb_in_bytes(&r->s, f->value, &f->p);
  if (status != PB_FIELD) return status;
  switch (pb_field_key(f)) {
    case PB_KEY(XPLANE_ID, PB_VARINT): plane->id = (int64_t)f->value; break;
    case PB_KEY(XPLANE_NAME, PB_BYTES): plane->name = xplane_text(r, f->p, (size_t)f->value); break;
    case PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES):
    case PB_KEY(XPLANE_STAT_METADATA, PB_BYTES):
    case PB_KEY(XPLANE_STATS, PB_BYTES): break;
    default:
      if (f->number <= XPLANE_STATS) {
        note_odd(r);
        return PB_FIELD;
      }
  }
  keep_field(&r->t->store->raw, f);
  return mem_check(&r->t->store->mem, r->err) ? PB_FIELD : PB_FAIL;
}

static enum pb_status plane_fields(struct xplane_reader *r, struct xplane_plane *plane, uint64_t end) {
  enum pb_status status;
  struct pb_field f;
  while ((status = pb_in_next(&r->s, end, &f)) == PB_FIELD) {
    if (pb_field_key(&f) == PB_KEY(XPLANE_LINES, PB_BYTES)) {
      uint64_t at = pb_in_offset(&r->s);
      status = read_line(r, plane->process, ++plane->lines, at + f.value);
      plane->line_bytes += pb_in_offset(&r->s) - at;
      if (status == PB_DONE) status = PB_FIELD;
    } else {
      status = plane_field(r, plane, &f);
    }
    if (status != PB_FIELD || !tick(r)) break;
  }
  return status == PB_FIELD ? PB_FAIL : status;
}

/* Parts of one plane (repeated fields may come in several) share a process; of files joined by cat, each has its own. */
static void join_parts(struct xplane_reader *r, uint32_t at, uint32_t first_line) {
  uint32_t n, n_lines, *same;
  struct xplane_plane *planes = xplane_planes(r, &n), *plane = &planes[at];
  struct xplane_line *lines = xplane_lines(r, &n_lines);
  uint64_t key = ((uint64_t)plane->segment << 32 | plane->name) * 0x9e3779b97f4a7c15u + (uint64_t)plane->id;
  if (plane->lines == 0 || (same = map_put(&r->parts, key, at + 1)) == NULL || *same == at + 1) return;
  if (planes[*same - 1].id != plane->id || planes[*same - 1].name != plane->name) return;
  xplane_note(r, TK_NOTE_INFO, "plane in several parts: joined");
  for (uint32_t k = first_line; k < n_lines; k++) {
    lines[k].process = planes[*same - 1].process;
    r->t->tracks[lines[k].track].parent = lines[k].process;
  }
  r->t->tracks[plane->process].name = 0;
  r->t->tracks[plane->process].hidden = true;
}

static enum pb_status read_plane(struct xplane_reader *r, uint64_t end) {
  uint32_t first_line, n;
  enum pb_status status;
  struct xplane_plane plane = {.at = r->t->store->raw.len};
  if (r->segment_ends) r->segment++;
  r->segment_ends = false;
  plane.segment = r->segment;
  plane.process = new_track(r, TK_PROCESS, 0);
  xplane_lines(r, &first_line);
  plane.first_line = first_line;
  forget_plane(r);
  r->stat_bytes = 0;
  r->first_shape = r->t->store->n_shapes + 1;
  buf_append(&r->planes, &plane, sizeof plane);
  status = plane_fields(r, &plane, end);
  plane.size = r->t->store->raw.len - plane.at;
  plane.stat_bytes = r->stat_bytes;
  r->t->tracks[plane.process].name = shown(plane.name);
  if (status != PB_FAIL && !xplane_name_plane(r, &plane, first_line)) status = PB_FAIL;
  if (status == PB_FAIL) {
    err_prefix(r->err, "plane '%s'", tk_string(r->t, plane.name, NULL));
    return status;
  }
  if (plane.lines == 0 && r->t->n_tracks == plane.process) {
    r->t->n_tracks--; /* metadata alone: no timeline */
    plane.process = 0;
  }
  xplane_planes(r, &n);
  ((struct xplane_plane *)(void *)r->planes.data)[n - 1] = plane;
  join_parts(r, n - 1, first_line);
  return status;
}

/* ---- the file ---- */

/* Where a message ends; lengths that no file has end at no place that is reached. */
static uint64_t end_of(const struct xplane_reader *r, uint64_t length) {
  uint64_t at = pb_in_offset(&r->s);
  return length > UINT64_MAX / 2 - at ? UINT64_MAX / 2 : at + length;
}

static enum pb_status space_field(struct xplane_reader *r, struct pb_field *f) {
  enum pb_status status = PB_FIELD;
  if (pb_field_key(f) == PB_KEY(XSPACE_PLANES, PB_BYTES)) {
    status = read_plane(r, end_of(r, f->value));
    return status == PB_DONE ? PB_FIELD : status;
  }
  if (f->wire == PB_BYTES) status = pb_in_bytes(&r->s, f->value, &f->p);
  if (status != PB_FIELD) return status;
  if (f->number <= XSPACE_HOSTNAMES && f->wire != PB_BYTES) {
    note_odd(r);
    return PB_FIELD;
  }
  if (!r->segment_ends) pb_u64(&r->space, XPLANE_SEGMENT, r->segment);
  r->segment_ends = true;
  keep_field(&r->space, f);
  return PB_FIELD;
}

static bool read_space(struct xplane_reader *r) {
  enum pb_status status;
  struct pb_field f;
  uint32_t n;
  if (!pb_in_ahead(&r->s, FORMAT_PEEK * 16)) return false;
  if (xplane_mangled(r->s.p, (size_t)(r->s.end - r->s.p)))
    return err_set(r->err, TK_ECORRUPT,
                   "damaged by a text filter: bytes above 0x7f were replaced by U+FFFD (EF BF BD); get the file again "
                   "in binary mode");
  while ((status = pb_in_next(&r->s, UINT64_MAX, &f)) == PB_FIELD && (status = space_field(r, &f)) == PB_FIELD) {
  }
  if (status == PB_FAIL) return false;
  if (status == PB_CUT) {
    xplane_note(r, TK_NOTE_REPAIR, "truncated: the file ends inside of a message");
    r->t->truncated = true;
  }
  xplane_planes(r, &n);
  if (n == 0 && r->space.len == 0) return err_set(r->err, TK_EFORMAT, "no planes");
  return true;
}

static bool xplane_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct xplane_reader *r = mem_alloc(mem, sizeof *r);
  bool ok;
  if (!r) return mem_check(mem, err);
  *r = (struct xplane_reader){.t = t, .err = err, .opt = opt, .s = {.in = in, .err = err}};
  r->planes.mem = r->lines.mem = r->classes.mem = r->space.mem = r->text.mem = mem;
  map_init(&r->class_ids, mem);
  map_init(&r->stat_ids, mem);
  map_init(&r->parts, mem);
  ok = read_space(r);
  if (ok) {
    t->counts.bytes = pb_in_offset(&r->s);
    t->counts.read = t->n_events;
    forget_plane(r);
    xplane_finish(r);
  }
  map_free(&r->class_ids);
  map_free(&r->stat_ids);
  map_free(&r->parts);
  mem_free(mem, r->stats);
  buf_free(&r->planes);
  buf_free(&r->lines);
  buf_free(&r->classes);
  buf_free(&r->space);
  buf_free(&r->text);
  mem_free(mem, r);
  return ok && mem_check(mem, err);
}

static const char *const ENDINGS[] = {".xplane.pb", ".pb", NULL};

const struct format format_xplane = {
    .binary = true,
    .own_order = true,
    .info = {.name = XPLANE_FORMAT, .title = "XPlane", .ending = ".xplane.pb", .endings = ENDINGS,
             .holds = TK_HOLDS_ALL & ~TK_HOLDS_MACHINES, .resolution = 1, .can_read = true, .can_write = true},
    .bid = xplane_bid,
    .read = xplane_read,
    .inspect = xplane_inspect,
    .join = xplane_join,
    .join_finish = xplane_join_finish,
    .writer = xplane_writer,
};
