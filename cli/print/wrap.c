/* wrap.c - see wrap.h. */
#include "wrap.h"
#include "tty.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static size_t width(const char *text, size_t n) {
  size_t wide = 0;
  for (size_t i = 0; i < n; i++) wide += (text[i] & 0xc0) != 0x80;
  return wide;
}

/* Returns the length of the part at p that must stay on one line: a word, or a command from "tracekit" to the end of its
 * clause. */
static size_t unit_of(const char *p) {
  const char *end = strncmp(p, "tracekit ", 9) == 0 ? strstr(p, "; ") : NULL;
  if (strncmp(p, "tracekit ", 9) != 0) return strcspn(p, " ");
  return end ? (size_t)(end + 1 - p) : strlen(p);
}

static void break_line(struct wrap *w) {
  fprintf(w->to, "\n%*s", (int)w->indent, "");
  w->column = w->indent;
}

void wrap_text(struct wrap *w, const char *text) {
  for (const char *p = text; *p;) {
    const size_t n = unit_of(p), wide = width(p, n);
    const bool blank = p > text;
    if (w->width && w->column > w->indent && w->column + blank + wide > w->width) break_line(w);
    else if (blank) putc(' ', w->to), w->column++;
    tty_text(w->to, p, n);
    w->column += wide;
    p += n;
    p += *p == ' ';
  }
}

void wrap_line(FILE *to, const char *text) {
  struct wrap w = { .to = to, .width = tty_width(to) };
  wrap_text(&w, text);
  putc('\n', to);
}

void wrap_note(const char *format, ...) {
  char text[501];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wrap_line(stdout, text);
}

void wrap_title(const char *text) {
  printf("\n%s", tty_style(stdout, TTY_BOLD));
  wrap_line(stdout, text);
  fputs(tty_style(stdout, TTY_PLAIN), stdout);
}
