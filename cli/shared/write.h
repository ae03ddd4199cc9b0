/* write.h - saves the result of a command and prints the report, for convert, filter, rebase and redact. */
#ifndef CLI_SHARED_WRITE_H
#define CLI_SHARED_WRITE_H

#include "print/json.h"
#include "run.h"

/* Callbacks with which a command adds to the report. */
struct report {
  void (*json)(struct json *j, const void *arg); /* writes members of the object */
  void (*text)(FILE *to, const void *arg);       /* prints a line before the last one */
  const void *arg;
};

/* Prints ", 36 derived" if derived events were written, because they are counted separately. */
void write_derived(FILE *to, const struct tk_saved *done);
/* Report the data that the output format cannot represent: as a line on standard error, or by kind as the member "lost" of a
 * JSON report. */
void write_losses(const struct shared *s, const char *output, const struct tk_saved *done);
/* Does the same for the output of one trace. If the output has the format of `t`, format-specific data can be lost only
 * because `t` was edited; the message then names this reason. */
void write_losses_of(const struct shared *s, const struct tk_trace *t, const char *output, const struct tk_saved *done);
void write_losses_json(struct json *j, const struct tk_saved *done);

/* Saves `t`, with progress, and prints the report. `more` may be NULL. Returns the exit status. */
int write_trace(const struct shared *s, const char *command, const struct tk_trace *t, const char *output, const struct report *more);

/* Writes the HTML page `text` to the file `output`, and, if `say`, prints its name. Returns the exit status. */
int write_page(const struct shared *s, const struct tk_sources *sources, const char *output, const char *text, size_t n, bool say);

#endif
