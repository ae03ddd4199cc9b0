/* redact.h - redaction options shared by convert, extract, merge, shrink and redact. */
#ifndef CLI_REDACT_H
#define CLI_REDACT_H

#include "print/json.h"
#include "shared/run.h"
#include "shared/write.h"

extern const struct opt_word redact_names_words[];

/* Options that tune redaction, for `redact` itself and for other commands with --redact. */
#define ROWS_REDACT_HOW                                                                                                        \
  { OPT_WORD, 0, "names", "HOW", "redaction: how to treat the names of events, tracks and counters", SHARED(redact.names),     \
    redact_names_words, 0, 0 },                                                                                                \
  { OPT_LIST, 0, "keep-args", "GLOB", "redaction: keep args with a matching key unchanged", SHARED(redact.keep_args), 0, 0, 0 }, \
  { OPT_FLAG, 0, "keep-numbers", 0, "redaction: keep non-text args: streams, sizes, correlation ids",                          \
    SHARED(redact.keep_numbers), 0, 0, 0 },                                                                                    \
  { OPT_FILE, 0, "key-file", "FILE",                                                                                           \
    "redaction: use the secret in this file, so that several runs give equal hashes (default: random)",                        \
    SHARED(redact.key_file), 0, 0, 0 },                                                                                        \
  { OPT_FILE, 0, "redact-report", "FILE",                                                                                      \
    "redaction: list the kept, changed and removed strings in this file, readable only by you; '-' prints the list",             \
    SHARED(redact.list), 0, 0, 0 }

#define ROWS_REDACT                                                                                                            \
  { OPT_FLAG, 0, "redact", 0, "remove private text, as the command redact does", SHARED(redact.asked),                         \
    0, 0, 0 },                                                                                                                 \
  ROWS_REDACT_HOW

/* Options for tk_redact, with the contents of the files that they name. */
struct redacting {
  struct tk_redact_options options;
  struct tk_redact_report report;
  char *map, *key;
  const char *path; /* path of the list; NULL = none */
  bool force;
};

/* Checks the options and reads the files that they name. On failure prints the reason and sets *status. Options that tune
 * redaction require --redact. */
bool redact_begin(const struct shared *s, const char *command, const struct operands *in, struct redacting *r, int *status);
/* Writes the list of --redact-report if `status` is STATUS_DONE or STATUS_FINDING, and frees `r`. `output` is the path of the
 * traces. Returns the status. */
int redact_end(struct redacting *r, const char *output, int status);

/* Print the redaction counts as members of a JSON report, or as a line of text; a second line warns if names are kept. */
void redact_json(struct json *j, const struct tk_redact_report *r);
void redact_text(FILE *to, const struct tk_redact_report *r, enum tk_redact_names names);

/* Returns a report that prints the redaction counts, as JSON or text, for write_trace(). */
struct report redact_report(const struct redacting *r);

#endif
