/* parts.h - the ranks of an input that contains several, such as the report of a node.
 *
 * A format finds them in a few small tables or columns, without reading the events, because the number of ranks must be known
 * before the first one is loaded. A part is one process of the input; trace_owner (graph/trace.h) assigns tracks to processes. */
#ifndef FORMAT_PARTS_H
#define FORMAT_PARTS_H

#include "base/mem.h"

struct parts_item {
  int64_t process; /* number of the process in the input */
  int64_t rank;    /* -1 = the input does not contain it */
  int64_t device;  /* lowest number of a device that the process used */
};

struct parts {
  struct mem *mem;
  struct parts_item *v;
  uint32_t n, cap;
  int64_t rank;          /* rank of an input that is not divided into parts; -1 = not in the input */
  const char *rank_from; /* where the input records ranks, a literal; NULL = nowhere */
  char host[256];        /* "" = unknown */
};

/* Notes that a process used a device; the first use adds the part. */
void parts_use(struct parts *p, int64_t process, int64_t device);
/* Returns the part of a process; NULL if it used no device. */
struct parts_item *parts_find(const struct parts *p, int64_t process);
/* Sorts by rank if all parts have one, and otherwise by device and process. Ranks that only some processes have, or that occur
 * twice, are dropped. */
void parts_sort(struct parts *p);
void parts_free(struct parts *p);

#endif
