/* redact.h - what convert, extract, shrink and redact ask of tk_redact. */
#ifndef CLI_REDACT_H
#define CLI_REDACT_H

#include "json.h"
#include "run.h"

extern const struct opt_word redact_names_words[];

/* How, after --redact or of the command itself. */
#define ROWS_REDACT_HOW                                                                                                            \
  { OPT_WORD, 0, "names", "HOW", "redacting: what becomes of the names of events, tracks and counters", SHARED(redact.names),      \
    redact_names_words, 0, 0 },                                                                                                    \
  { OPT_LIST, 0, "keep-args", "GLOB", "redacting: keep args with this key, as they are", SHARED(redact.keep_args), 0, 0, 0 },      \
  { OPT_FLAG, 0, "keep-numbers", 0, "redacting: keep args that are numbers: streams, sizes, correlation ids",                      \
    SHARED(redact.keep_numbers), 0, 0, 0 },                                                                                        \
  { OPT_FILE, 0, "key-file", "FILE",                                                                                               \
    "redacting: hash with the secret in this file, so that several runs give the same hashes (default: a random one)",             \
    SHARED(redact.key_file), 0, 0, 0 },                                                                                            \
  { OPT_FILE, 0, "redact-report", "FILE",                                                                                          \
    "redacting: list what was kept, changed and removed in this file, which only you may read; '-' prints the list",               \
    SHARED(redact.list), 0, 0, 0 }

#define ROWS_REDACT                                                                                                            \
  { OPT_FLAG, 0, "redact", 0, "remove what says more than how long things took, as tracekit redact does", SHARED(redact.asked), \
    0, 0, 0 },                                                                                                                 \
  ROWS_REDACT_HOW

/* Options of tk_redact, with the texts of the files that they name. */
struct redacting {
  struct tk_redact_options options;
  struct tk_redact_report report;
  char *map, *key;
  const char *path; /* of the list; NULL = none */
  bool force;
};

/* Reads what the options name.  False: *status, and the reason was printed.  Without --redact nothing is asked, and options that say
 * how are an error. */
bool redact_begin(const struct shared *s, const char *command, const struct operands *in, struct redacting *r, int *status);
/* Writes the list if `status` is STATUS_DONE or STATUS_FINDING, and frees. `output` is that of the traces. Returns the status. */
int redact_end(struct redacting *r, const char *output, int status);

/* Members of a report, and its line. */
void redact_json(struct json *j, const struct tk_redact_report *r);
void redact_text(FILE *to, const struct tk_redact_report *r);

#endif
