/* label.h - names of the processes of a merged trace: "rank {rank} - {host} - {process}".
 *
 * A label is text with fields in braces; "{{" and "}}" are literal braces. If a field is unknown, the text between the previous field
 * and this one is dropped as well. If the first fields are unknown, all text before the first known field is dropped. If the dropped
 * text opens a bracket, the matching closing bracket is dropped, too. Without a host, the label above becomes "rank 3 - python", and
 * "{process} ({host})" becomes "python". */
#ifndef OP_LABEL_H
#define OP_LABEL_H

#include "base/err.h"

enum label_field { LABEL_RANK, LABEL_HOST, LABEL_PROCESS, LABEL_PID, LABEL_INPUT, LABEL_RUN, LABEL_STEP, LABEL_FIELDS };

#define LABEL_DEFAULT "rank {rank} - {host} - {process}"

struct label_values {
  const char *of[LABEL_FIELDS]; /* NULL or "" = unknown */
};

/* Returns false with err set if the template is invalid: it has an unknown field, has no field at all, or is not UTF-8. */
bool label_check(const char *label, struct tk_err *err);

/* Writes the name and a NUL; returns its length. A name that does not fit into `size` > 0 bytes is cut between two characters. `label`
 * must be valid. */
size_t label_expand(const char *label, const struct label_values *values, char *text, size_t size);

#endif
