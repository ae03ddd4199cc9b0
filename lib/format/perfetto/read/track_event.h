/* track_event.h - a TrackEvent after parsing (track_event.c) and before it is added to the graph (take_event.c). */
#ifndef FORMAT_PERFETTO_READ_TRACK_EVENT_H
#define FORMAT_PERFETTO_READ_TRACK_EVENT_H

#include "reader.h"

/* Counter samples that accompany an event. The arrays are not cleared: that would take a tenth of the time of an event. */
struct extra_counters {
  struct uuid_list uuids, double_uuids;
  int64_t values[EXTRA_COUNTERS];
  double doubles[EXTRA_COUNTERS];
  uint32_t n_values, n_doubles;
};

/* A parsed event. Its annotations are in the trace's arg builder, or still in `decoded`, from which they can be packed
 * directly. */
struct track_event {
  struct extra_counters *extra;  /* NULL = none */
  const struct decoded *decoded; /* NULL = none */
  const struct layout *layout;   /* layout of the args in `decoded` */
  uint64_t type, track_uuid;
  bool has_type, has_track, has_args, has_legacy, has_value, has_double, has_delta, has_absolute, has_correlation;
  uint32_t n_categories;
  tk_id name, cat, correlation;
  int64_t value, delta_us, absolute_us, thread_us;
  bool has_thread_us;
  double double_value;
  uint64_t correlation_id;
  char phase;
  int64_t dur_us, pid, tid;
  bool has_pid, has_tid, enclosing;
  uint32_t id_field; /* field number of the legacy id; 0 = none */
  uint64_t id, bind_id, direction, scope;
  tk_id id_scope;
  uint32_t first_point;
  bool damaged;
  uint32_t node;
  int64_t ns;
};

/* Returns the layout of the args of a decoded event; NULL if a name or value is not interned or a name is duplicate, which the
 * general path reports. */
const struct layout *decoded_layout(struct perfetto *r, const struct sequence *q, const struct decoded *d);
/* Moves the event's args to the trace's arg builder, where more can be added. */
void decoded_event_args(struct perfetto *r, struct sequence *q, struct track_event *e);
/* Returns the packed record of the event's args; 0 = none. */
uint32_t decoded_event_end_args(struct perfetto *r, struct sequence *q, struct track_event *e);

/* Adds the event to the graph. */
void perfetto_take_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e);

#endif
