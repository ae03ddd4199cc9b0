/* column.h - one column of a table, in Arrow's layout: values side by side, a bit a row for what is null, texts as places in a
 * dictionary.
 *
 * Every column owns its memory by itself, for a consumer may take one out of a batch and free the others. */
#ifndef ARROW_COLUMN_H
#define ARROW_COLUMN_H

#include "graph/trace.h"

enum column_type { COLUMN_BOOL, COLUMN_U16, COLUMN_U32, COLUMN_I64, COLUMN_F64, COLUMN_TEXT };

/* Distinct texts under construction; a text's place is its id in `texts`, less one. */
struct words {
  struct mem mem;
  const struct tk_trace *t;
  struct intern texts;
  uint32_t *of_id; /* by string of the trace: place + 1 */
};

struct column {
  const char *name; /* until it is exported */
  enum column_type type;
  int64_t n, nulls;
  uint8_t *valid; /* NULL: all are */
  union {
    uint8_t *bits;
    uint16_t *u16;
    uint32_t *u32;
    int64_t *i64;
    double *f64;
    int32_t *place;
    void *values;
  };
  struct words words; /* of TEXT */
};

/* n rows of zero.  False when memory has run out; column_free takes it in any case. */
bool column_init(struct column *c, const struct tk_trace *t, const char *name, enum column_type type, int64_t n);
void column_free(struct column *c);

/* False when memory has run out. */
bool column_null(struct column *c, int64_t row);
static inline void column_bool(struct column *c, int64_t row, bool v) {
  if (v) c->bits[row >> 3] |= (uint8_t)(1 << (row & 7));
}
/* A string of the trace; 0 is null. */
bool column_string(struct column *c, int64_t row, tk_id id);
/* Any UTF-8. */
bool column_text(struct column *c, int64_t row, const void *p, size_t n);
/* Adds a text to the dictionary of the column, for rows that are filled by its place there: the first text has place 0.  False when
 * memory runs out. */
bool column_word(struct column *c, const char *text);
/* An arg as it is printed, texts without quotes; bytes that are no text have U+FFFD in their place. */
bool column_arg(struct column *c, int64_t row, const struct tk_arg *arg);
/* The whole number of an ident, or null. */
bool column_ident(struct column *c, int64_t row, struct tk_ident ident);

/* A stream of one batch of these columns, which it takes over, also on failure. */
bool columns_export(struct column *columns, uint32_t n, struct ArrowArrayStream *out, struct tk_err *err);

#endif
