/* decimal.h - decimal numbers that people type, in the notation of the C locale whatever locale a preloaded object has set. */
#ifndef CLI_SHARED_DECIMAL_H
#define CLI_SHARED_DECIMAL_H

/* Reads digits with an optional sign, fraction and exponent, such as -12.5e3. *end points behind them, at `text` if it does not
 * begin with a number. */
double decimal_read(const char *text, const char **end);
#endif
