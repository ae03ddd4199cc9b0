/* tracks.h - builds processes, threads and tracks as in Perfetto. */
#ifndef SQL_TRACKS_H
#define SQL_TRACKS_H

#include "sql.h"

bool sql_tracks(struct tk_sql *s);

/* Returns the track of an event in the tables: its track in the graph, or GLOBAL_TRACK. */
tk_id sql_track_of(const struct tk_sql *s, const struct tk_event *e);
tk_id sql_track_name(const struct tk_sql *s, tk_id track); /* returns a string id; 0 for tracks of threads and processes, which
                                                            * have no name in the tables */

#endif
