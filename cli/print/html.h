/* html.h - minimal HTML output for a page of tables and drawings. */
#ifndef CLI_PRINT_HTML_H
#define CLI_PRINT_HTML_H

#include "tracekit.h"

#include <stdio.h>

/* Writes the head of a self-contained page: its embedded style covers light and dark themes, phones and print. */
void html_begin(FILE *to, const char *title);
/* Does the same for a page with a script at its end. hash: "sha256-..." of this script; the page's policy allows no other. */
void html_begin_with(FILE *to, const char *title, const char *hash);
void html_script(FILE *to, const char *script);
void html_end(FILE *to);

/* Begin and end a section with a title and, unless it is NULL, a paragraph. Both are HTML, written unescaped. */
void html_section(FILE *to, const char *title, const char *words);
void html_section_end(FILE *to);

/* Escapes and writes text; control characters become U+FFFD. */
void html_text(FILE *to, const char *text, size_t n);
void html_string(FILE *to, const char *text);

/* A column of a table. title: HTML, written unescaped; minor: hidden on phones; name: left-aligned text that may wrap. */
struct html_column {
  const char *title;
  bool minor, name;
};

struct html_table {
  FILE *to;
  const struct html_column *columns; /* terminated by a NULL title */
  size_t at;
};

void html_table_begin(struct html_table *t);
/* Writes the next cell; the last column ends the row. */
void html_cell(struct html_table *t, const char *text);
/* Writes the next cell with a name whose longer form, `full`, appears when the pointer rests on the cell. */
void html_cell_name(struct html_table *t, const char *text, const char *full);
/* Begin and end a cell whose content the caller writes. */
void html_cell_begin(struct html_table *t);
void html_cell_end(struct html_table *t);
void html_cell_time(struct html_table *t, bool known, tk_time time);
void html_cell_total(struct html_table *t, bool known, struct tk_total total);
void html_cell_percent(struct html_table *t, double part, double whole);
void html_cell_count(struct html_table *t, uint64_t n);
void html_cell_bytes(struct html_table *t, bool known, double bytes);
void html_cell_rate(struct html_table *t, double bytes, double seconds);
void html_table_end(struct html_table *t);

#endif
