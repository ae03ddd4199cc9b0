/* columns.c - see columns.h. Columns of the table have these Arrow formats: b, S, I, l and g for booleans and numbers; c, s
 * and i for indices into a dictionary of strings. */
#include "columns.h"

#include "csv.h"
#include "tty.h"

#include <string.h>

bool columns_read(struct columns *c, struct tk_trace *t, const char *const *names, struct tk_err *err) {
  struct tk_arrow_options opt = TK_ARROW_OPTIONS_INIT;
  struct ArrowArrayStream stream;
  *c = (struct columns){ 0 };
  opt.columns = names;
  if (!tk_arrow(t, TK_TABLE_EVENTS, &opt, &stream, err)) return false;
  const bool ok = stream.get_schema(&stream, &c->schema) == 0 && stream.get_next(&stream, &c->batch) == 0;
  stream.release(&stream);
  if (ok) c->n = (size_t)c->batch.n_children;
  if (ok) return true;
  columns_free(c);
  err->code = TK_ELIMIT;
  snprintf(err->msg, sizeof err->msg, "out of memory");
  return false;
}

void columns_free(struct columns *c) {
  if (c->schema.release) c->schema.release(&c->schema);
  if (c->batch.release) c->batch.release(&c->batch);
  *c = (struct columns){ 0 };
}

/* ---- cells ---- */

struct cell {
  const char *text; /* NULL = no value */
  size_t n;
  bool is_text;
  char digits[48];
};

static int64_t columns_integer(const void *values, char format, size_t row) {
  switch (format) {
    case 'c': return ((const int8_t *)values)[row];
    case 's': return ((const int16_t *)values)[row];
    case 'i': return ((const int32_t *)values)[row];
    case 'S': return ((const uint16_t *)values)[row];
    case 'I': return ((const uint32_t *)values)[row];
    default: return ((const int64_t *)values)[row];
  }
}

static bool bit(const void *bits, size_t row) { return ((const uint8_t *)bits)[row / 8] >> row % 8 & 1; }

static void text_cell(struct cell *cell, const struct ArrowArray *words, int64_t word) {
  const int32_t *offsets = words->buffers[1];
  cell->is_text = true;
  cell->text = (const char *)words->buffers[2] + offsets[word];
  cell->n = (size_t)(offsets[word + 1] - offsets[word]);
}

static void number_cell(struct cell *cell, const void *values, char format, size_t row) {
  cell->text = cell->digits;
  if (format == 'b') strcpy(cell->digits, bit(values, row) ? "true" : "false");
  else if (format == 'g') tk_print_number(((const double *)values)[row], cell->digits);
  else snprintf(cell->digits, sizeof cell->digits, "%lld", (long long)columns_integer(values, format, row));
  cell->n = strlen(cell->digits);
}

static void cell_of(const struct columns *c, size_t i, tk_id event, struct cell *cell) {
  const struct ArrowArray *column = c->batch.children[i];
  const char format = *c->schema.children[i]->format;
  const size_t row = event - 1;
  *cell = (struct cell){ 0 };
  if (column->buffers[0] && !bit(column->buffers[0], row)) return;
  if (column->dictionary) text_cell(cell, column->dictionary, columns_integer(column->buffers[1], format, row));
  else number_cell(cell, column->buffers[1], format, row);
}

/* ---- output ---- */

static const char *name_of(const struct columns *c, size_t i) { return c->schema.children[i]->name; }

void columns_json(const struct columns *c, struct json *j, tk_id event) {
  struct cell cell;
  for (size_t i = 0; i < c->n; i++) {
    cell_of(c, i, event, &cell);
    if (!cell.text) json_null(j, name_of(c, i));
    else if (cell.is_text) json_text(j, name_of(c, i), cell.text, cell.n);
    else json_raw(j, name_of(c, i), cell.text);
  }
}

void columns_csv(const struct columns *c, FILE *to, tk_id event) {
  struct cell cell;
  for (size_t i = 0; i < c->n; i++) {
    cell_of(c, i, event, &cell);
    fputc(',', to);
    if (cell.is_text) csv_text(to, cell.text, cell.n);
    else fwrite(cell.text ? cell.text : "", 1, cell.n, to);
  }
}

void columns_csv_names(const struct columns *c, FILE *to) {
  for (size_t i = 0; i < c->n; i++) {
    const char *name = name_of(c, i);
    fputc(',', to);
    if (strpbrk(name, ",\"\n")) csv_text(to, name, strlen(name));
    else fputs(name, to);
  }
}

void columns_words(const struct columns *c, FILE *to, tk_id event) {
  struct cell cell;
  for (size_t i = 0; i < c->n; i++) {
    cell_of(c, i, event, &cell);
    if (!cell.text) continue;
    fputs("  ", to);
    tty_string(to, name_of(c, i));
    fputc('=', to);
    tty_text(to, cell.text, cell.n);
  }
}
