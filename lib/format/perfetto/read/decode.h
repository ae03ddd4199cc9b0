/* decode.h - decodes packets without knowledge of the packets before them.
 *
 * Most packets of a trace contain one event and change nothing that other packets depend on. Any thread can decode the fields
 * of such a packet. Only the reader, which processes packets in order (chunks.c), can interpret the fields, because this
 * depends on the sequence state. Therefore ids are not resolved, and texts are only located in the packet:
 *
 *     annotation   name_iid 7, int_value -1         what[]  7 << 8 | TK_ARG_INT     values[]  zigzag varint, as in packed args
 *     annotation   name_iid 9, string_value_iid 3   what[]  9 << 8 | DECODED_IID    values[]  varint 3
 *     annotation   name_iid 9, string_value "abc"   what[]  9 << 8 | TK_ARG_STR     values[]  varints: offset in the packet, 3
 *     annotation   name_iid 9, array_values ...     what[]  9 << 8 | DECODED_NESTED values[]  varints: offset and length of the
 *                                                                                             annotation
 *
 * Packets that are rare, unusual or damaged are not decoded; the reader reads them field by field. */
#ifndef FORMAT_PERFETTO_READ_DECODE_H
#define FORMAT_PERFETTO_READ_DECODE_H

#include "format/pb.h"

enum {
  DECODED_ARGS = 32,  /* maximum number of args of an event */
  DECODED_POINTS = 8, /* maximum number of flow points of an event */
  DECODED_REST = 2,   /* maximum number of runs of adjacent fields that are not modelled, per event */
  DECODED_IID = 0x80, /* a string given by iid; other types are types of args: NULL .. DECIMAL, STR, JSON */
  DECODED_NESTED = 0x81, /* a dictionary or an array */
  DECODED_VALUES = DECODED_ARGS * 12 /* maximum number of bytes of the values of an event */
};

/* A text of `v` bytes in the packet. If p is NULL, v is an iid instead; 0 = no text. */
struct decoded_text {
  const uint8_t *p;
  uint64_t v;
};

/* A run of fields, including their tags. */
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
  const uint8_t *p, *event, *private_fields; /* the packet; its event; its private fields, or NULL */
  uint32_t n, n_event, n_private;
  bool is_event; /* false: only p and n are set */
  bool has_timestamp, has_clock, has_track;
  uint8_t type, value; /* value: enum decoded_value */
  uint16_t n_args, n_values;
  uint32_t clock, machine, n_points;
  uint64_t flags, sequence, timestamp, track_uuid;
  uint64_t number; /* value of a counter: the integer, or the bits of the double */
  struct decoded_text name, cat;
  const uint32_t *what;
  const uint8_t *values;
  const struct decoded_point *points;
  struct decoded_rest rest[DECODED_REST]; /* runs of fields that are not modelled; n == 0 ends the list */
};

/* Output and room for decoding. The caller provides room for at least one more event (DECODED_ARGS, _VALUES and _POINTS). */
struct decoder {
  uint32_t *what;
  uint8_t *values;
  struct decoded_point *points;
  struct buf text, json; /* scratch */
  bool filed;            /* same as in struct perfetto */
};

/* Decodes the packet at p. The result contains pointers into the packet and into the decoder's room, which shrinks
 * accordingly. */
void decode_one(struct decoder *to, const uint8_t *p, size_t n, struct decoded *d);

#endif
