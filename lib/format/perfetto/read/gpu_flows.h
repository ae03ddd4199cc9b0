/* gpu_flows.h - flows between GPU events that refer to each other by number. */
#ifndef FORMAT_PERFETTO_READ_GPU_FLOWS_H
#define FORMAT_PERFETTO_READ_GPU_FLOWS_H

#include "reader.h"

/* Notes the numbers of the last event of the graph, which was read from this GpuRenderStageEvent. */
void gpu_flows_of_stage(struct perfetto *r, const struct packet *k);
/* Notes the number of the last event of the graph, which is a submission of work. */
void gpu_flows_of_submit(struct perfetto *r, uint32_t machine, uint64_t submission);
/* Notes the numbers in the fields of a track event, r->fields. `event`: the event that is read from it. */
void gpu_flows_of_event(struct perfetto *r, const struct packet *k, tk_id event);
/* Adds the flows. Call when the times of all events are final. */
void gpu_flows_finish(struct perfetto *r);

#endif
