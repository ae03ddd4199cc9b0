/* decoded_args.h - converts the annotations of decoded events (decode.h) to args. */
#ifndef FORMAT_PERFETTO_READ_DECODED_ARGS_H
#define FORMAT_PERFETTO_READ_DECODED_ARGS_H

#include "reader.h"
#include "track_event.h"

bool decoded_layouts_start(struct perfetto *r);
void decoded_layouts_stop(struct perfetto *r);

/* Returns the layout of the args of a decoded event. Returns NULL if a name or value is not interned, or if a name occurs
 * twice; the general code then reports it. */
const struct layout *decoded_layout(struct perfetto *r, const struct sequence *q, const struct decoded *d);

/* Packs the args early if some of them are nested: the types that packing finds in them become another arg of the event.
 * `values`: room that stays valid until the event is added. */
void decoded_event_pack(struct perfetto *r, struct sequence *q, struct track_event *e, uint8_t values[DECODED_VALUES]);

/* Moves the event's args to the trace's arg builder, so that more args can be added. */
void decoded_event_args(struct perfetto *r, struct sequence *q, struct track_event *e);

/* Returns the packed record of the event's args; 0 if it has none. */
uint32_t decoded_event_end_args(struct perfetto *r, struct sequence *q, struct track_event *e);

#endif
