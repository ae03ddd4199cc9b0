/* text.c - parses and prints sizes, durations and absolute times. */
#include "num.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

struct unit {
  const char *name;
  uint64_t factor;
};

static const struct unit SIZES[] = {
    {"", 1},           {"B", 1},          {"K", 1ull << 10},  {"KiB", 1ull << 10}, {"M", 1ull << 20},  {"MiB", 1ull << 20},
    {"G", 1ull << 30}, {"GiB", 1ull << 30}, {"T", 1ull << 40}, {"TiB", 1ull << 40}, {"kB", 1000},       {"KB", 1000},
    {"MB", 1000000},   {"GB", 1000000000}, {"TB", 1000000000000}, {NULL, 0}};

static const struct unit TIMES[] = {{"ps", 1},
                                    {"ns", 1000},
                                    {"us", 1000000},
                                    {"\xc2\xb5s", 1000000},
                                    {"ms", 1000000000},
                                    {"s", 1000000000000},
                                    {"m", 60000000000000},
                                    {"min", 60000000000000},
                                    {"h", 3600000000000000},
                                    {"d", 86400000000000000},
                                    {NULL, 0}};

/* True if the word is the unit. any_case: ignores case. This is set for sizes, because "100mb" cannot mean millibits, but not
 * for times, where "m" and "M" could differ. */
static bool is_unit(const struct unit *u, const char *word, bool any_case) {
  const char *a = u->name, *b = word;
  for (; *a && *b && (*a == *b || (any_case && ascii_lower(*a) == ascii_lower(*b))); a++, b++) {}
  return !*a && !*b;
}

/* Computes the number of n characters x factor, rounded. The decimals of numbers above 10^18 do not count. */
static bool multiply(const char *text, size_t n, uint64_t factor, i128 *out) {
  static const i128 ONE = 1000000000000;
  const i128 most = ((i128)1 << 126) / (i128)factor;
  i128 v;
  const bool has_decimals = num_scaled((const uint8_t *)text, (const uint8_t *)text + n, 12, &v);
  if (!has_decimals && !num_scaled((const uint8_t *)text, (const uint8_t *)text + n, 0, &v)) return false;
  if (v > most || v < -most) return false;
  v *= (i128)factor;
  *out = has_decimals ? (v + (v < 0 ? -ONE : ONE) / 2) / ONE : v;
  return true;
}

/* Parses a number, an optional space and a unit. Rounds the result. */
static bool parse(const char *text, const struct unit *units, i128 *out) {
  const size_t n = strspn(text, "+-0123456789.");
  const char *unit = text + n + (text[n] == ' ');
  const bool any_case = units == SIZES;
  for (; n && units->name; units++)
    if (is_unit(units, unit, any_case)) return multiply(text, n, units->factor, out);
  return false;
}

bool tk_parse_size(const char *text, uint64_t *bytes) {
  i128 v;
  if (!parse(text, SIZES, &v) || v < 0 || v > (i128)UINT64_MAX) return false;
  *bytes = (uint64_t)v;
  return true;
}

bool tk_is_duration(const char *text) {
  size_t n = strspn(text, "+-0123456789.");
  const struct unit *u = TIMES;
  if (strpbrk(text, "0123456789") >= text + n || strcspn(text, "0123456789") > 1 + (size_t)(*text == '.')) return false;
  while (u->name && strcmp(u->name, text + n + (text[n] == ' ')) != 0) u++;
  return u->name != NULL;
}

bool tk_parse_range(const char *text, struct tk_range *range) {
  const uint8_t *p = (const uint8_t *)text;
  struct num n;
  *range = (struct tk_range){INT64_MIN, INT64_MAX};
  if (*p != '.') {
    n = num_scan(p, &p);
    if (n.kind != NUM_INT) return false;
    range->first = n.mant;
    if (!*p) {
      range->last = n.mant;
      return true;
    }
  }
  if (p[0] != '.' || p[1] != '.') return false;
  if (!p[2]) return *text != '.';
  n = num_scan(p + 2, &p);
  range->last = n.mant;
  return n.kind == NUM_INT && !*p && range->last >= range->first;
}

bool text_parse_duration(const char *text, i128 *ps) {
  if (strcmp(text, "0") != 0) return parse(text, TIMES, ps);
  *ps = 0;
  return true;
}

bool tk_parse_duration(const char *text, tk_time *ps) {
  i128 v;
  if (!text_parse_duration(text, &v) || v > INT64_MAX || v < INT64_MIN) return false;
  *ps = (tk_time)v;
  return true;
}

bool tk_parse_time(const char *text, struct tk_total *time) {
  static const i128 SECOND = 1000000000000;
  const uint8_t *p = (const uint8_t *)text;
  i128 ps;
  if (!num_scaled(p, p + strlen(text), 6, &ps) && !parse(text, TIMES, &ps)) return false;
  if (ps / SECOND > INT64_MAX || ps / SECOND < INT64_MIN) return false;
  *time = (struct tk_total){(int64_t)(ps / SECOND), (int64_t)(ps % SECOND)};
  return true;
}

bool tk_parse_scale(const char *text, int64_t *factor) {
  static const int64_t ONE = 1000000000000;
  const size_t n = strlen(text);
  const bool ppm = n > 3 && strcmp(text + n - 3, "ppm") == 0;
  const uint8_t *p = (const uint8_t *)text;
  i128 v;
  if (!num_scaled(p, p + n - (ppm ? 3 : 0), ppm ? 6 : 12, &v)) return false;
  if (ppm) v += ONE;
  if (v < ONE / 1000000 || v > (i128)ONE * 1000000) return false;
  *factor = (int64_t)v;
  return true;
}

bool tk_parse_offset(const char *text, size_t *who, int64_t *ns) {
  const char *equals = strrchr(text, '=');
  tk_time ps;
  if (!equals || equals == text || !tk_parse_duration(equals + 1, &ps)) return false;
  *who = (size_t)(equals - text);
  *ns = ps / 1000;
  return true;
}

void tk_print_duration(tk_time ps, char *text) {
  static const struct unit steps[] = {{"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}, {NULL, 0}};
  double v = ps < 0 ? -(double)ps : (double)ps;
  const struct unit *u = steps;
  while (u[1].name && v >= (double)u[1].factor) u++;
  snprintf(text, 32, "%s%.20s %s", ps < 0 ? "-" : "", num_fixed(v / (double)u->factor, u->factor == 1 ? 0 : 3).s, u->name);
}

void tk_print_ns(struct tk_total total, char *text) {
  const i128 sum = (i128)total.s * 1000000000000 + total.ps, ps = sum < 0 ? -sum : sum; /* weights of samples may be negative */
  const unsigned rest = (unsigned)(ps % 1000);
  if (sum < 0) *text++ = '-';
  size_t n = num_put_u128(text, ps / 1000);
  if (rest) n += (size_t)snprintf(text + n, 5, ".%03u", rest);
  while (rest && text[n - 1] == '0') n--;
  text[n] = 0;
}

void tk_print_number(double v, char *text) { text[num_put_double(text, v)] = 0; }

void tk_print_total(struct tk_total total, char *text) {
  const int64_t most = INT64_MAX / 1000000000000;
  if (total.s < most) tk_print_duration(total.s * 1000000000000 + total.ps, text);
  else snprintf(text, 48, "%lld s", (long long)total.s);
}

void tk_print_size(uint64_t bytes, char *text) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
  double v = (double)bytes;
  int u = 0;
  for (; v >= 1000 && u < 4; u++) v /= 1000;
  snprintf(text, 32, "%.20s %s", num_fixed(v, u ? 1 : 0).s, units[u]);
}

/* Converts days since 1970-01-01 to a date of the proleptic Gregorian calendar: divides the days into periods of 400, 100, 4
 * and 1 years, which start in March so that the leap day is the last day. */
static void civil(int64_t days, int64_t *year, int *month, int *day) {
  int64_t z = days + 719468;
  int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  int64_t doe = z - era * 146097;
  int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  int64_t mp = (5 * doy + 2) / 153;
  *day = (int)(doy - (153 * mp + 2) / 5 + 1);
  *month = (int)(mp < 10 ? mp + 3 : mp - 9);
  *year = yoe + era * 400 + (*month <= 2);
}

void tk_print_absolute(int64_t origin_ns, tk_time ts, char *text) {
  i128 ns = (i128)origin_ns + (ts >= 0 ? ts / 1000 : ts / 1000 - (ts % 1000 != 0));
  int64_t s = (int64_t)(ns / 1000000000), frac = (int64_t)(ns % 1000000000), year;
  int month, day, second;
  if (frac < 0) frac += 1000000000, s--;
  second = (int)(((s % 86400) + 86400) % 86400);
  civil((s - second) / 86400, &year, &month, &day);
  snprintf(text, 40, "%04lld-%02d-%02dT%02d:%02d:%02d.%09lldZ", (long long)year, month, day, second / 3600, second / 60 % 60,
           second % 60, (long long)frac);
}

static int64_t days_from(int64_t year, int month, int day) {
  int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
  int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

bool text_is_plain(const uint8_t *p, size_t n) {
  enum { PIECE = 256 };
  for (size_t from = 0; from < n; from += PIECE) {
    const size_t to = n - from < PIECE ? n : from + PIECE;
    unsigned other = 0;
    for (size_t i = from; i < to; i++) other |= (p[i] < ' ' || p[i] > '~') && p[i] != '\n' && p[i] != '\r' && p[i] != '\t';
    if (other) return false;
  }
  return true;
}

/* Parses the end of a time: nothing or Z for UTC, or an offset from it such as +05:30 or -0800. */
static bool parse_zone(const char *p, int64_t *seconds) {
  const int sign = *p == '-' ? -1 : 1;
  int hour, minute, n = 0;
  *seconds = 0;
  if (!*p || strcmp(p, "Z") == 0) return true;
  if (*p != '+' && *p != '-') return false;
  if (sscanf(++p, "%2d%*1[:]%2d%n", &hour, &minute, &n) != 2 && sscanf(p, "%2d%2d%n", &hour, &minute, &n) != 2) return false;
  if (p[n] || n < 4 || hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  *seconds = sign * (hour * 3600 + minute * 60);
  return true;
}

bool text_parse_absolute(const char *text, i128 *ps) {
  int year, month, day, hour, minute, second, n = 0;
  i128 fraction = 0;
  int64_t ahead;
  if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &n) != 6 || n == 0) return false;
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  if (second < 0 || second > 60) return false;
  const char *p = text + n;
  if (*p == '.') {
    size_t digits = strspn(p + 1, "0123456789");
    if (!digits || !num_scaled((const uint8_t *)p, (const uint8_t *)p + 1 + digits, 12, &fraction)) return false;
    p += 1 + digits;
  }
  if (!parse_zone(p, &ahead)) return false;
  int64_t s = days_from(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - ahead;
  *ps = (i128)s * 1000000000000 + fraction;
  return true;
}
