/* secret_random.h - finds secrets without a known prefix: long runs of characters that look random. */
#ifndef OP_SECRET_RANDOM_H
#define OP_SECRET_RANDOM_H

#include <stddef.h>

/* Returns the length of the random run that begins at p, within the text from `start` to `end`; 0 = none. */
size_t secret_random_at(const char *start, const char *p, const char *end);

#endif
