/* place.c - see place.h. A page in a file cannot know where a viewer runs, so it contains commands instead of links. */
#include "report/place.h"

#include <string.h>

/* Returns the input of a place; NULL if it is unknown. */
static const char *place_input(const struct tk_report *r, const struct place *p) {
  const char *found = NULL;
  if (*p->input) return p->input;
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (p->rank >= 0 && row->rank != p->rank) continue;
    if (found && strcmp(found, row->input) != 0) return NULL;
    found = row->input;
  }
  return found;
}

/* Writes the name of an input for a shell: in single quotes, unless no character needs them, and with "./" before a name that could be
 * taken for an option. */
static void put_word(FILE *to, const char *word) {
  static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,=@%";
  if (*word == '-' && word[1]) fputs("./", to);
  if (*word && !word[strspn(word, PLAIN)]) {
    html_string(to, word);
    return;
  }
  fputc('\'', to);
  for (; *word; word++) {
    if (*word == '\'') html_string(to, "'\\''");
    else html_text(to, word, 1);
  }
  fputc('\'', to);
}

/* Writes the command. The range shown is three times as long as the place; a moment has the viewer's own margin. */
static void put_command(FILE *to, const char *input, const struct place *p) {
  const tk_time us = 1000000, from = p->at > p->length ? (p->at - p->length) / us : 0, end = (p->at + 2 * p->length + us - 1) / us;
  fputs("tracekit view ", to);
  put_word(to, input);
  if (p->length > 0) fprintf(to, " --at +%lldus..+%lldus", (long long)from, (long long)end);
  else fprintf(to, " --at +%lldus", (long long)(p->at / us));
}

void place_draw(FILE *to, const struct tk_report *r, const struct place *p, const char *text) {
  const char *input = place_input(r, p);
  if (!input) {
    html_string(to, text);
    return;
  }
  fputs("<span class=place title=\"", to);
  put_command(to, input, p);
  fputs("\">", to);
  html_string(to, text);
  fputs("</span>", to);
}

void place_cell(struct html_table *t, const struct tk_report *r, const struct place *p, const char *text) {
  html_cell_begin(t);
  place_draw(t->to, r, p, text);
  html_cell_end(t);
}

void place_cell_start(struct html_table *t, const struct tk_report *r, const struct place *p) {
  char text[48] = "+";
  tk_print_duration(p->at, text + 1);
  place_cell(t, r, p, text);
}
