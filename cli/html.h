/* html.h - the little of HTML that a page of tables and drawings needs. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "tracekit.h"

#include <stdio.h>

/* The head of a page that fetches nothing: its style is in it, for light and dark, for phones and for paper. */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

/* Text of a trace, escaped. */
void html_text(FILE *to, const char *text, size_t n);
void html_string(FILE *to, const char *text);

/* A column of a table: its title, which stands as it is; `minor` ones are left out on a phone, `name` ones hold text. */
struct html_column {
  const char *title;
  bool minor, name;
};

struct html_table {
  FILE *to;
  const struct html_column *columns; /* ended by a NULL title */
  size_t at;
};

void html_table_begin(struct html_table *t);
/* The next cell; the row ends with its last. */
void html_cell(struct html_table *t, const char *text);
void html_cell_time(struct html_table *t, bool known, tk_time time);
void html_cell_total(struct html_table *t, bool known, struct tk_total total);
void html_cell_percent(struct html_table *t, double part, double whole);
void html_cell_count(struct html_table *t, uint64_t n);
void html_cell_bytes(struct html_table *t, bool known, double bytes);
void html_cell_rate(struct html_table *t, double bytes, double seconds);
void html_table_end(struct html_table *t);

#endif
