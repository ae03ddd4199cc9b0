/* inspect.h - prints the ranks of a merged trace and the parts of a binary file (planes, lines, sequences, clocks) for `info`. */
#ifndef CLI_SHARED_INSPECT_H
#define CLI_SHARED_INSPECT_H

#include "print/json.h"
#include "tracekit.h"

/* Prints the ranks and hosts of a merged trace; nothing for other traces. */
void inspect_print_origins(struct tk_trace *t);
/* Writes the members "ranks" and "hosts" of a merged trace. */
void inspect_json_origins(struct json *j, struct tk_trace *t);

/* Prints a summary as text. all: every plane, line, kind of packet and clock. */
void inspect_print(const struct tk_inspection *p, bool all);
/* Writes the members "steps", "xplane" or "perfetto", and "parts". */
void inspect_json(struct json *j, const struct tk_trace *t, const struct tk_inspection *p);

#endif
