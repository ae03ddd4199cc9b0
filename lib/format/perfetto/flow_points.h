/* flow_points.h - the id of a flow point, where the event has an arg that is the same integer.
 *
 * Launches and kernels of Kineto have such an arg ("correlation"), so the point only says which one of the debug annotations it is. */
#ifndef FORMAT_PERFETTO_FLOW_POINTS_H
#define FORMAT_PERFETTO_FLOW_POINTS_H

#include "format/pb.h"

/* The number, from 1 on, of the first debug annotation of a TrackEvent that is this integer; 0 = none is. */
uint32_t flow_point_arg_of_id(struct pb event, int64_t id);
/* The integer that the debug annotation of this number is; 0 if it is none. */
int64_t flow_point_id_of_arg(struct pb event, uint64_t number);

#endif
