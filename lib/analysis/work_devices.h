/* work_devices.h - the device of each track with device work, and the name of a device. */
#ifndef ANALYSIS_WORK_DEVICES_H
#define ANALYSIS_WORK_DEVICES_H

#include "base/mem.h"
#include "base/map.h"
#include "graph/kind.h"
#include "graph/origin.h"

enum { WORK_KINDS = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER }; /* kinds of device work */

struct work_devices {
  struct mem *mem;
  const struct tk_trace *t;
  const struct kinds *kinds;
  const struct track_origin *origins; /* by track; NULL = unknown */
  struct map hardware; /* rank + 2 -> process that represents the device; set if other processes contain some of the device's work */
  tk_id *first;        /* by thread, for host threads that show work of a device: the first thread that shows the same device */
  bool *has_kernels;   /* by process: true if a line of the plane shows kernels or operations */
};

/* Finds the devices of a trace. Returns false if memory runs out; the caller calls work_devices_free even then. */
bool work_devices_init(struct work_devices *d, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem);
void work_devices_free(struct work_devices *d);
/* True if spans of the track can be work. On a device plane, these are the lines of kernels or, if it has none, all lines; in other
 * processes, all tracks. */
bool work_devices_shows(const struct work_devices *d, tk_id track);
/* True if the event is device work with a known time, or device work that never ended. */
bool work_devices_has(const struct work_devices *d, const struct tk_event *e);
/* Returns the process, or the first thread, that represents the device of a track. */
tk_id work_devices_of(const struct work_devices *d, tk_id track);

/* Appends the name of a device: "GPU 3", "TPU:0". device: result of work_devices_of; track: a track of the device. family: family of
 * devices whose names are only numbers, which is determined when it is needed first; NULL = not determined yet. */
void work_devices_name(const struct kinds *kinds, tk_id device, tk_id track, const char **family, struct buf *to);

#endif
