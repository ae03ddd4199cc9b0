/* opt.h - options and commands as rows.
 *
 * An option is one `struct opt`; the parser, --help, the man page, the shell completions and docs/commands/ are made from it.  A
 * command is one `struct command`: its rows, its operands, its examples (which are run as tests) and the function that does the work.
 * Parsed values land in the command's own params struct, at the row's offset, so a command reads typed fields and never sees a string
 * to parse.  All-zero params are the defaults. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
  OPT_END,    /* the last row */
  OPT_FLAG,   /* bool; --no-NAME (or, of a row "no-NAME", --NAME) takes it back */
  OPT_SWITCH, /* int: 1 for --NAME, -1 for --no-NAME, 0 = not said */
  OPT_COUNT,  /* int: how often */
  OPT_STRING, /* const char * */
  OPT_LIST,   /* struct opt_list: may be given more than once */
  OPT_OFFSETS, /* struct opt_offsets: by how much clocks are moved, may be given more than once */
  OPT_RANGES, /* struct opt_ranges: of whole numbers, may be given more than once */
  OPT_FILE,   /* const char *: completed as a file name */
  OPT_INT,    /* int, min..max */
  OPT_NUMBER, /* struct opt_number: a whole number from 0 on, which may be absent */
  OPT_SIZE,   /* uint64_t bytes */
  OPT_TIME,   /* int64_t picoseconds */
  OPT_WORD,   /* int: one of `words`; struct opt_choice if a word ends in '=' and takes text */
  OPT_FORMAT  /* const char *: a row of the format table, or "help" */
};

/* Values in the order given, ended by NULL. */
struct opt_list {
  const char **v;
  size_t n;
};

struct tk_range;
struct opt_ranges {
  struct tk_range *v;
  size_t n;
};

struct tk_offset;
struct opt_offsets {
  struct tk_offset *v; /* owns the names */
  size_t n;
};

struct opt_number {
  bool given;
  int64_t value;
};

struct opt_word {
  const char *word;
  int value;
  const char *help;
};

/* The value of "marker=NAME" and its NAME; NULL of a word without. */
struct opt_choice {
  int value;
  const char *text;
};

struct opt {
  enum opt_kind kind;
  char letter; /* 0 = long form only */
  const char *name;
  const char *arg; /* what --help calls the value */
  const char *help;
  size_t offset;                /* of the field in the params struct */
  const struct opt_word *words; /* ended by a NULL word; of a SWITCH: what may stand behind --NAME= */
  int min, max;
};

struct example {
  const char *line; /* a whole command line */
  const char *help;
};

struct operands {
  const char **v;
  size_t n;
};

enum { ANY_NUMBER = 1 << 30 };

struct command {
  const char *name;
  const char *summary;     /* one line, no full stop */
  const char *operands;    /* "INPUT...", as the usage line shows it */
  const char *description; /* paragraphs divided by an empty line */
  const struct opt *opts;
  const struct example *examples; /* ended by a NULL line */
  size_t params_size;
  size_t min_operands, max_operands;
  int (*run)(const void *params, const struct operands *in);
};

extern const struct command *const commands[]; /* ended by NULL; in commands.c */
/* Returns the heading of the group of commands that starts with `c`, or NULL if none does. */
const char *command_heading(const struct command *c);

enum parsed { PARSED_RUN, PARSED_HELP, PARSED_SHORT, PARSED_VERSION, PARSED_FORMATS, PARSED_ERROR };

/* Parses argv[1..] for `c` into params and operands (room for argc of them).  On PARSED_ERROR, `why` holds one line. */
struct opt_error {
  char why[512];
};
enum parsed opt_parse(const struct command *c, char **argv, void *params, struct operands *in, struct opt_error *error);

/* What is wrong with the value of --NAME, which is no duration. */
void opt_bad_time(struct opt_error *error, const char *name, const char *value);

/* Frees what the lists among the params hold. */
void opt_free(const struct command *c, void *params);

const struct command *command_find(const char *name);

/* Writes "unknown command 'mrege'; did you mean 'merge'?" and the like. */
void opt_unknown(struct opt_error *error, const char *what, const char *word, const char *const *valid);


/* May it be given more than once? */
static inline bool opt_repeats(const struct opt *o) { return o->kind == OPT_LIST || o->kind == OPT_RANGES || o->kind == OPT_OFFSETS; }
/* Is the value of this row a separate word? */
static inline bool opt_has_value(const struct opt *o) { return o->kind >= OPT_STRING; }

#endif
