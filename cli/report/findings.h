/* findings.h - findings of a report as text. */
#ifndef CLI_REPORT_FINDINGS_H
#define CLI_REPORT_FINDINGS_H

#include "tracekit.h"

/* Prints up to `most` findings. */
void findings_print(const struct tk_report *r, size_t most);

#endif
