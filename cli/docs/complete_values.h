/* complete_values.h - lists completions of a value from a trace: `tracekit __complete FIELD WORD...`, which shells call. */
#ifndef CLI_DOCS_COMPLETE_VALUES_H
#define CLI_DOCS_COMPLETE_VALUES_H

#include "docs.h"

/* Runs `tracekit __complete FIELD WORD...`: lists the values of a field in the trace that the words name. */
int complete_main(char **argv);

#endif
