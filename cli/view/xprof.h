/* xprof.h - runs TensorBoard or xprof, whichever is installed, on the loopback, with a temporary run directory. */
#ifndef CLI_VIEW_XPROF_H
#define CLI_VIEW_XPROF_H

#include "view.h"

/* Writes a temporary run directory and runs xprof or TensorBoard on it, until the program ends or the user stops it. Returns
 * the exit status. */
int view_xprof(const struct view_params *p, const struct operands *in);

#endif
