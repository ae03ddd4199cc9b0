/* figures.h - what is known of a device of a rank, by name: the keys of report --json, and the words of check --assert and
 * diff --fail-if.  One row, every use. */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include "json.h"
#include "tracekit.h"

enum figure_unit { FIGURE_NS, FIGURE_PERCENT, FIGURE_COUNT, FIGURE_BYTES, FIGURE_RATE, FIGURE_NUMBER };

struct figure_value {
  double number; /* of NS: picoseconds */
  tk_time time;  /* of NS: the same, exact */
};

struct figure {
  const char *key;  /* "compute_ns" */
  enum figure_unit unit;
  bool (*get)(const struct tk_report_rank *r, struct figure_value *v); /* false: the trace does not tell */
  const char *what; /* for documentation */
};

extern const struct figure figures[]; /* ended by a NULL key */

/* The figure that a word means: its key, or the key without the unit behind it, of which `percent` says which one. */
const struct figure *figure_of(const char *word, size_t n, bool percent);
void figures_json(struct json *j, const struct tk_report_rank *r);

/* Decimal ns of a time, as --json has it. */
void figure_ns(struct json *j, const char *key, tk_time time);
void figure_total(struct json *j, const char *key, struct tk_total total);
void figure_number(struct json *j, const char *key, double v);

#endif
