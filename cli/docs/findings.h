/* findings.h - generates docs/findings.md from the table of thresholds. */
#ifndef CLI_DOCS_FINDINGS_H
#define CLI_DOCS_FINDINGS_H

#include <stdio.h>

void docs_findings(FILE *to);

#endif
