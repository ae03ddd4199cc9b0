/* gpu_writer.h - state of writing GPU events, which gpu.c and gpu_counters.c share. */
#ifndef FORMAT_PERFETTO_WRITE_GPU_WRITER_H
#define FORMAT_PERFETTO_WRITE_GPU_WRITER_H

#include "graph/accelerator.h"
#include "graph/kind.h"
#include "writer.h"

/* A counter of a device. */
struct gpu_series {
  uint32_t id;
  struct tk_arg last; /* value of its last sample */
};

struct gpu_writer {
  struct kinds kinds;
  tk_id links[ACCELERATOR_LINKS]; /* keys of args that name the launch; 0 = no event has such an arg */
  int64_t device;                 /* number of the device of the current track; -1 = unknown */
  struct buf own, text;           /* span of a stage for our reader; text of an arg */
  tk_time end;                    /* end of the last event */
  tk_id counters;                 /* counter track of a device whose samples are being written; 0 = none */
  struct gpu_series *series;      /* series of this track */
  struct map series_at;           /* uuid -> 1 + index in `series` */
  uint32_t n_series, cap_series;
};

#endif
