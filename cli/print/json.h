/* json.h - JSON output for --json. Handles commas, indentation and escapes, so that no command prints JSON by hand. */
#ifndef CLI_PRINT_JSON_H
#define CLI_PRINT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
  FILE *to;
  unsigned depth;
  bool more; /* a value was written before at this depth */
  bool flat; /* everything on one line */
};

/* Begins an object or array; `bracket` is '{' or '['. key: NULL inside an array and for the outermost value, also in the
 * functions below. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket); /* at depth 0 also ends the line */
void json_uint(struct json *j, const char *key, uint64_t n);
void json_int(struct json *j, const char *key, int64_t n);
void json_bool(struct json *j, const char *key, bool b);
/* Writes `text` unchanged; it must be valid JSON. */
void json_raw(struct json *j, const char *key, const char *text);
void json_null(struct json *j, const char *key);
/* Writes a string; bytes that are not UTF-8 become U+FFFD. */
void json_text(struct json *j, const char *key, const char *text, size_t n);
void json_string(struct json *j, const char *key, const char *text);
/* Writes n thousandths as a decimal: 1234 becomes 1.234. */
void json_milli(struct json *j, const char *key, uint64_t n);

#endif
