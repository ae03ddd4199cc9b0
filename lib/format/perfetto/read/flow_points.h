/* flow_points.h - reads flow points with all their properties, which our writer stores in private fields (see write/flow_points.c). */
#ifndef FORMAT_PERFETTO_READ_FLOW_POINTS_H
#define FORMAT_PERFETTO_READ_FLOW_POINTS_H

#include "reader.h"

/* Adds a flow id to the event that is being read. Call perfetto_points after all ids have been added: it reads the name, category, time
 * and role of these flow points from the tracekit field. */
void perfetto_add_point(struct perfetto *r, uint64_t id, bool terminating);
void perfetto_points(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of);

/* Reads a flow point that does not belong to an event. */
void perfetto_lone_point(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of,
                         const struct pb_field *f);

#endif
