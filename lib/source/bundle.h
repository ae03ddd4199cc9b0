/* bundle.h - folders in which a profiler stores the trace of one process, together with files derived from the trace.
 *
 *     <host>_<pid>_<time>_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json     the trace
 *                                                          communication.json  no trace
 *                                   profiler_info_3.json                       rank 3
 *
 * bundle.c has one table row per profiler; a profiler with another layout needs only a row. */
#ifndef SOURCE_BUNDLE_H
#define SOURCE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of a file in a bundle, as offsets into its path. */
struct bundle_place {
  size_t above;     /* length of the path of the folder that contains the bundle's folder; 0 = the bundle is at the top */
  size_t end;       /* length of the path of the bundle's folder */
  size_t host;      /* length of the host's name, with which the folder's name begins; 0 = unknown */
  size_t stem;      /* length of the process's name (host and pid), with which the folder's name begins */
  int64_t stamp_ns; /* time in the folder's name, in ns and an unknown time zone; 0 = none */
  bool trace;       /* true if the file is the trace */
  int64_t rank;     /* rank of the bundle, if the file's name states it; -1 = none */
};

/* True if the folder or its parent is the folder of a bundle. */
bool bundle_is_at(const char *folder);

/* Finds the bundle to which a path belongs. Returns false if there is none. */
bool bundle_find(const char *path, struct bundle_place *place);

/* For a trace that the user named directly: writes to `pattern` a pattern for the files whose names state the rank of the trace at
 * `path`. Returns false if the trace does not belong to a bundle. */
bool bundle_rank_files(const char *path, char *pattern, size_t size);

/* Returns the rank given in this file name; -1 = none. */
int64_t bundle_rank_of(const char *name);

#endif
