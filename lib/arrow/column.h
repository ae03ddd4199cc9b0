/* column.h - one column of a table in Arrow's layout: contiguous values, a validity bitmap, and texts as dictionary indices.
 *
 * Every column owns its memory, because a consumer may keep one column of a batch and free the others. */
#ifndef ARROW_COLUMN_H
#define ARROW_COLUMN_H

#include "graph/trace.h"

/* Types of columns. COLUMN_TS and COLUMN_DUR are 64-bit integers with a unit. */
enum column_type { COLUMN_BOOL, COLUMN_U16, COLUMN_U32, COLUMN_I64, COLUMN_F64, COLUMN_TEXT, COLUMN_TS, COLUMN_DUR };

/* Dictionary under construction; the index of a string is its id in `texts` minus 1. */
struct words {
  struct mem mem;
  const struct tk_trace *t;
  struct intern texts;
  uint32_t *of_id; /* of_id[string id of the trace] = index in the dictionary + 1; 0 = not added yet */
};

struct column {
  const char *name; /* becomes part of the schema on export */
  enum column_type type;
  int64_t n, nulls;
  uint8_t *valid; /* NULL = all rows are valid */
  union {
    uint8_t *bits;
    uint16_t *u16;
    uint32_t *u32;
    int64_t *i64;
    double *f64;
    int32_t *place;
    void *values;
  };
  struct words words; /* for TEXT */
};

/* Initialises n rows with zero. Returns false if memory runs out; the caller calls column_free in any case. */
bool column_init(struct column *c, const struct tk_trace *t, const char *name, enum column_type type, int64_t n);
void column_free(struct column *c);

/* Sets a value to null. Returns false if memory runs out. */
bool column_null(struct column *c, int64_t row);
static inline void column_bool(struct column *c, int64_t row, bool v) {
  if (v) c->bits[row >> 3] |= (uint8_t)(1 << (row & 7));
}
/* Stores a string of the trace; id 0 becomes null. */
bool column_string(struct column *c, int64_t row, tk_id id);
/* Stores a string, which must be UTF-8. */
bool column_text(struct column *c, int64_t row, const void *p, size_t n);
/* Appends a string to the column's dictionary, for columns whose rows are filled with indices directly: the first string has index
 * 0. Returns false if memory runs out. */
bool column_word(struct column *c, const char *text);
/* Stores the printed form of an arg, texts without quotes; invalid UTF-8 becomes U+FFFD. */
bool column_arg(struct column *c, int64_t row, const struct tk_arg *arg);
/* Stores an integer id, or null. */
bool column_ident(struct column *c, int64_t row, struct tk_ident ident);

/* How times are exported. */
struct column_times {
  bool ps;    /* picoseconds rather than nanoseconds */
  bool typed; /* timestamps and durations of Arrow rather than integers */
  bool utc;   /* timestamps are relative to the epoch */
};

/* Exports the columns as a stream with a single batch. Takes ownership of the columns, also on failure. Returns false with err
 * on failure. */
bool columns_export(struct column *columns, uint32_t n, struct column_times times, struct ArrowArrayStream *out, struct tk_err *err);

#endif
