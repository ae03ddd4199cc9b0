/* accelerator.h - recognises devices of all vendors by the names that profilers use for processes, labels, threads and
 * categories.
 *
 * Kineto categorises its events, and XLA names its planes (kind.c, kind_xla.c). Most other producers do neither; only the names
 * of processes and threads show that a span is device work. Supporting another device takes one table row per producer, with a
 * reference to the producer's source. */
#ifndef GRAPH_ACCELERATOR_H
#define GRAPH_ACCELERATOR_H

#include "trace.h"

/* A device by its usual name: "NPU 0" has family "NPU" and number 0. */
struct accelerator {
  const char *family; /* "GPU", "NPU", "XPU", ...; NULL: not a device */
  int64_t number;     /* -1 = unknown */
};

/* Category of Perfetto's GpuRenderStageEvents (format/perfetto/read), which are GPU work even if the queue has an unusual name: "3D",
 * "Unknown GPU Queue 6". */
#define ACCELERATOR_RENDER_STAGE "gpu_render_stage"

/* Names that CUPTI's users and NVIDIA's nvprof and Nsight Systems give to copies and fills: "[MEMCPY] DtoH", "[CUDA memset]". The calls
 * of a host have other names. */
#define ACCELERATOR_COPIES "[MEMCPY]", "[memcpy]", "[CUDA memcpy", "[CUDA Unified Memory memcpy"
#define ACCELERATOR_FILLS "[MEMSET]", "[memset]", "[CUDA memset"

/* Returns the device that a process or thread represents, judging by its labels or name. */
struct accelerator accelerator_of(const struct tk_trace *t, tk_id track);
/* True for a thread of a host process that shows device work; its name may contain the device number. */
bool accelerator_is_thread(const struct tk_trace *t, tk_id track);
/* Returns the name of a process or thread that looks like a device but matches no row; NULL if there is none. */
const char *accelerator_suspect(const struct tk_trace *t);
/* True for a label of a process such as "GPU 0". */
bool accelerator_is_label(const char *label);
/* True for a name that implies what the process shows, such as "Communication". */
bool accelerator_is_process(const char *name);
/* Returns the family that the categories of the trace show, such as "XPU" for xpu_runtime; "GPU" if they show none. */
const char *accelerator_of_categories(const struct tk_trace *t);
/* Returns the family of a device type of PyTorch (c10::DeviceType), "device" if unknown. */
const char *accelerator_of_type(double type);
/* True if the process shows part of the work of a device that another process of the same rank represents: "HCCL" and "Ascend
 * Hardware", "COPY" and "GPU0". */
bool accelerator_is_part(const struct tk_trace *t, tk_id process);

/* True if the process shows some queues of a device, and other processes show the device's other queues:
 * "/device:GPU:0/stream:13 Compute". */
bool accelerator_is_queue(const struct tk_trace *t, tk_id process);

/* Keys of args whose value is equal in a launch and in the launched work; ends with NULL. */
extern const char *const accelerator_links[];
enum { ACCELERATOR_LINKS = 6 };

/* Returns the kinds (kind.h) of a name and its category. Sets *bare if the category alone does not determine the kind, so that the
 * kind also depends on the track. */
unsigned accelerator_class(const char *name, const char *cat, bool *bare);
/* True for the name of a call of a device's runtime: "cudaMemcpyAsync", "hipModuleLaunchKernel",
 * "zeCommandQueueExecuteCommandLists". */
bool accelerator_is_call(const char *name);
/* Returns the kinds of a kernel with which HIP copies or fills memory: "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBufferAligned.kd".
 * Returns 0 for other names. */
unsigned accelerator_blit(const char *name);
/* Returns the kinds of an event without a category, by its name. The event must be on a device, or in a trace of one device. */
unsigned accelerator_name(const char *name);
/* Returns the kinds of a span without a category by the names that IBM's AIU gives its work; 0 for other names. */
unsigned accelerator_aiu(const char *name);
/* Sets roles[] of the threads without a role whose spans show that they are queues of a device (accelerator_spans.c). Returns true
 * if there are any. */
bool accelerator_spans(const struct tk_trace *t, uint32_t *roles);
/* Returns the device whose queue accelerator_spans found. `process` represents the device. */
struct accelerator accelerator_spans_device(const struct tk_trace *t, tk_id process, tk_id track);
/* True if the args of the track's spans show that its process is a device. */
bool accelerator_spans_is_whole(const struct tk_trace *t, tk_id track);
/* Same as accelerator_is_part, for processes without a name. */
bool accelerator_spans_is_part(const struct tk_trace *t, tk_id process);
/* Stores in roles[track] the kinds of that track's spans without a category. Returns false if all are 0. */
bool accelerator_roles(const struct tk_trace *t, uint32_t *roles);

#endif
