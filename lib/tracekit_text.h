/* tracekit_text.h - parsing and printing numbers as the command does. Part of tracekit.h, which includes it.
 *
 * The library uses the same functions for its own messages, so that durations and sizes look alike everywhere. */
#ifndef TRACEKIT_TEXT_H
#define TRACEKIT_TEXT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* A sum of durations that may exceed 64 bits of picoseconds: s seconds and ps < 10^12 picoseconds. */
struct tk_total {
  int64_t s, ps;
};
/* tk_print_ns prints exact decimal nanoseconds without trailing zeros ("1500.25"); tk_print_total prints as tk_print_duration
 * does. `text` needs at least 48 bytes. */
TK_API void tk_print_ns(struct tk_total total, char *text);
TK_API void tk_print_total(struct tk_total total, char *text);
/* Prints the shortest decimal that reads back as this finite number. `text` needs at least 32 bytes. */
TK_API void tk_print_number(double v, char *text);

/* Parse "64K", "2MiB", "1G" (powers of 1024; "2MB" is 10^6), ignoring case, and "1.5ms", "20us", "3s", "2h" to ps. Return false
 * if malformed or out of range. */
TK_API bool tk_parse_size(const char *text, uint64_t *bytes);
TK_API bool tk_parse_duration(const char *text, tk_time *ps);
/* Returns true if the string looks like a duration. If tk_parse_duration refuses such a string, it is longer than 106 days. */
TK_API bool tk_is_duration(const char *text);
/* A numeric range. For ranks and steps it includes both ends; for times, in ps like tk_event.ts, it excludes the last one. */
struct tk_range {
  int64_t first, last;
};
/* Parses "3", "3..5", "3.." or "..5" for ranks or steps; an open end is INT64_MIN or INT64_MAX. Returns false if malformed or
 * empty. */
TK_API bool tk_parse_range(const char *text, struct tk_range *range);
/* Parses a range of times of a trace, such as "+2s..+5s", "-1s..", "10%..20%", "1500us..3ms" or "2026-11-20T10:37:52Z..", into the
 * range of tk_filter_options and tk_selection. +TIME is relative to the first event, -TIME to the end of the last one, N% is a part
 * of the time between these, a plain time is one that the file prints (microseconds unless it has a unit), and a date is UTC unless
 * it has an offset such as +05:30. An open end is INT64_MIN or INT64_MAX. t: may be NULL, which checks the text only and leaves the
 * range as it is. Returns false with err (TK_EUSAGE) if the text is malformed, ends before it starts, or is a date although the
 * clock of the trace is unknown. */
TK_API bool tk_parse_time_range(const struct tk_trace *t, const char *text, struct tk_range *range, struct tk_err *err);
/* Parses a time that is printed in a trace: microseconds, or a number with a unit. Returns false if malformed. */
TK_API bool tk_parse_time(const char *text, struct tk_total *time);
/* Parses "0.99998" or "-20ppm" to a factor times 10^12. Returns false if malformed, or if the factor is not between
 * 0.000001 and 1000000. */
TK_API bool tk_parse_scale(const char *text, int64_t *factor);
/* A given clock offset of an input of a merge. */
struct tk_offset {
  const char *who; /* rank number, or host */
  int64_t ns;      /* ns to add to the times of the input */
};
/* Parses "3=+1.5ms" or "host42=-20us": the first *who bytes are a rank or host, and *ns is added to its times. Returns false if
 * malformed or beyond 106 days. */
TK_API bool tk_parse_offset(const char *text, size_t *who, int64_t *ns);
/* Prints the absolute time of `ts` in a trace with this origin: "2026-11-20T10:21:49.123456789Z". `text` needs at least 40
 * bytes. */
TK_API void tk_print_absolute(int64_t origin_ns, tk_time ts, char *text);
/* Prints a rounded time with a unit, such as "12.3 ms". `text` needs at least 32 bytes. */
TK_API void tk_print_duration(tk_time ps, char *text);
/* Prints a rounded size with a unit, such as "1.9 GB". `text` needs at least 32 bytes. */
TK_API void tk_print_size(uint64_t bytes, char *text);

/* Returns the word of a NULL-terminated list nearest to a mistyped one, or NULL if none is near. */
TK_API const char *tk_nearest(const char *word, const char *const *valid);
/* Compares names in natural order: run2 precedes run10. */
TK_API int tk_natural_order(const char *a, const char *b);

#endif
