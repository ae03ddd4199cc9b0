/* accelerator.h - devices of all vendors, by the words that their profilers write: process names, labels, threads, categories.
 *
 * Kineto categorises its events, and XLA names its planes (kind.c, kind_xla.c). Most other producers do neither: the process and the
 * thread show that a span is work of a device. One row for each producer, with its source, is all that another device needs. */
#ifndef GRAPH_ACCELERATOR_H
#define GRAPH_ACCELERATOR_H

#include "trace.h"

/* A device as users call it: "NPU 0". */
struct accelerator {
  const char *family; /* "GPU", "NPU", "XPU", ...; NULL: not a device */
  int64_t number;     /* -1 = unknown */
};

/* Returns the device that a process or a thread stands for, by its labels or its name. */
struct accelerator accelerator_of(const struct tk_trace *t, tk_id track);
/* True for a thread of a host's process that shows work of a device, which its name may number. */
bool accelerator_is_thread(const struct tk_trace *t, tk_id track);
/* Returns the words of a process or thread that looks like a device, but is none that the rows know; NULL = none. */
const char *accelerator_suspect(const struct tk_trace *t);
/* True for a label of a process such as "GPU 0". */
bool accelerator_is_label(const char *label);
/* Returns the family that the categories of the trace state, such as "XPU" for xpu_runtime; "GPU" if they state none. */
const char *accelerator_of_categories(const struct tk_trace *t);
/* Returns the family of a device type of PyTorch (c10::DeviceType), "device" if unknown. */
const char *accelerator_of_type(double type);
/* True if the process contains a part of a device that another process of its rank stands for: "HCCL" and "Ascend Hardware", "COPY" and
 * "GPU0". */
bool accelerator_is_part(const struct tk_trace *t, tk_id process);

/* True if the process contains some queues of a device whose other queues are processes, too: "/device:GPU:0/stream:13 Compute". */
bool accelerator_is_queue(const struct tk_trace *t, tk_id process);

/* Args that hold the same number in a launch and in the work that it launched, ended by NULL. */
extern const char *const accelerator_links[];
enum { ACCELERATOR_LINKS = 6 };

/* Returns kinds (kind.h) for a name with its category; sets *bare if the category leaves the decision to the track. */
unsigned accelerator_class(const char *name, const char *cat, bool *bare);
/* Returns the kinds of the name of an event without a category, on a device or in a trace of one. */
unsigned accelerator_name(const char *name);
/* Stores in roles[track] the kinds that spans without a category have there. Returns false if all are 0. */
bool accelerator_roles(const struct tk_trace *t, uint32_t *roles);

#endif
