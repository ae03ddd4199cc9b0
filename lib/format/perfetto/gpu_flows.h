/* gpu_flows.h - the flows of GPU events: their category, and the fields that state them.
 *
 * Packets that are passed through state these flows, so the writer of such a trace writes no ids for them. */
#ifndef FORMAT_PERFETTO_GPU_FLOWS_H
#define FORMAT_PERFETTO_GPU_FLOWS_H

#define GPU_FLOW_CATEGORY "gpu"
enum gpu_flow { GPU_FLOW_SUBMISSION, GPU_FLOW_WAIT, GPU_FLOW_HOST, GPU_FLOW_HOST_WAIT, GPU_FLOWS };
static const char *const GPU_FLOW_NAMES[GPU_FLOWS] = {
    [GPU_FLOW_SUBMISSION] = "submission_id",                    /* GpuRenderStageEvent, VulkanApiEvent */
    [GPU_FLOW_WAIT] = "event_wait_ids",                         /* GpuRenderStageEvent */
    [GPU_FLOW_HOST] = "render_stage_submission_event_ids",      /* GpuCorrelation, an extension of TrackEvent */
    [GPU_FLOW_HOST_WAIT] = "render_stage_wait_event_ids",
};

#endif
