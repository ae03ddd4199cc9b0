/* decode.h - decodes packets without knowledge of the packets before them.
 *
 * Most packets of a trace contain one event and change nothing that other packets depend on. Any thread can decode the fields
 * of such a packet. Their meaning depends on the sequence state and is left to the reader, which processes packets in order
 * (chunks.c). Ids remain ids, and texts remain where they are in the packet:
 *
 *     annotation   name_iid 7, int_value -1         what[]  7 << 8 | TK_ARG_INT     values[]  zigzag varint, as in packed args
 *     annotation   name_iid 9, string_value_iid 3   what[]  9 << 8 | DECODED_IID    values[]  varint 3
 *     annotation   name_iid 9, string_value "abc"   what[]  9 << 8 | TK_ARG_STR     values[]  varints: offset in the packet, 3
 *
 * Rarer, unusual or damaged packets are not decoded: the reader reads them field by field. */
#ifndef FORMAT_PERFETTO_READ_DECODE_H
#define FORMAT_PERFETTO_READ_DECODE_H

#include "format/pb.h"

enum {
  DECODED_ARGS = 32,  /* per event, at most */
  DECODED_POINTS = 8, /* per event, at most */
  DECODED_REST = 2,   /* per event, at most: runs of adjacent fields that are not modelled */
  DECODED_IID = 0x80, /* string given by its iid; the other types are arg types: NULL .. DECIMAL, STR, JSON */
  DECODED_VALUES = DECODED_ARGS * 12 /* bytes, at most */
};

/* Text of `v` bytes in the packet. If p is NULL, v is an iid; 0 = no text. */
struct decoded_text {
  const uint8_t *p;
  uint64_t v;
};

/* Fields including their tags. */
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
  const uint8_t *p, *event, *private_fields; /* the packet; its event; its private fields or NULL */
  uint32_t n, n_event, n_private;
  bool is_event; /* otherwise only p and n are set */
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
  struct decoded_rest rest[DECODED_REST]; /* n = 0 after the last one */
};

/* Room for decoded values. The caller provides room for DECODED_ARGS, _VALUES and _POINTS more. */
struct decoder {
  uint32_t *what;
  uint8_t *values;
  struct decoded_point *points;
  struct buf text, json; /* scratch */
  bool filed;            /* as in struct perfetto */
};

/* Decodes the packet at p. The result points into the packet and into the decoder's room, which is advanced. */
void decode_one(struct decoder *to, const uint8_t *p, size_t n, struct decoded *d);

#endif
