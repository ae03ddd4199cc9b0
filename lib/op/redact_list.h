/* redact_list.h - list of the texts that redaction kept, changed and removed. It contains the original texts, so it must not be
 * shared. */
#ifndef OP_REDACT_LIST_H
#define OP_REDACT_LIST_H

#include "base/intern.h"
#include "base/map.h"
#include "io/out.h"

struct redact_row {
  uint8_t action, kind;  /* indices into the tables of names in redact_list.c */
  uint32_t text, becomes; /* string ids of the original and its replacement; becomes == 0: unchanged or removed */
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
/* Adds `count` occurrences of a text that was kept (`becomes` is equal), changed (`becomes` differs) or removed (`becomes` is NULL).
 * `l` may be NULL. */
void redact_list_note(struct tk_redact_list *l, enum redact_kind kind, struct redact_bytes text, const struct redact_bytes *becomes,
                      uint64_t count);

/* Writes the list as tab-separated columns with a header. Kept texts come first; texts of one kind are sorted by count, highest
 * first. */
bool redact_list_write(struct tk_redact_list *l, struct out *to);

#endif
