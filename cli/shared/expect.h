/* expect.h - assertions about a run: "gpu_busy > 80%", "p95(step) < 150ms", "count(cudaMalloc) == 0", "total(gemm*) > 1.1x".
 *
 *     WORD OP VALUE              a figure of report --json (figures.h); the key may omit its unit
 *     KEY FIGURE OP VALUE        a key figure of report --json, the worst value of all devices; _ may replace blanks
 *     FUNCTION(NAME) OP VALUE    a column of top --json over the events that match the glob NAME; the NAME step means training steps
 *
 * OP is one of < <= > >= == !=.  VALUE is a percentage (80%), a time (150ms), a number or a size (2GB). If two runs are
 * compared, VALUE may be a ratio (1.1x), and a percentage is the change from run to run unless the figure is itself a
 * percentage. */
#ifndef CLI_SHARED_EXPECT_H
#define CLI_SHARED_EXPECT_H

#include "figures.h"

enum expect_function {
  EXPECT_FIGURE, EXPECT_TOTAL, EXPECT_SELF, EXPECT_UNION, EXPECT_COUNT, EXPECT_MEAN, EXPECT_MIN, EXPECT_MAX, EXPECT_P50, EXPECT_P95,
  EXPECT_DEVIATION, EXPECT_OUTLIERS, EXPECT_OF_RANGE, EXPECT_OF_SUM
};
enum expect_unit { EXPECT_PLAIN, EXPECT_PERCENT, EXPECT_TIME, EXPECT_SIZE, EXPECT_RATIO };
enum expect_op { EXPECT_LT, EXPECT_LE, EXPECT_GT, EXPECT_GE, EXPECT_EQ, EXPECT_NE };

struct expect {
  const char *text;     /* the assertion as given */
  char *name;           /* glob for event names, or "step"; NULL for a figure */
  const struct tk_field *figure; /* for EXPECT_FIGURE; NULL = a key figure, or "total", which needs two runs */
  const char *key, *key_unit;    /* the key figure and its unit; NULL = none */
  enum expect_function function;
  enum expect_op op;
  enum expect_unit unit;
  double value;         /* times in picoseconds, percentages as written: 80 for 80% */
};

/* Parses an assertion. Returns false with a message if it is invalid. compares: the assertion compares two runs. */
bool expect_parse(struct expect *e, const char *command, const char *text, bool compares);
void expect_free(struct expect *e);

bool expect_is_step(const struct expect *e);
bool expect_holds(const struct expect *e, double value);
/* Returns the unit of the left side of an assertion, such as a time or a percentage. */
enum expect_unit expect_unit(const struct expect *e);
/* Formats a value of the left side of an assertion, such as "142.1 ms"; `text` has at least 64 bytes. */
const char *expect_print(const struct expect *e, double value, char *text);

/* Result of an assertion for one trace. */
enum expect_result { EXPECT_HELD, EXPECT_FAILED, EXPECT_UNKNOWN };
/* Evaluates the assertion for every rank of the report, or for the named events of the trace. `said` gets the deciding value,
 * or why the result is unknown. */
enum expect_result expect_ask(const struct expect *e, struct tk_trace *t, const struct tk_report *r, char *said, size_t n);

#endif
