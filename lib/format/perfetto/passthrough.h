/* passthrough.h - what a Perfetto file holds and the graph has no place for: metas whose origin is PERFETTO_FORMAT.
 *
 *     perfetto.packets     TracePackets that are not modelled, framed as in a file; there may be several such metas
 *     perfetto.descriptors packets of track descriptors and of descriptions of extensions, as they came; `after`: which came behind the
 *                          first event of their track
 *     perfetto.interned    entries INTERNED_*, below: interned data that is not modelled, for events whose arg "perfetto.interned" is
 *                          its number
 *     perfetto.clock       id of the trace's clock, in digits, if it is not BOOTTIME
 *     perfetto.tracks      entries PASSTHROUGH_*, below: fields of track descriptors that are not modelled
 *     perfetto.machines    struct format_machine, one behind the other
 *     perfetto.extension_descriptor   what the file says of the fields that it adds to TrackEvent
 *     perfetto.counts      what the file was made of, for `info` (reader.h) */
#ifndef FORMAT_PERFETTO_PASSTHROUGH_H
#define FORMAT_PERFETTO_PASSTHROUGH_H

#include <string.h>

#include "format/pb.h"
#include "graph/trace.h"

/* Name of the row, and origin of its passthrough. */
#define PERFETTO_FORMAT "perfetto"

#define PASSTHROUGH_PACKETS "perfetto.packets"
#define PASSTHROUGH_DESCRIPTORS "perfetto.descriptors"
#define PASSTHROUGH_INTERNED "perfetto.interned"
#define PASSTHROUGH_CLOCK "perfetto.clock"
#define PASSTHROUGH_TRACKS "perfetto.tracks"
#define PASSTHROUGH_MACHINES "perfetto.machines"
#define PASSTHROUGH_EXTENSIONS "perfetto.extension_descriptor"
#define PASSTHROUGH_COUNTS "perfetto.counts"

/* One entry, field 1 of the meta, for each track that has any. */
enum {
  PASSTHROUGH_TRACK = 1,        /* id in the graph; stands first */
  PASSTHROUGH_FIELDS = 2,       /* of the descriptor */
  PASSTHROUGH_INNER_FIELDS = 3, /* of its process, thread or counter */
  PASSTHROUGH_PID = 4,          /* of a process whose pid another machine has as well */
  PASSTHROUGH_UUID = 5,         /* of one that perfetto.descriptors say all of, or that nothing describes */
  PASSTHROUGH_PARENT = 6        /* uuid of such a track that it hangs under */
};

/* Another: one state of a sequence. */
enum { INTERNED_NUMBER = 1, INTERNED_DATA = 2 };
/* Keys of the args of events. */
#define ARG_INTERNED "perfetto.interned"

/* Was the trace read from a Perfetto file? */
static inline bool was_perfetto(const struct tk_trace *t) { return t->format && strcmp(t->format, PERFETTO_FORMAT) == 0; }
/* Is the meta passthrough of this key? */
bool passthrough_is(const struct tk_trace *t, const struct tk_meta *m, const char *key);
/* The first one of this key, or NULL. */
const struct tk_meta *passthrough_find(const struct tk_trace *t, const char *key);

/* Does the packet hold nothing but clocks, and how it came here?  What it says is in the graph too. */
bool passthrough_is_clocks(const struct pb_field *packet);
/* Packets that no other format can hold (a member of the row). */
uint64_t perfetto_n_passthrough(const struct tk_trace *t);

#endif
