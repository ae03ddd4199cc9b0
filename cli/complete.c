/* complete.c - shell completions from the rows.  Values that are words complete to the words, file names to file names. */
#include "docs.h"

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

/* ---- bash ---- */

static void bash_name(FILE *to, const struct opt *o, const char *name) {
  fprintf(to, " --%s%s", name, opt_has_value(o) ? "=" : "");
}

static void bash_words(FILE *to, const struct command *c) {
  const char *help, *word;
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    if (o->kind != OPT_WORD && o->kind != OPT_FORMAT) continue;
    fprintf(to, "    %s:--%s", c->name, o->name);
    if (o->letter) fprintf(to, "|%s:-%c", c->name, o->letter);
    fputs(") words='", to);
    for (size_t i = 0; (word = docs_word(o, i, &help)); i++) fprintf(to, "%s%s", i ? " " : "", word);
    fputs("' ;;\n", to);
  }
}

/* COMP_WORDBREAKS holds '=': "--align=cl" arrives as three words. */
void docs_bash(FILE *to) {
  fputs("# bash completion for tracekit\n"
        "_tracekit() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= options=\n"
        "  COMPREPLY=()\n"
        "  case ${COMP_WORDS[0]##*/} in tracekit-*) command=${COMP_WORDS[0]##*/tracekit-}; command=${command#tracekit-} ;; *)\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "      COMPREPLY=($(compgen -W 'help --help --version",
        to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " %s", (*c)->name);
  fputs("' -- \"$cur\"))\n"
        "      return\n"
        "    fi ;;\n"
        "  esac\n"
        "  if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "  case $command:$prev in\n",
        to);
  for (const struct command *const *c = commands; *c; c++) bash_words(to, *c);
  fputs("  esac\n"
        "  if [ -n \"$words\" ]; then\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
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
        "      COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
        "      case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac ;;\n"
        "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
        "  esac\n"
        "}\n"
        "complete -o filenames -F _tracekit tracekit",
        to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " tracekit-%s", (*c)->name);
  fputc('\n', to);
}

/* ---- zsh ---- */

/* Inside '...[...]': quotes end the word, brackets and colons the field. */
static void zsh_text(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '\'') fputs("'\\'", to);
    else if (strchr("[]:\\", *text)) fputc('\\', to);
    fputc(*text, to);
  }
}

static void zsh_value(FILE *to, const struct opt *o) {
  const char *help, *word;
  fprintf(to, ":%s:", o->arg);
  if (o->kind == OPT_FILE) fputs("_files", to);
  if (o->kind != OPT_WORD && o->kind != OPT_FORMAT) return;
  fputc('(', to);
  for (size_t i = 0; (word = docs_word(o, i, &help)); i++) fprintf(to, "%s%s", i ? " " : "", word);
  fputc(')', to);
}

static void zsh_spec(FILE *to, const struct opt *o, const char *name) {
  fprintf(to, " \\\n        '%s%s[", name, opt_has_value(o) ? (name[1] == '-' ? "=" : "+") : "");
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

void docs_zsh(FILE *to) {
  fputs("#compdef tracekit", to);
  for (const struct command *const *c = commands; *c; c++) fprintf(to, " tracekit-%s", (*c)->name);
  fputs("\n_tracekit() {\n  local command=${service#tracekit-}\n  if [[ $service == tracekit ]]; then\n"
        "    if (( CURRENT == 2 )); then\n      local -a list\n      list=(\n",
        to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, "        '%s:", (*c)->name);
    zsh_text(to, (*c)->summary);
    fputs("'\n", to);
  }
  fputs("        'help:describe a command'\n      )\n      _describe command list\n      return\n    fi\n"
        "    command=$words[2]\n    shift words\n    (( CURRENT-- ))\n  fi\n  case $command in\n",
        to);
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

static void fish_option(FILE *to, const struct command *c, const struct opt *o) {
  const char *help, *word;
  fprintf(to, "complete -c tracekit -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter) fprintf(to, " -s %c", o->letter);
  if (opt_has_value(o)) fputs(o->kind == OPT_FILE ? " -r -F" : " -x", to);
  if (o->kind == OPT_WORD || o->kind == OPT_FORMAT) {
    fputs(" -a '", to);
    for (size_t i = 0; (word = docs_word(o, i, &help)); i++) fprintf(to, "%s%s", i ? " " : "", word);
    fputc('\'', to);
  }
  fputs(" -d ", to);
  fish_text(to, o->help);
  fputc('\n', to);
}

void docs_fish(FILE *to) {
  fputs("# fish completion for tracekit\n", to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, "complete -c tracekit -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
    fish_text(to, (*c)->summary);
    fputc('\n', to);
  }
  fputs("complete -c tracekit -n __fish_use_subcommand -f -a help -d 'describe a command'\n"
        "complete -c tracekit -n __fish_use_subcommand -f -s V -l version -d 'print the version'\n"
        "complete -c tracekit -f -s h -l help -d 'print help'\n",
        to);
  for (const struct command *const *c = commands; *c; c++)
    for (const struct opt *o = (*c)->opts; o->kind != OPT_END; o++) fish_option(to, *c, o);
}
