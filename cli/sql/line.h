/* line.h - reads lines typed at a prompt. If built with libedit, lines can be edited and completed, and a history is kept. */
#ifndef CLI_SQL_LINE_H
#define CLI_SQL_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct line_editor;

/* Words that Tab completes; owned by the caller, and used until the editor is closed. */
struct line_words {
  char **v;
  size_t n;
};

/* Opens an editor. name: the history file in $XDG_STATE_HOME/tracekit. Returns NULL if out of memory. */
struct line_editor *line_open(const char *name, const struct line_words *words);

/* Reads a line and returns it without its line end; it is valid until the next call. Returns NULL at the end of input, or with
 * *interrupted set after a signal. */
const char *line_read(struct line_editor *e, const char *prompt, bool *interrupted);

/* Adds the line to the history of this and later sessions. */
void line_remember(struct line_editor *e, const char *line);
void line_close(struct line_editor *e);

#endif
