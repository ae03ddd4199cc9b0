/* print.c - see print.h.
 *
 * The width of a table's columns is determined by the first 1,000 rows, so that a result is never in memory as a whole. If the
 * terminal is narrower, the widest columns shrink. Numbers are printed exactly: a double as the shortest decimal that reads
 * back as the same value. */
#include "print.h"

#include "print/csv.h"
#include "print/tty.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 1000, LEAST_WIDTH = 8 };

/* ---- values ---- */

static void hex(FILE *to, const struct tk_sql_value *v) {
  fputs("0x", to);
  for (size_t i = 0; i < v->n; i++) fprintf(to, "%02x", (unsigned char)v->text[i]);
}

static void real(FILE *to, double d, const char *infinite) {
  char text[32];
  if (!isfinite(d)) return (void)fputs(infinite ? infinite : d > 0 ? "Inf" : d < 0 ? "-Inf" : "NaN", to);
  tk_print_number(d, text);
  fputs(text, to);
}

static void json_value(struct json *j, const char *key, const struct tk_sql_value *v) {
  char number[32];
  switch (v->type) {
    case TK_SQL_INTEGER: json_int(j, key, v->i); break;
    case TK_SQL_REAL:
      if (!isfinite(v->d)) return json_null(j, key);
      tk_print_number(v->d, number);
      json_raw(j, key, number);
      break;
    case TK_SQL_TEXT: json_text(j, key, v->text, v->n); break;
    case TK_SQL_BLOB:
      json_raw(j, key, "\"");
      hex(j->to, v);
      fputc('"', j->to);
      break;
    default: json_null(j, key);
  }
}

/* ---- table ---- */

static char *cell_of(const struct tk_sql_value *v) {
  char *text = NULL;
  size_t n;
  FILE *to = tty_open_text(&text, &n);
  if (!to) return NULL;
  switch (v->type) {
    case TK_SQL_INTEGER: fprintf(to, "%lld", (long long)v->i); break;
    case TK_SQL_REAL: real(to, v->d, NULL); break;
    case TK_SQL_TEXT: tty_text(to, v->text, v->n); break;
    case TK_SQL_BLOB: hex(to, v); break;
    default: fputs("[NULL]", to);
  }
  tty_close_text(to, &text);
  return text;
}

static size_t letters(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += (*text & 0xc0) != 0x80;
  return n;
}

static size_t bytes_of(const char *text, size_t n) {
  const char *p = text;
  for (; *p && (n || (*p & 0xc0) == 0x80); p++) n -= (*p & 0xc0) != 0x80;
  return (size_t)(p - text);
}

static void print_cell(const struct printer *p, const char *text, size_t column) {
  const size_t width = p->widths[column], n = letters(text);
  const bool last = column + 1 == p->n_names, right = p->numbers[column];
  const int pad = n < width ? (int)(width - n) : 0;
  if (right) fprintf(p->to, "%*s", pad, "");
  if (n <= width || !p->width) fputs(text, p->to);
  else if (width > 3) fprintf(p->to, "%.*s...", (int)bytes_of(text, width - 3), text);
  else fprintf(p->to, "%.*s", (int)bytes_of(text, width), text);
  if (!last && !right) fprintf(p->to, "%*s", pad, "");
  fputs(last ? "\n" : "  ", p->to);
}

/* Shrinks the widest column at each turn, to no less than LEAST_WIDTH, until a line fits into the terminal. */
static void fit(struct printer *p) {
  size_t sum = 2 * (p->n_names - 1);
  for (size_t i = 0; i < p->n_names; i++) sum += p->widths[i];
  while (p->width && sum > p->width) {
    size_t widest = 0;
    for (size_t i = 1; i < p->n_names; i++)
      if (p->widths[i] > p->widths[widest]) widest = i;
    if (p->widths[widest] <= LEAST_WIDTH) return;
    p->widths[widest]--;
    sum--;
  }
}

static void print_first(struct printer *p) {
  p->widths = calloc(p->n_names ? p->n_names : 1, sizeof *p->widths);
  if (!p->widths) return (void)(p->failed = true);
  for (size_t i = 0; i < p->n_names; i++) p->widths[i] = letters(p->names[i]);
  for (size_t i = 0; i < p->n_cells; i++) {
    const size_t n = letters(p->cells[i]);
    if (n > p->widths[i % p->n_names]) p->widths[i % p->n_names] = n;
  }
  fit(p);
  fputs(tty_style(p->to, TTY_BOLD), p->to);
  for (size_t i = 0; i < p->n_names; i++) print_cell(p, p->names[i], i);
  fputs(tty_style(p->to, TTY_PLAIN), p->to);
  for (size_t i = 0; i < p->n_cells; i++) {
    print_cell(p, p->cells[i], i % p->n_names);
    free(p->cells[i]);
  }
  p->n_cells = 0;
}

static bool keep_cell(struct printer *p, char *cell) {
  if (p->n_cells == p->room) {
    const size_t room = p->room ? p->room * 2 : 256;
    char **cells = realloc(p->cells, room * sizeof *cells);
    if (!cells) {
      free(cell);
      return false;
    }
    p->cells = cells;
    p->room = room;
  }
  p->cells[p->n_cells++] = cell;
  return true;
}

static bool table_row(struct printer *p, const struct tk_sql_value *v) {
  for (size_t i = 0; i < p->n_names; i++) {
    char *cell = cell_of(&v[i]);
    if (!cell) return false;
    if (!p->widths) p->numbers[i] &= v[i].type != TK_SQL_TEXT && v[i].type != TK_SQL_BLOB;
    if (!p->widths && !keep_cell(p, cell)) return false;
    if (!p->widths) continue;
    print_cell(p, cell, i);
    free(cell);
  }
  if (!p->widths && p->rows == FIRST_ROWS) print_first(p);
  return !p->failed;
}

/* ---- CSV: text is quoted, NULL is empty ---- */

static void csv_row(const struct printer *p, const struct tk_sql_value *v) {
  for (size_t i = 0; i < p->n_names; i++) {
    if (i) fputc(',', p->to);
    switch (v[i].type) {
      case TK_SQL_INTEGER: fprintf(p->to, "%lld", (long long)v[i].i); break;
      case TK_SQL_REAL: real(p->to, v[i].d, NULL); break;
      case TK_SQL_TEXT: csv_text(p->to, v[i].text, v[i].n); break;
      case TK_SQL_BLOB: hex(p->to, &v[i]); break;
      default: break;
    }
  }
  fputc('\n', p->to);
}

static void csv_names(const struct printer *p) {
  for (size_t i = 0; i < p->n_names; i++) {
    if (i) fputc(',', p->to);
    if (strpbrk(p->names[i], "\",\n\r")) csv_text(p->to, p->names[i], strlen(p->names[i]));
    else fputs(p->names[i], p->to);
  }
  fputc('\n', p->to);
}

/* ---- JSON ---- */

static void jsonl_row(const struct printer *p, const struct tk_sql_value *v) {
  struct json j = { .to = p->to };
  fputc('{', p->to);
  for (size_t i = 0; i < p->n_names; i++) json_value(&j, p->names[i], &v[i]);
  fputs("}\n", p->to);
}

static void json_row(const struct printer *p, const struct tk_sql_value *v) {
  struct json j = { .to = p->to };
  fputs(p->rows > 1 ? ",\n    [" : "\n    [", p->to);
  for (size_t i = 0; i < p->n_names; i++) json_value(&j, NULL, &v[i]);
  fputc(']', p->to);
}

static void json_names(const struct printer *p) {
  struct json j = { .to = p->to };
  fputs(p->answers > 1 ? ",\n  {\"columns\": [" : "\n  {\"columns\": [", p->to);
  for (size_t i = 0; i < p->n_names; i++) json_string(&j, NULL, p->names[i]);
  fputs("], \"rows\": [", p->to);
}

/* ---- results ---- */

static void free_names(struct printer *p) {
  for (size_t i = 0; i < p->n_names; i++) free(p->names[i]);
  for (size_t i = 0; i < p->n_cells; i++) free(p->cells[i]);
  free(p->names);
  free(p->numbers);
  free(p->widths);
  p->names = NULL;
  p->numbers = NULL;
  p->widths = NULL;
  p->n_names = p->n_cells = 0;
}

/* Copies the name of a column. For --jsonl, whose keys must be unique, duplicates get a number: "dur", "dur:1". */
static char *unique_name(const struct printer *p, const char *name) {
  size_t same = 0;
  for (size_t i = 0; p->as == PRINT_JSONL && i < p->n_names; i++) same += strcmp(p->names[i], name) == 0;
  const size_t room = strlen(name) + 24;
  char *text = malloc(room);
  if (text && same) snprintf(text, room, "%s:%zu", name, same);
  else if (text) memcpy(text, name, strlen(name) + 1);
  return text;
}

static bool on_begin(void *arg, const char *const *columns, size_t n) {
  struct printer *p = arg;
  p->rows = 0;
  p->names = calloc(n, sizeof *p->names);
  p->numbers = calloc(n, sizeof *p->numbers);
  if (!p->names || !p->numbers) {
    p->failed = true;
    return false;
  }
  for (; p->n_names < n; p->n_names++) {
    char *name = unique_name(p, columns[p->n_names]);
    if (!name) {
      p->failed = true;
      return false;
    }
    p->numbers[p->n_names] = true;
    p->names[p->n_names] = name;
  }
  if (p->answers++ && p->as == PRINT_TABLE) fputc('\n', p->to);
  if (p->as == PRINT_CSV) csv_names(p);
  if (p->as == PRINT_JSON) json_names(p);
  return true;
}

static bool on_row(void *arg, const struct tk_sql_value *v, size_t n) {
  struct printer *p = arg;
  (void)n;
  p->rows++;
  bool ok = true;
  switch (p->as) {
    case PRINT_TABLE: ok = table_row(p, v); break;
    case PRINT_CSV: csv_row(p, v); break;
    case PRINT_JSON: json_row(p, v); break;
    default: jsonl_row(p, v);
  }
  p->failed |= !ok;
  const bool closed = ferror(p->to);
  if (closed && errno == EPIPE) clearerr(p->to); /* the flush at the end reports the error again */
  return ok && !closed;
}

static bool on_end(void *arg, bool cut) {
  struct printer *p = arg;
  char count[64];
  if (p->as == PRINT_TABLE && !p->widths && p->n_names) print_first(p);
  if (p->as == PRINT_JSON) fprintf(p->to, "%s], \"cut\": %s}", p->rows ? "\n  " : "", cut ? "true" : "false");
  if (cut) tty_say("sql: the result has more than %s (--max-rows)", tty_counted(p->rows, "row", count));
  free_names(p);
  return !p->failed;
}

struct tk_sql_answer sql_print_answer(struct printer *p) {
  return (struct tk_sql_answer){ .begin = on_begin, .row = on_row, .end = on_end, .arg = p };
}

void sql_print_open(struct printer *p) {
  struct json j = { .to = p->to };
  if (p->as != PRINT_JSON) return;
  fputs("{\"input\": ", p->to);
  json_string(&j, NULL, p->input);
  fputs(", \"results\": [", p->to);
}

bool sql_print_close(struct printer *p) {
  if (p->as == PRINT_JSON && p->n_names) fputs("], \"cut\": true}", p->to);
  free_names(p); /* names of a result that was interrupted by an error */
  free(p->cells);
  p->cells = NULL;
  if (p->as == PRINT_JSON) fputs("\n]}\n", p->to);
  if (p->failed) tty_say("out of memory");
  return !p->failed;
}
