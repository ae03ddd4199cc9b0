/* address.c - see address.h. */
#include "address.h"

#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

/* Returns the length of the scheme; 0 if the name is not an address. */
static size_t scheme_of(const char *name) {
  const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");
  return n > 1 && strncmp(name + n, "://", 3) == 0 ? n : 0;
}

bool address_is(const char *name) { return scheme_of(name) > 0; }

static bool has_scheme(const char *address, const char *scheme) {
  const size_t n = strlen(scheme);
  return scheme_of(address) == n && memcmp(address, scheme, n) == 0;
}

static bool is_web(const char *address) { return has_scheme(address, "http") || has_scheme(address, "https"); }

size_t address_shown(const char *address) { return is_web(address) ? strcspn(address, "?#") : strlen(address); }

static bool ends_in(const char *text, size_t n, const char *ending) {
  const size_t m = strlen(ending);
  return n > m && memcmp(text + n - m, ending, m) == 0;
}

size_t address_archive(const char *address) {
  static const char *const endings[] = {".zip", ".7z", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2"};
  const char *rest = address + scheme_of(address) + strlen("://");
  for (const char *colon = strchr(rest + strcspn(rest, "/"), ':'); colon; colon = strchr(colon + 1, ':'))
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
      if (ends_in(address, (size_t)(colon - address), endings[i])) return (size_t)(colon - address);
  return strlen(address);
}

static bool has_control(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
  return false;
}

bool address_is_below(const char *path) {
  if (!*path || *path == '/' || has_control(path)) return false;
  for (const char *part = path; part; part = strchr(part, '/')) {
    part += *part == '/';
    const size_t n = strcspn(part, "/");
    if (n == 0 || (n <= 2 && strspn(part, ".") == n)) return false;
  }
  return true;
}

/* ---- files ---- */

static int hex(char c) {
  const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* Decodes %XX in place. Returns false if a percent sign is not followed by two digits. */
static bool decode(char *text) {
  char *to = text;
  for (; *text; text++) {
    const int high = *text == '%' ? hex(text[1]) : -1, low = high >= 0 ? hex(text[2]) : -1;
    if (*text == '%' && low < 0) return false;
    *to++ = low < 0 ? *text : (char)(high << 4 | low);
    if (low >= 0) text += 2;
    if (!to[-1]) return false;
  }
  *to = 0;
  return true;
}

/* Returns the path of "file:///path" or "file://localhost/path". */
static char *path_of_file(const char *address, struct tk_err *err) {
  static const char localhost[] = "localhost/";
  const char *rest = address + strlen("file://");
  if (strncmp(rest, localhost, sizeof localhost - 1) == 0) rest += sizeof localhost - 2;
  char *path = *rest == '/' ? strdup(rest) : NULL;
  if (*rest != '/') {
    err_set(err, TK_EOPEN, "cannot open: the address names another host; use file:///PATH for a file on this machine");
  } else if (!path) {
    err_set(err, TK_ELIMIT, "out of memory");
  } else if (!decode(path) || has_control(path)) {
    err_set(err, TK_EOPEN, "cannot open: invalid percent-encoding, or a control character");
    free(path);
    path = NULL;
  }
  return path;
}

/* ---- other addresses ---- */

/* Returns the command that downloads an address, for a message. */
static const char *download_of(const char *address) {
  static const struct {
    const char *scheme, *command;
  } ROWS[] = {{"gs", "gcloud storage cp -r"}, {"s3", "aws s3 cp --recursive"}, {"hdfs", "hdfs dfs -get"}, {"hf", "hf download"},
              {"ssh", "scp -r"}, {"abfs", "az storage blob download-batch"}, {"az", "az storage blob download-batch"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (has_scheme(address, ROWS[i].scheme)) return ROWS[i].command;
  return "curl -LO";
}

static bool reads(const struct tk_fetch *fetch, const char *address) {
  for (const char *const *s = fetch ? fetch->schemes : NULL; s && *s; s++)
    if (has_scheme(address, *s)) return true;
  return false;
}

/* Copies an error that a function of the caller has set. Its message may have any length, and its code may be missing. */
static void take_error(const struct tk_err *from, enum tk_code code, struct tk_err *err) {
  err_set(err, from->code == TK_OK ? code : from->code, "%.700s", *from->msg ? from->msg : "failed to read");
  err->sys = from->sys;
}

char *address_path(const struct tk_fetch *fetch, const char *address, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  if (has_control(address)) {
    err_set(err, TK_EOPEN, "cannot open: a control character in the address");
    return NULL;
  }
  if (has_scheme(address, "file")) return path_of_file(address, err);
  if (!reads(fetch, address)) {
    err_set(err, TK_EOPEN, "is a URL, not a file; download it first, for example with %s", download_of(address));
    return NULL;
  }
  char *path = fetch->local(fetch->arg, address, &why);
  if (!path && why.code != TK_OK) take_error(&why, TK_EOPEN, err);
  return path;
}

/* ---- streams ---- */

struct stream {
  const struct tk_fetch *fetch;
  void *opened;
  struct mem *mem;
};

static ptrdiff_t stream_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct stream *s = self;
  struct tk_err why = {.offset = UINT64_MAX};
  const ptrdiff_t got = s->fetch->read(s->opened, p, n, &why);
  if (got < 0) take_error(&why, TK_EREAD, err);
  return got;
}

static void stream_close(void *self) {
  struct stream *s = self;
  s->fetch->close(s->opened);
  mem_free(s->mem, s);
}

struct in *address_open(const struct tk_fetch *fetch, const char *address, struct mem *mem, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  struct stream *s = mem_alloc(mem, sizeof *s);
  if (!s) {
    mem_check(mem, err);
    return NULL;
  }
  *s = (struct stream){fetch, fetch->open(fetch->arg, address, &why), mem};
  if (s->opened) return in_custom((struct in_source){.read = stream_read, .close = stream_close, .self = s}, mem, err);
  take_error(&why, TK_EOPEN, err);
  mem_free(mem, s);
  return NULL;
}
