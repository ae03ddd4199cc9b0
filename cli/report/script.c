/* script.c - see script.h. */
#include "report/script.h"

const char report_script[] =
#include "report.js.inc"
  ;
