/* kind_collective.h - recognises collectives by the names that libraries give them. */
#ifndef GRAPH_KIND_COLLECTIVE_H
#define GRAPH_KIND_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

/* True for a kernel, an HLO operation or a c10d span that communicates with other ranks. */
bool kind_is_collective(const char *name);

/* True for the name of a collective in MindSpore's timeline, which consists of its stream and its number:
 * "stream_540_parallel_0". */
bool kind_collective_of_stream(const char *name);

/* True for the name of a request of Horovod. These names are common words, so only spans without a category may be tested. */
bool kind_is_request(const char *name);

/* Returns the head of a name and its length: the name without "void ", anonymous namespaces, template arguments and argument types. */
const char *kind_collective_head(const char *name, size_t *n);

#endif
