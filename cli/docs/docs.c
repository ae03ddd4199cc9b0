/* docs.c - generates help and manual pages from the option rows. See markdown.c for docs/, and complete.c for completions.
 *
 * Help, manual and docs/ have the same text about a command: usage, description, options and examples. The exit statuses are
 * in the overview of each, and on every manual page. */
#include "docs.h"
#include "topics.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 26, LONG_NAME = 64 };

static const char about[] =
    "tracekit converts, merges, filters, shrinks and analyses profiler traces from PyTorch, JAX, TensorFlow, Perfetto, "
    "viztracer, Chrome and other programs.";

static const struct {
  int status;
  const char *meaning;
} statuses[] = {
  { 0, "done" },
  { 1, "check found a fault, an assertion failed, nothing was selected, or --require-align found an unreliable clock" },
  { 2, "invalid usage" },
  { 3, "an input cannot be read, a repair with --strict, a loss with --no-loss, or a limit was exceeded" },
  { 4, "the output cannot be written" },
  { 130, "interrupted; there is no partial output" },
};
enum { N_STATUSES = sizeof statuses / sizeof *statuses };

const char *docs_status(size_t n, int *status) {
  if (n >= N_STATUSES) return NULL;
  *status = statuses[n].status;
  return statuses[n].meaning;
}

const char *docs_long(const struct opt *o, char *text, size_t size) {
  snprintf(text, size, o->kind == OPT_SWITCH ? "--[no-]%s" : "--%s", o->name);
  return text;
}

const char *docs_word(const struct opt *o, size_t n, const char **help) {
  if (o->kind == OPT_FORMAT) {
    const struct tk_format_info *f = tk_format(n);
    *help = f ? f->title : NULL;
    return f ? f->name : NULL;
  }
  if (o->kind != OPT_WORD) return NULL;
  *help = o->words[n].help;
  return o->words[n].word;
}

/* ---- plain text ---- */

/* Wraps `text` at WIDTH columns. The first line starts at column `at`; the other lines are indented. */
static void wrap(FILE *to, const char *text, int at, int indent) {
  int column = at;
  bool first = true;
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (!first && column + 1 + n > WIDTH) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
      first = true;
    }
    if (!first) fputc(' ', to);
    fwrite(text, 1, (size_t)n, to);
    column += n + !first;
    first = false;
    text += n;
    if (!strncmp(text, "\n\n", 2)) {
      fprintf(to, "\n\n%*s", indent, "");
      column = indent;
      first = true;
    }
    text += strspn(text, " \n");
  }
  fputc('\n', to);
}

static void help_option(FILE *to, const struct opt *o) {
  char name[LONG_NAME], left[LONG_NAME * 2], letter[8] = "    ";
  const char *help, *word;
  int n;
  if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
  n = snprintf(left, sizeof left, "  %s%s%s%s", letter, docs_long(o, name, sizeof name), o->arg ? "=" : "",
               o->arg ? o->arg : "");
  fputs(left, to);
  if (n + 2 > INDENT) fprintf(to, "\n%*s", INDENT, "");
  else fprintf(to, "%*s", INDENT - n, "");
  wrap(to, o->help, INDENT, INDENT);
  if (o->kind != OPT_WORD) return;
  for (size_t i = 0; (word = docs_word(o, i, &help)); i++) {
    fprintf(to, "%*s%s: ", INDENT + 2, "", word);
    wrap(to, help, INDENT + 4 + (int)strlen(word), INDENT + 4);
  }
}

void docs_help(FILE *to, const struct command *c) {
  fprintf(to, "Usage: tracekit %s [options] %s\n\n", c->name, c->operands);
  wrap(to, c->description, 0, 0);
  fputs("\nOptions:\n", to);
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) help_option(to, o);
  fprintf(to, "  %-*s%s\n", INDENT - 2, "-h, --help", "print this help; -h prints a short version");
  fputs("\nExamples:\n", to);
  for (const struct example *e = c->examples; e->line; e++) fprintf(to, "  # %s\n  %s\n", e->help, e->line);
}

void docs_short(FILE *to, const struct command *c) {
  enum { MOST = 10, EXAMPLES = 2 };
  const struct opt *o = c->opts;
  size_t more = 0, shown = 0;
  fprintf(to, "Usage: tracekit %s [options] %s\n\n", c->name, c->operands);
  fprintf(to, "%s: %s\n\n", c->name, c->summary);
  for (; o->kind != OPT_END; o++)
    if (shown < MOST) help_option(to, o), shown++;
    else more++;
  fputs("\nExamples:\n", to);
  for (const struct example *e = c->examples; e->line && e < c->examples + EXAMPLES; e++)
    fprintf(to, "  # %s\n  %s\n", e->help, e->line);
  if (more) fprintf(to, "\n"
                        "%zu more option%s: tracekit help %s\n", more, more == 1 ? "" : "s", c->name);
  else fprintf(to, "\nMore: tracekit help %s\n", c->name);
}

void docs_overview(FILE *to, const struct command *const *commands) {
  const char *name, *summary;
  fputs("Usage: tracekit COMMAND [options] [INPUT...] [-o OUTPUT]\n\n", to);
  wrap(to, about, 0, 0);
  for (const struct command *const *c = commands; *c; c++) {
    if (c == commands || (*c)->group != c[-1]->group) fprintf(to, "\n%s:\n", opt_group_heading((*c)->group));
    fprintf(to, "  %-9s %s\n", (*c)->name, (*c)->summary);
  }
  fprintf(to, "\nHelp:\n  %-10s%s\n", "help", "show help on a command or a topic: tracekit help merge");
  fputs("\nTopics:\n", to);
  for (size_t i = 0; (name = topic_name(i, &summary)); i++) fprintf(to, "  %-12s %s\n", name, summary);
}

/* Lists the names of the formats that can be read, written or both. */
static void list_formats(FILE *to, const char *heading, bool can_read, bool can_write) {
  enum { NAME = 15 };
  const struct tk_format_info *f;
  char names[512] = "";
  for (size_t i = 0, n = 0; (f = tk_format(i)); i++) {
    if (f->can_read != can_read || f->can_write != can_write) continue;
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", f->name);
  }
  if (!*names) return;
  fprintf(to, "  %-*s", NAME - 2, heading);
  wrap(to, names, NAME, NAME);
}

void docs_usage(FILE *to, const struct command *const *commands) {
  docs_overview(to, commands);
  fputs("\n"
        "Options:\n"
        "  -h, --help     print this help\n"
        "  -V, --version  print the version and build options\n", to);
  fputs("\nFormats:\n", to);
  list_formats(to, "read, write", true, true);
  list_formats(to, "read", true, false);
  list_formats(to, "write", false, true);
  fputs("\nExit status:\n", to);
  for (int i = 0; i < N_STATUSES; i++) {
    fprintf(to, "  %-5d", statuses[i].status);
    wrap(to, statuses[i].meaning, 7, 7);
  }
}

static const struct {
  enum tk_loss loss;
  unsigned holds;
} held[] = {
  { TK_LOSS_INSTANTS, TK_HOLDS_INSTANTS },
  { TK_LOSS_COUNTERS, TK_HOLDS_COUNTERS },
  { TK_LOSS_SAMPLES, TK_HOLDS_SAMPLES },
  { TK_LOSS_CATEGORIES, TK_HOLDS_CATEGORIES },
  { TK_LOSS_ASYNC, TK_HOLDS_ASYNC },
  { TK_LOSS_FLOW_POINTS, TK_HOLDS_FLOWS },
  { TK_LOSS_DANGLING, TK_HOLDS_FLOWS | TK_HOLDS_DANGLING },
  { TK_LOSS_ARGS, TK_HOLDS_ARGS },
  { TK_LOSS_RECORDS, TK_HOLDS_RECORDS },
  { TK_LOSS_METADATA, TK_HOLDS_METADATA },
  { TK_LOSS_MACHINES, TK_HOLDS_MACHINES },
};

const char *docs_held(size_t n, unsigned *holds) {
  if (n >= sizeof held / sizeof *held) return NULL;
  *holds = held[n].holds;
  return tk_loss_name(held[n].loss);
}

const char *docs_resolution(const struct tk_format_info *f, char *text, size_t size) {
  static const char *const units[] = { "ps", "ns", "us", "ms" };
  long long n = f->resolution;
  size_t unit = 0;
  if (n == TK_NO_TIMES) return "no times";
  for (; n % 1000 == 0 && unit + 1 < sizeof units / sizeof *units; n /= 1000) unit++;
  snprintf(text, size, "%lld %s", n, units[unit]);
  return text;
}

/* Formats "stores times to 1 ns; cannot store dangling flow points", or "stores no times; ...". */
static void format_limits(const struct tk_format_info *f, char *text, size_t size) {
  const char *name, *before = "; cannot store ";
  unsigned holds;
  char step[32];
  snprintf(text, size, f->resolution == TK_NO_TIMES ? "stores %s" : "stores times to %s", docs_resolution(f, step, sizeof step));
  if (f->no_spans) {
    strncat(text, "; cannot store spans", size - strlen(text) - 1);
    before = ", ";
  }
  for (size_t i = 0; (name = docs_held(i, &holds)); i++) {
    size_t n = strlen(text);
    bool is_implied = held[i].loss == TK_LOSS_DANGLING && !(f->holds & TK_HOLDS_FLOWS);
    if (is_implied || (f->holds & holds) == holds) continue;
    snprintf(text + n, size - n, "%s%s", before, name);
    before = ", ";
  }
}

void docs_formats(FILE *to) {
  enum { NAME = 16 };
  const struct tk_format_info *f;
  char limits[512];
  for (size_t i = 0; (f = tk_format(i)); i++) {
    const char *can = f->can_read && f->can_write ? "read, write" : f->can_read ? "read" : "write";
    fprintf(to, "  %-*s%s (%s;", NAME - 2, f->name, f->title, can);
    for (const char *const *e = f->endings; *e; e++) fprintf(to, " %s", *e);
    fputs(")\n", to);
    if (!f->can_write) continue;
    format_limits(f, limits, sizeof limits);
    fprintf(to, "%*s", NAME, "");
    wrap(to, limits, NAME, NAME);
  }
}

/* ---- mdoc ---- */

/* Escapes text for roff: backslashes, hyphens, and dots and quotes that begin a line. Each sentence begins a new line. */
static void roff(FILE *to, const char *text) {
  bool line_start = true;
  while (*text) {
    if (!strncmp(text, "\n\n", 2) || !strncmp(text, ". ", 2)) {
      fputs(*text == '.' ? ".\n" : "\n.Pp\n", to);
      text += 2;
      line_start = true;
      continue;
    }
    if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", to);
    if (*text == '\\') fputs("\\e", to);
    else if (*text == '-') fputs("\\-", to);
    else fputc(*text, to);
    line_start = *text++ == '\n';
  }
  fputc('\n', to);
}

static void man_option(FILE *to, const struct opt *o) {
  char name[LONG_NAME];
  const char *help, *word;
  fputs(".It ", to);
  if (o->letter) fprintf(to, "Fl %c , ", o->letter);
  fprintf(to, "Fl %s", docs_long(o, name, sizeof name) + 1);
  if (o->arg) fprintf(to, " Ns = Ns Ar %s", o->arg);
  fputc('\n', to);
  roff(to, o->help);
  if (o->kind != OPT_WORD) return;
  fputs(".Bl -tag -width indent -compact\n", to);
  for (size_t i = 0; (word = docs_word(o, i, &help)); i++) {
    fprintf(to, ".It Cm %s\n", word);
    roff(to, help);
  }
  fputs(".El\n", to);
}

/* Prints the head of a manual page. The date is constant, so that the same rows give the same page. */
static void man_head(FILE *to, const char *name, const char *summary) {
  fputs(".Dd November 20, 2026\n.Dt ", to);
  for (const char *s = name; *s; s++) fputc(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s, to);
  fprintf(to, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", name, summary);
}

static void man_statuses(FILE *to) {
  fputs(".Sh EXIT STATUS\n.Bl -tag -width indent -compact\n", to);
  for (int i = 0; i < N_STATUSES; i++) {
    fprintf(to, ".It %d\n", statuses[i].status);
    roff(to, statuses[i].meaning);
  }
  fputs(".El\n", to);
}

static void man_overview(FILE *to, const struct command *const *commands) {
  const struct tk_format_info *f;
  man_head(to, "tracekit", "convert, merge and analyse profiler traces");
  fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Op Ar input ...\n.Op Fl o Ar output\n.Sh DESCRIPTION\n", to);
  roff(to, about);
  fputs(".Sh COMMANDS\n.Bl -tag -width tracekit-convert\n", to);
  for (const struct command *const *c = commands; *c; c++) {
    fprintf(to, ".It Xr tracekit-%s 1\n", (*c)->name);
    roff(to, (*c)->summary);
  }
  fputs(".El\n.Sh FORMATS\n.Bl -tag -width indent\n", to);
  for (size_t i = 0; (f = tk_format(i)); i++) {
    fprintf(to, ".It Cm %s\n", f->name);
    roff(to, f->title);
  }
  fputs(".El\n", to);
  man_statuses(to);
}

void docs_man(FILE *to, const struct command *c, const struct command *const *commands) {
  char name[LONG_NAME];
  if (!c) {
    man_overview(to, commands);
    return;
  }
  snprintf(name, sizeof name, "tracekit-%s", c->name);
  man_head(to, name, c->summary);
  fprintf(to, ".Sh SYNOPSIS\n.Nm tracekit %s\n.Op Ar options\n.Ar %s\n.Sh DESCRIPTION\n", c->name, c->operands);
  roff(to, c->description);
  fputs(".Sh OPTIONS\n.Bl -tag -width indent\n", to);
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) man_option(to, o);
  fputs(".El\n", to);
  man_statuses(to);
  fputs(".Sh EXAMPLES\n", to);
  for (const struct example *e = c->examples; e->line; e++) {
    if (e != c->examples) fputs(".Pp\n", to);
    fprintf(to, "%c", e->help[0] >= 'a' && e->help[0] <= 'z' ? e->help[0] - 'a' + 'A' : e->help[0]);
    roff(to, e->help + 1);
    fputs(".Dl ", to);
    roff(to, e->line);
  }
  fputs(".Sh SEE ALSO\n.Xr tracekit 1\n", to);
}
