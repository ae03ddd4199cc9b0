/* helper.h - child processes whose output this program reads.
 *
 * A helper is started from a list of words and never through a shell. Its standard input is empty; its standard output and its error
 * output are pipes. Most helpers get a process group of their own, so that the programs that a helper starts are ended together with
 * it; ssh does not, because only the terminal's foreground group can ask for a passphrase. */
#ifndef CLI_SHARED_HELPER_H
#define CLI_SHARED_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tracekit.h"

struct helper {
  const char *name;
  pid_t pid;       /* 0 = none is running */
  bool group;      /* has a process group of its own */
  int out, err;    /* pipes; -1 = closed */
  int status;      /* exit status as reported by waitpid(), valid after the end */
  char last[200];  /* last line of its errors, printable ASCII */
  size_t n_last;
  char *log;       /* if set by the caller, receives up to most_log bytes of error output */
  size_t n_log, most_log;
  bool line_ended; /* the next character begins a line */
};

/* Starts the program argv[0], found in PATH. Returns false, with errno, if it cannot be started. */
bool helper_start(struct helper *h, const char *const *argv, bool group);

/* Returns up to n bytes of the output; 0 at its end; -1 if a signal interrupted the program or the pipe failed. */
ptrdiff_t helper_read(struct helper *h, void *p, size_t n);

/* Reads the error output that has arrived, without waiting for more. */
void helper_hear(struct helper *h);

/* Waits for a helper whose output has ended. Returns false with the reason in `why` if it failed. */
bool helper_end(struct helper *h, char *why, size_t size);

/* Ends a helper that is still running, and frees its pipes. */
void helper_stop(struct helper *h);

/* Sets the code and the message of err. Returns false. */
bool helper_fail(struct tk_err *err, enum tk_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
