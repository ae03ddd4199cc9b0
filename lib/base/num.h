/* num.h - parses and prints numbers exactly: only numbers that are doubles are converted to double.
 *
 * A JSON number is stored as mantissa and exponent if the mantissa fits into 64 bits, otherwise as text. Times are converted
 * from decimal microseconds to whole picoseconds in 128 bits, and printed as decimals. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "err.h"
#include "int128.h"

enum num_kind {
  NUM_NONE, /* not a number */
  NUM_INT,  /* the value is mant */
  NUM_UINT, /* the value is (uint64_t)mant, which exceeds INT64_MAX */
  NUM_DEC,  /* the value is mant x 10^exp, -64 <= exp <= 63 */
  NUM_BIG   /* valid, but only the text is exact: "-0", 30 digits, 1e400 */
};

struct num {
  enum num_kind kind;
  int32_t exp;
  int64_t mant;
};

/* Parses the longest JSON number at p (RFC 8259 grammar); *end points past it. The text must be followed by a byte that cannot
 * belong to a number, such as a NUL. */
struct num num_scan(const uint8_t *p, const uint8_t **end);

/* Parses a spelling at p that JSON does not allow but whose meaning is clear: 7,5 (if `comma`), 1,234,567 or 1.234,5, +5, .5, 5., 007
 * and 0x1f; *end points past it. Returns false for other text. The text must end as for num_scan. */
bool num_odd(const uint8_t *p, const uint8_t **end, bool comma, struct num *v);

/* Converts the number in text [p, end), scaled by 10^shift and rounded half away from zero. Returns false if it is not a number
 * or exceeds 100 bits. */
bool num_scaled(const uint8_t *p, const uint8_t *end, int shift, i128 *out);

/* Computes mant x 10^exp, rounded to nearest. Returns false if it exceeds 100 bits. */
bool num_scale(int64_t mant, int exp, i128 *out);

/* The printing functions return the number of bytes and add no NUL, but may overwrite the rest of the room with NULs. Room: 24
 * bytes; num_put_decimal: 96. */
size_t num_put_u64(char *out, uint64_t v);
size_t num_put_i64(char *out, int64_t v);
size_t num_put_decimal(char *out, int64_t mant, int exp);
/* Prints ps as decimal microseconds without trailing zeros: 1500000 -> "1.5". Room: 48. */
size_t num_put_us(char *out, i128 ps);
/* Prints millionths < 10^6 as a decimal point and digits without trailing zeros; nothing for 0. Room: 9. */
size_t num_put_fraction(char *out, uint32_t millionths);
/* Prints v, which must be in 0 <= v < 10^37. Room: 40. */
size_t num_put_u128(char *out, i128 v);

/* Returns the double nearest to a number's text, ties to even; infinity if it is too large, 0 if there is no digit. Ignores
 * text after the number. */
double num_double(const char *text, size_t n);
/* Returns the double nearest to mant x 10^exp. */
double num_nearest(int64_t mant, int exp);
/* Prints the shortest decimal that reads back as d, the nearest of several, in the notation of "%.15g". Non-finite values
 * become "nan" or "inf", which num_double does not accept. Room: 32. */
size_t num_put_double(char *out, double d);

/* Text of a number with a fixed number of decimals, as "%.1f" prints it in the C locale: num_fixed(0.25, 1).s is "0.2". The
 * string lives as long as the full expression. `decimals` is at most 9; from 1e35 on, the text is that of num_put_double. */
struct num_text {
  char s[56];
};
struct num_text num_fixed(double d, unsigned decimals);

/* Limits a number to 64 bits. */
static inline int64_t num_clamp(i128 v) { return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v; }

/* Add and subtract; a result beyond 64 bits becomes the smallest or largest number. */
static inline int64_t num_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? b < 0 ? INT64_MIN : INT64_MAX : sum;
}
static inline int64_t num_sub(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? b > 0 ? INT64_MIN : INT64_MAX : difference;
}

/* Rounds ps to the nearest nanosecond; halves round up. */
static inline int64_t num_ns(int64_t ps) { return ps / 1000 + (ps % 1000 >= 500) - (ps % 1000 < -500); }

#endif
