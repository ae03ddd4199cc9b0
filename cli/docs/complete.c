/* complete.c - generates shell completions from the option rows (options/opt.h).
 *
 * An option with a fixed set of words completes to these words, a file option to file names. Values found in a trace
 * (ranks, names, steps) come from the trace named on the command line: the shell runs `tracekit __complete FIELD WORD...` to
 * list them. */
#include "complete.h"
#include "docs.h"
#include "topics.h"

#include <string.h>

enum { NAME = 80 };

/* Calls `print` with every spelling of the option: "--output", or "--progress" and "--no-progress". */
static void each_name(FILE *to, const struct opt *o, void (*print)(FILE *to, const struct opt *o, const char *name)) {
  char name[NAME];
  snprintf(name, sizeof name, "%s", o->name);
  print(to, o, name);
  if (o->kind != OPT_SWITCH) return;
  snprintf(name, sizeof name, "no-%s", o->name);
  print(to, o, name);
}

/* Returns the n-th word that the option accepts; NULL past the end. */
static const char *value_word(const struct opt *o, size_t n) {
  const char *help;
  if (!strcmp(o->name, "kind") && o->kind == OPT_LIST) return tk_kind_word(n);
  if (!strcmp(o->name, "expr")) return tk_filter_symbol(n, &help);
  if (o->words) return o->words[n].word;
  return o->kind == OPT_FORMAT ? docs_word(o, n, &help) : NULL;
}

/* Returns the trace field that completes the option's value; NULL if none does. */
static const char *value_field(const struct opt *o) {
  static const struct {
    const char *option, *field;
  } rows[] = { { "name", "name" }, { "exclude", "name" }, { "at", "name" },       { "per", "name" },
               { "rank", "rank" }, { "step", "step" },    { "cat", "cat" },       { "track", "track" } };
  const bool may = opt_repeats(o) || o->kind == OPT_STRING || o->kind == OPT_NUMBER;
  for (size_t i = 0; may && i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].option, o->name)) return rows[i].field;
  return NULL;
}

static void put_words(FILE *to, const struct opt *o) {
  const char *word;
  for (size_t i = 0; (word = value_word(o, i)); i++) fprintf(to, "%s%s", i ? " " : "", word);
}

/* Prints the arguments of `help`: commands and topics. */
static void put_subjects(FILE *to, const struct command *const *commands) {
  const char *topic, *summary;
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " %s", (*c)->name);
  for (size_t i = 0; (topic = topic_name(i, &summary)); i++) fprintf(to, " %s", topic);
}

/* ---- bash ---- */

static void bash_name(FILE *to, const struct opt *o, const char *name) {
  fprintf(to, " --%s%s", name, opt_has_value(o) ? "=" : "");
}

static void bash_words(FILE *to, const struct command *c) {
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    const char *field = value_field(o);
    if (!opt_has_value(o) || (!field && !value_word(o, 0))) continue;
    fprintf(to, "    %s:--%s", c->name, o->name);
    if (o->letter) fprintf(to, "|%s:-%c", c->name, o->letter);
    if (field) {
      fprintf(to, ") field=%s ;;\n", field);
      continue;
    }
    fputs(") words='", to);
    put_words(to, o);
    fputs("' ;;\n", to);
  }
}

/* Prints the completion script for bash. The script expects '=' as a separate word, because COMP_WORDBREAKS contains '=':
 * "--align=cl" arrives as three words. */
void docs_bash(FILE *to, const struct command *const *commands) {
  fputs("# bash completion for tracekit\n"
        "_tracekit() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
        "  local words= options= field= IFS=$'\\n'\n"
        "  COMPREPLY=()\n"
        "  case ${COMP_WORDS[0]##*/} in tracekit-*) command=${COMP_WORDS[0]##*/tracekit-}; command=${command#tracekit-} ;; *)\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "      IFS=' '; words='help --help --version",
        to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " %s", (*c)->name);
  fputs("'\n"
        "    elif [ \"$command\" = help ]; then\n"
        "      words='",
        to);
  put_subjects(to, commands);
  fputs("'\n"
        "    fi ;;\n"
        "  esac\n"
        "  if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "  case $command:$prev in\n",
        to);
  for (const struct command *const *c = commands; *c; c++) bash_words(to, *c);
  fputs("  esac\n"
        "  if [ -n \"$words\" ]; then\n"
        "    IFS=$' \\n' COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "    return\n"
        "  fi\n"
        "  if [ -n \"$field\" ]; then\n"
        "    compopt -o filenames\n"
        "    COMPREPLY=($(\"${COMP_WORDS[0]}\" __complete \"$field\" \"${COMP_WORDS[@]:1}\" 2>/dev/null |\n"
        "      while read -r value; do case $value in \"$cur\"*) printf '%s\\n' \"$value\" ;; esac; done))\n"
        "    return\n"
        "  fi\n"
        "  case $command in\n",
        to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, "    %s) options='--help", (*c)->name);
    for (const struct opt *o = (*c)->opts; o->kind != OPT_END; o++) each_name(to, o, bash_name);
    fputs("' ;;\n", to);
  }
  fputs("  esac\n"
        "  case $cur in\n"
        "    -*)\n"
        "      IFS=$' \\n' COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
        "      case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac ;;\n"
        "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
        "  esac\n"
        "}\n"
        "complete -F _tracekit tracekit",
        to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " tracekit-%s", (*c)->name);
  fputc('\n', to);
}

/* ---- zsh ---- */

/* Escapes text inside '...[...]', where quotes end the word, and brackets and colons end the field. */
static void zsh_text(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '\'') fputs("'\\'", to);
    else if (strchr("[]:\\", *text)) fputc('\\', to);
    fputc(*text, to);
  }
}

static void zsh_value(FILE *to, const struct opt *o) {
  const char *field = value_field(o);
  fprintf(to, ":%s:", o->arg);
  if (o->kind == OPT_FILE) fputs("_files", to);
  if (field) fprintf(to, "{_tracekit_from %s}", field);
  if (field || !value_word(o, 0)) return;
  fputc('(', to);
  put_words(to, o);
  fputc(')', to);
}

/* Prints the _arguments spec of one spelling; a leading '*' marks a repeatable option. */
static void zsh_spec(FILE *to, const struct opt *o, const char *name) {
  fprintf(to, " \\\n        '%s%s%s[", opt_repeats(o) ? "*" : "", name, opt_has_value(o) ? (name[1] == '-' ? "=" : "+") : "");
  zsh_text(to, o->help);
  fputc(']', to);
  if (opt_has_value(o)) zsh_value(to, o);
  fputc('\'', to);
}

static void zsh_long(FILE *to, const struct opt *o, const char *name) {
  char dashed[NAME + 2];
  snprintf(dashed, sizeof dashed, "--%s", name);
  zsh_spec(to, o, dashed);
}

static void zsh_command(FILE *to, const struct command *c) {
  fprintf(to, "    %s)\n      _arguments -s -S '(- *)'{-h,--help}'[print help]'", c->name);
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    char letter[3] = { '-', o->letter, 0 };
    if (o->letter) zsh_spec(to, o, letter);
    each_name(to, o, zsh_long);
  }
  fputs(" \\\n        '*:input:_files' ;;\n", to);
}

void docs_zsh(FILE *to, const struct command *const *commands) {
  fputs("#compdef tracekit", to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " tracekit-%s", (*c)->name);
  fputs("\n_tracekit_from() {\n  local -a values\n  values=(${(f)\"$($_tracekit_program __complete $1 ${(Q)words} 2>/dev/null)\"})\n"
        "  compadd -a values\n}\n"
        "_tracekit() {\n  local command=${service#tracekit-} _tracekit_program=${~words[1]}\n  if [[ $service == tracekit ]]; then\n"
        "    if (( CURRENT == 2 )); then\n      local -a list\n      list=(\n",
        to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, "        '%s:", (*c)->name);
    zsh_text(to, (*c)->summary);
    fputs("'\n", to);
  }
  fputs("        'help:describe a command'\n      )\n      _describe command list\n      return\n    fi\n"
        "    command=$words[2]\n    shift words\n    (( CURRENT-- ))\n  fi\n  case $command in\n    help) compadd",
        to);
  put_subjects(to, commands);
  fputs(" ;;\n", to);
  for (const struct command *const *c = commands; *c; c++) zsh_command(to, *c);
  fputs("  esac\n}\n_tracekit \"$@\"\n", to);
}

/* ---- fish ---- */

static void fish_text(FILE *to, const char *text) {
  fputc('\'', to);
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') fputc('\\', to);
    fputc(*text, to);
  }
  fputc('\'', to);
}

static void fish_option(FILE *to, const struct command *c, const struct opt *o, const char *name) {
  const char *field = value_field(o);
  fprintf(to, "complete -c tracekit -n '__fish_seen_subcommand_from %s' -l %s", c->name, name);
  if (o->letter) fprintf(to, " -s %c", o->letter);
  if (opt_has_value(o)) fputs(o->kind == OPT_FILE ? " -r -F" : " -x", to);
  if (field) {
    fprintf(to, " -a '(__tracekit_from %s)'", field);
  } else if (opt_has_value(o) && value_word(o, 0)) {
    fputs(" -a '", to);
    put_words(to, o);
    fputc('\'', to);
  }
  fputs(" -d ", to);
  fish_text(to, o->help);
  fputc('\n', to);
}

void docs_fish(FILE *to, const struct command *const *commands) {
  fputs("# fish completion for tracekit\n"
        "function __tracekit_from\n  set -l line (commandline -opc)\n"
        "  $line[1] __complete $argv[1] $line[2..-1] 2>/dev/null\nend\n",
        to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, "complete -c tracekit -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
    fish_text(to, (*c)->summary);
    fputc('\n', to);
  }
  fputs("complete -c tracekit -n __fish_use_subcommand -f -a help -d 'describe a command'\n"
        "complete -c tracekit -n __fish_use_subcommand -f -s V -l version -d 'print the version'\n"
        "complete -c tracekit -f -s h -l help -d 'print help'\n",
        to);
  fputs("complete -c tracekit -n '__fish_seen_subcommand_from help' -f -a '", to);
  put_subjects(to, commands);
  fputs("'\n", to);
  for (const struct command *const *c = commands; *c; c++)
    for (const struct opt *o = (*c)->opts; o->kind != OPT_END; o++) {
      char no[NAME];
      snprintf(no, sizeof no, "no-%s", o->name);
      fish_option(to, *c, o, o->name);
      if (o->kind == OPT_SWITCH) fish_option(to, *c, o, no);
    }
}
