/* identity_pids.h - updates the pids in the metadata of a merged trace, for ranks that kept their pids in the merge. */
#ifndef SOURCE_IDENTITY_PIDS_H
#define SOURCE_IDENTITY_PIDS_H

#include "graph/trace.h"

/* In the metadata of a merged trace, replaces the pids of ranks that have a machine with the pids that the processes of this machine
 * have in the graph. These pids are unique, so they also identify the rank in formats that do not store machines. A failure is recorded
 * in the trace's memory account. */
void identity_renew_pids(struct tk_trace *t);

#endif
