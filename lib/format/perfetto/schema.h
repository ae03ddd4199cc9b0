/* schema.h - describes the fields that a Perfetto file adds to TrackEvent and declares itself (TracePacket.extension_descriptor).
 *
 *     schema.c            reads a FileDescriptorSet; finds fields by message and number or name
 *     read/extension.c    converts a field to args
 *     write/extension.c   converts args to a field
 *
 * An extension `optional K args = 9902` whose message K has a field "External id" becomes the arg "args.External id", as
 * trace_processor names it; repeated and deeper fields become JSON in that arg. A field is converted only if the file describes
 * it completely and JSON can represent it; otherwise the field is kept, with its number, in the arg "perfetto.fields". The
 * writer can therefore rebuild the field from its args that still exist. */
#ifndef FORMAT_PERFETTO_SCHEMA_H
#define FORMAT_PERFETTO_SCHEMA_H

#include "graph/trace.h"
#include "format/pb.h"

/* Values of FieldDescriptorProto.Type. */
enum field_type {
  FIELD_DOUBLE = 1, FIELD_FLOAT, FIELD_INT64, FIELD_UINT64, FIELD_INT32, FIELD_FIXED64, FIELD_FIXED32, FIELD_BOOL, FIELD_STRING,
  FIELD_GROUP, FIELD_MESSAGE, FIELD_BYTES, FIELD_UINT32, FIELD_ENUM, FIELD_SFIXED32, FIELD_SFIXED64, FIELD_SINT32, FIELD_SINT64
};

struct schema_field {
  uint32_t number, name, of; /* name, of: string ids of the field's name, and of the name of its enum or message type */
  uint8_t type;
  bool repeated;
};

struct scalar {
  enum tk_arg_type type; /* INT, UINT, DOUBLE, TRUE, FALSE, STR, BYTES */
  int64_t i;
  double d;
  const uint8_t *p; /* the bytes of a STR or BYTES */
  size_t n;
};

/* The known fields. Names of messages, enums and fields are ids in `text`. */
struct schema {
  struct mem *mem;
  struct intern text;
  struct schema_field *fields; /* [1..n] */
  uint32_t n, cap, event;      /* event: id of TrackEvent's name */
  struct map by_number, by_name; /* message << 32 | number or name -> field */
  struct map enum_names, enum_numbers; /* enum << 32 | number -> name; enum << 32 | name -> number */
  struct buf path; /* full name of the message that is being read */
  bool damaged;
};

void schema_init(struct schema *s, struct mem *mem);
void schema_free(struct schema *s);
/* Adds the contents of an ExtensionDescriptor. If it is damaged, reads it as far as possible and returns false. */
bool schema_read(struct schema *s, const uint8_t *p, size_t n);
/* True if the two describe an extension of TrackEvent differently: another name or type for the same number. Importers refuse a file
 * that contains both descriptions. */
bool schema_conflicts(const struct schema *a, const struct schema *b);
/* Adds fields of TrackEvent itself that trace_processor shows as args, for queries. */
void schema_add_known(struct schema *s);
/* True for fields of TrackEvent that the reader interprets; descriptions of them are ignored. */
bool schema_is_modelled(uint32_t number);
/* Returns the wire type of a field's values if they are not packed. */
enum pb_wire schema_wire(const struct schema_field *field);
/* Return the field; NULL if there is none. */
const struct schema_field *schema_by_number(const struct schema *s, uint32_t message, uint32_t number);
const struct schema_field *schema_by_name(const struct schema *s, uint32_t message, const void *name, size_t n);
/* Return the name or the number of an enum's value; 0 or false if there is none. */
uint32_t schema_enum_name(const struct schema *s, uint32_t of, int64_t number);
bool schema_enum_number(const struct schema *s, uint32_t of, const void *name, size_t n, int64_t *number);

#endif
