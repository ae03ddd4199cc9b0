/* detect.c - recognises an XSpace.
 *
 * XPlane and Perfetto files both begin with 0x0A (field 1, length-delimited), and nearly all fields of one have numbers and
 * wire types that are also valid in the other. They differ one level down: a plane's name is text, its lines and map entries
 * parse as messages with certain fields, and all of them end within the plane. Each part that fits adds to the score; a part
 * that is impossible makes the score 0. */
#include <string.h>

#include "detect.h"
#include "base/text.h"
#include "base/utf8.h"
#include "format/xplane/fields.h"
#include "format/pb.h"
#include "format/xplane/xplane.h"

/* True if the message consists of fields with the numbers and wire types in `allowed`. If `cut`, it may end early. */
static bool fits(struct pb c, const char *allowed, bool cut) {
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number > 15 || allowed[f.number] != (char)('0' + f.wire)) return false;
  return !c.fault || cut;
}

/* Wire types by field number; '-' = no such field. */
static const char SPACE[] = "-2222-----------", PLANE[] = "-022222---------", LINE[] = "-0202----002----",
                  ENTRY[] = "-02-------------", EVENT[] = "-00020----------", STAT[] = "-01002202-------";

static const struct pb_shape STAT_SHAPE = {.wires = STAT}, ENTRY_SHAPE = {.wires = ENTRY};
static const struct pb_shape *const EVENT_INNER[] = {[XEVENT_STATS] = &STAT_SHAPE, [sizeof EVENT] = NULL};
static const struct pb_shape EVENT_SHAPE = {EVENT, EVENT_INNER};
static const struct pb_shape *const LINE_INNER[] = {[XLINE_EVENTS] = &EVENT_SHAPE, [sizeof LINE] = NULL};
static const struct pb_shape LINE_SHAPE = {LINE, LINE_INNER};
static const struct pb_shape *const PLANE_INNER[] = {[XPLANE_LINES] = &LINE_SHAPE,
                                                     [XPLANE_EVENT_METADATA] = &ENTRY_SHAPE,
                                                     [XPLANE_STAT_METADATA] = &ENTRY_SHAPE,
                                                     [XPLANE_STATS] = &STAT_SHAPE,
                                                     [sizeof PLANE] = NULL};
static const struct pb_shape PLANE_SHAPE = {PLANE, PLANE_INNER};
static const struct pb_shape *const SPACE_INNER[] = {[XSPACE_PLANES] = &PLANE_SHAPE, [sizeof SPACE] = NULL};
const struct pb_shape xplane_shape = {SPACE, SPACE_INNER};

/* True for names that profilers and tracekit use. */
static bool is_plane_name(const uint8_t *p, size_t n) {
  static const char *const NAMES[] = {"/host:", "/device:", "Task Env", XPLANE_PRIVATE_PLANE};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (n >= strlen(NAMES[i]) && memcmp(p, NAMES[i], strlen(NAMES[i])) == 0) return true;
  return false;
}

/* KNOWN: score of a plane name that profilers use. FILLED: score of a plane with such a name and with contents, because an
 * interned string of a Perfetto file may equal the name alone. */
enum { KNOWN = 32, FILLED = 2 + KNOWN + 4 };

static unsigned plane_bid(const struct pb_field *f, bool cut, bool *wrong) {
  static const char *const inner[] = {[XPLANE_LINES] = LINE, [XPLANE_EVENT_METADATA] = ENTRY, [XPLANE_STAT_METADATA] = ENTRY};
  unsigned bits = 0;
  if (f->number > XPLANE_STATS || (f->number > XPLANE_NAME && PLANE[f->number] != (char)('0' + f->wire))) {
    *wrong = true;
    return 0;
  }
  if (f->wire != PB_BYTES) return 2;
  if (f->number == XPLANE_NAME) {
    bool known = is_plane_name(f->p, (size_t)f->value);
    for (size_t i = 0; i < f->value; i++)
      if (f->p[i] < 0x20 && f->p[i] != '\n' && f->p[i] != '\t') return 1;
    return known ? KNOWN : 6;
  }
  if (f->number >= XPLANE_LINES && f->number <= XPLANE_STAT_METADATA) {
    if (!fits(pb_inside(f), inner[f->number], cut)) {
      *wrong = true;
      return 0;
    }
    bits = 4;
  }
  return bits;
}

/* Returns the score of planes. The last one may continue after the available bytes; its last field is examined as far as
 * possible. */
static unsigned planes_bid(const uint8_t *p, size_t n, bool cut, bool *wrong) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  unsigned bits = 2;
  for (unsigned i = 0; i < 16 && !*wrong && pb_next(&c, &f); i++) bits += plane_bid(&f, false, wrong);
  if (c.fault && !cut && bits < 16) return 2; /* damaged, so this is weak evidence */
  return bits;
}

/* Returns the score if the first lengths are damaged: looks for a text field that begins like a plane name. */
static unsigned damaged_bid(const uint8_t *p, size_t n) {
  for (size_t i = 0; i + 10 < n; i++) {
    const size_t length = p[i + 1], here = n - i - 2;
    if (p[i] != PB_KEY(XPLANE_NAME, PB_BYTES) || length >= 0x80) continue;
    if (is_plane_name(p + i + 2, length < here ? length : here)) return 8;
  }
  return 0;
}

/* True if a field has the wire type that `allowed` lists for its number, or if its number is not listed: later versions of the
 * schema may add fields, but do not change types. */
static bool is_of(const char *allowed, const struct pb_field *f) {
  return f->number >= strlen(allowed) || allowed[f->number] == '-' || allowed[f->number] == (char)('0' + f->wire);
}

struct evidence {
  unsigned parts, unknown, odd; /* names, lines and entries of planes; fields with unknown numbers; parts that are not messages */
};

/* True if all fields are valid fields of a plane; adds to the evidence. `cut`: the last field may be incomplete. */
static bool is_sound_plane(struct pb c, bool cut, struct evidence *e) {
  struct pb_field f, inner;
  while (pb_next(&c, &f)) {
    if (f.number == 0 || !is_of(PLANE, &f)) return false;
    e->parts += f.number >= XPLANE_NAME && f.number <= XPLANE_STAT_METADATA;
    e->unknown += f.number > XPLANE_STATS;
    if (f.number < XPLANE_LINES || f.number > XPLANE_STAT_METADATA) continue;
    struct pb part = pb_inside(&f);
    while (pb_next(&part, &inner)) continue;
    e->odd += part.fault != NULL;
  }
  return !c.fault || cut;
}

/* True if there is enough evidence: planes with unknown fields must also have known parts, and nothing odd. */
static bool is_enough(const struct evidence *e) { return !e->unknown || (e->parts && !e->odd); }

/* True if the available bytes, or their first fields, are a valid space with planes, whatever their names. Unknown fields are allowed,
 * because the writer passes them through, and its output must be recognised. */
static bool is_sound(const uint8_t *p, size_t n) {
  enum { EXAMINED = 256 };
  struct pb c = pb_over(p, n);
  struct pb_field f;
  struct evidence e = {0};
  bool known = true;
  for (unsigned i = 0; known && c.p < c.end && i < EXAMINED; i++) {
    const uint8_t *at = c.p;
    uint64_t tag, length;
    if (pb_next(&c, &f)) {
      known = f.number && is_of(SPACE, &f) && (f.number != XSPACE_PLANES || is_sound_plane(pb_inside(&f), false, &e));
      e.unknown += f.number > XSPACE_HOSTNAMES;
      continue;
    }
    c = pb_over(at, (size_t)(p + n - at)); /* cut at the end of the available bytes, or damaged */
    if (!pb_varint(&c, &tag) || tag != PB_KEY(XSPACE_PLANES, PB_BYTES) || !pb_varint(&c, &length)) return false;
    return length > (uint64_t)(c.end - c.p) && is_sound_plane(c, true, &e) && is_enough(&e);
  }
  return known && is_enough(&e);
}

/* Returns the score of the available part of the space; *wrong: whether it contains an impossible part. A plane with a
 * profiler's plane name counts even if unusual but valid planes precede it, because planes with unknown fields are kept and
 * written, too. */
static unsigned space_bid(const uint8_t *p, size_t n, bool *wrong) {
  struct pb c = pb_over(p, n);
  uint64_t tag, length;
  unsigned bits = 0;
  bool known = false;
  for (unsigned i = 0; (i < 8 || *wrong) && c.p < c.end; i++) {
    if (!pb_varint(&c, &tag) || tag >> 3 > XSPACE_HOSTNAMES || tag >> 3 == 0 || SPACE[tag >> 3] != (char)('0' + (tag & 7))) {
      *wrong |= bits < 16;
      return bits; /* the reader reports later damage */
    }
    if (!pb_varint(&c, &length)) return bits;
    bool odd = false;
    const size_t left = (size_t)(c.end - c.p), here = length < left ? (size_t)length : left;
    const unsigned plane = tag >> 3 == XSPACE_PLANES ? planes_bid(c.p, here, here < length, &odd) : 0;
    known |= plane >= FILLED && !odd;
    if (!*wrong) bits += tag >> 3 != XSPACE_PLANES && utf8_valid(c.p, here) ? 4 : plane;
    *wrong |= odd;
    c.p += here;
  }
  if (known) *wrong = false;
  return known && bits < KNOWN ? KNOWN : bits;
}

/* True for a text that begins with a quote, such as a line of CSV. A space whose first field is a host name begins with the
 * same byte, but also contains bytes that no text has. */
static bool is_quoted_text(const uint8_t *p, size_t n) {
  if (*p != '"') return false;
  for (size_t i = 0; i < n && i < 256; i++)
    if (p[i] < ' ' && p[i] != '\n' && p[i] != '\r' && p[i] != '\t') return false;
  return true;
}

unsigned xplane_bid(const uint8_t *p, size_t n) {
  bool wrong = false;
  if (n < 2 || is_quoted_text(p, n)) return 0;
  unsigned bits = space_bid(p, n, &wrong);
  if (bits >= KNOWN || (bits && !wrong)) return bits;
  if (text_is_plain(p, n)) return 0;
  if (wrong) bits = damaged_bid(p, n); /* a plane name suffices, even if the file is damaged */
  return bits ? bits : n > 2 && is_sound(p, n);
}
