/* num.h - exact numbers: nothing goes through a double that was not one.
 *
 * A JSON number is (mantissa, exponent) as long as 64 bits hold the mantissa; what does not fit stays text.  Times are read from
 * decimal microseconds to whole picoseconds in 128 bits and printed back as decimals. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "err.h"
#include "int128.h"

enum num_kind {
  NUM_NONE, /* not a number at all */
  NUM_INT,  /* mant */
  NUM_UINT, /* (uint64_t)mant, above INT64_MAX */
  NUM_DEC,  /* mant x 10^exp, -64 <= exp <= 63 */
  NUM_BIG   /* valid, but only its text is exact: "-0", 30 digits, 1e400 */
};

struct num {
  enum num_kind kind;
  int32_t exp;
  int64_t mant;
};

/* Reads the longest JSON number at p (RFC 8259 grammar); *end is behind it.  Reads no further than the first byte that cannot
 * belong to a number, so p must be followed by one (a NUL will do). */
struct num num_scan(const uint8_t *p, const uint8_t **end);

/* The number in text [p, end), scaled by 10^shift, rounded to nearest, half away from zero.  False if it is not a number or does
 * not fit 100 bits. */
bool num_scaled(const uint8_t *p, const uint8_t *end, int shift, i128 *out);

/* mant x 10^exp, rounded to nearest.  False if it does not fit 100 bits. */
bool num_scale(int64_t mant, int exp, i128 *out);

/* Printing: how many bytes, and no NUL; what else is written of the room is NUL.  Room: 24 bytes; num_put_decimal 96. */
size_t num_put_u64(char *out, uint64_t v);
size_t num_put_i64(char *out, int64_t v);
size_t num_put_decimal(char *out, int64_t mant, int exp);
/* ps as decimal microseconds, without trailing zeros: 1500000 -> "1.5".  Room: 48. */
size_t num_put_us(char *out, i128 ps);
/* millionths < 10^6, behind a point and without trailing zeros; nothing of 0.  Room: 9. */
size_t num_put_fraction(char *out, uint32_t millionths);
/* v >= 0 and below 10^37.  Room: 40. */
size_t num_put_u128(char *out, i128 v);

/* The double nearest to a number's text, halves to even; infinite if the number is too great, 0 if there is no digit.  Text behind
 * the number is passed over. */
double num_double(const char *text, size_t n);
/* The double nearest to mant x 10^exp. */
double num_nearest(int64_t mant, int exp);
/* The shortest decimal that reads back as d, of several the nearest, spelt as "%.15g" spells it.  What is not finite becomes "nan"
 * or "inf", which is no number to num_double.  Room: 32. */
size_t num_put_double(char *out, double d);

/* The text that "%.1f" gives in the C locale: num_fixed(0.25, 1).s is "0.2".  The string lives as long as the full expression.
 * `decimals` is at most 9; from 1e35 on the text is that of num_put_double. */
struct num_text {
  char s[56];
};
struct num_text num_fixed(double d, unsigned decimals);

/* "2026-11-20T10:37:52.123456789Z" (the fraction and the Z may be left out) as ps since the epoch. */
bool num_parse_absolute(const char *text, i128 *ps);

/* To the nearest nanosecond, halves up. */
static inline int64_t num_ns(int64_t ps) { return ps / 1000 + (ps % 1000 >= 500) - (ps % 1000 < -500); }

#endif
