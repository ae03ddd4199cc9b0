/* vendor.h - parses collectives of vendors whose profilers write more into the name than the operation.
 *
 * A row for each spelling. Indices in names count the collectives within the recorded window, not within the job, so ranks that
 * began to record at different times number them differently: an index is shown, but identifies nothing. */
#ifndef ALIGN_COLLECT_VENDOR_H
#define ALIGN_COLLECT_VENDOR_H

#include "graph/trace.h"

struct vendor_name {
  size_t op;         /* length of the operation at the beginning of the name: "hcom_allReduce" */
  const char *group; /* the group, if the name states it; NULL otherwise */
  size_t group_size;
  int64_t index;     /* -1 = not stated */
};

/* Parses "hcom_allReduce__586_0_1". Returns false if the name has none of the known spellings. */
bool vendor_parse(const char *name, struct vendor_name *out);

/* Elements that a collective of any vendor moves, as its args state them. */
struct vendor_payload {
  tk_id type; /* text such as "FP32" */
  int64_t count;
};

/* Returns false if the args state no payload in a known spelling. */
bool vendor_payload(const struct tk_trace *t, uint32_t args, struct vendor_payload *out);
/* Returns the bytes of a collective whose input and output have the same size; -1 for others, and if the type is unknown. */
int64_t vendor_bytes(const struct tk_trace *t, const char *name, const struct vendor_payload *p);

#endif
