/* html.c - see html.h.
 *
 *     <html> ... <script id="viewer-data" type="application/json">  {"traceEvents": ...}  </script> ... </html>
 *                                                                   ^-------------------^ what the layer yields
 *
 * Viewers store the trace in a script element, as JSON or as base64 of gzip, after several MB of their own code. The page is
 * searched once. If it contains no trace, the page itself is the input, so that the error message describes a page. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "html.h"

#include <string.h>

#include "base/text.h"
#include "layer.h"
#include "in.h"

enum { NEAR = 512, LOOK = 64 << 10, MOST = 64 << 20, STEP = 1 << 20, TAG = 1024 };

/* A kind of script element that contains a trace. */
static const struct container {
  const char *mark; /* text in its tag; NULL = any element with `within` near the start of its content */
  const char *within;
} CONTAINERS[] = {
    /* viztracer src/viztracer/html/trace_viewer_embedder.html and catapult tracing/bin/trace2html: <script id="viewer-data"
     * ...> */
    {"viewer-data", NULL},
    /* catapult systrace/output_generator.py: <script class="trace-data" type="application/text">, one element for each agent */
    {"trace-data", NULL},
    /* pages of other tools: an object that a script assigns, or an element of type application/json */
    {NULL, "\"traceEvents\""}};

enum { N_CONTAINERS = sizeof CONTAINERS / sizeof *CONTAINERS };

/* ---- finding the trace ---- */

static bool is_page(const uint8_t *p, size_t n) {
  static const char *const starts[] = {"<!doctype html", "<html", "<head", "<script"};
  for (;;) {
    while (n && *p && strchr(" \t\r\n\xef\xbb\xbf", *p)) p++, n--;
    const uint8_t *end = n > 4 && memcmp(p, "<!--", 4) == 0 ? memmem(p, n, "-->", 3) : NULL;
    if (!end) break;
    n -= (size_t)(end + 3 - p);
    p = end + 3;
  }
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (n >= strlen(starts[i]) && ascii_equal((const char *)p, starts[i], strlen(starts[i]))) return true;
  return false;
}

static const uint8_t *find_tag(const uint8_t *p, const uint8_t *end, const char *tag) {
  const size_t m = strlen(tag);
  for (; (p = memchr(p, '<', (size_t)(end - p))) != NULL && (size_t)(end - p) >= m; p++)
    if (ascii_equal((const char *)p, tag, m)) return p;
  return NULL;
}

static bool is_base64(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* True if the content begins with the first bytes of gzip, in base64. */
static bool is_packed(const uint8_t *p, const uint8_t *end) { return end - p >= 5 && memcmp(p, "H4sI", 4) == 0 && is_base64(p[4]); }

/* Returns the start of the object or array that contains `at`; NULL if only code precedes it. */
static const uint8_t *value_around(const uint8_t *from, const uint8_t *at) {
  while (at > from && is_blank(at[-1])) at--;
  if (at == from) return NULL;
  if (at[-1] == '{') return at - 1;
  /* if other members precede the events, the object starts at the last "= {" or "({" before them, or at the start of the element */
  const uint8_t *first = from;
  while (first < at && is_blank(*first)) first++;
  if (*first == '{') return first;
  for (const uint8_t *p = at - 1; p > from; p--) {
    const uint8_t *q = p - 1;
    while (q > from && is_blank(*q)) q--;
    if (*p == '{' && (*q == '=' || *q == '(')) return p;
  }
  return NULL;
}

/* Returns the start of the trace in an element with the given content; NULL if there is none. */
static const uint8_t *content_in(const struct container *c, const uint8_t *from, const uint8_t *end) {
  const uint8_t *p = from, *near = end - from > LOOK ? from + LOOK : end;
  while (p < end && is_blank(*p)) p++;
  if (c->mark) return p < end && (*p == '{' || *p == '[' || is_packed(p, end)) ? p : NULL;
  const uint8_t *at = memmem(from, (size_t)(near - from), c->within, strlen(c->within));
  return at ? value_around(from, at) : NULL;
}

/* Returns the start of the trace in the script element whose tag is at p; NULL if there is none. Sets *content to the start of
 * the element's content. */
static const uint8_t *trace_in(const uint8_t *p, const uint8_t *end, const uint8_t **content) {
  const uint8_t *close = memchr(p, '>', (size_t)(end - p)), *found;
  if (!close || close - p > TAG) {
    *content = p + 1;
    return NULL;
  }
  *content = close + 1;
  for (size_t i = 0; i < N_CONTAINERS; i++) {
    const struct container *c = &CONTAINERS[i];
    if (c->mark && !memmem(p, (size_t)(close - p), c->mark, strlen(c->mark))) continue;
    if ((found = content_in(c, close + 1, end)) != NULL) return found;
  }
  return NULL;
}

/* Returns the first text element of a systrace page, which is the trace if no agent wrote JSON. */
static const uint8_t *text_in(const uint8_t *p, const uint8_t *end) {
  const uint8_t *tag = p, *close;
  while ((tag = find_tag(tag, end, "<script")) != NULL && (close = memchr(tag, '>', (size_t)(end - tag))) != NULL) {
    const bool marked = memmem(tag, (size_t)(close - tag), "trace-data", 10) != NULL;
    tag = close + 1;
    while (marked && tag < end && is_blank(*tag)) tag++;
    if (marked && tag < end && *tag != '<') return tag;
  }
  return NULL;
}

/* Searches the start of the page, in ever larger windows. Returns the offset of the trace; SIZE_MAX if there is none. */
static size_t find_trace(struct in *in, struct tk_err *err) {
  size_t n = 0, from = 0;
  for (size_t want = STEP; want <= MOST; want *= 2) {
    const uint8_t *p = in_ahead(in, want, &n, err), *end = p + n, *tag, *found, *content;
    if (!p) return SIZE_MAX;
    /* unless the input ends here, ignores elements that begin in the last LOOK bytes: too little of their content is visible */
    const uint8_t *last = n < want ? end : end - LOOK;
    for (tag = p + from; (tag = find_tag(tag, end, "<script")) != NULL && tag < last; tag = content)
      if ((found = trace_in(tag, end, &content)) != NULL) return (size_t)(found - p);
    if (n < want) return (found = text_in(p, end)) != NULL ? (size_t)(found - p) : SIZE_MAX;
    from = tag ? (size_t)(tag - p) : n - 8;
  }
  return SIZE_MAX;
}

/* ---- the layer ---- */

struct html {
  struct mem *mem;
  struct in *inner;
  bool base64, ended;
  char open; /* JSON: the first bracket of the trace, '{' or '['; 0 = text up to the end of the element */
  unsigned depth;
  bool quoted, escaped; /* JSON: the position is in a string; after a backslash */
};

/* Returns how many of the n bytes belong to the JSON value. */
static size_t value_part(struct html *h, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint8_t c = p[i];
    if (h->quoted) {
      if (h->escaped) h->escaped = false;
      else if (c == '\\') h->escaped = true;
      else h->quoted = c != '"';
    } else if (c == '"') h->quoted = true;
    else if (c == '{' || c == '[') h->depth++;
    else if ((c == '}' || c == ']') && --h->depth == 0) {
      h->ended = true;
      return i + 1;
    }
  }
  return n;
}

/* Returns how many of the n bytes belong to the element. Unless `last`, bytes that may begin the end tag are left for the next
 * call. */
static size_t element_part(struct html *h, const uint8_t *p, size_t n, bool last) {
  static const char end[] = "</script";
  const uint8_t *stop = find_tag(p, p + n, end);
  if (stop) {
    h->ended = true;
    return (size_t)(stop - p);
  }
  return last || n < sizeof end ? n : n - sizeof end;
}

static unsigned digit_of(uint8_t c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : 63;
}

/* Decodes groups of four digits into `out`, skipping line breaks. Needs room for three bytes, which the gzip layer above
 * provides. Returns the number of bytes decoded; *used: number of bytes consumed. */
static size_t decode(struct html *h, const uint8_t *p, size_t n, uint8_t *out, size_t room, size_t *used) {
  size_t made = 0, i = 0;
  *used = 0;
  while (made + 3 <= room) {
    unsigned value = 0, digits = 0;
    for (; i < n && digits < 4 && (is_base64(p[i]) || is_blank(p[i])); i++)
      if (is_base64(p[i])) value = value << 6 | digit_of(p[i]), digits++;
    const bool over = i < n && digits < 4;
    if (digits < 4 && !over) break;
    value <<= 6 * (4 - digits);
    for (unsigned k = 0; k + 1 < digits; k++) out[made++] = (uint8_t)(value >> (16 - 8 * k));
    *used = i;
    if (over) {
      h->ended = true;
      break;
    }
  }
  return made;
}

static ptrdiff_t html_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct html *h = self;
  size_t avail, used;
  const uint8_t *p = h->ended ? out : in_ahead(h->inner, LOOK, &avail, err);
  if (!p) return -1;
  if (h->ended || avail == 0) return 0;
  if (h->base64) {
    const bool was_last = avail < LOOK;
    const size_t made = decode(h, p, avail, out, n, &used);
    in_consume(h->inner, used);
    if (was_last && used == 0) h->ended = true;
    return (ptrdiff_t)made;
  }
  size_t part = avail < n ? avail : n;
  part = h->open ? value_part(h, p, part) : element_part(h, p, part, part == avail && avail < LOOK);
  memcpy(out, p, part);
  in_consume(h->inner, part);
  return (ptrdiff_t)part;
}

static void html_close(void *self) {
  struct html *h = self;
  in_close(h->inner);
  mem_free(h->mem, h);
}

struct in *html_open(struct in *inner, struct mem *mem, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(inner, NEAR, &n, err);
  if (p && !is_page(p, n < LOOK ? n : LOOK)) return inner;
  struct tk_err unused = {.offset = UINT64_MAX}; /* the reader reports a trace that cannot be read */
  const size_t at = p ? find_trace(inner, &unused) : SIZE_MAX;
  if (p && at == SIZE_MAX) return inner;
  struct html *h = p ? mem_alloc(mem, sizeof *h) : NULL;
  if (!h) {
    if (p) mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  in_consume(inner, at);
  p = in_ahead(inner, LOOK, &n, err);
  *h = (struct html){.mem = mem, .inner = inner, .base64 = p && is_packed(p, p + n)};
  if (p && n && (*p == '{' || *p == '[')) h->open = (char)*p;
  in_add_note(inner, false, UINT64_MAX, "HTML page: reading the trace in it");
  return in_layer((struct in_source){.read = html_read, .close = html_close, .self = h}, inner, mem, err);
}
