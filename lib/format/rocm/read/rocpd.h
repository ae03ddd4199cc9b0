/* rocpd.h - schema 3 and 4, of rocprofv3 and rocprof-sys. */
#ifndef FORMAT_ROCM_READ_ROCPD_H
#define FORMAT_ROCM_READ_ROCPD_H

#include "reader.h"

/* The base of a table's name, which is followed by the id of its process: "rocpd_string_00000000_0000_...". */
bool rocpd_is_table(const char *table, const char *base);
bool rocpd_read(struct rocm *r);
/* True if a table is read, or needed only by other tools. */
bool rocpd_knows(const char *table);

#endif
