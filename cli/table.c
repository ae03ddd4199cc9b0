/* table.c - see table.h.  Widths count code points: close enough for host and file names. */
#include "table.h"

#include "tty.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 4096 };

static char *sanitised(const char *text) {
  char *out = NULL;
  size_t n;
  FILE *to = open_memstream(&out, &n);
  if (!to) return NULL;
  tty_string(to, text);
  fclose(to);
  return out;
}

static bool grow_cells(struct table *t) {
  size_t room = t->room ? t->room * 2 : 64;
  char **cells = realloc(t->cells, room * sizeof *cells);
  if (!cells) return false;
  t->cells = cells;
  t->room = room;
  return true;
}

void table_cell(struct table *t, const char *fmt, ...) {
  char text[CELL];
  va_list ap;
  if (t->n == t->room && !grow_cells(t)) return;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  t->cells[t->n++] = sanitised(text);
}

static size_t width(const char *cell) {
  size_t n = 0;
  for (; cell && *cell; cell++) n += (*cell & 0xc0) != 0x80;
  return n;
}

static size_t widest(const struct table *t, size_t columns, size_t column) {
  size_t most = 0;
  for (size_t i = column; i < t->n; i += columns)
    if (width(t->cells[i]) > most) most = width(t->cells[i]);
  return most;
}

static void print_cell(FILE *to, const char *cell, size_t room, bool right, bool last) {
  size_t pad = room - width(cell);
  if (!cell) cell = "";
  if (right) fprintf(to, "%*s%s", (int)pad, "", cell);
  else fprintf(to, "%s%*s", cell, last ? 0 : (int)pad, "");
  fputs(last ? "\n" : "  ", to);
}

void table_print(struct table *t, FILE *to) {
  size_t columns = strlen(t->align);
  for (size_t i = 0; i < t->n; i++) {
    size_t column = i % columns;
    if (i == 0) fputs(tty_bold(to), to);
    print_cell(to, t->cells[i], widest(t, columns, column), t->align[column] == 'r', column + 1 == columns);
    if (i + 1 == columns) fputs(tty_plain(to), to);
  }
  for (size_t i = 0; i < t->n; i++) free(t->cells[i]);
  free(t->cells);
  *t = (struct table){ .align = t->align };
}
