/* machine.h - machines of tracks (TracePacket.machine_id), with a separate sequence of packets for each. */
#ifndef FORMAT_PERFETTO_WRITE_MACHINE_H
#define FORMAT_PERFETTO_WRITE_MACHINE_H

#include "writer.h"

bool machine_write_all(struct perfetto_sink *s);

/* Switches to the machine of the track. Returns true on the first switch to it in this graph. */
bool machine_of_writer(struct perfetto_sink *s, tk_id track);

#endif
