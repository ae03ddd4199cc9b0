/* rpd.h - schema 2, of rocmProfileData. */
#ifndef FORMAT_ROCM_READ_RPD_H
#define FORMAT_ROCM_READ_RPD_H

#include "reader.h"

bool rpd_read(struct rocm *r);
/* True if a table is read, or needed only by other tools. */
bool rpd_knows(const char *table);

#endif
