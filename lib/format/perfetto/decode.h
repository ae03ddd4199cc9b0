/* decode.h - packets taken apart without knowing what came before them.
 *
 * Most packets of a trace carry an event and change nothing that other packets depend on.  Of these every field can be looked at by
 * any thread; what they mean depends on the state of their sequence, and is left to the reader, which takes packets one after the
 * other (read_chunks.c).  Ids stay ids, and texts stay where they are in the packet:
 *
 *     annotation   name_iid 7, int_value -1         what[]  7 << 8 | TK_ARG_INT     values[]  zigzag varint, as in packed args
 *     annotation   name_iid 9, string_value_iid 3   what[]  9 << 8 | DECODED_IID    values[]  varint 3
 *     annotation   name_iid 9, string_value "abc"   what[]  9 << 8 | TK_ARG_STR     values[]  varints: offset in the packet, 3
 *
 * What is rarer than that, odd or damaged is not decoded: the reader reads the packet field by field. */
#ifndef FORMAT_PERFETTO_DECODE_H
#define FORMAT_PERFETTO_DECODE_H

#include "format/pb.h"

enum {
  DECODED_ARGS = 32,  /* of an event, at most */
  DECODED_POINTS = 8, /* likewise */
  DECODED_REST = 2,   /* likewise: places where fields stand that are not modelled */
  DECODED_IID = 0x80, /* string by its iid; other types are those of args: NULL .. DECIMAL, STR, JSON */
  DECODED_VALUES = DECODED_ARGS * 12 /* bytes, at most */
};

/* Text in the packet, `v` bytes of it; where p is NULL the iid, 0 = none. */
struct decoded_text {
  const uint8_t *p;
  uint64_t v;
};

/* Fields with their tags. */
struct decoded_rest {
  const uint8_t *p;
  size_t n;
};

struct decoded_point {
  uint64_t id;
  bool terminating;
};

enum decoded_value { DECODED_NONE, DECODED_INT, DECODED_DOUBLE };

struct decoded {
  const uint8_t *p, *event, *private_fields; /* the packet; in it the event, and fields of our own or NULL */
  uint32_t n, n_event, n_private;
  bool is_event; /* else only p and n are set */
  bool has_timestamp, has_clock, has_track;
  uint8_t type, value; /* value: enum decoded_value */
  uint16_t n_args, n_values;
  uint32_t clock, machine, n_points;
  uint64_t flags, sequence, timestamp, track_uuid;
  uint64_t number; /* value of a counter: an integer, or the bits of a double */
  struct decoded_text name, cat;
  const uint32_t *what;
  const uint8_t *values;
  const struct decoded_point *points;
  struct decoded_rest rest[DECODED_REST]; /* n = 0 behind the last one */
};

/* Room for what is decoded.  Whoever decodes gives room for DECODED_ARGS, _VALUES and _POINTS more. */
struct decoder {
  uint32_t *what;
  uint8_t *values;
  struct decoded_point *points;
  struct buf text, json; /* scratch */
};

/* Takes the packet at p apart.  What is kept of it points into the packet and into the decoder's room, which moves on. */
void packet_decode(struct decoder *to, const uint8_t *p, size_t n, struct decoded *d);

#endif
