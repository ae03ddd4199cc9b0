/* stamp.c - see stamp.h. */
#include "stamp.h"

#include "base/text.h"

static int64_t days_of(int64_t y, int64_t m, int64_t d) {
  y -= m <= 2;
  int64_t era = y / 400, yoe = y % 400, doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int64_t time_of_parts(const int64_t *v) {
  return ((days_of(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4]) * 60 * INT64_C(1000000000) + v[5] * INT64_C(1000000000);
}

int64_t stamp_of_digits(const char *digits, size_t n) {
  static const size_t widths[] = {4, 2, 2, 2, 2, 2};
  int64_t v[6], unit = 100000000;
  if (n < 14 || n > 23) return 0;
  for (size_t i = 0, at = 0; i < 6; at += widths[i++]) {
    v[i] = 0;
    for (size_t k = 0; k < widths[i]; k++) v[i] = v[i] * 10 + (digits[at + k] - '0');
  }
  if (v[0] < 1970 || v[0] > 2200 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[3] > 23) return 0;
  int64_t ns = time_of_parts(v);
  for (size_t at = 14; at < n; at++, unit /= 10) ns += (digits[at] - '0') * unit;
  return ns;
}

int64_t stamp_of_name(const char *s) {
  int64_t v[6];
  for (int i = 0; i < 6; i++) {
    int width = i == 0 ? 4 : 2;
    v[i] = 0;
    for (int k = 0; k < width; k++, s++) {
      if (!ascii_digit(*s)) return 0;
      v[i] = v[i] * 10 + (*s - '0');
    }
    if (i < 5 && *s != '_' && *s != '-') return 0;
    s += i < 5;
  }
  return time_of_parts(v);
}

int64_t stamp_of_count(const char *digits, size_t n) {
  int64_t v = 0;
  if (n < 10 || n > 19 || (n - 10) % 3 != 0) return 0;
  for (size_t i = 0; i < n; i++) {
    if (v > (INT64_MAX - 9) / 10) return 0;
    v = v * 10 + (digits[i] - '0');
  }
  for (; n < 19; n += 3) v = v > INT64_MAX / 1000 ? 0 : v * 1000;
  return v;
}
