/* meant.h - words of other tools and of everyday speech, with the words of tracekit that have the same meaning: one row each in
 * meant.c. */
#ifndef CLI_OPTIONS_MEANT_H
#define CLI_OPTIONS_MEANT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the tracekit commands with the meaning of `name`, a command of another tool or an everyday word; NULL = unknown word. */
const char *meant_command(const char *name);
/* Returns advice for an unknown option of a command, without its dashes ("limit", or "n" for -n); NULL if there is none. */
const char *meant_option(const char *command, const char *option, size_t n);
/* Returns the kind of event (tk_kind_word) that a word means; NULL if there is none. */
const char *meant_kind(const char *word);
/* Returns the valid value of an option that a word means; NULL if there is none. */
const char *meant_value(const char *option, const char *word);
/* Returns the figure of check --assert that a word means; NULL if there is none. */
const char *meant_figure(const char *word);
/* Returns true for options that choose the kind of output here, but name an output file in other tools. */
bool meant_output(const char *option);
/* Returns advice for an output whose extension belongs to no trace format ("csv"); NULL if there is none. */
const char *meant_extension(const char *extension);

#endif
