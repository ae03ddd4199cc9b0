/* track_event.h - a TrackEvent between parsing (track_event.c) and adding it to the graph (take_event.c). */
#ifndef FORMAT_PERFETTO_READ_TRACK_EVENT_H
#define FORMAT_PERFETTO_READ_TRACK_EVENT_H

#include "reader.h"

/* Counter samples that accompany an event (extra.c). The arrays are not initialised, because that takes a tenth of the time per
 * event. `found`: the values with the nodes of their counters. */
struct extra_value {
  uint32_t node;
  struct tk_arg value;
};
struct extra_counters {
  struct uuid_list uuids, double_uuids;
  int64_t values[EXTRA_COUNTERS];
  double doubles[EXTRA_COUNTERS];
  struct extra_value found[2 * EXTRA_COUNTERS];
  uint32_t n_values, n_doubles, n_found;
};

/* A parsed event. Its annotations are either in the trace's arg builder, or still in `decoded`; in the latter case they can be packed
 * without the builder. */
struct track_event {
  struct extra_counters *extra;  /* NULL = none */
  const struct decoded *decoded; /* NULL = none */
  const struct layout *layout;   /* layout of the args in `decoded` */
  const uint8_t *packed;         /* values of these args, if they are packed already; NULL = not yet */
  size_t n_packed;
  uint64_t type, track_uuid;
  bool has_type, has_track, has_args, has_legacy, has_value, has_double, has_delta, has_absolute, has_correlation;
  uint32_t n_categories;
  tk_id name, cat, correlation;
  int64_t value, delta_us, absolute_us, thread_us;
  int64_t thread_ns, instructions; /* CPU time and instructions of the thread, from counters */
  bool has_thread_us, has_thread_ns, has_instructions;
  int64_t thread_dur_us; /* thread duration in us of a complete event whose thread time is known; 0 = unknown */
  double double_value;
  uint64_t correlation_id;
  char phase;
  int64_t dur_us, pid, tid;
  bool has_pid, has_tid, enclosing;
  uint32_t id_field; /* number of the field with the legacy id; 0 = none */
  uint64_t id, bind_id, direction, scope;
  tk_id id_scope;
  uint32_t first_point;
  bool damaged;
  uint32_t node;
  int64_t ns;
};

void perfetto_track_event(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Properties of the end of a span. perfetto_own_end closes the begin event `begin` with these properties and the fields of an end
 * event. */
struct own_end {
  int64_t dur;
  bool pairs;      /* true if the span was recorded as a begin and an end event */
  bool has_points; /* true if flow points represent the flow ids of the end */
};
void perfetto_own_end(struct perfetto *r, struct sequence *q, const struct pb_field *f, tk_id begin, const struct own_end *end);

/* Adds the event of a decoded packet; k contains the rest of the packet. Returns false if the event uses an iid that was not
 * defined. */
bool perfetto_decoded_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct decoded *d);

#endif
