/* tty.h - output for people: messages, numbers, styles, and strings of unknown origin on a terminal. */
#ifndef CLI_PRINT_TTY_H
#define CLI_PRINT_TTY_H

#include "tracekit.h"

#include <stdio.h>

/* Prints n bytes of a trace. Control characters, bidirectional controls and bytes that are not UTF-8 are escaped: \x1b,
 * \u202e. */
void tty_text(FILE *to, const char *text, size_t n);
/* Returns the length of the printable ASCII at the start of the text, which tty_text() prints unchanged. */
size_t tty_plain_length(const char *text, size_t n);
void tty_string(FILE *to, const char *text);
/* Writes texts as tty_string does, separated by commas. */
void tty_list(FILE *to, const char *const *texts, size_t n);

/* Formats 1234567 as "1,234,567". `text` has at least 32 bytes and is returned. */
const char *tty_count(uint64_t n, char *text);

/* Formats "1 event", "1,234 events". `text` has at least 64 bytes and is returned; the plural of `what` ends in s. */
const char *tty_counted(uint64_t n, const char *what, char *text);

/* Formats a number with `decimals` decimals, and with a point in any locale. `text` has at least 32 bytes and is returned. */
const char *tty_fraction(double value, int decimals, char *text);

/* Prints "tracekit: " and a message to stderr. */
void tty_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Like tty_say(), for incomplete output and for errors: on a terminal, "tracekit:" is yellow or red. */
void tty_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tty_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Styles of text, for emphasis only. tty_style() returns the escape sequence of a style; "" if `to` is not a terminal, or if
 * NO_COLOR is set. */
enum tty_style { TTY_PLAIN, TTY_BOLD, TTY_GOOD, TTY_DOUBT, TTY_BAD };
const char *tty_style(FILE *to, enum tty_style style);

/* True if the locale of the environment has the block characters of bars, that is, UTF-8. */
bool tty_has_blocks(void);

/* Returns true if standard output is a pipe that its reader has closed. */
bool tty_reader_is_gone(void);

/* Returns the width of the terminal `to`, in columns, or the value of COLUMNS if that is set; 0 = unlimited. */
size_t tty_width(FILE *to);
/* Returns the width for tables that people read rather than programs: 160 if `to` is not a terminal and COLUMNS is not set. */
size_t tty_page_width(FILE *to);

/* Opens a stream whose text is in memory; NULL when memory runs out. */
FILE *tty_open_text(char **text, size_t *n);
/* Closes the stream. Returns false, with *text freed and NULL, if memory ran out while the stream was open: streams of glibc drop text
 * without an error when they cannot grow, and errno is the only sign. A missing text is the only sign that closing it ran out of
 * memory. */
bool tty_close_text(FILE *to, char **text);

#endif
