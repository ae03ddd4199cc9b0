/* write.h - saving what a command made of a trace, and the report of it: what convert, filter and rebase end with. */
#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include "json.h"
#include "run.h"

/* What a command adds to the report. */
struct report {
  void (*json)(struct json *j, const void *arg); /* members of the object */
  void (*text)(FILE *to, const void *arg);       /* a line before the last one */
  const void *arg;
};

/* Prints ", 36 derived" if derived events were written: they are counted apart. */
void write_derived(FILE *to, const struct tk_saved *done);
/* Reports what the output format cannot hold: as a line on standard error, and by kind as the member "lost" of a report. */
void write_losses(const struct shared *s, const char *output, const struct tk_saved *done);
void write_losses_json(struct json *j, const struct tk_saved *done);

/* Saves `t`, with progress; prints the report.  `more` may be NULL.  Returns the exit status. */
int write_trace(const struct shared *s, const char *command, const struct tk_trace *t, const char *output, const struct report *more);

#endif
