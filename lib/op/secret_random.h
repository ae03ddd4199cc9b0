/* secret_random.h - keys that nothing announces: long runs of characters that look drawn at random. */
#ifndef OP_SECRET_RANDOM_H
#define OP_SECRET_RANDOM_H

#include <stddef.h>

/* Length of the random run that begins at p, which lies in the text from `start` to `end`; 0 if there is none. */
size_t secret_random_at(const char *start, const char *p, const char *end);

#endif
