/* vendor.h - parses collective names in which vendors store more than the operation.
 *
 * Each spelling has a table row. Indices in names count the collectives since the recording began, not since the job began, so ranks
 * that began to record at different times number the same collective differently. Therefore an index is only displayed. */
#ifndef ALIGN_COLLECT_VENDOR_H
#define ALIGN_COLLECT_VENDOR_H

#include "graph/trace.h"

struct vendor_name {
  size_t op;         /* length of the operation, with which the name begins: "hcom_allReduce" */
  const char *group; /* the group, if the name contains it; otherwise NULL */
  size_t group_size;
  int64_t index;     /* index in the name; -1 = none */
};

/* Parses a name such as "hcom_allReduce__586_0_1". Returns false if the name matches no known spelling. */
bool vendor_parse(const char *name, struct vendor_name *out);

/* Number and type of the elements that a collective moves, according to its args, for any vendor. */
struct vendor_payload {
  tk_id type; /* text such as "FP32" */
  int64_t count;
};

/* Finds the number and type of the elements in the args. Returns false if the args do not contain them in a known form. */
bool vendor_payload(const struct tk_trace *t, uint32_t args, struct vendor_payload *out);
/* Returns the bytes that a collective moves if its input and output have the same size; -1 for other collectives, and if the
 * type is unknown. */
int64_t vendor_bytes(const struct tk_trace *t, const char *name, const struct vendor_payload *p);

#endif
