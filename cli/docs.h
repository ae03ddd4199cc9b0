/* docs.h - everything that is written about the commands, made from their rows (opt.h). */
#ifndef CLI_DOCS_H
#define CLI_DOCS_H

#include "opt.h"
#include "tracekit.h"

#include <stdio.h>

void docs_usage(FILE *to);                         /* the overview of `tracekit help` */
void docs_overview(FILE *to);                      /* its commands alone, for -h */
void docs_help(FILE *to, const struct command *c); /* --help */
void docs_short(FILE *to, const struct command *c); /* -h: the options that matter most, which stand first */
void docs_formats(FILE *to);                       /* -f help */
void docs_man(FILE *to, const struct command *c);  /* mdoc; NULL = tracekit(1) */
void docs_bash(FILE *to);
void docs_zsh(FILE *to);
void docs_fish(FILE *to);

/* Pages of docs/: of a command, or of all of them (NULL); of the formats, but for the links at its end. */
void docs_markdown(FILE *to, const struct command *c);
void docs_format_table(FILE *to);

/* `tracekit __docs man|markdown [COMMAND]` and `tracekit __docs bash|zsh|fish|commands|formats|format-table|examples`: for the
 * Makefile, the lint and the tests, in no help. */
int docs_main(char **argv);

/* The i-th topic of `tracekit help TOPIC`, NULL past the end; and its text, false if there is no such topic.  `table`: prints the
 * formats. */
const char *topic_name(size_t i, const char **summary);
bool topic_print(FILE *to, const char *name, void (*table)(FILE *to));

/* `tracekit __complete FIELD WORD...`: what of the trace among the words can be the value of an option. */
int complete_main(char **argv);

/* "--output", "--[no-]progress". */
const char *docs_long(const struct opt *o, char *text, size_t size);

/* The n-th word that an OPT_WORD or OPT_FORMAT row accepts, its help in *help; NULL past the end. */
const char *docs_word(const struct opt *o, size_t n, const char **help);

/* The n-th exit status and what it means; NULL past the end. */
const char *docs_status(size_t n, int *status);

/* The n-th thing that a format may be unable to hold, "flow points", and its bits of enum tk_holds; NULL past the end. */
const char *docs_held(size_t n, unsigned *holds);

/* "1 ps", "1 ns": what times are rounded to in this format. */
const char *docs_resolution(const struct tk_format_info *f, char *text, size_t size);

#endif
