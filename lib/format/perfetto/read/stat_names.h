/* stat_names.h - names of the counters in /proc/meminfo and /proc/vmstat. */
#ifndef FORMAT_PERFETTO_READ_STAT_NAMES_H
#define FORMAT_PERFETTO_READ_STAT_NAMES_H

#include <stdint.h>

/* Return the name of a counter by its number; NULL if it is unknown. */
const char *stat_names_memory(uint64_t key);
const char *stat_names_vm(uint64_t key);

#endif
