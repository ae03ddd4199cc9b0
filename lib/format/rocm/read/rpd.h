/* rpd.h - reads databases of schema 2, which rocmProfileData writes. */
#ifndef FORMAT_ROCM_READ_RPD_H
#define FORMAT_ROCM_READ_RPD_H

#include "reader.h"

/* Returns the session of an id, which one process wrote. */
static inline uint64_t rpd_session(int64_t id) { return (uint64_t)id >> 32; }

bool rpd_read(struct rocm *r);
/* True if the table is read, or known to be needed only by other tools. */
bool rpd_knows(const char *table);

#endif
