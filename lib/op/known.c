/* known.c - see known.h. */
#include "known.h"

#include <string.h>

#include "base/text.h"
#include "graph/keys.h"

static const char *skip_digits(const char *p) {
  while (ascii_digit(*p)) p++;
  return p;
}

bool known_number(const char *p) {
  p += *p == '-' || *p == '+';
  if (p[0] == '0' && (p[1] | 32) == 'x') {
    size_t n = 0;
    for (p += 2; ascii_hex(p[n]); n++) continue;
    return n > 0 && n <= 16 && !p[n];
  }
  if (!ascii_digit(*p)) return false;
  p = skip_digits(p);
  if (*p == '.' && ascii_digit(p[1])) p = skip_digits(p + 1);
  if ((*p | 32) != 'e') return !*p;
  p += 1 + (p[1] == '-' || p[1] == '+');
  return ascii_digit(*p) && !*skip_digits(p);
}

/* True if `text` matches the pattern, in which "#" stands for a run of digits and "@" for a literal "#". */
static bool fits(const char *pattern, const char *text) {
  for (; *pattern; pattern++) {
    if (*pattern != '#' && *text != (*pattern == '@' ? '#' : *pattern)) return false;
    if (*pattern == '#' && !ascii_digit(*text)) return false;
    text++;
    if (*pattern == '#') text = skip_digits(text);
  }
  return !*text;
}

bool known_name(const char *text) {
  static const char *const NAMES[] = {
      "", "value", "python", "train", "train #", "ProfilerStep@#", "PyTorch Profiler (#)", "/host:CPU", "/device:GPU:#",
      "/device:TPU:#", "Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "_counters_", "stream #", "stream # #", "thread #", "GPU #",
      "CPU"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (fits(NAMES[i], text)) return true;
  return false;
}

static bool is_one_of(const char *word, size_t n, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == n && memcmp(*words, word, n) == 0) return true;
  return false;
}

static bool is_respelled(const char *p) {
  static const char *const MEMBERS[] = {"ts", "dur", "pid", "tid", NULL};
  for (size_t n; *p; p += n + (p[n] == ' ')) {
    n = strcspn(p, " ");
    const bool decimals = n > 2 && p[n - 2] == ':' && p[n - 1] >= '1' && p[n - 1] <= '9';
    if (!is_one_of(p, decimals ? n - 2 : n, MEMBERS)) return false;
  }
  return true;
}

bool known_field(tk_id key, const char *text) {
  static const char *const SCOPES[] = {"g", "p", "t", NULL};
  switch (key) {
    case KEY_PH: return text[0] && !text[1];
    case KEY_SCOPE_OF_INSTANT: return is_one_of(text, strlen(text), SCOPES);
    case KEY_BP: return strcmp(text, "e") == 0;
    case KEY_RESPELLED: return is_respelled(text);
    case KEY_ARGS: return strcmp(text, "{}") == 0;
    default: return false;
  }
}

bool known_numeric_field(const char *key) {
  static const char *const FIELDS[] = {"json.ts", "json.dur", "json.tts", "json.tdur", "json.use_async_tts", "json.flow_in",
                                       "json.flow_out", "xplane.num_occurrences", "xplane.offset_ps", "perfetto.correlation_id",
                                       "repaired.dur", "tracekit.clipped", "tracekit.count", "tracekit.total", "tracekit.lane_of",
                                       TK_DERIVED, NULL};
  return is_one_of(key, strlen(key), FIELDS);
}

bool known_meta(const char *key, const char *json, size_t n) {
  static const char *const UNITS[] = {"\"ms\"", "\"ns\"", NULL};
  char text[32];
  if (strcmp(key, "displayTimeUnit") == 0) return is_one_of(json, n, UNITS);
  if (strcmp(key, "schemaVersion") != 0 && strcmp(key, "baseTimeNanoseconds") != 0) return false;
  if (n >= sizeof text) return false;
  memcpy(text, json, n);
  text[n] = 0;
  return known_number(text);
}
