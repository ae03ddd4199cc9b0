/* num_print.c - prints doubles without printf, which uses the decimal point of the process's locale.
 *
 * The shortest digits come from Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles"): multiply the double,
 * and the ends of the interval of numbers that read back as this double, by a power of ten; take the shortest decimal inside
 * the interval, and of several the nearest. The notation is that of "%.15g", or of "%.16g" or "%.17g" if there are more digits.
 * The result equals the first of those three that reads back, unless that one is longer than necessary: at some powers of two
 * (2^-44 is 5.684341886080802e-14, for which %.16g fails and %.17g prints one digit more) and for subnormals (5e-324).
 *
 * Printing a double takes 46 ns for random bits (printf and strtod: 1243), 29 ns for three decimals (243), 39 ns for a duration
 * (247), 35 ns for a quotient (554): tests/bench/numbers.c, 10 million of each, an EPYC. */
#include "num.h"
#include "num_pow10.h"

#include <string.h>

enum { LEAST_PRECISION = 15 };

/* A double as mant x 2^exp. */
struct binary {
  uint64_t mant;
  int exp;
  bool closer; /* the distance to the next smaller double is half the distance to the next larger one */
};

static struct binary split(double d) {
  uint64_t bits, fraction;
  memcpy(&bits, &d, sizeof bits);
  fraction = bits & (((uint64_t)1 << 52) - 1);
  int biased = (int)(bits >> 52 & 0x7ff);
  if (biased == 0) return (struct binary){fraction, -1074, false};
  return (struct binary){fraction | (uint64_t)1 << 52, biased - 1075, fraction == 0 && biased > 1};
}

struct shortest {
  uint64_t digits;
  int exp;
};

/* Returns v x power / 2^128. The lowest bit is set if the result was rounded down. */
static uint64_t product(struct num_pow10 power, uint64_t v) {
  u128 high = (u128)power.hi * v + (uint64_t)((u128)power.lo * v >> 64);
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* Returns the shortest decimal. The double and the ends of its interval are represented in quarters of 10^exp; the interval
 * includes its ends if the mantissa is even. */
static struct shortest shorten(struct binary b) {
  int exp = (b.exp * 1262611 - (b.closer ? 524031 : 0)) >> 22; /* such that the ends differ by 1 to 10 times 10^exp */
  int shift = b.exp + num_pow10_exp(-exp) + 1;
  struct num_pow10 power = num_pow10(-exp);
  if (++power.lo == 0) power.hi++; /* the method requires that the factor exceeds the power, even if the power is exact */
  uint64_t open = b.mant & 1, mid = product(power, 4 * b.mant << shift);
  uint64_t low = product(power, (4 * b.mant - 2 + b.closer) << shift) + open;
  uint64_t high = product(power, (4 * b.mant + 2) << shift) - open;
  uint64_t tens = mid / 40, ones = mid / 4;
  bool down = low <= 40 * tens, up = 40 * tens + 40 <= high;
  if (ones >= 10 && down != up) return (struct shortest){tens + up, exp + 1};
  down = low <= 4 * ones;
  up = 4 * ones + 4 <= high;
  if (down == up) up = mid > 4 * ones + 2 || (mid == 4 * ones + 2 && (ones & 1));
  return (struct shortest){ones + up, exp};
}

static void strip_zeros(struct shortest *s) {
  for (; s->digits % 10000 == 0; s->exp += 4) s->digits /= 10000;
  for (; s->digits % 10 == 0; s->exp++) s->digits /= 10;
}

static size_t put_exponent(char *out, int exp) {
  size_t n = 0;
  out[n++] = 'e';
  out[n++] = exp < 0 ? '-' : '+';
  if (exp < 0) exp = -exp;
  if (exp < 10) out[n++] = '0';
  return n + num_put_u64(out + n, (uint64_t)exp);
}

/* Prints n digits in the notation of %g; the first digit has the weight 10^exp. */
static size_t put_general(char *out, const char *digits, int n, int exp) {
  int whole = exp + 1, at = 0; /* number of digits before the point */
  bool scientific = exp < -4 || exp >= (n > LEAST_PRECISION ? n : LEAST_PRECISION);
  if (scientific) whole = 1;
  if (whole <= 0) {
    memcpy(out, "0.0000", 6);
    at = 2 - whole;
    memcpy(out + at, digits, (size_t)n);
    return (size_t)(at + n);
  }
  if (n <= whole) {
    memcpy(out, digits, (size_t)n);
    memset(out + n, '0', (size_t)(whole - n));
    at = whole;
  } else {
    memcpy(out, digits, (size_t)whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, (size_t)(n - whole));
    at = n + 1;
  }
  return (size_t)at + (scientific ? put_exponent(out + at, exp) : 0);
}

size_t num_put_double(char *out, double d) {
  char digits[24];
  uint64_t bits;
  size_t sign;
  memcpy(&bits, &d, sizeof bits);
  sign = bits >> 63;
  if (sign) *out = '-';
  out += sign;
  if (d - d != 0) {
    memcpy(out, d != d ? "nan" : "inf", 3);
    return sign + 3;
  }
  d = sign ? -d : d;
  if (d < 1e15 && d == (double)(uint64_t)d) return sign + num_put_u64(out, (uint64_t)d);
  struct shortest s = shorten(split(d));
  strip_zeros(&s);
  int n = (int)num_put_u64(digits, s.digits);
  return sign + put_general(out, digits, n, s.exp + n - 1);
}

/* ---- a fixed number of decimals ---- */

/* Returns v / 2^shift, rounded to the nearest integer, ties to even. */
static u128 shift_rounded(u128 v, int shift) {
  if (shift > 120) return 0; /* v has 84 bits at most */
  u128 q = v >> shift, rest = v - (q << shift), half = (u128)1 << (shift - 1);
  return q + (rest > half || (rest == half && (q & 1)));
}

struct num_text num_fixed(double d, unsigned decimals) {
  struct num_text text = {{0}};
  struct binary b = split(d);
  uint64_t unit = 1, bits;
  size_t n = 0;
  memcpy(&bits, &d, sizeof bits);
  if (!(d < 1e35 && d > -1e35)) {
    num_put_double(text.s, d);
    return text;
  }
  for (unsigned i = 0; i < decimals; i++) unit *= 10;
  u128 scaled = b.exp < 0 ? shift_rounded((u128)b.mant * unit, -b.exp) : 0;
  u128 whole = b.exp < 0 ? scaled / unit : (u128)b.mant << b.exp;
  if (bits >> 63) text.s[n++] = '-';
  n += num_put_u128(text.s + n, (i128)whole);
  if (decimals == 0) return text;
  /* prints the fraction with a leading one to keep its leading zeros; the point then replaces the one */
  num_put_u64(text.s + n, unit + (uint64_t)(scaled % unit));
  text.s[n] = '.';
  return text;
}
