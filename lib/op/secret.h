/* secret.h - finds parts of texts that identify a person or a machine, or that grant access. */
#ifndef OP_SECRET_H
#define OP_SECRET_H

#include <stddef.h>

struct secret {
  size_t length;    /* length in bytes; 0 = nothing sensitive begins here */
  const char *kind; /* "url", "secret", "email", "address", "host" */
};

/* Returns the sensitive part that begins at p, which is inside the text from `start` to `end`. */
struct secret secret_at(const char *start, const char *p, const char *end);

#endif
