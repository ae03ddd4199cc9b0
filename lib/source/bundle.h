/* bundle.h - folders in which a profiler stores the trace of one process, with other files that it made of it.
 *
 *     <host>_<pid>_<time>_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json     the trace
 *                                                          communication.json  no trace
 *                                   profiler_info_3.json                       rank 3
 *
 * A bundle is a row: a profiler with another layout needs no code. */
#ifndef SOURCE_BUNDLE_H
#define SOURCE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Place of a file in a bundle. */
struct bundle_place {
  size_t above;     /* length of the path above the bundle's folder; 0 = the bundle is at the top */
  size_t end;       /* length of the path of the bundle's folder */
  size_t host;      /* length of the host's name at the start of the folder's name; 0 = unknown */
  size_t stem;      /* length of the name of the process at the start of the folder's name, without the time */
  int64_t stamp_ns; /* time in the folder's name, ns, in an unknown time zone; 0 = none */
  bool trace;       /* the file is the trace of the process */
  int64_t rank;     /* rank that the name of the file states for the whole bundle; -1 = none */
};

/* True if the folder, or the folder that contains it, is one of a bundle. */
bool bundle_is_at(const char *folder);

/* False if the path is in no bundle. */
bool bundle_find(const char *path, struct bundle_place *place);

/* Writes to `pattern` a pattern for files that state the rank of the trace at `path`, which is named without its bundle; false if
 * the trace belongs to no bundle. */
bool bundle_rank_files(const char *path, char *pattern, size_t size);

/* Returns the rank given in this file name; -1 = none. */
int64_t bundle_rank_of(const char *name);

#endif
