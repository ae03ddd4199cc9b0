/* decimal.c - copies a number, gives it the decimal point of the locale and leaves the rest to strtod(). */
#include "decimal.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_digits(const char *p) { return p + strspn(p, "0123456789"); }

static const char *skip_exponent(const char *p) {
  const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
  return skip_digits(digits) > digits ? skip_digits(digits) : p;
}

double decimal_read(const char *text, const char **end) {
  char number[80];
  const char *whole = text + (*text == '-'), *point = skip_digits(whole);
  const char *fraction = point + (*point == '.'), *stop = skip_digits(fraction);
  *end = text;
  if (point == whole && stop == fraction) return 0;
  if (*stop == 'e' || *stop == 'E') stop = skip_exponent(stop);
  const int n = snprintf(number, sizeof number, "%.*s%s%.*s", (int)(point - text), text,
                         fraction > point ? localeconv()->decimal_point : "", (int)(stop - fraction), fraction);
  if (n < 0 || n >= (int)sizeof number) return 0;
  *end = stop;
  return strtod(number, NULL);
}
