/* decimal.h - reads decimal numbers that people type, with a point in any locale (a preloaded object may have set one). */
#ifndef CLI_SHARED_DECIMAL_H
#define CLI_SHARED_DECIMAL_H

/* Reads digits with an optional sign, fraction and exponent, such as -12.5e3. Sets *end to the first character after the
 * number, or to `text` if it does not begin with a number. */
double decimal_read(const char *text, const char **end);
#endif
