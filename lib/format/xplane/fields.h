/* fields.h - field numbers and names in an XSpace: from its schema, from xprof, and private ones of tracekit.
 *
 * xprof ignores the private ones. They are a plane for file-wide data, stats for properties that a plane or an XEvent cannot
 * represent, and words in XStatMetadata.description for types that an XStat does not have. */
#ifndef FORMAT_XPLANE_FIELDS_H
#define FORMAT_XPLANE_FIELDS_H

#include <stdint.h>

#include "tracekit.h"

/* Field numbers of proto/xplane.proto (a test compares them). */
enum { XSPACE_PLANES = 1, XSPACE_ERRORS, XSPACE_WARNINGS, XSPACE_HOSTNAMES };
enum { XPLANE_ID = 1, XPLANE_NAME, XPLANE_LINES, XPLANE_EVENT_METADATA, XPLANE_STAT_METADATA, XPLANE_STATS };
enum {
  XLINE_ID = 1,
  XLINE_NAME,
  XLINE_TIMESTAMP_NS,
  XLINE_EVENTS,
  XLINE_DURATION_PS = 9,
  XLINE_DISPLAY_ID,
  XLINE_DISPLAY_NAME
};
enum { XEVENT_METADATA_ID = 1, XEVENT_OFFSET_PS, XEVENT_DURATION_PS, XEVENT_STATS, XEVENT_NUM_OCCURRENCES };
enum {
  XSTAT_METADATA_ID = 1,
  XSTAT_DOUBLE,
  XSTAT_UINT64,
  XSTAT_INT64,
  XSTAT_STR,
  XSTAT_BYTES,
  XSTAT_REF,
  XSTAT_COMPRESSED_STR
};
enum {
  XEVENT_METADATA_KEY = 1,
  XEVENT_METADATA_NAME,
  XEVENT_METADATA_METADATA,
  XEVENT_METADATA_DISPLAY_NAME,
  XEVENT_METADATA_STATS,
  XEVENT_METADATA_CHILD_ID
};
enum { XSTAT_METADATA_KEY = 1, XSTAT_METADATA_NAME, XSTAT_METADATA_DESCRIPTION };
enum { MAP_KEY = 1, MAP_VALUE };

/* Prefix for the key of an arg from a stat that is overridden by a later stat with the same name. */
#define XPLANE_EARLIER "xplane.earlier."

/* Prefix for the key of an arg that contains a stat of the event's metadata, if a stat of the event overrides it. The prefix
 * alone is the key of the arg with the metadata's name, if a step_name is displayed instead. */
#define XPLANE_OF_METADATA "xplane.metadata."
#define XPLANE_OWN_NAME "xplane.name"
/* Key of the arg with the id of the event's metadata, if other formats would confuse it with other metadata. */
#define XPLANE_METADATA_ID "xplane.metadata_id"

/* Names that have a meaning in xprof. */
#define XPLANE_COUNTERS "_counters_"
#define XPLANE_TASK "Task Environment"
#define XPLANE_START "profile_start_time"
#define XPLANE_METADATA "/host:metadata"

/* Private: a plane, its stats, and stats of other planes. */
#define XPLANE_PRIVATE_PLANE "/tracekit:metadata"
#define XPLANE_PRIVATE_TRACKS "tracekit.tracks"
#define XPLANE_PRIVATE_FLOWS "tracekit.flows"
#define XPLANE_PRIVATE_RECORDS "tracekit.records"
#define XPLANE_PRIVATE_ZERO "tracekit.zero_ns"
#define XPLANE_PRIVATE_BASE "tracekit.base_ns"
#define XPLANE_PRIVATE_HOST "tracekit.host" /* number of the host if the file has several: context ids are only valid within a
                                             * host */
#define XPLANE_PRIVATE_META "tracekit.meta."

/* Private: stats of the same plane in a block that other formats embed; the first two are followed by the number of a plane. */
#define XPLANE_CARRIED_TRACKS "tracekit.tracks."
#define XPLANE_CARRIED_TYPES "tracekit.types."
#define XPLANE_CARRIED_SHOWN "tracekit.shown"

/* Private: a stat of events, a stat of event metadata, and a value of XEventMetadata.metadata, which marks the metadata for one
 * series of a counter. (xprof would draw a stat as another series.) */
#define XPLANE_PRIVATE_BITS "tracekit.event"
#define XPLANE_PRIVATE_CAT "tracekit.cat"
#define XPLANE_PRIVATE_SERIES "tracekit.series"

/* Private: XEventMetadata.metadata of events that were generated for xprof, and of events that have a different name for xprof.
 * The displayed name is the name in the trace. */
#define XPLANE_PRIVATE_MADE "tracekit.made"
#define XPLANE_PRIVATE_NAMED "tracekit.named"
/* Private: like XPLANE_PRIVATE_NAMED, for events that have no name in the trace. */
#define XPLANE_PRIVATE_NAMELESS "tracekit.nameless"

/* Private: descriptions of stat metadata. A stat with one of the last two descriptions is not an arg of the trace: it is only
 * for xprof, or contains a flow point of an event from another format. */
#define XPLANE_PRIVATE_TYPE "tracekit:"
#define XPLANE_PRIVATE_DECIMAL "decimal:" /* followed by the exponent: 1.50 is stored as the double 1.5 with exponent -2 */
#define XPLANE_PRIVATE_XPROF XPLANE_PRIVATE_TYPE "xprof"
#define XPLANE_PRIVATE_LINK XPLANE_PRIVATE_TYPE "link"
/* While reading: key of the arg for a stat with a flow point. */
#define XPLANE_LINK_KEY "tracekit.link"

/* Start of the JSON text with the types of stats if some stats are compressed strings. */
#define XPLANE_COMPRESSED "{\"8\":["

/* Types that descriptions of stat metadata (XPLANE_PRIVATE_TYPE) define, in addition to enum tk_arg_type. */
enum { XPLANE_DROP = TK_ARG_TYPES + 1, XPLANE_LINK, XPLANE_DECIMAL = 100, XPLANE_MAX_EXP = 18 };

/* Limits for decimals that a double represents exactly, so that they can be converted back. */
static const int64_t XPLANE_MAX_MANT = (int64_t)1 << 50;
static const double XPLANE_TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static inline double xplane_decimal(int64_t mant, int exp) {
  return exp < 0 ? (double)mant / XPLANE_TENS[-exp] : (double)mant * XPLANE_TENS[exp];
}

#endif
