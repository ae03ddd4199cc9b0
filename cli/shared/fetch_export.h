/* fetch_export.h - converts reports of Nsight Systems (.nsys-rep), whose format is not public, with the program nsys.
 *
 *     nsys export --type=sqlite --output=TEMPORARY --quiet=true REPORT
 *
 * This is done only if the user named the program (--nsys). The database never outlives this process, because its name is removed as
 * soon as it is open. */
#ifndef CLI_SHARED_FETCH_EXPORT_H
#define CLI_SHARED_FETCH_EXPORT_H

#include "tracekit.h"

/* True if the name is that of a report of Nsight Systems. */
bool fetch_exports(const char *name);

/* Exports a report with `program`. Returns a path of the database, which is valid in this process and must be freed; NULL with
 * err set on failure. */
char *fetch_export(const char *program, const char *report, struct tk_err *err);

#endif
