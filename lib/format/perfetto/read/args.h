/* args.h - converts a DebugAnnotation to an arg. */
#ifndef FORMAT_PERFETTO_READ_ARGS_H
#define FORMAT_PERFETTO_READ_ARGS_H

#include "reader.h"

/* Adds the annotation to the args under construction. */
void perfetto_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f);

/* True if the annotation contains a message of another type, which args cannot hold. */
bool perfetto_has_message(const uint8_t *p, size_t n);

/* Returns the JSON text of an annotation with a dictionary or an array, and keeps its types in r->types; 0 when memory runs out. */
tk_id perfetto_nested(struct perfetto *r, struct sequence *q, const uint8_t *p, size_t n);

/* Adds the arg with the types of nested annotations (fields.h) that perfetto_annotation stored in r->types. */
void perfetto_types_arg(struct perfetto *r);

/* Appends the annotation to `to`, with interned texts in place of their iids. */
void perfetto_plain_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f, struct buf *to);

/* True if the field contains JSON; r->json then contains it as compact, strict JSON. */
bool perfetto_is_json(struct perfetto *r, const struct pb_field *f);

#endif
