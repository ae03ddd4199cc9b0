/* complete.h - generates shell completions from the option rows (options/opt.h). An option with a fixed set of words
 * completes to these words, a file option to file names. */
#ifndef CLI_DOCS_COMPLETE_H
#define CLI_DOCS_COMPLETE_H

#include "docs.h"

void docs_bash(FILE *to, const struct command *const *commands);
void docs_zsh(FILE *to, const struct command *const *commands);
void docs_fish(FILE *to, const struct command *const *commands);

#endif
