/* pb.h - the wire format of protobuf: a cursor over a message in memory, and one over an input of any size (pb_out.h writes).
 *
 *     tag varint = number << 3 | wire      0 varint    1 eight bytes    2 length, bytes    3 .. 4 group    5 four bytes
 *
 * Lengths are compared with the remaining bytes and never added to a pointer. Groups, which none of our messages has, are
 * skipped with a stack of 100 levels, the depth at which protobuf itself gives up; nothing here recurses. Unknown fields are
 * skipped. */
#ifndef FORMAT_PB_H
#define FORMAT_PB_H

#include "io/in.h"

enum pb_wire { PB_VARINT, PB_FIXED64, PB_BYTES, PB_GROUP, PB_GROUP_END, PB_FIXED32 };
enum {
  PB_LEVELS = 100,
  PB_HEADER = 20,     /* most bytes of a tag and a length */
  PB_BACK = 32 << 10  /* bytes that the cursor over an input can move back */
};

struct pb_field {
  uint32_t number;
  uint8_t wire;     /* PB_VARINT, PB_FIXED64, PB_BYTES or PB_FIXED32 */
  uint64_t value;   /* the number, or the length of PB_BYTES */
  const uint8_t *p; /* PB_BYTES: the value */
};

/* Combines number and wire type for switch. */
#define PB_KEY(number, wire) ((uint32_t)(number) << 3 | (wire))
static inline uint32_t pb_field_key(const struct pb_field *f) { return f->number << 3 | f->wire; }

/* ---- in memory ---- */

struct pb {
  const uint8_t *p, *end;
  const char *fault; /* error at p, or NULL */
  bool limit;        /* the error is groups nested too deeply */
};

/* p may be NULL for an empty message. */
static inline struct pb pb_over(const void *p, size_t n) { return (struct pb){.p = p, .end = p ? (const uint8_t *)p + n : NULL}; }
/* Returns a cursor over the message in a field; an empty one if the field is a number. */
static inline struct pb pb_inside(const struct pb_field *f) {
  return f->wire == PB_BYTES ? pb_over(f->p, (size_t)f->value) : pb_over(NULL, 0);
}

/* The slow path of pb_varint. */
bool pb_varint_slow(struct pb *c, uint64_t *v);
static inline bool pb_varint(struct pb *c, uint64_t *v) {
  if (c->p < c->end && *c->p < 0x80) {
    *v = *c->p++;
    return true;
  }
  return pb_varint_slow(c, v);
}

/* Reads the next field. Returns false at the end of the message, or on an error (c->fault). */
bool pb_next(struct pb *c, struct pb_field *f);

static inline double pb_as_double(uint64_t bits) {
  union {
    uint64_t u;
    double d;
  } v = {bits};
  return v.d;
}

/* ---- over an input ---- */

struct pb_in {
  struct in *in;
  struct tk_err *err;
  const uint8_t *base, *p, *end; /* the window */
  uint64_t header; /* offset of the last field read by pb_in_next */
  uint64_t base_offset;
  bool last; /* the window extends to the end of the input */
  const char *fault; /* if PB_FAIL concerns the bytes of the message: the reason */
};

enum pb_status {
  PB_FIELD,
  PB_DONE, /* end of the message */
  PB_CUT,  /* the input ends inside the message */
  PB_FAIL  /* error in err */
};

static inline uint64_t pb_in_offset(const struct pb_in *s) { return s->base_offset + (uint64_t)(s->p - s->base); }

/* Reads the next field of the message that ends at offset `end`. For PB_BYTES only the header is consumed: take the content
 * with pb_in_bytes, skip it with pb_in_skip, or read it as a message that ends at pb_in_offset + value. */
enum pb_status pb_in_next(struct pb_in *s, uint64_t end, struct pb_field *f);
/* Returns the n bytes at the cursor and advances past them; valid until the next call. */
enum pb_status pb_in_bytes(struct pb_in *s, uint64_t n, const uint8_t **p);
enum pb_status pb_in_skip(struct pb_in *s, uint64_t n);
/* Moves back to an offset within the last PB_BACK bytes, so that repairs do not depend on the positions of windows. */
bool pb_in_back(struct pb_in *s, uint64_t offset);
/* Provides at least n bytes in the window, fewer only at the end of the input. Returns false with err set. */
bool pb_in_ahead(struct pb_in *s, size_t n);

#endif
