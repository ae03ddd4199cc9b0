/* opt.h - options and commands as rows.
 *
 * An option is one `struct opt`, used by the parser, --help, the manual page, the shell completions and docs/commands/.  A
 * command is one `struct command`: its rows, its operands, its examples (which are run as tests) and the function that does the
 * work. Parsed values are stored in the command's own params struct, at the row's offset, so that commands read typed fields
 * and parse no strings. All-zero params are the defaults. */
#ifndef CLI_OPTIONS_OPT_H
#define CLI_OPTIONS_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
  OPT_END,    /* the last row */
  OPT_FLAG,   /* bool; --no-NAME clears it (--NAME if the row is called "no-NAME") */
  OPT_SWITCH, /* int: 1 for --NAME, -1 for --no-NAME, 0 if not given */
  OPT_COUNT,  /* int: number of times given */
  OPT_STRING, /* const char * */
  OPT_LIST,   /* struct opt_list; repeatable */
  OPT_OFFSETS, /* struct opt_offsets: time shifts of clocks; repeatable */
  OPT_RANGES, /* struct opt_ranges: ranges of integers; repeatable */
  OPT_FILE,   /* const char *: completed as a file name */
  OPT_INT,    /* int, min..max */
  OPT_NUMBER, /* struct opt_number: an integer of at least 0, optional */
  OPT_SIZE,   /* uint64_t bytes */
  OPT_TIME,   /* int64_t picoseconds */
  OPT_WORD,   /* int: one of `words`; struct opt_choice if a word ends in '=' and takes text */
  OPT_FORMAT  /* const char *: name of a format, with or without a compression */
};

/* Values in the order given, terminated by NULL. */
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

/* A parsed word such as "marker=NAME": the value of the word, and NAME, or NULL if the word has no text. */
struct opt_choice {
  int value;
  const char *text;
};

struct opt {
  enum opt_kind kind;
  char letter; /* 0 = long form only */
  const char *name;
  const char *arg; /* placeholder for the value in --help */
  const char *help;
  size_t offset;                /* offset of the field in the params struct, in bytes */
  const struct opt_word *words; /* terminated by a NULL word; OPT_SWITCH: words accepted after --NAME= */
  int min, max;
};

struct example {
  const char *line; /* a complete command line */
  const char *help;
};

struct operands {
  const char **v;
  size_t n;
  char joined[4][64]; /* values that were given as two arguments, such as "1 ms" */
  unsigned n_joined;
};

enum { ANY_NUMBER = 1 << 30 };

/* Groups of commands in help. */
enum command_group { GROUP_OPEN, GROUP_COMBINE, GROUP_CUT, GROUP_ANALYSE, GROUP_INSPECT, GROUP_CLUSTER };

struct command {
  const char *name;
  enum command_group group;
  const char *summary;     /* one line, no full stop */
  const char *operands;    /* "INPUT...", as the usage line shows it */
  const char *description; /* paragraphs separated by an empty line */
  const struct opt *opts;
  const struct example *examples; /* terminated by a NULL line */
  size_t params_size;
  size_t min_operands, max_operands;
  int (*run)(const void *params, const struct operands *in);
};

/* Returns the heading of a group in help. */
const char *opt_group_heading(enum command_group group);

enum parsed { PARSED_RUN, PARSED_HELP, PARSED_SHORT, PARSED_VERSION, PARSED_FORMATS, PARSED_ERROR };

struct opt_error {
  char why[512]; /* message of one line, if PARSED_ERROR */
};

/* Parses argv[1..] for `c` into params and operands; in->v has room for argc operands. On PARSED_ERROR sets error->why. */
enum parsed opt_parse(const struct command *c, char **argv, void *params, struct operands *in, struct opt_error *error);

/* Writes the error message for an invalid duration given to --NAME. */
void opt_time_bad(struct opt_error *error, const char *name, const char *value);

/* Frees the lists in params. */
void opt_free(const struct command *c, void *params);

/* `commands` ends with NULL. Returns NULL if none has this name. */
const struct command *opt_find_command(const struct command *const *commands, const char *name);

/* Writes an error message such as "unknown command 'mrege'; did you mean 'merge'?". */
void opt_unknown(struct opt_error *error, const char *what, const char *word, const char *const *valid);


/* Returns true if the option is repeatable. */
static inline bool opt_repeats(const struct opt *o) { return o->kind == OPT_LIST || o->kind == OPT_RANGES || o->kind == OPT_OFFSETS; }
/* Returns true if the option takes a value. */
static inline bool opt_has_value(const struct opt *o) { return o->kind >= OPT_STRING; }

#endif
