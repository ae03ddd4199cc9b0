/* thresholds.h - the option for thresholds of findings, which report and check share. */
#ifndef CLI_SHARED_THRESHOLDS_H
#define CLI_SHARED_THRESHOLDS_H

#define ROW_THRESHOLDS(S, field)                                                                                              \
  { OPT_FILE, 0, "thresholds", "FILE",                                                                                        \
    "read thresholds of findings from this file, with lines such as 'device-idle = 20 50' (warning and severe) or 'input = off'", \
    offsetof(S, field), 0, 0, 0 }

#endif
