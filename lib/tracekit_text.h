/* tracekit_text.h - numbers as the command reads and prints them, for others that do so: a part of tracekit.h, which includes it.
 *
 * The library's own messages are written with the same functions, which is why they are here and not in the command: what it says of a
 * duration or a size, and what the command says, look the same. */
#ifndef TRACEKIT_TEXT_H
#define TRACEKIT_TEXT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* A sum of durations, which 64 bits of picoseconds may be too few for: s seconds and ps < 10^12 picoseconds. */
struct tk_total {
  int64_t s, ps;
};
/* Decimal nanoseconds, exact, without trailing zeros ("1500.25"), and as tk_print_duration has it, into at least 48 bytes. */
TK_API void tk_print_ns(struct tk_total total, char *text);
TK_API void tk_print_total(struct tk_total total, char *text);
/* The shortest decimal that reads back as this finite number, into at least 32 bytes. */
TK_API void tk_print_number(double v, char *text);

/* "64K", "2MiB", "1G" (powers of 1024; "2MB" is 10^6), in any case.  "1.5ms", "20us", "3s", "2h" to ps.  False if malformed or out of
 * range. */
TK_API bool tk_parse_size(const char *text, uint64_t *bytes);
TK_API bool tk_parse_duration(const char *text, tk_time *ps);
/* Does it look like one?  One that cannot be parsed all the same is out of range: beyond 106 days. */
TK_API bool tk_is_duration(const char *text);
/* A range in numbers.  Of ranks and steps, both ends belong to it; of times, in ps as tk_event.ts has them, the last one does not. */
struct tk_range {
  int64_t first, last;
};
/* "3", "3..5", "3.." or "..5", of ranks or steps; an open end is INT64_MIN or INT64_MAX.  False if it is none, or ends before it
 * begins. */
TK_API bool tk_parse_range(const char *text, struct tk_range *range);
/* An input of a merge whose clock is known. */
struct tk_offset {
  const char *who; /* its rank as a number, or its host */
  int64_t ns;      /* it is to be later by that */
};
/* "3=+1.5ms", "host42=-20us": the first *who bytes are a rank or host, whose clock is to be later by *ns.  False if malformed or beyond
 * 106 days. */
TK_API bool tk_parse_offset(const char *text, size_t *who, int64_t *ns);
/* Absolute time of a graph time, "2026-11-20T10:21:49.123456789Z", into at least 40 bytes. */
TK_API void tk_print_absolute(int64_t origin_ns, tk_time ts, char *text);
/* "12.3 ms" into at least 32 bytes; "1.9 GB". */
TK_API void tk_print_duration(tk_time ps, char *text);
TK_API void tk_print_size(uint64_t bytes, char *text);

/* The word of a NULL-terminated list that a mistyped one most likely meant, or NULL if none is near. */
TK_API const char *tk_nearest(const char *word, const char *const *valid);

#endif
