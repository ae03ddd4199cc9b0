/* pb.h - the wire format of protobuf: a cursor over a message in memory and one over an input of any size (pb_out.h writes).
 *
 *     tag varint = number << 3 | wire      0 varint    1 eight bytes    2 length, bytes    3 .. 4 group    5 four bytes
 *
 * Lengths are held against the bytes that remain, never added to a pointer.  Groups, which no message of ours has, are passed
 * over with a stack of 100 levels, the depth at which protobuf itself gives up; nothing here recurses.  Fields that nobody asks
 * for are passed over. */
#ifndef FORMAT_PB_H
#define FORMAT_PB_H

#include "io/in.h"

enum pb_wire { PB_VARINT, PB_FIXED64, PB_BYTES, PB_GROUP, PB_GROUP_END, PB_FIXED32 };
enum {
  PB_LEVELS = 100,
  PB_HEADER = 20,     /* bytes of a tag and a length at most */
  PB_BACK = 32 << 10  /* bytes that the cursor over an input can go back */
};

struct pb_field {
  uint32_t number;
  uint8_t wire;     /* PB_VARINT, PB_FIXED64, PB_BYTES or PB_FIXED32 */
  uint64_t value;   /* of a number; of PB_BYTES its length */
  const uint8_t *p; /* of PB_BYTES: value bytes */
};

/* Number and wire type at once, for switch. */
#define PB_KEY(number, wire) ((uint32_t)(number) << 3 | (wire))
static inline uint32_t pb_field_key(const struct pb_field *f) { return f->number << 3 | f->wire; }

/* ---- in memory ---- */

struct pb {
  const uint8_t *p, *end;
  const char *fault; /* what is wrong at p, or NULL */
  bool limit;        /* the fault is groups nested too deep */
};

/* p is NULL for what is no message. */
static inline struct pb pb_over(const void *p, size_t n) { return (struct pb){.p = p, .end = p ? (const uint8_t *)p + n : NULL}; }
/* The message that a field holds; an empty one if its wire type is that of a number. */
static inline struct pb pb_inside(const struct pb_field *f) {
  return f->wire == PB_BYTES ? pb_over(f->p, (size_t)f->value) : pb_over(NULL, 0);
}

/* The general path of pb_varint. */
bool pb_varint_slow(struct pb *c, uint64_t *v);
static inline bool pb_varint(struct pb *c, uint64_t *v) {
  if (c->p < c->end && *c->p < 0x80) {
    *v = *c->p++;
    return true;
  }
  return pb_varint_slow(c, v);
}

/* The next field.  False at the end of the message, or at a fault (c->fault). */
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
  uint64_t header; /* offset of the field that pb_in_next met last */
  uint64_t base_offset;
  bool last; /* the window reaches the end of the input */
  const char *fault; /* PB_FAIL is about the bytes of the message: what is wrong with them */
};

enum pb_status {
  PB_FIELD,
  PB_DONE, /* the message ends */
  PB_CUT,  /* the input ends inside of the message */
  PB_FAIL  /* err says what is wrong */
};

static inline uint64_t pb_in_offset(const struct pb_in *s) { return s->base_offset + (uint64_t)(s->p - s->base); }

/* The next field of the message that ends at offset `end`.  Of PB_BYTES only the header has been passed: its content is taken
 * by pb_in_bytes, passed by pb_in_skip, or read as a message that ends at pb_in_offset + value. */
enum pb_status pb_in_next(struct pb_in *s, uint64_t end, struct pb_field *f);
/* The n bytes at the cursor, which moves behind them; valid until the next call. */
enum pb_status pb_in_bytes(struct pb_in *s, uint64_t n, const uint8_t **p);
enum pb_status pb_in_skip(struct pb_in *s, uint64_t n);
/* Back to an offset that has been passed, of the last PB_BACK bytes; what is mended does not depend on where windows end. */
bool pb_in_back(struct pb_in *s, uint64_t offset);
/* At least n bytes in the window, fewer only at the end of the input.  False with err set. */
bool pb_in_ahead(struct pb_in *s, size_t n);

#endif
