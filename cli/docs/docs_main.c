/* docs_main.c - the hidden command `tracekit __docs KIND`, which prints the texts generated from the option rows. */
#include "docs.h"
#include "markdown.h"
#include "complete.h"
#include "fields.h"
#include "findings.h"

#include <string.h>

static void print_commands(FILE *to, const struct command *const *commands) {
  for (const struct command *const *c = commands; *c; c++) fprintf(to, "%s\n", (*c)->name);
}

static void print_formats(FILE *to, const struct command *const *commands) {
  (void)commands;
  const struct tk_format_info *f;
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, "%s\n", f->name);
}

static void print_format_table(FILE *to, const struct command *const *commands) {
  (void)commands;
  docs_format_table(to);
}

static void print_fields(FILE *to, const struct command *const *commands) {
  (void)commands;
  docs_fields(to);
}

static void print_findings(FILE *to, const struct command *const *commands) {
  (void)commands;
  docs_findings(to);
}

static void print_examples(FILE *to, const struct command *const *commands) {
  for (const struct command *const *c = commands; *c; c++)
    for (const struct example *e = (*c)->examples; e->line; e++) fprintf(to, "%s\n", e->line);
}

int docs_main(char **argv, const struct command *const *commands) {
  static const struct {
    const char *name;
    void (*print)(FILE *to, const struct command *const *commands);
  } kinds[] = {
    { "bash", docs_bash },         { "zsh", docs_zsh },         { "fish", docs_fish },
    { "commands", print_commands }, { "formats", print_formats }, { "format-table", print_format_table },
    { "examples", print_examples }, { "fields", print_fields }, { "findings", print_findings },
  };
  const struct command *c = argv[0] && argv[1] ? opt_find_command(commands, argv[1]) : NULL;
  if (!argv[0] || (argv[1] && !c)) return 2;
  if (!strcmp(argv[0], "man")) {
    docs_man(stdout, c, commands);
    return 0;
  }
  if (!strcmp(argv[0], "markdown")) {
    docs_markdown(stdout, c, commands);
    return 0;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(argv[0], kinds[i].name)) continue;
    kinds[i].print(stdout, commands);
    return 0;
  }
  return 2;
}
