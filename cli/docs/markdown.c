/* markdown.c - generates docs/commands/ and docs/formats/README.md from the option rows. tests/lint/docs.sh compares the files
 * with this output.
 *
 * An option that several commands have, with the same help text, is explained once, in the overview of all commands. */
#include "markdown.h"
#include "docs.h"

#include "tracekit.h"

#include <string.h>

enum { LONG_NAME = 64 };

/* Prints text in which '|' and '<' are escaped, so that they are not markup. */
static void plain(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '|' || *text == '<') fputc('\\', to);
    fputc(*text, to);
  }
}

static bool same_option(const struct opt *a, const struct opt *b) {
  return !strcmp(a->name, b->name) && !strcmp(a->help, b->help);
}

static const struct opt *find_same(const struct command *c, const struct opt *o) {
  for (const struct opt *other = c->opts; other->kind != OPT_END; other++)
    if (same_option(other, o)) return other;
  return NULL;
}

/* Returns the first command of the table that has this option. */
static const struct command *first_with(const struct opt *o, const struct command *const *commands) {
  const struct command *const *c = commands;
  while (!find_same(*c, o)) c++;
  return *c;
}

static bool is_shared(const struct opt *o, const struct command *const *commands) {
  int n = 0;
  for (const struct command *const *c = commands; *c; c++) n += find_same(*c, o) != NULL;
  return n > 1;
}

static void option_name(FILE *to, const struct opt *o) {
  char name[LONG_NAME];
  if (o->letter) fprintf(to, "`-%c`, ", o->letter);
  fprintf(to, "`%s%s%s`", docs_long(o, name, sizeof name), o->arg ? "=" : "", o->arg ? o->arg : "");
}

static void option_row(FILE *to, const struct opt *o) {
  const char *help, *word;
  fputs("| ", to);
  option_name(to, o);
  fputs(" | ", to);
  plain(to, o->help);
  for (size_t i = 0; o->kind == OPT_WORD && (word = docs_word(o, i, &help)); i++) {
    fprintf(to, "%s`%s` ", i ? "; " : ": ", word);
    plain(to, help);
  }
  fputs(" |\n", to);
}

static void own_options(FILE *to, const struct command *c, const struct command *const *commands) {
  bool any = false;
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    if (is_shared(o, commands)) continue;
    if (!any) fputs("| option | meaning |\n|---|---|\n", to);
    option_row(to, o);
    any = true;
  }
  if (any) fputc('\n', to);
}

static void shared_options_of(FILE *to, const struct command *c, const struct command *const *commands) {
  char name[LONG_NAME];
  bool any = false;
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    if (!is_shared(o, commands)) continue;
    fputs(any ? ", " : "[Common options](README.md#common-options): ", to);
    fprintf(to, "`%s`", docs_long(o, name, sizeof name));
    any = true;
  }
  if (any) fputs(".\n", to);
}

static void one_command(FILE *to, const struct command *c, const struct command *const *commands) {
  fprintf(to, "# tracekit %s\n\n`tracekit %s [options] %s`\n\n", c->name, c->name, c->operands);
  plain(to, c->description);
  fputs("\n\n## Examples\n", to);
  for (const struct example *e = c->examples; e->line; e++) fprintf(to, "\n```sh\n# %s\n%s\n```\n", e->help, e->line);
  fputs("\n## Options\n\n", to);
  own_options(to, c, commands);
  shared_options_of(to, c, commands);
}

static void all_shared_options(FILE *to, const struct command *const *commands) {
  fputs("\n## Common options\n\n| option | meaning | commands |\n|---|---|---|\n", to);
  for (const struct command *const *c = commands; *c; c++)
    for (const struct opt *o = (*c)->opts; o->kind != OPT_END; o++) {
      if (!is_shared(o, commands) || first_with(o, commands) != *c) continue;
      fputs("| ", to);
      option_name(to, o);
      fputs(" | ", to);
      plain(to, o->help);
      fputs(" |", to);
      for (const struct command *const *k = commands; *k; k++)
        if (find_same(*k, o)) fprintf(to, " %s", (*k)->name);
      fputs(" |\n", to);
    }
}

static const char EMPTY[] =
  "\n## Empty results\n"
  "\n"
  "One rule holds for all commands:\n"
  "\n"
  "* A selection of events that matches nothing prints and writes nothing, explains why on standard error (\"nothing matched: "
  "...\"), and exits\n  with status 1. This covers the options that select events, `--step`, `--per`, `--path`, `--scopes`, "
  "`--at`, `--min-count` and `split --by\n  step`. Commands with `--allow-empty` then print or write the empty result, with status 0.\n"
  "* A file, run, host or rank that is not there is a missing input, with status 3; ranks that `merge` and `plan` select are a "
  "selection,\n  with status 1.\n"
  "* An answer may be empty: the rows of a statement of `sql`, a `list` of a folder without traces, the differences of equal "
  "runs. Its\n  status is 0.\n"
  "* An expectation of `check --assert` that the trace cannot answer is neither met nor failed: status 3.\n";

void docs_markdown(FILE *to, const struct command *c, const struct command *const *commands) {
  const char *meaning;
  int status;
  if (c) {
    one_command(to, c, commands);
    return;
  }
  fputs("# Commands\n"
        "\n"
        "These pages contain the same text as `tracekit help COMMAND` and the manual pages.\n", to);
  for (const struct command *const *k = commands; *k; k++) {
    if (k == commands || (*k)->group != k[-1]->group) fprintf(to, "\n| %s | |\n|---|---|\n", opt_group_heading((*k)->group));
    fprintf(to, "| [%s](%s.md) | %s |\n", (*k)->name, (*k)->name, (*k)->summary);
  }
  all_shared_options(to, commands);
  fputs("\n## Exit status\n\n| status | meaning |\n|--:|---|\n", to);
  for (size_t i = 0; (meaning = docs_status(i, &status)); i++) fprintf(to, "| %d | %s |\n", status, meaning);
  fputs(EMPTY, to);
}

/* ---- formats ---- */

static void row_start(FILE *to, const char *what) { fprintf(to, "| %s |", what); }

static void format_headers(FILE *to) {
  const struct tk_format_info *f;
  row_start(to, "");
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, " %s |", f->title);
  fputs("\n|---|", to);
  for (size_t i = 0; tk_format(i); i++) fputs("---|", to);
  fputc('\n', to);
  row_start(to, "name for `-f`");
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, " `%s` |", f->name);
  fputc('\n', to);
}

static void format_facts(FILE *to) {
  const struct tk_format_info *f;
  row_start(to, "file name extensions");
  for (size_t i = 0; (f = tk_format(i)); i++, fputs(" |", to))
    for (const char *const *e = f->endings; *e; e++) fprintf(to, " `%s`", *e);
  fputc('\n', to);
  row_start(to, "can be read");
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, " %s |", f->can_read ? "yes" : "no");
  fputc('\n', to);
  row_start(to, "can be written");
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, " %s |", f->can_write ? "yes" : "no");
  fputc('\n', to);
  char step[32];
  row_start(to, "resolution of times");
  for (size_t i = 0; (f = tk_format(i)); i++) fprintf(to, " %s |", docs_resolution(f, step, sizeof step));
  fputs("\n"
        "| supports spans |", to);
  for (size_t i = 0; (f = tk_format(i)); i++) fputs(f->no_spans ? " **no** |" : " yes |", to);
  fputc('\n', to);
}

/* Prints a table row that lists, for each format, the other formats whose specific data it can embed. */
static void blocks_row(FILE *to) {
  const struct tk_format_info *f, *of;
  fputs("| can embed data of other formats |", to);
  for (size_t i = 0; (f = tk_format(i)); i++) {
    bool any = false;
    for (size_t k = 0; f->carries && (of = tk_format(k)); k++)
      if (of->is_carried) fprintf(to, "%s%s", any ? ", " : " of ", of->title), any = true;
    fputs(any ? " |" : " **no** |", to);
  }
  fputc('\n', to);
}

void docs_format_table(FILE *to) {
  const struct tk_format_info *f;
  const char *held;
  unsigned holds;
  fputs("# Formats\n"
        "\n"
        "When a trace is written, anything that the output format does not support is counted, and a message reports it.\n"
        "\n", to);
  format_headers(to);
  format_facts(to);
  for (size_t i = 0; (held = docs_held(i, &holds)); i++) {
    fprintf(to, "| supports %s |", held);
    for (size_t k = 0; (f = tk_format(k)); k++) fputs((f->holds & holds) == holds ? " yes |" : " **no** |", to);
    fputc('\n', to);
  }
  blocks_row(to);
  fputs("\n"
        "An additional `.gz` or `.zst` extension compresses the output. Inputs may also be compressed with xz or bzip2, and "
        "may\n"
        "be members of a tar, zip or 7z archive. The format of an input is detected from its content.\n"
        "\n"
        "These pages describe how the fields of each format map to [the event graph](../graph.md) and back:\n"
        "\n", to);
}
