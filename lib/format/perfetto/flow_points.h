/* flow_points.h - encodes the id of a flow point as a reference to an equal integer arg of its event.
 *
 * Kineto's launches and kernels have such an arg ("correlation"), so the flow point only stores the number of the debug
 * annotation.
 */
#ifndef FORMAT_PERFETTO_FLOW_POINTS_H
#define FORMAT_PERFETTO_FLOW_POINTS_H

#include "format/pb.h"

/* Returns the number, from 1, of the first debug annotation of a TrackEvent whose value is this integer; 0 if there is none. */
uint32_t flow_point_arg_of_id(struct pb event, int64_t id);
/* Returns the integer value of the debug annotation with this number; 0 if there is none. */
int64_t flow_point_id_of_arg(struct pb event, uint64_t number);

#endif
