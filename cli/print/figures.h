/* figures.h - figures of a rank's device, by name: the keys of report --json, and the words of check --assert and diff
 * --fail-if.  One row serves all these uses. */
#ifndef CLI_PRINT_FIGURES_H
#define CLI_PRINT_FIGURES_H

#include "json.h"
#include "tracekit.h"

enum figure_unit { FIGURE_NS, FIGURE_PERCENT, FIGURE_COUNT, FIGURE_BYTES, FIGURE_RATE, FIGURE_NUMBER };

struct figure_value {
  double number; /* FIGURE_NS: in picoseconds */
  tk_time time;  /* FIGURE_NS: the same value, exact */
};

struct figure {
  const char *key;  /* "compute_ns" */
  enum figure_unit unit;
  bool (*get)(const struct tk_report_rank *r, struct figure_value *v); /* false: unknown in this trace */
  const char *what; /* description for the documentation */
};

extern const struct figure figures[]; /* terminated by a NULL key */

/* Returns the figure whose key is `word`, with or without the key's unit; NULL if unknown.  percent: without a unit, prefer the
 * percentage to the time. */
const struct figure *figure_of(const char *word, size_t n, bool percent);
void figures_json(struct json *j, const struct tk_report_rank *r);

/* figure_ns() and figure_total() write a time as decimal nanoseconds; figure_number() writes a plain number. */
void figure_ns(struct json *j, const char *key, tk_time time);
void figure_total(struct json *j, const char *key, struct tk_total total);
void figure_number(struct json *j, const char *key, double v);

/* Formats the name of a row, "rank 3, GPU 3", as far as the rank and the device are known. */
void figure_report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n);

#endif
