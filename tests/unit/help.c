/* help.c - see help.h. */
#include "help.h"

#include <errno.h>
#include <ftw.h>

#include "format/format.h"
#include "format/json.h"
#include "load/load.h"

/* ---- reading ---- */

struct dripping {
  const uint8_t *p;
  size_t n, at;
  struct feed how;
};

static ptrdiff_t drip(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct dripping *d = self;
  if (d->how.fail_at && d->at + 1 >= d->how.fail_at) {
    err_sys(err, TK_EREAD, EIO, "cannot read at byte %zu", d->at);
    return -1;
  }
  if (d->how.chunk && n > d->how.chunk) n = d->how.chunk;
  if (n > d->n - d->at) n = d->n - d->at;
  if (d->how.fail_at && n > d->how.fail_at - 1 - d->at) n = d->how.fail_at - 1 - d->at;
  memcpy(p, d->p + d->at, n);
  d->at += n;
  return (ptrdiff_t)n;
}

struct tk_trace *feed_bytes(const void *p, size_t n, struct feed how, struct tk_err *err) {
  const struct tk_load_options opt = {
      .format = how.format ? how.format : "json", .no_templates = how.no_templates, .strict = how.strict, .check = true,
      .threads = how.threads ? how.threads : 1, .chunk = how.share};
  struct dripping d = {.p = p, .n = n, .how = how};
  struct tk_trace *t = trace_new(how.max_memory);
  struct in *in = NULL;
  err_clear(err);
  if (!t) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  if (how.chunk || how.fail_at) in = in_custom((struct in_source){.read = drip, .self = &d, .total = n}, &t->store->mem, err);
  else in = in_memory(p, n, &t->store->mem, err);
  return load_input(in, "test.json", NULL, &opt, t, err);
}

struct tk_trace *feed_text(const char *text) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(text, strlen(text), (struct feed){0}, &err);
  if (!t) fail_msg("%s: %.200s", err.msg, text);
  return t;
}

char *dump_of(const struct tk_trace *t) {
  char *dump = tk_dump(t), *copy;
  assert_non_null(dump);
  copy = strdup(dump);
  assert_non_null(copy);
  tk_free_text(dump);
  return copy;
}

char *dump_fed(const void *p, size_t n, struct feed how) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(p, n, how, &err);
  char *text;
  if (!t) {
    assert_true(err.code != TK_OK && err.msg[0]);
    assert_true(asprintf(&text, "error %d", (int)err.code) > 0);
    return text;
  }
  text = dump_of(t);
  tk_free(t);
  return text;
}

/* ---- writing ---- */

struct bytes written(const struct tk_trace *t, bool pretty) {
  const struct sink_options options = {.pretty = pretty};
  const struct out_options plain = {0};
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out out;
  struct bytes b;
  assert_true(out_memory(&out, &plain, &mem, &err));
  struct sink *s = format_chrome.writer(&out, &options);
  assert_non_null(s);
  if (!s->open(s, t, &err) || !s->write(s, t, &err) || !s->close(s, t, NULL, &err) || !out_commit(&out, &err))
    fail_msg("%s", err.msg);
  const uint8_t *p = out_memory_data(&out, &b.n);
  b.p = malloc(b.n + 1);
  assert_non_null(b.p);
  memcpy(b.p, p, b.n);
  b.p[b.n] = 0;
  s->free(s);
  out_close(&out);
  assert_int_equal(mem.used, 0);
  return b;
}

/* Token that strict_json() expects next. This checker is independent of the library's scanner, so that a bug of the scanner cannot hide
 * a bug of the writer. */
enum expected { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COMMA_OR_END, NOTHING };

static const uint8_t *string_end(const uint8_t *p) {
  for (p++; *p != '"'; p++) {
    if (*p < 0x20) return NULL;
    if (*p != '\\') continue;
    p++;
    if (!*p || !strchr("\"\\/bfnrtu", *p)) return NULL;
    if (*p != 'u') continue;
    for (int i = 1; i <= 4; i++)
      if (!p[i] || !strchr("0123456789abcdefABCDEF", p[i])) return NULL;
    if ((p[1] == 'd' || p[1] == 'D') && !(p[2] >= '0' && p[2] <= '7')) return NULL;
    p += 4;
  }
  return p + 1;
}

static const uint8_t *digits(const uint8_t *p) {
  if (*p < '0' || *p > '9') return NULL;
  while (*p >= '0' && *p <= '9') p++;
  return p;
}

static const uint8_t *scalar_end(const uint8_t *p) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < 3; i++)
    if (strncmp((const char *)p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
  if (*p == '"') return string_end(p);
  if (*p == '-') p++;
  p = *p == '0' ? p + 1 : digits(p);
  if (p && *p == '.') p = digits(p + 1);
  if (p && (*p | 32) == 'e') p = digits(p + 1 + (p[1] == '-' || p[1] == '+'));
  return p;
}

bool strict_json(const uint8_t *p, size_t n) {
  static uint8_t stack[1 << 16];
  const uint8_t *end = p + n;
  enum expected want = VALUE;
  size_t depth = 0;
  if (!utf8_valid(p, n)) return false;
  for (;;) {
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') p++;
    if (want == NOTHING) return p == end;
    bool closing = want == VALUE_OR_END || want == KEY_OR_END || want == COMMA_OR_END;
    if (closing && depth && *p == stack[depth - 1]) {
      p++;
      want = --depth ? COMMA_OR_END : NOTHING;
    } else if (want == COMMA_OR_END) {
      if (*p++ != ',') return false;
      want = stack[depth - 1] == '}' ? KEY : VALUE;
    } else if (want == KEY || want == KEY_OR_END) {
      if (*p != '"' || !(p = string_end(p))) return false;
      while (*p == ' ' || *p == '\n') p++;
      if (*p++ != ':') return false;
      want = VALUE;
    } else if (*p == '{' || *p == '[') {
      if (depth == sizeof stack) return false;
      stack[depth++] = *p == '{' ? '}' : ']';
      want = *p++ == '{' ? KEY_OR_END : VALUE_OR_END;
    } else {
      if (!(p = scalar_end(p))) return false;
      want = depth ? COMMA_OR_END : NOTHING;
    }
  }
}

/* ---- files ---- */

struct bytes read_whole(const char *path) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct in *in = in_open(path, 0, &mem, &err);
  struct bytes b = {NULL, 0};
  size_t avail;
  const uint8_t *p;
  for (size_t min = 1 << 20; in && (p = in_ahead(in, min, &avail, &err)); min *= 2) {
    if (avail >= min) continue;
    b.n = avail;
    b.p = malloc(avail + 1);
    assert_non_null(b.p);
    memcpy(b.p, p, avail);
    b.p[avail] = 0;
    break;
  }
  in_close(in);
  assert_int_equal(mem.used, 0);
  return b;
}

static struct {
  size_t most;
  void (*visit)(const char *path, struct bytes b);
  unsigned n;
} walk;

static int walked(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)ftw;
  struct bytes b;
  if (type != FTW_F || (size_t)st->st_size > walk.most || strstr(path, ".tsv") || strstr(path, ".md")) return 0;
  b = read_whole(path);
  if (b.p && b.n <= walk.most) {
    walk.n++;
    walk.visit(path, b);
  }
  free(b.p);
  return 0;
}

void each_fixture(const char *folder, size_t most, void (*visit)(const char *path, struct bytes b)) {
  const char *root = getenv("FIXTURES");
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", root ? root : "fixtures", folder);
  walk.most = most;
  walk.visit = visit;
  walk.n = 0;
  assert_int_equal(nftw(path, walked, 16, FTW_PHYS), 0);
  assert_true(walk.n > 0);
}

bool long_run(void) {
  const char *s = getenv("LONG");
  return s && *s && strcmp(s, "0") != 0;
}

void expect(bool ok, const char *where, const char *got, const char *wanted) {
  if (ok) return;
  size_t i = 0;
  while (got[i] && got[i] == wanted[i]) i++;
  while (i && got[i - 1] != '\n') i--;
  fail_msg("%s\n  got:      %.500s\n  expected: %.500s", where, got + i, wanted + i);
}
