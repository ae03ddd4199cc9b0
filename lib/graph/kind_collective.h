/* kind_collective.h - recognises collectives by the names that libraries give them. */
#ifndef GRAPH_KIND_COLLECTIVE_H
#define GRAPH_KIND_COLLECTIVE_H

#include <stdbool.h>

/* True for a kernel, an HLO operation or a c10d span that communicates with other ranks. */
bool kind_is_collective(const char *name);

/* Returns the part of a kernel's name from its function on, without "void " and an anonymous namespace. */
const char *kind_collective_function(const char *name);

/* True for the name of a request of Horovod. These names are common words, so only spans without a category may be tested. */
bool kind_is_request(const char *name);

#endif
