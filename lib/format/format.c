/* format.c - the table, and detection by verified structure. */
#include "format.h"

#include <string.h>

static const struct format *const FORMATS[] = {
    &format_chrome,
    &format_xplane,
    &format_perfetto,
};
enum { N_FORMATS = sizeof FORMATS / sizeof FORMATS[0] };

const struct tk_format_info *tk_format(size_t i) { return i < N_FORMATS ? &FORMATS[i]->info : NULL; }

const struct format *format_by_name(const char *name) {
  for (size_t i = 0; i < N_FORMATS; i++)
    if (strcmp(FORMATS[i]->info.name, name) == 0) return FORMATS[i];
  return NULL;
}

/* Is `ext` (n bytes) one of the comma-separated words of list? */
static bool listed(const char *list, const char *ext, size_t n) {
  for (const char *p = list; *p;) {
    size_t len = strcspn(p, ",");
    if (len == n && memcmp(p, ext, n) == 0) return true;
    p += len + (p[len] == ',');
  }
  return false;
}

const struct format *format_by_extension(const char *path) {
  static const char compressions[] = "gz,zst,bz2,xz";
  size_t end = strlen(path), dot;
  for (int round = 0; round < 2; round++) {
    for (dot = end; dot > 0 && path[dot - 1] != '.' && path[dot - 1] != '/'; dot--) {}
    if (dot == 0 || path[dot - 1] != '.') return NULL;
    if (!listed(compressions, path + dot, end - dot)) break;
    end = dot - 1;
  }
  for (size_t i = 0; i < N_FORMATS; i++)
    if (listed(FORMATS[i]->info.extensions, path + dot, end - dot)) return FORMATS[i];
  return NULL;
}

/* What unreadable content looks like, for the message. */
static const char *looks_like(const uint8_t *p, size_t n) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *what;
  } magics[] = {{"\xff\xfe\0\0", 4, "UTF-32 text; save it as UTF-8"},
                {"\0\0\xfe\xff", 4, "UTF-32 text; save it as UTF-8"},
                {"{\0\0\0", 4, "UTF-32 text; save it as UTF-8"},
                {"{\0", 2, "UTF-16 text; save it as UTF-8"},
                {"[\0", 2, "UTF-16 text; save it as UTF-8"},
                {"\0{", 2, "UTF-16 text; save it as UTF-8"},
                {"\0[", 2, "UTF-16 text; save it as UTF-8"},
                {"<?xml", 5, "an XML document (an error page?)"},
                {"<", 1, "HTML or XML (an error page?)"},
                {"PK\3\4", 4, "a zip archive"},
                {"\x28\xb5\x2f\xfd", 4, "zstd-compressed data"},
                {"\xfd" "7zXZ", 5, "xz-compressed data"},
                {"BZh", 3, "bzip2-compressed data"}};
  size_t blank = 0;
  for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
    if (n >= magics[i].n && memcmp(p, magics[i].bytes, magics[i].n) == 0) return magics[i].what;
  while (blank < n && strchr(" \t\r\n", p[blank])) blank++;
  return blank == n ? "nothing but blanks" : NULL;
}

/* Text before the JSON is a common accident: say where the JSON begins. */
static bool unknown(const uint8_t *p, size_t n, struct tk_err *err) {
  const char *what = looks_like(p, n);
  if (n == 0) return err_set(err, TK_EFORMAT, "empty file");
  if (what) return err_set(err, TK_EFORMAT, "not a trace: %s", what);
  for (size_t i = 0; i < n && (p[i] >= 0x20 || strchr("\t\r\n", p[i])); i++)
    if (p[i] == '{' || p[i] == '[')
      return err_at(err, TK_EFORMAT, i, "not a trace: text before the JSON, which seems to begin at byte %zu", i);
  return err_set(err, TK_EFORMAT, "not a trace of any format that we know (see tracekit convert -f help)");
}

const struct format *format_detect(struct in *in, const char *path, struct tk_err *err) {
  const struct format *best = NULL, *by_name = format_by_extension(path);
  unsigned best_bid = 0, bid;
  size_t n;
  const uint8_t *p = in_ahead(in, FORMAT_PEEK, &n, err);
  if (!p) return NULL;
  for (size_t i = 0; i < N_FORMATS; i++) {
    if (!FORMATS[i]->info.can_read) continue;
    bid = FORMATS[i]->bid(p, n);
    if (bid > best_bid || (bid && bid == best_bid && FORMATS[i] == by_name)) {
      best = FORMATS[i];
      best_bid = bid;
    }
  }
  if (!best) unknown(p, n, err);
  return best;
}
