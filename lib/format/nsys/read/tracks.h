/* tracks.h - adds processes, threads, and the queues of devices. */
#ifndef FORMAT_NSYS_READ_TRACKS_H
#define FORMAT_NSYS_READ_TRACKS_H

#include "reader.h"

enum nsys_lane { LANE_WORK, LANE_SYNC, LANE_UNIFIED };

/* A queue of a device that a process uses. */
struct nsys_place {
  uint64_t process;
  int64_t device, stream;
  enum nsys_lane lane;
};

tk_id tracks_thread(struct nsys *r, int64_t global_tid);
tk_id tracks_stream(struct nsys *r, const struct nsys_place *place);
/* Returns the process track of a device, adding it if necessary. */
tk_id tracks_device(struct nsys *r, uint64_t process, int64_t device);
/* Names processes, threads and devices that have events. */
bool tracks_name(struct nsys *r);

#endif
