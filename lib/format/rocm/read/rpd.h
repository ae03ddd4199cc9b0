/* rpd.h - reads databases of schema 2, which rocmProfileData writes. */
#ifndef FORMAT_ROCM_READ_RPD_H
#define FORMAT_ROCM_READ_RPD_H

#include "reader.h"

bool rpd_read(struct rocm *r);
/* True if the table is read, or known to be needed only by other tools. */
bool rpd_knows(const char *table);

#endif
