/* num_parse.c - finds the double nearest to a number's text, ties to even. strtod cannot be used, because it depends on the
 * locale's decimal point and on the rounding mode.
 *
 * The first 19 digits times a power of ten, truncated to 128 bits, bound the number from below and above. Nearly always both
 * bounds round to the same double. Otherwise all digits are compared, as integers, with the midpoint of two doubles.
 *
 * Reading a double takes 40 ns for random bits (strtod 143), 25 ns for three decimals (43), 33 ns for a duration (55):
 * tests/bench/numbers.c, 10 million of each, an EPYC. */
#include "num.h"
#include "num_pow10.h"

#include <string.h>

enum {
  HEAD_DIGITS = 19,
  MOST_DIGITS = 800, /* a midpoint of two doubles has at most 767 digits; later digits only matter if one is not zero */
  MOST_EXP = 308,    /* 10^309 is larger than any double */
  LEAST_EXP = -342   /* 19 digits times 10^-343 are less than half of the smallest double */
};

/* ---- text ---- */

struct decimal {
  const char *text, *end; /* digits and point of the mantissa, without sign */
  uint64_t head;          /* first digits of the mantissa, without leading zeros */
  int64_t exp;            /* the number is head x 10^exp plus the remaining digits */
  bool cut;               /* true if digits other than zeros follow the head */
};

static void scan_mantissa(struct decimal *d, const char *end) {
  const char *p = d->text;
  bool point = false;
  for (int n = 0; p < end; p++) {
    unsigned c = (unsigned)(uint8_t)*p - '0';
    if (*p == '.' && !point) {
      point = true;
    } else if (c > 9) {
      break;
    } else if (n < HEAD_DIGITS) {
      d->head = d->head * 10 + c;
      d->exp -= point;
      n += d->head != 0;
    } else {
      d->exp += !point;
      d->cut = d->cut || c != 0;
    }
  }
  d->end = p;
}

/* Parses the exponent. An exponent that no mantissa could compensate is limited. */
static void scan_exponent(struct decimal *d, const char *end) {
  const char *p = d->end;
  int64_t v = 0;
  bool neg;
  if (p == end || (*p | 32) != 'e') return;
  p++;
  neg = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  for (; p < end && (unsigned)(uint8_t)*p - '0' <= 9; p++)
    if (v < INT64_C(1000000000000000)) v = v * 10 + (*p - '0');
  d->exp += neg ? -v : v;
}

/* ---- all digits ---- */

enum { WORDS = 64 }; /* both sides of a comparison have less than 2,800 bits */

struct big {
  int n;
  uint64_t w[WORDS]; /* least significant word first */
};

static void big_multiply(struct big *b, uint64_t by, uint64_t add) {
  for (int i = 0; i < b->n; i++) {
    u128 v = (u128)b->w[i] * by + add;
    b->w[i] = (uint64_t)v;
    add = (uint64_t)(v >> 64);
  }
  if (add && b->n < WORDS) b->w[b->n++] = add;
}

static void big_power5(struct big *b, int64_t exp) {
  for (; exp >= 27; exp -= 27) big_multiply(b, UINT64_C(7450580596923828125), 0);
  for (; exp > 0; exp--) big_multiply(b, 5, 0);
}

static void big_shift(struct big *b, int64_t bits) {
  int words = (int)(bits / 64);
  big_multiply(b, (uint64_t)1 << bits % 64, 0);
  if (b->n + words > WORDS) words = WORDS - b->n;
  memmove(b->w + words, b->w, (size_t)b->n * sizeof *b->w);
  memset(b->w, 0, (size_t)words * sizeof *b->w);
  b->n += words;
}

static int big_compare(const struct big *a, const struct big *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (int i = a->n - 1; i >= 0; i--)
    if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
  return 0;
}

/* Converts the digits to an integer and returns its exponent. If a digit after the first MOST_DIGITS is not zero, a single 1
 * represents all of them. */
static int64_t big_digits(struct big *b, const struct decimal *d) {
  int64_t exp = d->exp;
  int n = 0;
  bool cut = false;
  b->n = 0;
  for (const char *p = d->text; p < d->end; p++) {
    if (*p == '.' || (n == 0 && *p == '0')) continue;
    if (n++ >= MOST_DIGITS) {
      cut = cut || *p != '0';
      continue;
    }
    big_multiply(b, 10, (uint64_t)(*p - '0'));
    if (n > HEAD_DIGITS) exp--;
  }
  if (cut) big_multiply(b, 10, 1), exp--;
  return exp;
}

/* True if the number is closer to (mant + 1) x 2^unit than to mant x 2^unit. */
static bool is_beyond_middle(const struct decimal *d, uint64_t mant, int unit) {
  struct big number, middle = {1, {2 * mant + 1}};
  int64_t exp = big_digits(&number, d), twos = exp - (unit - 1);
  big_power5(exp > 0 ? &number : &middle, exp > 0 ? exp : -exp);
  big_shift(twos > 0 ? &number : &middle, twos > 0 ? twos : -twos);
  int order = big_compare(&number, &middle);
  return order > 0 || (order == 0 && (mant & 1));
}

/* ---- rounding ---- */

/* Returns the bits of the nearest double. The number is at least `low` and less than low + `slack`, in units of 2^last. */
static uint64_t nearest(const struct decimal *d) {
  struct num_pow10 power = num_pow10((int)d->exp);
  int zeros = __builtin_clzll(d->head), last = num_pow10_exp((int)d->exp) - 63 - zeros;
  uint64_t head = d->head << zeros, mant = 0;
  u128 low = (u128)head * power.hi + (uint64_t)((u128)head * power.lo >> 64);
  u128 slack = 2 + (d->cut ? (u128)1 << (64 + zeros) : 0);
  int bits = 127 + (int)(low >> 127), first = last + bits - 1;
  int precision = first >= -1022 ? 53 : 1075 + first, drop = bits - precision;
  bool up = false;
  if (first > 1023) return (uint64_t)0x7ff << 52;
  if (precision < -1) return 0;
  if (precision > 0) {
    u128 half = (u128)1 << (drop - 1), rest = low & (2 * half - 1);
    mant = (uint64_t)(low >> drop);
    up = rest > half;
    if (!up && rest + slack < half) return mant + (precision == 53 ? (uint64_t)(first + 1022) << 52 : 0);
  }
  up = up || is_beyond_middle(d, mant, last + drop);
  return mant + up + (precision == 53 ? (uint64_t)(first + 1022) << 52 : 0);
}

static double rounded(const struct decimal *d, bool neg) {
  uint64_t bits = 0;
  double v;
  if (d->head && d->exp > MOST_EXP) bits = (uint64_t)0x7ff << 52;
  else if (d->head && d->exp >= LEAST_EXP) bits = nearest(d);
  bits |= (uint64_t)neg << 63;
  memcpy(&v, &bits, sizeof v);
  return v;
}

double num_double(const char *text, size_t n) {
  const char *end = text + n;
  bool neg = n > 0 && *text == '-';
  struct decimal d = {.text = text + (n > 0 && (*text == '-' || *text == '+'))};
  scan_mantissa(&d, end);
  scan_exponent(&d, end);
  return rounded(&d, neg);
}

double num_nearest(int64_t mant, int exp) {
  char digits[24];
  struct decimal d = {.text = digits, .head = mant < 0 ? 0 - (uint64_t)mant : (uint64_t)mant, .exp = exp};
  d.end = digits + num_put_u64(digits, d.head);
  return rounded(&d, mant < 0);
}
