/* line.h - lines that a person types at a prompt: edited, completed and remembered where libedit was there to build with. */
#ifndef CLI_LINE_H
#define CLI_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct line_editor;

/* The words that Tab completes; they stay with the caller until the editor is closed. */
struct line_words {
  char **v;
  size_t n;
};

/* `name`: of the file of former lines below $XDG_STATE_HOME/tracekit.  NULL when memory runs out. */
struct line_editor *line_open(const char *name, const struct line_words *words);

/* Asks for a line, without its end; it is good until the next call.  NULL: there is no more, or *interrupted. */
const char *line_read(struct line_editor *e, const char *prompt, bool *interrupted);

/* Keeps the line for this and later sessions. */
void line_remember(struct line_editor *e, const char *line);
void line_close(struct line_editor *e);

#endif
