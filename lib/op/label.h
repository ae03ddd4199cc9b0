/* label.h - how the processes of a merged trace are named: "rank {rank} - {host} - {process}".
 *
 * Text with fields in braces; "{{" and "}}" are braces.  A field that is not known takes the text along that ties it to the field
 * before it (or, of the first ones, to the next), with the bracket that this text opens: without a host, "{process} ({host})" is
 * "python" and the label above "rank 3 - python". */
#ifndef OP_LABEL_H
#define OP_LABEL_H

#include "base/err.h"

enum label_field { LABEL_RANK, LABEL_HOST, LABEL_PROCESS, LABEL_PID, LABEL_INPUT, LABEL_RUN, LABEL_STEP, LABEL_FIELDS };

#define LABEL_DEFAULT "rank {rank} - {host} - {process}"

struct label_values {
  const char *of[LABEL_FIELDS]; /* NULL or "": not known */
};

/* Says what is wrong with a template: a field that there is none of, no field at all, text that is no UTF-8. */
bool label_check(const char *label, struct tk_err *err);

/* The name, cut to what fits into size > 0 bytes with its NUL, never within a character.  `label` has been checked. */
size_t label_expand(const char *label, const struct label_values *values, char *text, size_t size);

#endif
