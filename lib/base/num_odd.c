/* num_odd.c - parses numbers that JSON forbids but producers print: with the separators of a locale, a leading plus, a base
 * prefix (0x), or no digit before or after the point. std::ostream and printf follow the locale of the process, and some
 * producers print ids with "%#x". */
#include "num.h"

#include <string.h>

enum { MOST = 63 };

/* The separators in the text of a number: the count of each kind, and the last one. */
struct separators {
  unsigned points, commas;
  char last;
};

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static const uint8_t *mantissa_end(const uint8_t *p, bool comma, struct separators *s) {
  for (; is_digit(*p) || *p == '.' || (comma && *p == ',' && is_digit(p[1])); p++) {
    if (is_digit(*p)) continue;
    if (*p == '.') s->points++;
    else s->commas++;
    s->last = (char)*p;
  }
  return p;
}

static const uint8_t *exponent_end(const uint8_t *p) {
  const uint8_t *q = p + 1;
  if ((*p | 32) != 'e') return p;
  q += *q == '+' || *q == '-';
  if (!is_digit(*q)) return p;
  while (is_digit(*q)) q++;
  return q;
}

/* Returns the decimal separator; 0 if all separators group digits; -1 if the text is not a number. A single comma is a decimal
 * comma: no known producer groups the digits of one number but not those of others. */
static int decimal_of(const struct separators *s) {
  const unsigned last = s->last == '.' ? s->points : s->commas;
  if (!s->last) return 0;
  if (last == 1) return s->last;
  return s->points && s->commas ? -1 : 0;
}

/* True if every separator other than the decimal one is followed by exactly three digits. */
static bool are_groups(const uint8_t *p, const uint8_t *end, int decimal) {
  for (; p < end; p++) {
    if (is_digit(*p) || *p == decimal) continue;
    if ((*p != '.' && *p != ',') || end - p < 4) return false;
    for (int i = 1; i <= 3; i++)
      if (!is_digit(p[i])) return false;
    if (end - p > 4 && is_digit(p[4])) return false;
  }
  return true;
}

static bool scan_hex(const uint8_t *p, const uint8_t **end, bool negative, struct num *v) {
  uint64_t value = 0;
  int n = 0;
  for (p += 2;; p++, n++) {
    const int digit = is_digit(*p) ? *p - '0' : (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value << 4 | (unsigned)digit;
  }
  if (n == 0 || n > 16 || (negative && value > INT64_MAX)) return false;
  *v = (struct num){.kind = value > INT64_MAX ? NUM_UINT : NUM_INT, .mant = negative ? -(int64_t)value : (int64_t)value};
  *end = p;
  return true;
}

bool num_odd(const uint8_t *p, const uint8_t **end, bool comma, struct num *v) {
  const uint8_t *const from = p, *stop;
  struct separators s = {0};
  char text[MOST + 3];
  size_t n = 0;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  if (*p == '0' && (p[1] | 32) == 'x') return scan_hex(p, end, negative, v);
  const uint8_t *const first = p, *const last = mantissa_end(p, comma, &s);
  const int decimal = decimal_of(&s);
  if (last == first || last - from > MOST - 8 || decimal < 0 || !are_groups(first, last, decimal)) return false;
  while (*p == '0' && is_digit(p[1])) p++; /* leading zeros, as in 007 */
  if (negative) text[n++] = '-';
  if (*p == decimal) text[n++] = '0';
  for (; p < last; p++)
    if (is_digit(*p) || *p == decimal) text[n++] = *p == decimal ? '.' : (char)*p;
  if (text[n - 1] == '.') text[n++] = '0';
  *end = exponent_end(last);
  if (*end - last > 8) return false;
  memcpy(text + n, last, (size_t)(*end - last));
  text[n + (size_t)(*end - last)] = 0;
  *v = num_scan((const uint8_t *)text, &stop);
  return v->kind != NUM_NONE && v->kind != NUM_BIG && !*stop;
}
