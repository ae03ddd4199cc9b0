#include "num.h"

#include <string.h>

static bool digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

/* Digits of the mantissa at p, without the decimal point. `n`: number of significant digits; more than 19 overflow. */
struct digits {
  uint64_t v;
  int n;
  int fraction;
  bool overflow;
};

static const uint8_t *take_digits(const uint8_t *p, struct digits *d) {
  for (unsigned c; (c = *p - (unsigned)'0') < 10; p++) {
    if (d->v > (UINT64_MAX - c) / 10) d->overflow = true;
    else d->v = d->v * 10 + c;
    d->n++;
  }
  return p;
}

/* Parses an optional exponent ("e-12") at p. Values beyond +-9999 become +-9999. */
static const uint8_t *take_exponent(const uint8_t *p, int *exp) {
  const uint8_t *q = p + 1;
  bool neg;
  int v = 0;
  *exp = 0;
  if ((*p | 32) != 'e') return p;
  neg = *q == '-';
  if (*q == '-' || *q == '+') q++;
  if (!digit(*q)) return p;
  for (; digit(*q); q++)
    if (v < 9999) v = v * 10 + (*q - '0');
  *exp = neg ? -v : v;
  return q;
}

struct num num_scan(const uint8_t *p, const uint8_t **end) {
  const struct num none = {NUM_NONE, 0, 0};
  struct num out = {NUM_INT, 0, 0};
  struct digits d = {0, 0, 0, false};
  bool neg = *p == '-';
  const uint8_t *q = p + neg, *start = q;
  int exp;
  *end = p;
  if (!digit(*q)) return none;
  q = *q == '0' ? q + 1 : take_digits(q, &d);
  if (*q == '.' && digit(q[1])) {
    start = q + 1;
    q = take_digits(q + 1, &d);
    d.fraction = (int)(q - start);
    out.kind = NUM_DEC;
  }
  start = q;
  q = take_exponent(q, &exp);
  if (q != start) out.kind = NUM_DEC;
  *end = q;
  out.exp = exp - d.fraction;
  if (d.overflow || (neg && d.v == 0) || out.exp < -64 || out.exp > 63) out.kind = NUM_BIG;
  else if (d.v > (uint64_t)INT64_MAX + neg) out.kind = neg || out.kind == NUM_DEC ? NUM_BIG : NUM_UINT;
  out.mant = neg ? (int64_t)(0 - d.v) : (int64_t)d.v;
  return out;
}

static const i128 LIMIT = (i128)1 << 100;

/* Computes v x 10^exp; if exp < 0, rounds halves away from zero. */
static bool scale(i128 v, int exp, i128 *out) {
  bool neg = v < 0;
  i128 div = 1;
  if (neg) v = -v;
  for (; exp > 0 && v; exp--) {
    if (v > LIMIT / 10) return false;
    v *= 10;
  }
  for (; exp < 0 && div <= v * 2; exp++) {
    if (div > LIMIT / 10) {
      v = 0;
      break;
    }
    div *= 10;
  }
  v = exp < 0 ? 0 : (v + div / 2) / div;
  *out = neg ? -v : v;
  return true;
}

static const uint64_t POW10[] = {1u,
                                 10u,
                                 100u,
                                 1000u,
                                 10000u,
                                 100000u,
                                 1000000u,
                                 10000000u,
                                 100000000u,
                                 1000000000u,
                                 10000000000u,
                                 100000000000u,
                                 1000000000000u,
                                 10000000000000u,
                                 100000000000000u,
                                 1000000000000000u,
                                 10000000000000000u,
                                 100000000000000000u,
                                 1000000000000000000u};

/* Multiplies times by powers of ten with a single multiplication or 64-bit division; the loop in `scale` takes up to 200 ns. */
bool num_scale(int64_t mant, int exp, i128 *out) {
  uint64_t v = mant < 0 ? 0 - (uint64_t)mant : (uint64_t)mant, q;
  if (exp >= 0 && exp <= 12) {
    *out = (i128)mant * (i128)POW10[exp];
    return true;
  }
  if (exp >= 0 || exp < -18) return scale(mant, exp, out);
  q = (v + POW10[-exp] / 2) / POW10[-exp];
  *out = mant < 0 ? -(i128)q : (i128)q;
  return true;
}

bool num_scaled(const uint8_t *p, const uint8_t *end, int shift, i128 *out) {
  const uint8_t *q = p;
  i128 v = 0;
  int exp = 0, e;
  bool neg = p < end && *p == '-', point = false, any = false;
  if (p < end && (*p == '-' || *p == '+')) q++;
  for (; q < end && (digit(*q) || (*q == '.' && !point)); q++) {
    if (*q == '.') {
      point = true;
      continue;
    }
    any = true;
    if (v < LIMIT / 10) {
      v = v * 10 + (*q - '0');
      exp -= point;
    } else if (!point) {
      exp++;
    }
  }
  if (!any) return false;
  if (q < end) {
    char tail[16] = {0};
    size_t n = (size_t)(end - q);
    if (n >= sizeof tail) return false;
    memcpy(tail, q, n);
    if (take_exponent((const uint8_t *)tail, &e) != (const uint8_t *)tail + n) return false;
    exp += e;
  }
  return scale(neg ? -v : v, exp + shift, out);
}

/* Returns the eight digits of v < 10^8 as the bytes of a word, the first digit in the lowest byte. All halves are divided at
 * once, then all quarters, then all eighths. */
static inline uint64_t eight_digits(uint32_t v) {
  const uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007f; /* exact division by 100 for values below 10^4 */
  const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  const uint64_t tens = (twos * 103 >> 10) & 0xf000f000f000f; /* exact division by 10 for values below 100 */
  return tens | (twos - tens * 10) << 8;
}

static const uint64_t ZEROS = 0x3030303030303030; /* eight ASCII zeros */

/* Writes eight digits; the lowest byte comes first. */
static inline void put_eight(char *out, uint64_t digits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  digits = __builtin_bswap64(digits);
#endif
  memcpy(out, &digits, 8);
}

/* Writes digits without leading zeros. Always writes eight bytes, with NULs after the last digit. */
static inline size_t put_first(char *out, uint32_t v) {
  const uint64_t digits = eight_digits(v);
  const unsigned zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8; /* keeps at least the last digit */
  put_eight(out, (digits | ZEROS) >> 8 * zeros);
  return 8 - zeros;
}

enum { EIGHT = 100000000 };

/* Writes words of eight digits, because copying exactly the right number of digits costs more than converting them. Together
 * with the blocks of text in format/chrome/write/print.c, this makes writing JSON 14% faster. */
size_t num_put_u64(char *out, uint64_t v) {
  if (v < EIGHT) return put_first(out, (uint32_t)v);
  const uint64_t high = v / EIGHT;
  const size_t n = high < EIGHT ? put_first(out, (uint32_t)high) : num_put_u64(out, high);
  put_eight(out + n, eight_digits((uint32_t)(v % EIGHT)) | ZEROS);
  return n + 8;
}

size_t num_put_fraction(char *out, uint32_t millionths) {
  if (!millionths) return 0;
  const uint64_t digits = eight_digits(millionths * 100);
  const unsigned zeros = (unsigned)__builtin_clzll(digits) / 8;
  out[0] = '.';
  put_eight(out + 1, (digits | ZEROS) & UINT64_MAX >> 8 * zeros);
  return 9 - zeros;
}

size_t num_put_i64(char *out, int64_t v) {
  if (v >= 0) return num_put_u64(out, (uint64_t)v);
  *out = '-';
  return 1 + num_put_u64(out + 1, 0 - (uint64_t)v);
}

size_t num_put_decimal(char *out, int64_t mant, int exp) {
  char text[24];
  size_t sign = mant < 0, n = num_put_u64(text, mant < 0 ? 0 - (uint64_t)mant : (uint64_t)mant), at = 0;
  if (sign) out[at++] = '-';
  if (exp >= 0 || exp < -40) {
    memcpy(out + at, text, n);
    at += n;
    out[at++] = 'e';
    return at + num_put_i64(out + at, exp);
  }
  size_t frac = (size_t)-exp;
  if (n > frac) {
    memcpy(out + at, text, n - frac);
    at += n - frac;
    out[at++] = '.';
    memcpy(out + at, text + n - frac, frac);
    return at + frac;
  }
  out[at++] = '0';
  out[at++] = '.';
  memset(out + at, '0', frac - n);
  memcpy(out + at + frac - n, text, n);
  return at + frac;
}

/* Numbers beyond 64 bits are rare (times without a clock), so they are printed in two halves. */
size_t num_put_u128(char *out, i128 v) {
  const uint64_t cut = 1000000000000000000u;
  size_t n, m;
  if (v < (i128)cut) return num_put_u64(out, (uint64_t)v);
  n = num_put_u64(out, (uint64_t)(v / (i128)cut));
  char low[24];
  m = num_put_u64(low, (uint64_t)(v % (i128)cut));
  memset(out + n, '0', 18 - m);
  memcpy(out + n + 18 - m, low, m);
  return n + 18;
}

size_t num_put_us(char *out, i128 ps) {
  size_t n = 0;
  if (ps < 0) {
    out[n++] = '-';
    ps = -ps;
  }
  if (ps < (i128)INT64_MAX) {
    n += num_put_u64(out + n, (uint64_t)ps / 1000000u);
    return n + num_put_fraction(out + n, (uint32_t)((uint64_t)ps % 1000000u));
  }
  n += num_put_u128(out + n, ps / 1000000);
  return n + num_put_fraction(out + n, (uint32_t)(ps % 1000000));
}
