/* expect.h - what is expected of a run: "gpu_busy > 80%", "p95(step) < 150ms", "count(cudaMalloc) == 0", "total(gemm*) > 1.1x".
 *
 *     WORD OP VALUE          a figure of report --json (figures.h); without its unit, which the value says
 *     FUNCTION(NAME) OP VALUE    a column of top --json, of the events with this name, a glob; NAME step: of training steps
 *
 * OP is one of < <= > >= == !=.  VALUE is a percentage (80%), a time (150ms), a number, a size (2GB), or, where two runs are
 * compared, a ratio (1.1x); a percentage of what is no percentage is then a change. */
#ifndef CLI_EXPECT_H
#define CLI_EXPECT_H

#include "figures.h"

enum expect_function {
  EXPECT_FIGURE, EXPECT_TOTAL, EXPECT_SELF, EXPECT_UNION, EXPECT_COUNT, EXPECT_MEAN, EXPECT_MIN, EXPECT_MAX, EXPECT_P50, EXPECT_P95,
  EXPECT_DEVIATION, EXPECT_OUTLIERS, EXPECT_OF_RANGE, EXPECT_OF_SUM
};
enum expect_unit { EXPECT_PLAIN, EXPECT_PERCENT, EXPECT_TIME, EXPECT_SIZE, EXPECT_RATIO };
enum expect_op { EXPECT_LT, EXPECT_LE, EXPECT_GT, EXPECT_GE, EXPECT_EQ, EXPECT_NE };

struct expect {
  const char *text;     /* as it was given */
  char *name;           /* of events; "step" */
  const struct figure *figure; /* of FIGURE; NULL = "total", which is of two runs alone */
  enum expect_function function;
  enum expect_op op;
  enum expect_unit unit;
  double value;         /* times in picoseconds, percentages as they are written */
};

/* False, and it is said, if it cannot be understood.  `compares`: two runs are. */
bool expect_parse(struct expect *e, const char *command, const char *text, bool compares);
void expect_free(struct expect *e);

bool expect_is_step(const struct expect *e);
bool expect_holds(const struct expect *e, double value);
/* Is what it is about a time, a percentage, ...? */
enum expect_unit expect_unit(const struct expect *e);
/* A value of that, "142.1 ms", into at least 64 bytes. */
const char *expect_print(const struct expect *e, double value, char *text);

/* How it stands with one trace. */
enum expect_result { EXPECT_HELD, EXPECT_FAILED, EXPECT_UNKNOWN };
/* Of every rank of the report, or of the named events of the trace: the value that decided, or why it is not known. */
enum expect_result expect_ask(const struct expect *e, struct tk_trace *t, const struct tk_report *r, char *said, size_t n);

#endif
