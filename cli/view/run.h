/* run.h - runs tracekit view. */
#ifndef CLI_VIEW_RUN_H
#define CLI_VIEW_RUN_H

#include "view.h"

/* Opens the sources in the viewer, and prints why if that fails. Returns the exit status. */
int view_run(const struct view_params *p, const struct operands *in);

#endif
