/* redact_list.h - the account of what redaction kept, changed and removed, with the original texts: for the sender alone. */
#ifndef OP_REDACT_LIST_H
#define OP_REDACT_LIST_H

#include "base/intern.h"
#include "base/map.h"
#include "io/out.h"

struct redact_row {
  uint8_t action, kind;  /* index into the names of redact_list.c */
  uint32_t text, becomes; /* ids of strings; becomes: 0 = as it was, or gone */
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
/* Counts `count` more occurrences of a text that stays (becomes equals it), changes, or goes (becomes is NULL). `l` may be NULL. */
void redact_list_note(struct tk_redact_list *l, enum redact_kind kind, struct redact_bytes text, const struct redact_bytes *becomes,
                      uint64_t count);

/* Writes a header and a row a line, with tabs between the columns: what was kept first, of each kind the most frequent first. */
bool redact_list_write(struct tk_redact_list *l, struct out *to);

#endif
