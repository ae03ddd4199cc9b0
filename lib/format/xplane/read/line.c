/* line.c - reads the lines of a plane: an XLine becomes a track, and determines the clock of its events.
 *
 * A line's own fields may be before or after its events, so the properties of the line are set at its end, in a side table. */
#include <string.h>

#include "format/pb_out.h"
#include "reader.h"
#include "line.h"
#include "event.h"
#include "chunks.h"
#include "alike.h"

static const int64_t DAYS_100_NS = (int64_t)100 * 86400 * 1000000000;
static const int64_t DAYS_100_PS = (int64_t)100 * 86400 * 1000000000000;

/* Returns the domain of a line. Lines whose timestamps are less than 100 days from the domain's first line belong to it. */
static uint32_t domain_of(struct xplane_reader *r, int64_t timestamp_ns) {
  for (uint32_t i = r->n_domains; i-- > 0;) {
    if (r->domains[i].segment != r->segment) break;
    i128 apart = (i128)timestamp_ns - r->domains[i].ref_ns;
    if (apart < DAYS_100_NS && apart > -(i128)DAYS_100_NS) return i;
  }
  if (r->n_domains == DOMAINS) return DOMAINS - 1;
  r->domains[r->n_domains] = (struct xplane_domain){.ref_ns = timestamp_ns, .min = INT64_MAX, .segment = r->segment};
  /* Times near zero are relative to zero, so that they are printed as in the file. */
  if (timestamp_ns < DAYS_100_NS && timestamp_ns > -DAYS_100_NS) r->domains[r->n_domains].ref_ns = 0;
  return r->n_domains++;
}

/* Converts the offsets of a line's events to times. Called when the line's timestamp is known. */
static void place_line(struct xplane_reader *r, struct xplane_line *line) {
  struct tk_trace *t = r->t;
  struct xplane_domain *d = &r->domains[line->domain = domain_of(r, line->timestamp_ns)];
  i128 base = ((i128)line->timestamp_ns - d->ref_ns) * 1000;
  bool lost = base >= DAYS_100_PS || base <= -(i128)DAYS_100_PS;
  line->zero_ps = lost ? 0 : (int64_t)base;
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    struct tk_event *e = &t->events[i];
    i128 ts = base + e->ts;
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (lost || ts >= DAYS_100_PS || ts <= -(i128)DAYS_100_PS) {
      e->flags |= TK_FLAG_LOST_CLOCK;
      xplane_note(r, TK_NOTE_REPAIR, "events more than 100 days from the rest: excluded from time ranges");
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

/* Skips a known field that has the wrong wire type; keeps an unknown field. */
static enum pb_status odd_line_field(struct xplane_reader *r, struct xplane_line *line, const struct pb_field *f) {
  const bool known = f->number <= XLINE_EVENTS || (f->number >= XLINE_DURATION_PS && f->number <= XLINE_DISPLAY_NAME);
  struct pb_field whole = *f;
  enum pb_status status = PB_FIELD;
  if (known) xplane_note_odd(r);
  if (known) return f->wire == PB_BYTES ? pb_in_skip(&r->s, f->value) : PB_FIELD;
  if (f->wire == PB_BYTES) status = pb_in_bytes(&r->s, f->value, &whole.p);
  if (status != PB_FIELD) return status;
  xplane_note(r, TK_NOTE_INFO, "unknown fields of lines: kept only in XPlane output");
  if (!line->fields_size) line->fields_at = r->line_fields.len;
  pb_field(&r->line_fields, &whole);
  line->fields_size = (uint32_t)(r->line_fields.len - line->fields_at);
  return PB_FIELD;
}

static enum pb_status line_field(struct xplane_reader *r, struct xplane_line *line, const struct pb_field *f, uint64_t end) {
  enum pb_status status = PB_FIELD;
  const uint8_t *p;
  switch (pb_field_key(f)) {
    case PB_KEY(XLINE_EVENTS, PB_BYTES):
      status = pb_in_bytes(&r->s, f->value, &p);
      if (status == PB_FIELD) xplane_read_event(r, line, p, (size_t)f->value, end);
      return status;
    case PB_KEY(XLINE_ID, PB_VARINT): line->id = (int64_t)f->value; break;
    case PB_KEY(XLINE_NAME, PB_BYTES):
      status = line_text(r, f, &line->name);
      r->line_name = line->name;
      return status;
    case PB_KEY(XLINE_TIMESTAMP_NS, PB_VARINT): line->timestamp_ns = (int64_t)f->value; break;
    case PB_KEY(XLINE_DURATION_PS, PB_VARINT): line->duration_ps = (int64_t)f->value; break;
    case PB_KEY(XLINE_DISPLAY_ID, PB_VARINT): line->display_id = (int64_t)f->value; break;
    case PB_KEY(XLINE_DISPLAY_NAME, PB_BYTES): return line_text(r, f, &line->display_name);
    default: return odd_line_field(r, line, f);
  }
  return status;
}

/* True for a field that planes have and lines do not have: the line ends here, whatever length it states. The cursor is moved back to
 * this field. */
static bool is_behind(struct xplane_reader *r, const struct pb_field *f, uint64_t most) {
  const uint32_t key = pb_field_key(f);
  bool odd = key == PB_KEY(XPLANE_LINES, PB_BYTES) || key == PB_KEY(XPLANE_STAT_METADATA, PB_BYTES);
  if (!odd && (key != PB_KEY(XLINE_EVENTS, PB_BYTES) || !xplane_looks_like_entry(r->s.p, r->s.end))) return false;
  return xplane_step_back(&r->s, &XPLANE_PLANE_LEVEL, most);
}

static enum pb_status line_fields(struct xplane_reader *r, struct xplane_line *line, struct xplane_extent extent) {
  enum { TICK = 1 << 16 };
  enum pb_status status;
  struct pb_field f;
  for (uint32_t n = 1;; n++) {
    if (!r->opt->no_templates) n += xplane_read_alike(r, line, extent.end, TICK - n % TICK);
    if (xplane_chunks_are_due(r, extent.end)) {
      if (!xplane_chunks_read(r, line->track, extent.end)) return PB_FAIL;
      continue;
    }
    status = xplane_next(r, &XPLANE_LINE_LEVEL, &extent, &f);
    if (status == PB_FIELD && is_behind(r, &f, extent.most)) {
      xplane_note(r, TK_NOTE_REPAIR, "line shorter than its stated length");
      return PB_DONE;
    }
    if (status == PB_FIELD) status = line_field(r, line, &f, extent.end);
    if (status != PB_FIELD) return status;
    if (n % TICK == 0 && !xplane_tick(r)) return PB_FAIL;
  }
}

/* Reads a line and its events, then sets the properties of the track: the name of a line is often after its events. */
enum pb_status xplane_read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, struct xplane_extent extent) {
  struct xplane_line line = {.process = process, .first = r->t->n_events + 1, .ordinal = ordinal};
  line.track = xplane_new_track(r, TK_TRACK_THREAD, process);
  const enum pb_status status = line_fields(r, &line, extent);
  if (status == PB_FAIL) {
    err_prefix(r->err, "line '%s'", tk_string(r->t, line.name, NULL));
    return status;
  }
  line.count = r->t->n_events + 1 - line.first;
  if (strcmp(tk_string(r->t, line.name, NULL), XPLANE_COUNTERS) == 0) line.kind = XLINE_COUNTERS;
  r->t->tracks[line.track].name = xplane_shown(line.display_name ? line.display_name : line.name);
  r->line_name = 0;
  place_line(r, &line);
  buf_append(&r->lines, &line, sizeof line);
  return status;
}
