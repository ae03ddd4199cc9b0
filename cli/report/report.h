/* report.h - prints a report as text, JSON or HTML. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "tracekit.h"

#include <stdio.h>

#endif
