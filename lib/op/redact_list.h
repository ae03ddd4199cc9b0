/* redact_list.h - list of what redaction kept, changed and removed, with the original texts: only for the sender. */
#ifndef OP_REDACT_LIST_H
#define OP_REDACT_LIST_H

#include "base/intern.h"
#include "base/map.h"
#include "io/out.h"

struct redact_row {
  uint8_t action, kind;  /* index into the names of redact_list.c */
  uint32_t text, becomes; /* string ids; becomes: 0 = unchanged or removed */
  uint64_t count;
};

struct tk_redact_list {
  struct mem mem;
  struct intern texts;
  struct map rows_by_key; /* action, kind and texts -> index + 1 */
  struct redact_row *rows;
  uint32_t n, cap;
};

enum redact_kind {
  REDACT_NAME, REDACT_TRACK, REDACT_SERIES, REDACT_CATEGORY, REDACT_ID, REDACT_HOST, REDACT_FIELD, REDACT_ARG, REDACT_ARG_TEXT,
  REDACT_TOP_LEVEL, REDACT_LABEL, REDACT_RECORD, REDACT_BLOCK, REDACT_INPUT, REDACT_GROUP
};

struct redact_bytes {
  const char *p;
  size_t n;
};
/* Counts `count` more occurrences of a text that is kept (becomes equals it), changed, or removed (becomes is NULL). `l` may be
 * NULL. */
void redact_list_note(struct tk_redact_list *l, enum redact_kind kind, struct redact_bytes text, const struct redact_bytes *becomes,
                      uint64_t count);

/* Writes a header and one row per line, with tabs between the columns: kept texts first, and of each kind the most frequent
 * first. */
bool redact_list_write(struct tk_redact_list *l, struct out *to);

#endif
