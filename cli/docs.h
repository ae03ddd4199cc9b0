/* docs.h - everything that is written about the commands, made from their rows (opt.h). */
#ifndef CLI_DOCS_H
#define CLI_DOCS_H

#include "opt.h"

#include <stdio.h>

void docs_usage(FILE *to);                         /* the overview of `tracekit help` */
void docs_help(FILE *to, const struct command *c); /* --help */
void docs_formats(FILE *to);                       /* -f help */
void docs_man(FILE *to, const struct command *c);  /* mdoc; NULL = tracekit(1) */
void docs_markdown(FILE *to);                      /* the README's command section */
void docs_bash(FILE *to);
void docs_zsh(FILE *to);
void docs_fish(FILE *to);

/* `tracekit __docs man|markdown|bash|zsh|fish|commands|examples [COMMAND]`: for the Makefile and the tests, in no help. */
int docs_main(char **argv);

/* "--output", "--[no-]progress". */
const char *docs_long(const struct opt *o, char *text, size_t size);

/* The n-th word that an OPT_WORD or OPT_FORMAT row accepts, its help in *help; NULL past the end. */
const char *docs_word(const struct opt *o, size_t n, const char **help);

#endif
