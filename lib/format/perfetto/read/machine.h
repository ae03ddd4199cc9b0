/* machine.h - handles traces of several machines (TracePacket.machine_id; absent = machine 0). Uuids, pids, sequences and
 * clocks are only valid within a machine. */
#ifndef FORMAT_PERFETTO_READ_MACHINE_H
#define FORMAT_PERFETTO_READ_MACHINE_H

#include "reader.h"

/* Reads the RemoteClockSync of a machine other than 0. */
void machine_sync(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);
void machine_named(struct perfetto *r, uint32_t id, tk_id name);

/* Returns the name of a machine; 0 for machine 0, unless it has a name. */
tk_id machine_name(struct perfetto *r, uint32_t id);

/* Stores the ids of the machines, which the writer and manifests need. */
void machine_passthrough(struct perfetto *r);

#endif
