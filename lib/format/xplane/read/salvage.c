/* salvage.c - see salvage.h. */
#include "salvage.h"

#include <string.h>

#include "format/xplane/fields.h"

static const struct xplane_level STAT = {.wires = "-01002202"},
                                 ENTRY = {.wires = "-02", .first = MAP_KEY, .second = MAP_VALUE},
                                 EVENT = {.wires = "-00020", .first = XEVENT_METADATA_ID, .second = XEVENT_OFFSET_PS};
static const struct xplane_level *const LINE_INNER[] = {[XLINE_EVENTS] = &EVENT, [XLINE_DISPLAY_NAME] = NULL};
static const struct xplane_level *const PLANE_INNER[] = {
    [XPLANE_LINES] = &XPLANE_LINE_LEVEL, [XPLANE_EVENT_METADATA] = &ENTRY, [XPLANE_STAT_METADATA] = &ENTRY, [XPLANE_STATS] = &STAT};
static const struct xplane_level *const SPACE_INNER[] = {[XSPACE_PLANES] = &XPLANE_PLANE_LEVEL, [XSPACE_HOSTNAMES] = NULL};
const struct xplane_level XPLANE_SPACE_LEVEL = {.part = "part of the file", .wires = "-2222", .inner = SPACE_INNER};
const struct xplane_level XPLANE_PLANE_LEVEL = {
    .part = "part of a plane", .wires = "-022222", .inner = PLANE_INNER, .around = &XPLANE_SPACE_LEVEL};
const struct xplane_level XPLANE_LINE_LEVEL = {
    .part = "part of a line", .wires = "-0202----002", .inner = LINE_INNER, .around = &XPLANE_PLANE_LEVEL};

enum { CHAIN = 4, LOOK = 1 << 12, LEAST = 4, /* LEAST: bytes of a message that can be recognised by its contents */
       LEAST_PLANE = 32 };

/* Reads the field at the cursor. Its content may extend beyond the available bytes; *size becomes its complete size. */
static bool read_field(struct pb *c, struct pb_field *f, uint64_t *size) {
  const uint8_t *from = c->p;
  uint64_t tag;
  if (!pb_varint(c, &tag) || tag >> 3 == 0 || tag >> 3 > 15) return false;
  *f = (struct pb_field){.number = (uint32_t)(tag >> 3), .wire = (uint8_t)(tag & 7)};
  if (f->wire == PB_FIXED64 && c->end - c->p < 8) return false;
  if (f->wire == PB_FIXED64) c->p += 8;
  else if ((f->wire != PB_VARINT && f->wire != PB_BYTES) || !pb_varint(c, &f->value)) return false;
  f->p = c->p;
  *size = (uint64_t)(c->p - from) + (f->wire == PB_BYTES ? f->value : 0);
  return f->wire != PB_BYTES || f->value <= INT32_MAX;
}

bool xplane_has_field(const struct xplane_level *level, const struct pb_field *f) {
  return f->number < strlen(level->wires) && level->wires[f->number] == (char)('0' + f->wire);
}

/* Checks the first fields of a message, as far as they are available; nested messages are not checked. */
static bool is_message(const struct xplane_level *level, const uint8_t *p, size_t n, uint64_t size) {
  struct pb c = pb_over(p, n < size ? n : (size_t)size);
  struct pb_field f;
  uint64_t at = 0, field;
  for (unsigned i = 0; i < CHAIN && at < size; i++, at += field) {
    if (n < size && at + PB_HEADER > n) return i > 0; /* the rest of the message is not available */
    c.p = p + at;
    if (c.p >= c.end || !read_field(&c, &f, &field) || !xplane_has_field(level, &f) || field > size - at) return false;
    if (i == 0 && level->first && f.number != level->first) return false;
    if (i == 1 && level->second && f.number != level->second && f.number != XEVENT_NUM_OCCURRENCES) return false;
  }
  return size > 0;
}

/* True for a field of this level that can be recognised. Numbers and names cannot, because they may have any value. */
static bool is_known(const struct xplane_level *level, const struct pb_field *f, const uint8_t *end) {
  const struct xplane_level *inner = f->wire == PB_BYTES && level->inner && xplane_has_field(level, f) ? level->inner[f->number] : NULL;
  return inner && (f->p >= end || is_message(inner, f->p, (size_t)(end - f->p), f->value));
}

bool xplane_is_chain(const struct xplane_level *level, const uint8_t *p, size_t n, uint64_t room) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  uint64_t at = 0, size;
  for (unsigned i = 0; i < CHAIN && at < room; i++, at += size) {
    if (at >= n) return i > 0; /* all available bytes match */
    c.p = p + at;
    if (!read_field(&c, &f, &size) || size > room - at) return false;
    if (i > 0 && level->around && is_known(level->around, &f, c.end)) return true; /* the message ends before this field */
    if (!xplane_has_field(level, &f)) return false;
    if (!is_known(level, &f, c.end) && (i == 0 || (f.wire == PB_BYTES && level->inner[f.number]))) return false;
  }
  return at > 0;
}

static uint64_t room_before(const struct pb_in *s, uint64_t end) {
  return end == UINT64_MAX && s->last ? (uint64_t)(s->end - s->p) : end - pb_in_offset(s);
}

/* True if a chain of fields of this level begins at the cursor (xplane_is_chain). LOOK bytes must be available unless the input
 * ends. */
static bool is_here(const struct pb_in *s, const struct xplane_level *level, uint64_t end) {
  const size_t n = (size_t)(s->end - s->p);
  return pb_in_offset(s) < end && xplane_is_chain(level, s->p, n < LOOK ? n : LOOK, room_before(s, end));
}

/* True at the end of the message according to its length, if the next field is one that the enclosing message may have. */
static bool may_end_here(const struct pb_in *s, const struct xplane_level *level, const struct xplane_extent *extent) {
  struct pb c = pb_over(s->p, (size_t)(s->end - s->p));
  struct pb_field f;
  uint64_t size;
  if (pb_in_offset(s) != extent->end) return false;
  return extent->end == extent->most || !level->around || (read_field(&c, &f, &size) && xplane_has_field(level->around, &f));
}

enum pb_status xplane_resync(struct pb_in *s, const struct xplane_level *level, struct xplane_extent *extent) {
  while (pb_in_offset(s) < extent->most) {
    if (!pb_in_ahead(s, LOOK)) return PB_FAIL;
    if (s->p == s->end) return extent->most == UINT64_MAX ? PB_DONE : PB_CUT;
    const bool beyond = pb_in_offset(s) >= extent->end;
    if (may_end_here(s, level, extent) || (level->around && is_here(s, level->around, extent->most))) return PB_DONE;
    if (is_here(s, level, beyond ? extent->most : extent->end)) {
      if (beyond) extent->end = extent->most;
      return PB_FIELD;
    }
    s->p++;
  }
  return PB_DONE;
}

/* Moves back to the header that was read last. Returns false, without moving, if the header is no longer available or reading
 * fails. */
static bool back_to_header(struct pb_in *s) {
  struct tk_err *err = s->err, unread = {0};
  const uint64_t at = pb_in_offset(s);
  if (!pb_in_back(s, s->header)) return false;
  s->err = &unread; /* the caller reports read errors later */
  const bool seen = pb_in_ahead(s, LOOK);
  s->err = err;
  if (!seen) s->p += at - s->header;
  return seen;
}

bool xplane_step_back(struct pb_in *s, const struct xplane_level *level, uint64_t end) {
  const uint64_t at = pb_in_offset(s);
  if (!back_to_header(s)) return false;
  if (is_here(s, level, end)) return true;
  s->p += at - s->header;
  return false;
}

/* True if the field may be a message with a damaged tag. Fields that may belong to a later version of XSpace are left unchanged. */
static bool may_be(const struct xplane_level *level, uint32_t number, const struct pb_field *was) {
  const struct xplane_level *inner = level->inner[number];
  const bool is_new = was && was->number >= strlen(level->wires), is_text = was && xplane_has_field(level, was);
  if (!inner || (is_text && was->value < LEAST_PLANE)) return false;
  return inner->inner || (!is_new && !is_text);
}

bool xplane_retag(struct pb_in *s, const struct xplane_level *level, uint64_t end, const struct pb_field *was, struct pb_field *f) {
  const uint64_t at = pb_in_offset(s);
  uint64_t size;
  if (!back_to_header(s)) return false;
  struct pb c = pb_over(s->p + 1, (size_t)(s->end - s->p - 1));
  const bool has_size = s->p < s->end && pb_varint(&c, &size);
  const uint64_t behind = has_size ? s->header + (uint64_t)(c.p - s->p) : end;
  for (uint32_t i = 1; has_size && behind < end && size >= LEAST && size <= end - behind && i < strlen(level->wires); i++) {
    if (!may_be(level, i, was) || !is_message(level->inner[i], c.p, (size_t)(c.end - c.p), size)) continue;
    *f = (struct pb_field){.number = i, .wire = PB_BYTES, .value = size};
    s->p = c.p;
    return true;
  }
  s->p += at - s->header;
  return false;
}
