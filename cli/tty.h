/* tty.h - what is said to a person: messages, progress, and strings of unknown origin on a terminal. */
#ifndef CLI_TTY_H
#define CLI_TTY_H

#include "progress.h"
#include "tracekit.h"

#include <stdio.h>

/* Prints n bytes of a trace: control characters, bidirectional controls and bytes that are not UTF-8 as \x1b, \u202e. */
void tty_text(FILE *to, const char *text, size_t n);
/* Length of the printable ASCII that the text begins with; tty_text prints it as it is. */
size_t tty_plain_length(const char *text, size_t n);
void tty_string(FILE *to, const char *text);

/* 1234567 as "1,234,567", into at least 32 bytes; returns `text`. */
const char *tty_count(uint64_t n, char *text);

/* "1 event", "1,234 events", into at least 64 bytes; the plural of `what` ends with an s. */
const char *tty_counted(uint64_t n, const char *what, char *text);

/* A fraction with so many decimals and a point before them, whatever the locale, into at least 32 bytes; returns `text`. */
const char *tty_fraction(double value, int decimals, char *text);

/* "tracekit: " and a message, on stderr. */
void tty_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same of what the output lacks, and of what ends the work: terminals show "tracekit:" in yellow and in red. */
void tty_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tty_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Text is marked where `to` is a terminal and NO_COLOR is not set; no mark says what the words beside it do not say. */
enum tty_style { TTY_PLAIN, TTY_BOLD, TTY_GOOD, TTY_DOUBT, TTY_BAD };
const char *tty_style(FILE *to, enum tty_style style);

/* Has whoever read standard output through a pipe closed it? */
bool tty_reader_is_gone(void);

/* Columns of the terminal that `to` is, or that COLUMNS says; 0 = as many as it takes. */
size_t tty_width(FILE *to);

/* Closes a stream of open_memstream.  Returns false, with *text freed and NULL, if memory ran out: on glibc, a missing text is the
 * only sign that closing the stream ran out of memory. */
bool tty_close_text(FILE *to, char **text);

#endif
