/* pb.h - the wire format of protobuf: a cursor over a message in memory, and one over an input of any size (pb_out.h writes).
 *
 *     tag varint = number << 3 | wire      0 varint    1 eight bytes    2 length, bytes    3 .. 4 group    5 four bytes
 *
 * Lengths are compared with the number of remaining bytes before they are added to a pointer. Groups, which none of our
 * messages has, are skipped with a stack of 100 levels, the limit of protobuf itself; no function is recursive. Unknown fields
 * are skipped. */
#ifndef FORMAT_PB_H
#define FORMAT_PB_H

#include "io/in.h"

enum pb_wire { PB_VARINT, PB_FIXED64, PB_BYTES, PB_GROUP, PB_GROUP_END, PB_FIXED32 };
enum {
  PB_LEVELS = 100,
  PB_HEADER = 20,     /* maximum number of bytes of a tag and a length together */
  PB_BACK = 32 << 10  /* how many bytes the cursor over an input can move back */
};

struct pb_field {
  uint32_t number;
  uint8_t wire;     /* wire type: PB_VARINT, PB_FIXED64, PB_BYTES or PB_FIXED32 */
  uint64_t value;   /* the number; for PB_BYTES, the length */
  const uint8_t *p; /* for PB_BYTES: the bytes */
};

/* Combines field number and wire type to one number, for switch. */
#define PB_KEY(number, wire) ((uint32_t)(number) << 3 | (wire))
static inline uint32_t pb_field_key(const struct pb_field *f) { return f->number << 3 | f->wire; }

/* ---- in memory ---- */

struct pb {
  const uint8_t *p, *end;
  const char *fault; /* description of an error at p, or NULL */
  bool limit;        /* true if the error is that groups are nested too deeply */
};

/* Returns a cursor over n bytes; p may be NULL for an empty message. */
static inline struct pb pb_over(const void *p, size_t n) { return (struct pb){.p = p, .end = p ? (const uint8_t *)p + n : NULL}; }
/* Returns a cursor over the message in a field; an empty one if the field is a number. */
static inline struct pb pb_inside(const struct pb_field *f) {
  return f->wire == PB_BYTES ? pb_over(f->p, (size_t)f->value) : pb_over(NULL, 0);
}

/* Reads a varint of more than one byte, for pb_varint. */
bool pb_varint_slow(struct pb *c, uint64_t *v);
static inline bool pb_varint(struct pb *c, uint64_t *v) {
  if (c->p < c->end && *c->p < 0x80) {
    *v = *c->p++;
    return true;
  }
  return pb_varint_slow(c, v);
}

/* Reads the next field. Returns false at the end of the message, or on an error, which c->fault describes. */
bool pb_next(struct pb *c, struct pb_field *f);

/* Returns the first field of a message with this number; an empty text if there is none. */
static inline struct pb_field pb_find(const struct pb_field *message, uint32_t number) {
  struct pb c = pb_inside(message);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number == number) return f;
  return (struct pb_field){.p = (const uint8_t *)"", .wire = PB_BYTES};
}

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
  const uint8_t *base, *p, *end; /* the window and the position in it */
  uint64_t header; /* offset of the field that pb_in_next read last */
  uint64_t base_offset;
  bool last; /* true if the window extends to the end of the input */
  const char *fault; /* for PB_FAIL: the reason, if the message itself is invalid */
};

enum pb_status {
  PB_FIELD,
  PB_DONE, /* the message has ended */
  PB_CUT,  /* the input ends inside the message */
  PB_FAIL  /* an error, which err describes */
};

static inline uint64_t pb_in_offset(const struct pb_in *s) { return s->base_offset + (uint64_t)(s->p - s->base); }

/* Reads the next field of the message that ends at offset `end`. For PB_BYTES, only the header is consumed: the caller gets the
 * content with pb_in_bytes, skips it with pb_in_skip, or reads it as a message that ends at pb_in_offset + value. */
enum pb_status pb_in_next(struct pb_in *s, uint64_t end, struct pb_field *f);
/* Sets *p to the n bytes at the cursor and moves past them; they are valid until the next call. */
enum pb_status pb_in_bytes(struct pb_in *s, uint64_t n, const uint8_t **p);
enum pb_status pb_in_skip(struct pb_in *s, uint64_t n);
/* Moves back to an offset within the last PB_BACK bytes. Repairs can therefore return to any such position, wherever a window
 * begins. */
bool pb_in_back(struct pb_in *s, uint64_t offset);
/* Makes at least n bytes available in the window, fewer only at the end of the input. Returns false with err set on failure. */
bool pb_in_ahead(struct pb_in *s, size_t n);

#endif
