/* machine.h - writes the machines of tracks (TracePacket.machine_id); each has a separate sequence of packets. */
#ifndef FORMAT_PERFETTO_WRITE_MACHINE_H
#define FORMAT_PERFETTO_WRITE_MACHINE_H

#include "writer.h"

bool machine_write_all(struct perfetto_sink *s);

/* Switches to the machine of the track. Returns true if this graph has not used the machine before. */
bool machine_of_writer(struct perfetto_sink *s, tk_id track);

#endif
