/* opt_time.c - the error message for an invalid duration; separate from opt.c for commands that parse durations themselves. */
#include "opt.h"

#include <stdio.h>
#include <string.h>

/* A number without a unit is ambiguous, so the message suggests units. */
void opt_time_bad(struct opt_error *error, const char *name, const char *value) {
  const bool is_number = *value && !value[strspn(value, "0123456789.+-")];
  const size_t n = sizeof error->why;
  if (is_number) snprintf(error->why, n, "--%s: missing unit of %.80s; use %.80ss, %.80sms or "
                                         "%.80sus", name, value, value, value, value);
  else snprintf(error->why, n, "--%s: invalid duration '%.200s'; expected a duration such as 1.5ms, 20us or 3s", name, value);
}
