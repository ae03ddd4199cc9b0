/* rocpd.h - reads databases of schema 3 and 4, which rocprofv3 and rocprof-sys write. */
#ifndef FORMAT_ROCM_READ_ROCPD_H
#define FORMAT_ROCM_READ_ROCPD_H

#include "reader.h"

/* True if `table` is the table `base` of some process: its name is `base` and the id of the process, as in
 * "rocpd_string_00000000_0000_...". */
bool rocpd_is_table(const char *table, const char *base);
bool rocpd_read(struct rocm *r);
/* True if the table is read, or known to be needed only by other tools. */
bool rocpd_knows(const char *table);

#endif
