/* label.h - names of the processes of a merged trace: "rank {rank} - {host} - {process}".
 *
 * A label is text with fields in braces; "{{" and "}}" are literal braces. If a field is unknown, the text between it and the
 * field before is dropped as well (for the first fields: the text before the first known field), and so is the bracket that
 * closes one opened by this text. Without a host, the label above becomes "rank 3 - python", and "{process} ({host})" becomes
 * "python". */
#ifndef OP_LABEL_H
#define OP_LABEL_H

#include "base/err.h"

enum label_field { LABEL_RANK, LABEL_HOST, LABEL_PROCESS, LABEL_PID, LABEL_INPUT, LABEL_RUN, LABEL_STEP, LABEL_FIELDS };

#define LABEL_DEFAULT "rank {rank} - {host} - {process}"

struct label_values {
  const char *of[LABEL_FIELDS]; /* NULL or "" = unknown */
};

/* False with err set if the template is invalid: unknown field, no field at all, or not UTF-8. */
bool label_check(const char *label, struct tk_err *err);

/* Writes the name, cut to size > 0 bytes including NUL, never within a character. `label` must be valid. Returns its length. */
size_t label_expand(const char *label, const struct label_values *values, char *text, size_t size);

#endif
