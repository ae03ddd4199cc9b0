/* stamp.h - parses times in the names of files and folders. Their time zone is unknown, so they only show an order. All results
 * are in ns; 0 = no time. */
#ifndef SOURCE_STAMP_H
#define SOURCE_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts the start of a name such as "2026_11_20_10_21_49", as in the folders of profilers. */
int64_t stamp_of_name(const char *name);

/* Converts the digits YYYYmmddHHMMSS, with or without a fraction. */
int64_t stamp_of_digits(const char *digits, size_t n);

/* Converts a number of seconds, ms, us or ns since 1970. The number of digits shows the unit: currently 10, 13, 16 and 19. */
int64_t stamp_of_count(const char *digits, size_t n);

#endif
