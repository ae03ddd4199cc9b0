/* table.c - see table.h. Widths are counted in code points, which is accurate enough for host and file names. */
#include "table.h"
#include "wrap.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 4096 };

/* Returns a copy of the text that is safe for a terminal; NULL if out of memory. Plain text is copied directly: opening a
 * memory stream for each cell took half of the time of a report on 36,000 devices. */
static char *sanitised(const char *text) {
  char *out = NULL;
  size_t n = strlen(text);
  if (tty_plain_length(text, n) == n) return strdup(text);
  FILE *to = tty_open_text(&out, &n);
  if (!to) return NULL;
  tty_string(to, text);
  tty_close_text(to, &out);
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
  char text[CELL], *cell;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  cell = t->n < t->room || grow_cells(t) ? sanitised(text) : NULL;
  if (cell) t->cells[t->n++] = cell;
  else t->failed = true;
}

void table_mark(struct table *t, enum tty_style style) {
  const size_t row = t->n ? (t->n - 1) / strlen(t->align) : 0;
  unsigned char *styles = row < t->n_styles ? t->styles : realloc(t->styles, row + 1);
  if (!styles) return; /* without the memory for styles, only the emphasis is lost */
  for (; t->n_styles <= row; t->n_styles++) styles[t->n_styles] = TTY_PLAIN;
  t->styles = styles;
  styles[row] = (unsigned char)style;
}

void table_mark_cell(struct table *t, enum tty_style style) {
  unsigned char *marks = t->n && t->n > t->n_marks ? realloc(t->marks, t->room) : t->marks;
  if (!t->n || !marks) return; /* as in table_mark() */
  t->marks = marks;
  for (; t->n_marks < t->n; t->n_marks++) marks[t->n_marks] = TTY_PLAIN;
  marks[t->n - 1] = (unsigned char)style;
}

static enum tty_style style_of(const struct table *t, size_t row) {
  return row == 0 ? TTY_BOLD : row < t->n_styles ? (enum tty_style)t->styles[row] : TTY_PLAIN;
}

static size_t width(const char *cell) {
  size_t n = 0;
  for (; *cell; cell++) n += (*cell & 0xc0) != 0x80;
  return n;
}

/* Returns the number of bytes in the first n characters. */
static size_t bytes_of(const char *cell, size_t n) {
  const char *p = cell;
  for (; *p && (n || (*p & 0xc0) == 0x80); p++) n -= (*p & 0xc0) != 0x80;
  return (size_t)(p - cell);
}

/* Width that marks a column as left out. */
static const size_t DROPPED = SIZE_MAX;

/* Returns the width of a column including the two blanks after it; 0 if it is left out. */
static size_t span(size_t wide) { return wide == DROPPED ? 0 : wide + 2; }

/* Leaves out the columns without text below the header. */
static void drop_empty(const struct table *t, size_t *widest) {
  const size_t columns = strlen(t->align);
  for (size_t k = 0; k + 1 < columns && t->sparse && t->n > columns; k++) {
    bool any = false;
    for (size_t i = columns + k; i < t->n; i += columns) any = any || *t->cells[i];
    if (!any) widest[k] = DROPPED;
  }
}

enum { LEAST = 16 }; /* minimum width of a shortened path, in characters */

/* Returns the width of the name of the file at the end of a path, with the slash before it. */
static size_t leaf_width(const char *cell) {
  const char *slash = strrchr(cell, '/');
  return width(slash ? slash : cell);
}

/* Shortens a path in the middle: "logs.zip:plugins/.../rank0.json". The beginning shows the archive; the end shows the file,
 * whose name stays whole. */
static void squeeze(char *cell, size_t room) {
  const size_t n = width(cell), leaf = leaf_width(cell), even = (room - 3) - (room - 3) / 3;
  const size_t back = leaf > even ? leaf : even, front = room - 3 > back ? room - 3 - back : 0;
  if (n <= room || n <= front + 3 + back) return;
  char *to = cell + bytes_of(cell, front);
  const char *rest = cell + bytes_of(cell, n - back);
  memcpy(to, "...", 3);
  memmove(to + 3, rest, strlen(rest) + 1);
}

/* Shortens the column of paths until the line fits, but to no less than LEAST characters or the longest file name. */
static void squeeze_column(const struct table *t, size_t *widest) {
  const size_t columns = strlen(t->align), at = t->squeezed - 1;
  size_t line = 0;
  for (size_t i = 0; i < columns; i++) line += span(widest[i]);
  line -= 2; /* nothing follows the last column */
  if (!t->squeezed || !t->width || line <= t->width) return;
  size_t room = widest[at] > line - t->width + LEAST ? widest[at] - (line - t->width) : LEAST;
  for (size_t i = at; i < t->n; i += columns)
    if (leaf_width(t->cells[i]) + 3 > room) room = leaf_width(t->cells[i]) + 3;
  if (room >= widest[at]) return;
  for (size_t i = at; i < t->n; i += columns) squeeze(t->cells[i], room);
  widest[at] = room;
}

/* Prints the last cell of a line; a cell that is too long is cut and ends in dots. */
static void print_rest(FILE *to, const char *cell, size_t room) {
  if (width(cell) <= room) fputs(cell, to);
  else fprintf(to, "%.*s...", (int)bytes_of(cell, room > 3 ? room - 3 : 0), cell);
}

static void print_cell(FILE *to, const char *cell, size_t room, bool right, bool last) {
  size_t pad = room - width(cell);
  if (right) fprintf(to, "%*s%s", (int)pad, "", cell);
  else fprintf(to, "%s%*s", cell, last ? 0 : (int)pad, "");
  if (!last) fputs("  ", to);
}

/* Leaves out columns, in the order of t->drop, until the last column has room for its text or for ENOUGH characters of it.
 * Sets *before to the width of the columns before the last. */
static void drop_columns(const struct table *t, size_t *widest, size_t *before) {
  enum { ENOUGH = 24 };
  const size_t last = strlen(t->align) - 1, wanted = widest[last] < ENOUGH ? widest[last] : ENOUGH;
  for (char next = 'a'; t->drop && t->width && *before + wanted > t->width && next <= 'z'; next++) {
    const char *at = strchr(t->drop, next);
    if (!at) continue;
    *before -= span(widest[at - t->drop]);
    widest[at - t->drop] = DROPPED;
  }
}

void table_say_dropped(const char *titles, FILE *to) {
  char text[640];
  snprintf(text, sizeof text, "left out in this width: %s (a greater width, such as COLUMNS=400, shows all)", titles);
  wrap_line(to, text);
}

/* Names the columns that drop_columns() left out. `empty`: columns without text, which are not named, because no width would
 * show them. */
static void say_dropped(const struct table *t, const size_t *widest, const bool *empty, FILE *to) {
  char titles[512];
  size_t n = 0;
  for (size_t k = 0; t->align[k] && n < sizeof titles; k++)
    if (widest[k] == DROPPED && !empty[k]) n += (size_t)snprintf(titles + n, sizeof titles - n, "%s%s", n ? ", " : "", t->cells[k]);
  if (n) table_say_dropped(titles, to);
}

/* ---- bars ---- */

enum { BAR = 8 }; /* length of a bar for 100%, in characters */

/* Decides whether the table has bars: only on a terminal that shows styles, and if no line becomes too long. Widens their column. */
static void make_room_for_bars(struct table *t, size_t *widest, size_t *before, FILE *to) {
  const size_t last = strlen(t->align) - 1, room = BAR + 1;
  const bool fits = !t->width || *before + room + widest[last] <= t->width;
  if (!t->bars || !*tty_style(to, TTY_BOLD) || !fits || widest[t->bars - 1] == DROPPED) t->bars = 0;
  if (t->bars) *before += room;
}

/* Prints the bar for a percentage; blanks for a cell without a number. */
static void print_bar(FILE *to, const char *cell, bool blocks) {
  static const char *const PARTS[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
  const double percent = *cell >= '0' && *cell <= '9' ? strtod(cell, NULL) : 0;
  const int eighths = (int)((percent < 100 ? percent : 100) * BAR * 8 / 100 + .5), part = blocks ? eighths % 8 : 0;
  const int whole = blocks ? eighths / 8 : (eighths + 4) / 8;
  for (int i = 0; i < whole; i++) fputs(blocks ? "█" : "#", to);
  fprintf(to, "%s%*s", PARTS[part], BAR - whole - (part != 0) + 2, "");
}

/* Prints cell i in its style, and the end of the line after the last cell of a row. `before`: width of all columns before the
 * last. */
static void print_styled(const struct table *t, size_t i, const size_t *widest, size_t before, FILE *to) {
  const size_t columns = strlen(t->align), column = i % columns;
  const bool last = column + 1 == columns, cut = t->width && last && t->squeezed != columns;
  const enum tty_style style = style_of(t, i / columns), mark = i < t->n_marks ? (enum tty_style)t->marks[i] : TTY_PLAIN;
  if (column == 0 && style) fputs(tty_style(to, style), to);
  if (widest[column] == DROPPED) return;
  if (mark) fputs(tty_style(to, mark), to);
  if (cut) print_rest(to, t->cells[i], t->width > before ? t->width - before : 0);
  else print_cell(to, t->cells[i], widest[column], t->align[column] == 'r', last);
  if (t->bars == column + 1) print_bar(to, i < columns ? "" : t->cells[i], tty_has_blocks());
  if (mark) fputs(tty_style(to, TTY_PLAIN), to);
  if (mark && style) fputs(tty_style(to, style), to);
  if (last) fprintf(to, "%s\n", style ? tty_style(to, TTY_PLAIN) : "");
}

static void print_cells(struct table *t, size_t *widest, bool *empty, FILE *to) {
  size_t columns = strlen(t->align), before = 0;
  for (size_t i = 0; i < t->n; i++)
    if (width(t->cells[i]) > widest[i % columns]) widest[i % columns] = width(t->cells[i]);
  drop_empty(t, widest);
  for (size_t k = 0; k < columns; k++) empty[k] = widest[k] == DROPPED;
  squeeze_column(t, widest);
  for (size_t i = 0; i + 1 < columns; i++) before += span(widest[i]);
  drop_columns(t, widest, &before);
  make_room_for_bars(t, widest, &before, to);
  for (size_t i = 0; i < t->n; i++) print_styled(t, i, widest, before, to);
  say_dropped(t, widest, empty, to);
}

bool table_print(struct table *t, FILE *to) {
  size_t *widest = calloc(strlen(t->align), sizeof *widest);
  bool *empty = calloc(strlen(t->align), sizeof *empty);
  bool ok = widest && empty && !t->failed;
  if (ok) print_cells(t, widest, empty, to);
  else tty_say("out of memory: a table is missing from the output");
  for (size_t i = 0; i < t->n; i++) free(t->cells[i]);
  free(t->cells);
  free(t->styles);
  free(t->marks);
  free(widest);
  free(empty);
  *t = (struct table){ .align = t->align };
  return ok;
}
