/* track_event.h - a TrackEvent between the bytes that say it (read_track_event.c) and the graph (take_event.c). */
#ifndef FORMAT_PERFETTO_TRACK_EVENT_H
#define FORMAT_PERFETTO_TRACK_EVENT_H

#include "reader.h"

/* Samples of counters that come with an event.  Of those that there are not nothing is cleared: it would be a tenth of an event. */
struct extra_counters {
  struct uuid_list uuids, double_uuids;
  int64_t values[EXTRA_COUNTERS];
  double doubles[EXTRA_COUNTERS];
  uint32_t n_values, n_doubles;
};

/* Its annotations are in the trace's arg builder, or still in `decoded`, from which they can be packed without it. */
struct track_event {
  struct extra_counters *extra;  /* NULL = none */
  const struct decoded *decoded; /* NULL = none */
  const struct layout *layout;   /* of what is in `decoded` */
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
  uint32_t id_field; /* of the legacy id that is set */
  uint64_t id, bind_id, direction, scope;
  tk_id id_scope;
  uint32_t first_point;
  bool damaged;
  uint32_t node;
  int64_t ns;
};

/* How args of such an event are packed; NULL: names or values of them are not interned, or there twice, which the general path says. */
const struct layout *decoded_layout(struct perfetto *r, const struct sequence *q, const struct decoded *d);
/* Args of the event are under construction from here on. */
void track_event_args(struct perfetto *r, struct sequence *q, struct track_event *e);
/* The packed record of its args; 0 = none. */
uint32_t track_event_end_args(struct perfetto *r, struct sequence *q, struct track_event *e);

/* The event becomes what it is in the graph. */
void perfetto_take_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e);

#endif
