/* pb.c - see pb.h. */
#include "pb.h"

#include <string.h>

static const char OVERLONG[] = "varint of more than 10 bytes", SHORT[] = "message ends inside a field";
static const char ZERO[] = "field number 0", WIRE[] = "unknown wire type",
                  UNOPENED[] = "end of a group that did not start";
static const char UNCLOSED[] = "group that does not end", DEEP[] = "groups nested more than 100 levels deep";

/* ---- in memory ---- */

static bool pb_fault(struct pb *c, const char *what) {
  c->fault = what;
  return false;
}

bool pb_varint_slow(struct pb *c, uint64_t *v) {
  uint64_t out = 0;
  for (unsigned i = 0; i < 10; i++) {
    if (i >= (size_t)(c->end - c->p)) return pb_fault(c, SHORT);
    out |= (uint64_t)(c->p[i] & 0x7f) << (7 * i);
    if (c->p[i] >= 0x80) continue;
    c->p += i + 1;
    *v = out;
    return true;
  }
  return pb_fault(c, OVERLONG);
}

static uint64_t little_endian(const uint8_t *p, unsigned n) {
  uint64_t v = 0;
  for (unsigned i = n; i-- > 0;) v = v << 8 | p[i];
  return v;
}

static bool fixed(struct pb *c, unsigned n, uint64_t *v) {
  if ((size_t)(c->end - c->p) < n) return pb_fault(c, SHORT);
  *v = little_endian(c->p, n);
  c->p += n;
  return true;
}

static bool read_header(struct pb *c, struct pb_field *f) {
  uint64_t tag;
  if (!pb_varint(c, &tag)) return false;
  f->wire = tag & 7;
  f->number = (uint32_t)(tag >> 3);
  if (tag >> 3 == 0 || tag >> 32) return pb_fault(c, ZERO);
  return f->wire <= PB_FIXED32 || pb_fault(c, WIRE);
}

/* Reads the value after a field header, except for the start or end of a group. */
static bool content(struct pb *c, struct pb_field *f) {
  switch (f->wire) {
    case PB_VARINT: return pb_varint(c, &f->value);
    case PB_FIXED64: return fixed(c, 8, &f->value);
    case PB_FIXED32: return fixed(c, 4, &f->value);
    default:
      if (!pb_varint(c, &f->value)) return false;
      if (f->value > (uint64_t)(c->end - c->p)) return pb_fault(c, SHORT);
      f->p = c->p;
      c->p += f->value;
      return true;
  }
}

/* Stack of open groups, by field number. */
struct groups {
  uint32_t open[PB_LEVELS];
  unsigned n;
};

/* Handles a header that starts or ends a group. On an error, sets *what to a description. */
static bool edge(struct groups *g, const struct pb_field *f, const char **what) {
  *what = NULL;
  if (f->wire == PB_GROUP) {
    if (g->n == PB_LEVELS) *what = DEEP;
    else g->open[g->n++] = f->number;
  } else if (g->n == 0 || g->open[--g->n] != f->number) {
    *what = UNOPENED;
  }
  return *what == NULL;
}

static bool skip_group(struct pb *c, struct pb_field *f) {
  struct groups g = {.n = 0};
  const char *what;
  do {
    if (f->wire == PB_GROUP || f->wire == PB_GROUP_END) {
      if (!edge(&g, f, &what)) {
        c->limit = what == DEEP;
        return pb_fault(c, what);
      }
    } else if (!content(c, f)) {
      return false;
    }
    if (g.n && c->p == c->end) return pb_fault(c, UNCLOSED);
  } while (g.n && read_header(c, f));
  return !c->fault;
}

/* Reads a field in the common form: a one-byte tag, and a number or a length. Returns false if the field has another form or is
 * invalid. */
static inline bool next_plain(struct pb *c, struct pb_field *f) {
  const uint8_t *p = c->p, *const end = c->end, tag = *p, wire = tag & 7;
  if (tag >= 0x80 || tag < 8 || (wire != PB_VARINT && wire != PB_BYTES) || ++p == end) return false;
  uint64_t v = *p & 0x7f;
  for (unsigned shift = 7; *p++ >= 0x80; shift += 7) {
    if (shift == 63 || p == end) return false;
    v |= (uint64_t)(*p & 0x7f) << shift;
  }
  if (wire == PB_BYTES && v > (uint64_t)(end - p)) return false;
  f->number = tag >> 3;
  f->wire = wire;
  f->value = v;
  if (wire == PB_BYTES) f->p = p;
  c->p = p + (wire == PB_BYTES ? v : 0);
  return true;
}

bool pb_next(struct pb *c, struct pb_field *f) {
  if (c->p < c->end && next_plain(c, f)) return true;
  while (c->p < c->end) {
    if (!read_header(c, f)) return false;
    if (f->wire != PB_GROUP && f->wire != PB_GROUP_END) return content(c, f);
    if (!skip_group(c, f)) return false;
  }
  return false;
}

/* ---- over an input ---- */

/* Requests a window of at least n bytes, with `behind` bytes before the cursor. Returns false if the input cannot be read that
 * far. */
static bool open_window(struct pb_in *s, size_t n, size_t behind, struct tk_err *err) {
  size_t avail;
  s->base = in_ahead(s->in, n, &avail, err);
  s->base_offset = in_offset(s->in);
  s->p = s->base ? s->base + behind : NULL;
  s->end = s->base ? s->base + avail : NULL;
  s->last = s->base && avail < n;
  return s->base != NULL;
}

/* Implements pb_in_ahead (pb.h). If the input cannot be read that far, the bytes read so far remain available to smaller
 * requests. */
bool pb_in_ahead(struct pb_in *s, size_t n) {
  const size_t left = (size_t)(s->end - s->p);
  size_t behind = s->p ? (size_t)(s->p - s->base) : 0;
  if (s->last || left >= n) return true;
  if (behind > PB_BACK) {
    in_consume(s->in, behind - PB_BACK);
    behind = PB_BACK;
  }
  if (open_window(s, n + behind, behind, s->err)) return true;
  if (behind + left) open_window(s, behind + left, behind, NULL);
  return false;
}

bool pb_in_back(struct pb_in *s, uint64_t offset) {
  const uint64_t at = pb_in_offset(s);
  if (!s->base || offset < s->base_offset || offset > at || at - offset > PB_BACK) return false;
  s->p = s->base + (offset - s->base_offset);
  return true;
}

static enum pb_status corrupt(struct pb_in *s, const char *what) {
  uint64_t at = pb_in_offset(s);
  s->fault = what;
  err_at(s->err, what == DEEP ? TK_ELIMIT : TK_ECORRUPT, at, "%s at byte %llu", what, (unsigned long long)at);
  return PB_FAIL;
}

/* Reads a field's header, and its number or, for PB_BYTES, its length, which must not exceed the end of the message. */
static enum pb_status in_header(struct pb_in *s, uint64_t end, struct pb_field *f) {
  struct pb c;
  uint64_t at = pb_in_offset(s), left;
  if (at >= end) return PB_DONE;
  if (!pb_in_ahead(s, PB_HEADER)) return PB_FAIL;
  if (s->p == s->end) return end == UINT64_MAX ? PB_DONE : PB_CUT;
  left = end - at;
  c = pb_over(s->p, left < (uint64_t)(s->end - s->p) ? (size_t)left : (size_t)(s->end - s->p));
  bool ok = read_header(&c, f);
  if (ok && f->wire == PB_BYTES) ok = pb_varint(&c, &f->value);
  else if (ok && f->wire != PB_GROUP && f->wire != PB_GROUP_END) ok = content(&c, f);
  if (!ok) return c.fault == SHORT && s->last && c.end == s->end ? PB_CUT : corrupt(s, c.fault);
  s->p = c.p;
  f->p = NULL;
  if (f->wire == PB_BYTES && end != UINT64_MAX && f->value > end - pb_in_offset(s))
    return corrupt(s, "length beyond the end of its message");
  return PB_FIELD;
}

static enum pb_status in_skip_group(struct pb_in *s, uint64_t end, struct pb_field *f) {
  struct groups g = {.n = 0};
  enum pb_status status;
  const char *what;
  for (;;) {
    if (f->wire == PB_GROUP || f->wire == PB_GROUP_END) {
      if (!edge(&g, f, &what)) return corrupt(s, what);
    } else if (f->wire == PB_BYTES && (status = pb_in_skip(s, f->value)) != PB_FIELD) {
      return status;
    }
    if (g.n == 0) return PB_FIELD;
    status = in_header(s, end, f);
    if (status == PB_DONE || status == PB_CUT) return corrupt(s, UNCLOSED);
    if (status != PB_FIELD) return status;
  }
}

enum pb_status pb_in_next(struct pb_in *s, uint64_t end, struct pb_field *f) {
  enum pb_status status;
  while (s->header = pb_in_offset(s), (status = in_header(s, end, f)) == PB_FIELD) {
    if (f->wire != PB_GROUP && f->wire != PB_GROUP_END) return PB_FIELD;
    if ((status = in_skip_group(s, end, f)) != PB_FIELD) return status;
  }
  return status;
}

enum pb_status pb_in_bytes(struct pb_in *s, uint64_t n, const uint8_t **p) {
  if (n > (uint64_t)(s->end - s->p)) {
    if (n > SIZE_MAX / 4 && !s->last) n = SIZE_MAX / 4; /* more than any input; windows grow with arriving data */
    if (!pb_in_ahead(s, (size_t)n)) return PB_FAIL;
    if (n > (uint64_t)(s->end - s->p)) return PB_CUT;
  }
  *p = s->p;
  s->p += n;
  return PB_FIELD;
}

enum pb_status pb_in_skip(struct pb_in *s, uint64_t n) {
  while (n > (uint64_t)(s->end - s->p)) {
    n -= (uint64_t)(s->end - s->p);
    s->p = s->end;
    if (s->last) return PB_CUT;
    if (!pb_in_ahead(s, 1)) return PB_FAIL;
  }
  s->p += n;
  return PB_FIELD;
}
