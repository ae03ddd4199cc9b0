/* agree.h - checks that reading with several threads gives the same trace, id by id and byte by byte. */
#ifndef TESTS_AGREE_H
#define TESTS_AGREE_H

#include "help.h"

/* Fails unless feeding the bytes as `how` describes gives the same trace, or the same error, as with one thread. */
void agree(const char *where, const void *p, size_t n, struct feed how);
/* Number of comparisons made. */
unsigned agree_count(void);

#endif
