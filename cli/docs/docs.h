/* docs.h - texts about the commands, generated from their option rows (options/opt.h). */
#ifndef CLI_DOCS_DOCS_H
#define CLI_DOCS_DOCS_H

#include "options/opt.h"
#include "tracekit.h"

#include <stdio.h>

/* The functions below print help. `commands` ends with NULL. */
void docs_usage(FILE *to, const struct command *const *commands);    /* `tracekit help` without arguments */
void docs_overview(FILE *to, const struct command *const *commands); /* the same, but only commands and topics; for -h */
void docs_help(FILE *to, const struct command *c); /* --help */
void docs_short(FILE *to, const struct command *c); /* help for -h: only the first ten options, the most important ones */
void docs_formats(FILE *to);                       /* -f help */
void docs_man(FILE *to, const struct command *c, const struct command *const *commands); /* mdoc; NULL = tracekit(1) */

/* Runs `tracekit __docs man|markdown [COMMAND]` and `tracekit __docs bash|zsh|fish|commands|formats|format-table|fields|examples`,
 * hidden commands for the Makefile, the lint and the tests. Returns the exit status. */
int docs_main(char **argv, const struct command *const *commands);

/* Formats the long name of an option: "--output", "--[no-]progress". */
const char *docs_long(const struct opt *o, char *text, size_t size);

/* Returns the n-th word that an OPT_WORD or OPT_FORMAT row accepts, with its help in *help; NULL past the end. */
const char *docs_word(const struct opt *o, size_t n, const char **help);

/* Stores the n-th exit status in *status and returns its meaning; NULL past the end. */
const char *docs_status(size_t n, int *status);

/* Returns the n-th feature that a format may not support, such as "flow points", with its bits of enum tk_holds; NULL past the
 * end. */
const char *docs_held(size_t n, unsigned *holds);

/* Formats the time resolution of a format: "1 ps", "1 ns". */
const char *docs_resolution(const struct tk_format_info *f, char *text, size_t size);

#endif
