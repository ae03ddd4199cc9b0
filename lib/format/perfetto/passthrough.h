/* passthrough.h - contents of a Perfetto file that the graph cannot represent: metas whose origin is PERFETTO_FORMAT.
 *
 *     perfetto.packets     TracePackets that are not modelled, framed as in a file; there may be several such metas
 *     perfetto.descriptors original packets with track descriptors and extension descriptors; if tk_meta.after is set, those
 *                          after the first event
 *     perfetto.interned    entries INTERNED_*, below: unmodelled interned data, for events whose arg "perfetto.interned"
 *                          is its number
 *     perfetto.clock       id of the trace clock, in digits, if it is not BOOTTIME
 *     perfetto.readings    struct clock_readings: relations between the file's clocks, to find the times of packets
 *     perfetto.tracks      entries PASSTHROUGH_*, below: fields of track descriptors that are not modelled
 *     perfetto.machines    array of struct format_machine
 *     perfetto.extension_descriptor   the file's description of the fields that it adds to TrackEvent
 *     perfetto.key_types   entries KEY_TYPE_*, below: types of numbers that the format from which the graph was read does not keep
 *     perfetto.filed       array of struct format_track by track, if the trace was loaded with TK_WITHOUT_RESTORING
 *     perfetto.counts      composition of the file, for `info` (read/reader.h) */
#ifndef FORMAT_PERFETTO_PASSTHROUGH_H
#define FORMAT_PERFETTO_PASSTHROUGH_H

#include <string.h>

#include "format/format.h"
#include "format/pb.h"
#include "graph/trace.h"

/* Name of the format, and origin of its metas. */
#define PERFETTO_FORMAT "perfetto"

#define PASSTHROUGH_PACKETS "perfetto.packets"
#define PASSTHROUGH_DESCRIPTORS "perfetto.descriptors"
#define PASSTHROUGH_INTERNED "perfetto.interned"
#define PASSTHROUGH_CLOCK "perfetto.clock"
#define PASSTHROUGH_READINGS "perfetto.readings"
#define PASSTHROUGH_TRACKS "perfetto.tracks"
#define PASSTHROUGH_MACHINES "perfetto.machines"
#define PASSTHROUGH_EXTENSIONS "perfetto.extension_descriptor"
#define PASSTHROUGH_COUNTS "perfetto.counts"
#define PASSTHROUGH_KEY_TYPES "perfetto.key_types"
#define PASSTHROUGH_FILED "perfetto.filed"

/* One entry of the meta perfetto.tracks, for a track with passthrough data. Each entry is a field 1. */
enum {
  PASSTHROUGH_TRACK = 1,        /* id in the graph; always first */
  PASSTHROUGH_FIELDS = 2,       /* fields of its descriptor that are not modelled */
  PASSTHROUGH_INNER_FIELDS = 3, /* fields that are not modelled of the track's process, thread or counter */
  PASSTHROUGH_PID = 4,          /* original pid of a process, if another machine uses the same pid */
  PASSTHROUGH_UUID = 5,         /* uuid of a track that has original descriptors, or no descriptor */
  PASSTHROUGH_PARENT = 6,       /* uuid of the track's parent, if the parent has an entry with PASSTHROUGH_UUID */
  PASSTHROUGH_PARENT_TRACK = 7, /* for a counter below a named track: id of that track in the graph */
  PASSTHROUGH_LEGACY = 8        /* 1: the events of an async track were legacy events of Chrome */
};

/* Header of perfetto.readings. The readings follow, grouped by clock and sorted by `own`. */
struct clock_readings {
  int64_t later_ns;  /* ns that our writer added to all times because the first time was negative */
  int64_t base_ns;   /* trace-clock time, as stated in packets, that corresponds to graph time 0 */
  int64_t origin_ns; /* tk_trace.origin_ns of the graph as it was read */
  uint32_t trace_clock, n;
};
struct clock_reading {
  uint32_t machine, id, n, reserved; /* n: in the first reading of a clock, the number of its readings */
  int64_t own, trace;
};

/* Fields of an entry of perfetto.interned, which contains the data interned between two resets of a sequence's incremental
 * state. */
enum { INTERNED_NUMBER = 1, INTERNED_DATA = 2 };
/* Fields of an entry of perfetto.key_types: all numbers of args with this key have one type, VALUE_* (fields.h). */
enum { KEY_TYPE_KEY = 1, KEY_TYPE_TYPE = 2 };
/* Keys of args of events. */
#define ARG_INTERNED "perfetto.interned"
#define THREAD_TIME_ARG "json.tts"
#define INSTRUCTIONS_ARG "json.ticount"
#define ARG_TYPES "perfetto.types" /* types of the values of nested annotations (fields.h) */

/* Names of the counters of a thread that trace_processor also shows as columns of its slices. */
#define THREAD_TIME_COUNTER "thread_time"
#define INSTRUCTIONS_COUNTER "thread_instruction_count"

/* True if the trace was read from a Perfetto file. */
static inline bool was_perfetto(const struct tk_trace *t) { return t->format && strcmp(t->format, PERFETTO_FORMAT) == 0; }
/* True if `m` contains passthrough data of Perfetto under this key. */
bool passthrough_is(const struct tk_trace *t, const struct tk_meta *m, const char *key);
/* Returns the first passthrough meta with this key, or NULL. */
const struct tk_meta *passthrough_find(const struct tk_trace *t, const char *key);

/* Appends the fields of a process in an entry of perfetto.tracks, except for its start, which is a time in the file. Returns the number
 * of omitted fields. */
uint64_t passthrough_without_times(const struct pb_field *fields, struct buf *to);

struct schema;
/* Adds the descriptions of event fields that the graph contains. */
void passthrough_schema(const struct tk_trace *t, struct schema *s);

/* Returns perfetto.key_types as an array by key, in memory of `mem`: VALUE_* or 0; NULL if the graph has none. */
uint8_t *passthrough_key_types(const struct tk_trace *t, struct mem *mem);

/* Sets *head to the header of perfetto.readings. Returns false if the graph has no packets. */
bool passthrough_readings_of(const struct tk_trace *t, struct clock_readings *head);
/* True if the packets and track descriptors are still valid for the graph, because the graph was only cut in time or moved as a
 * whole. */
bool passthrough_is_valid(const struct tk_trace *t);

/* True if the packet only contains clocks and transport fields, which the graph also represents. */
bool passthrough_is_clocks(const struct pb_field *packet);
/* True if the events of the packet are also in the graph (timeline.c). */
bool passthrough_is_read(const struct pb_field *packet);
/* Returns the number of packets that no other format can represent (format->n_passthrough). */
uint64_t perfetto_n_passthrough(const struct tk_trace *t);

/* Returns the name of a value of CounterDescriptor.unit; NULL if it names no unit. */
const char *perfetto_unit(uint64_t unit);

/* Returns which identities of processes a merge must keep for the sake of packets (format->keeps_ids). */
enum format_ids perfetto_keeps_ids(const struct tk_trace *t);

/* Describes machine number `at` of the Perfetto file from which the graph was read (format->machine). Returns false if the file
 * had fewer machines. */
bool perfetto_machine(const struct tk_trace *t, uint32_t at, struct format_machine *m);

/* Describes a track as the file does, if the trace was loaded with TK_WITHOUT_RESTORING (format->track). */
bool perfetto_track(const struct tk_trace *t, tk_id at, struct format_track *track);

/* Returns the clock of the graph's times (format->start). */
struct sink_start perfetto_start(const struct tk_trace *first);

#endif
