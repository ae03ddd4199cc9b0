/* select.h - selection of events: the option rows shared by filter, top, tree, report, diff, dump and view, and the expressions
 * that these rows stand for. */
#ifndef CLI_SHARED_SELECT_H
#define CLI_SHARED_SELECT_H

#include "run.h"

struct selection {
  struct opt_list exprs, names, excludes, regexes, cats, pids, tids, hosts, tracks, kinds, launched_by;
  struct opt_ranges ranks, devices, streams;
  const char *depth, *min_dur, *max_dur, *time, *step;
  bool no_python, allow_empty;
};

/* First member of the params of a command with ROWS_SELECT. */
struct selected {
  struct shared shared;
  struct selection selection;
};

#define SELECTED(field) offsetof(struct selected, selection.field)
#define SELECT_LIST(name, arg, help, field) { OPT_LIST, 0, name, arg, help, SELECTED(field), 0, 0, 0 }
#define SELECT_RANGES(name, help, field) { OPT_RANGES, 0, name, "N..M", help, SELECTED(field), 0, 0, 0 }
#define SELECT_TEXT(name, arg, help, field) { OPT_STRING, 0, name, arg, help, SELECTED(field), 0, 0, 0 }

#define ROWS_SELECT                                                                                                            \
  { OPT_LIST, 'e', "expr", "EXPR", "keep events for which this expression is true", SELECTED(exprs), 0, 0, 0 },                \
  SELECT_LIST("name", "GLOB",                                                                                                  \
    "keep events whose name matches (the whole name; use '*kernel*' for a substring); repeatable: any of the "                 \
    "names", names),                                                                                                           \
  SELECT_LIST("exclude", "GLOB", "remove events whose name matches", excludes),                                                \
  SELECT_LIST("regex", "REGEX", "keep events whose name contains a match of this Perl-compatible regex", regexes),             \
  SELECT_LIST("cat", "GLOB", "keep events of this category", cats),                                                            \
  SELECT_LIST("kind", "KIND",                                                                                                  \
    "keep events of this kind: kernel, memcpy, memset, transfer, collective, op, module, runtime, python, "                    \
    "step, annotation, device, host, span, instant, counter or async",                                                         \
           kinds),                                                                                                             \
  SELECT_TEXT("depth", "A..B",                                                                                                 \
    "keep spans at this nesting depth: 0 is outermost, 3 means exactly depth 3, ..3 means depths 0 to 3",                      \
    depth),                                                                                                                    \
  SELECT_TEXT("min-dur", "TIME", "keep spans that last at least this long", min_dur),                                          \
  SELECT_TEXT("max-dur", "TIME", "keep spans that last at most this long", max_dur),                                           \
  SELECT_TEXT("time", "A..B",                                                                                                  \
    "keep a time range: +2s..+5s after the start, -1s.. before the end, 10%..20%, 1500us..3ms as in the file, "                \
    "or UTC",                                                                                                                  \
           time),                                                                                                              \
  SELECT_TEXT("step", "N..M", "keep these training steps", step),                                                              \
  ROW_STEP_NAME,                                                                                                               \
  SELECT_LIST("pid", "N..M", "keep processes with this pid, or with pids in this range", pids),                                \
  SELECT_LIST("tid", "N..M", "keep threads with this tid, or with tids in this range", tids),                                  \
  SELECT_RANGES("rank", "keep ranks of a merged trace in this range", ranks),                                                  \
  SELECT_LIST("host", "GLOB", "keep hosts whose name matches", hosts),                                                         \
  SELECT_RANGES("device", "keep accelerators with numbers in this range", devices),                                            \
  SELECT_RANGES("stream", "keep device queues with numbers in this range", streams),                                            \
  SELECT_LIST("launched-by", "GLOB", "keep device work that was launched within a span whose name matches", launched_by),      \
  SELECT_LIST("track", "GLOB", "keep threads, counters and processes whose name matches", tracks),                             \
  { OPT_FLAG, 0, "no-python", 0, "remove Python stack frames", SELECTED(no_python), 0, 0, 0 }

/* Row for commands that print a result. An empty result is a finding (status 1) unless this option is given. */
#define ROW_ALLOW_EMPTY                                                                                                        \
  { OPT_FLAG, 0, "allow-empty", 0, "print a result even if no event is selected (default: print nothing, exit with status 1)", \
    SELECTED(allow_empty), 0, 0, 0 }

struct exprs {
  char **v; /* NULL-terminated; NULL if n is 0 */
  size_t n;
  const char *command;
  bool failed; /* out of memory */
  bool wrong;  /* an option is invalid; the error was printed */
};

/* Returns the options as expressions; an event must satisfy all of them. */
struct exprs select_expressions(const struct selected *s, const char *command);
void select_free(struct exprs *e);

/* Returns true if the options select events, so that an empty result is a finding (status 1) without output. */
bool select_is_asked(const struct tk_selection *s);

/* Prints why the selection matches no event of the trace. The trace cannot be used afterwards. */
void select_say_nothing(struct tk_trace *t, const struct tk_selection *s);

/* Returns the data that need not be loaded (tk_load_options.without) because no row of the report of tk_top depends on it. Returns
 * 0 with --strict, which validates all data, and with --verbose, which prints facts about all data. */
uint8_t select_without(const struct shared *s, const struct tk_top_options *o);

/* Returns true if the word is arg.KEY. */
bool select_is_arg(const char *word);
/* Parses --by; NULL means by name. Returns false with a message if the column is unknown. */
bool select_by(const char *command, const char *text, enum tk_top_by *by, const char **arg);

#endif
