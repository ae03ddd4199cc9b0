/* inspect.h - what a binary file is made of, as `info` prints it. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "json.h"
#include "tracekit.h"

/* `all`: every plane, line, kind of packet and clock. */
void inspection_print(const struct tk_inspection *p, bool all);
/* Members "steps", "xplane", "perfetto", "parts". */
void inspection_json(struct json *j, const struct tk_trace *t, const struct tk_inspection *p);

#endif
