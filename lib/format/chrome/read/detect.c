/* detect.c - inspects the start of a file: is it a trace, and of which rank? */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "detect.h"
#include "format/chrome/chrome.h"
#include "format/json.h"

enum { FAR = 1 << 20, NEAR = 64 << 10 };

static bool holds(const uint8_t *p, size_t n, const char *text) { return memmem(p, n, text, strlen(text)) != NULL; }

static bool is_empty_array(const char *p) {
  static const char blank[] = " \t\r\n";
  p += strspn(p, blank);
  if (*p != '[') return false;
  p++;
  p += strspn(p, blank);
  return *p == ']' || !*p;
}

/* True if a JSON file seems to be a trace rather than another file of the same folder, because it has events near its start or is an
 * empty array. An object of 1 MiB or more always counts, because other data may precede its events. */
bool chrome_is_trace(struct in *in) {
  size_t n;
  const uint8_t *p = in_ahead(in, NEAR, &n, NULL);
  if (!p) return true; /* the reader will report the error */
  if (is_empty_array((const char *)p)) return true;
  if (holds(p, n < NEAR ? n : NEAR, "\"traceEvents\"") || holds(p, n < NEAR ? n : NEAR, "\"ph\"")) return true;
  if (n < NEAR || p[strspn((const char *)p, " \t\r\n")] != '{') return false;
  p = in_ahead(in, FAR, &n, NULL);
  return !p || (n >= FAR || holds(p, n, "\"traceEvents\""));
}

/* Texts after which the rank is found near the start of a file, each with the key whose value is the rank. */
static const struct {
  const char *of, *key;
} RANKS[] = {
    {"\"distributedInfo\"", "\"rank\""}, /* Kineto's C++ exporter writes it before the events */
    {"\"global_rank\"", "\"value\""},    /* Composer, composer/profiler/json_trace_handler.py: a metadata event */
};

static int64_t number_after(const char *p, const char *end, const char *key) {
  long long number;
  const char *at = memmem(p, (size_t)(end - p), key, strlen(key));
  if (at) at += strlen(key);
  return at && sscanf(at, " : %lld", &number) == 1 && number >= 0 ? number : -1;
}

/* Text in the record of a process name in outputs of merge. Such a file has no single rank, although it contains the
 * distributedInfo of its first input. */
static const char MERGED[] = "\"process_name\",\"pid\":", RANK[] = "\"args\":{\"name\":\"rank ";

/* True if the name of the first process starts with "rank ", as in outputs of merge. */
static bool is_merged_start(const char *p, size_t n) {
  const char *at = memmem(p, n, MERGED, sizeof MERGED - 1), *end = p + n;
  if (!at) return false;
  const char *line = memchr(at, '\n', (size_t)(end - at));
  return memmem(at, (size_t)((line ? line : end) - at), RANK, sizeof RANK - 1) != NULL;
}

int64_t chrome_stated_rank(struct in *in) {
  size_t n;
  const uint8_t *p = in_ahead(in, NEAR, &n, NULL);
  if (p && is_merged_start((const char *)p, n)) return -1;
  for (size_t i = 0; p && i < sizeof RANKS / sizeof *RANKS; i++) {
    const char *at = memmem(p, n, RANKS[i].of, strlen(RANKS[i].of));
    if (at) return number_after(at, (const char *)p + n, RANKS[i].key);
  }
  return -1;
}

/* Returns the pid of the first event that has a number as its pid; -1 if there is none near the start. */
int64_t chrome_stated_process(struct in *in) {
  size_t n;
  const uint8_t *p = in_ahead(in, NEAR, &n, NULL);
  const char *at = p ? memmem(p, n, "\"pid\"", 5) : NULL;
  long long pid;
  return at && sscanf(at, "\"pid\" : %lld", &pid) == 1 && pid >= 0 ? pid : -1;
}

/* Returns the index after whitespace and comments. */
static size_t skip_comments(const uint8_t *p, size_t n, size_t i) {
  for (;;) {
    while (i < n && (json_is_space(p[i]) || p[i] == 0)) i++;
    const uint8_t *end = i < n ? json_comment_end(p + i, p + n, true) : NULL;
    if (!end) return i;
    i = (size_t)(end - p);
  }
}

/* True if the character after the first bracket indicates JSON rather than other text. */
static bool is_sure(uint8_t c) { return strchr("\"{}][,", c) != NULL; }

/* Returns a score. JSON starts with a bracket, and the next character determines the score. Other kinds of text also start with
 * comments, so after a comment the score is 0 unless is_sure accepts the character. */
unsigned chrome_bid(const uint8_t *p, size_t n) {
  const size_t from = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, i = skip_comments(p, n, from);
  const bool commented = i < n && memchr(p, '\n', i) && (memchr(p, '#', i) || memchr(p, '/', i));
  if (i == n || (p[i] != '{' && p[i] != '[')) return 0;
  for (size_t k = commented ? skip_comments(p, n, i + 1) : i + 1; k < n; k++) {
    if (json_is_space(p[k])) continue;
    if (p[k] == 0) return 0; /* UTF-16 or UTF-32 */
    if (p[k] < 0x20 || p[k] > 0x7e) return !commented; /* low, because binary data may also start with a line break and a bracket */
    return is_sure(p[k]) ? 24 : commented ? 0 : 8;
  }
  return commented ? 0 : 8;
}
