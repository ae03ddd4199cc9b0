/* markdown.h - generates docs/commands/ and docs/formats/README.md from the option rows. */
#ifndef CLI_DOCS_MARKDOWN_H
#define CLI_DOCS_MARKDOWN_H

#include "docs.h"

/* Prints the page of a command in docs/commands/, or the overview if c is NULL. */
void docs_markdown(FILE *to, const struct command *c, const struct command *const *commands);
/* Prints docs/formats/README.md except the links at its end. */
void docs_format_table(FILE *to);

#endif
