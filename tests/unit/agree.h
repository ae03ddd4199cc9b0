/* agree.h - what several threads read is the same trace, id by id and byte by byte. */
#ifndef TESTS_AGREE_H
#define TESTS_AGREE_H

#include "help.h"

/* Fails unless the bytes that are fed so are the same trace, or the same error, as fed to one thread. */
void agree(const char *where, const void *p, size_t n, struct feed how);
/* How many were compared. */
unsigned agree_count(void);

#endif
