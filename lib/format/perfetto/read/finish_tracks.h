/* finish_tracks.h - converts nodes to tracks of the graph. */
#ifndef FORMAT_PERFETTO_READ_FINISH_TRACKS_H
#define FORMAT_PERFETTO_READ_FINISH_TRACKS_H

#include "reader.h"

/* Replaces every site (see reader.h) with a track of the graph, in events and in flow points that are not bound to an event. */
void perfetto_finish_tracks(struct perfetto *r);

#endif
