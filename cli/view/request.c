/* request.c - see request.h.
 *
 * Plain sockets and this parser replace a server library, because the page needs only GET, HEAD and an empty POST: no bodies, no
 * decoding, no keep-alive. A library has a hundred times the code, would have to be built for each wheel, and needs most of its
 * features disabled. The parser copies nothing and keeps no state: it is called again with all bytes received so far, at most
 * VIEW_HEAD_MOST. It accepts exactly what browsers and curl send and refuses everything else, because attackers exploit ambiguous
 * requests. */
#include "request.h"

#include <string.h>
#include <strings.h>

struct cursor {
  const char *p, *end;
};

static bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

bool view_text_is(struct view_text text, const char *word) {
  return text.p && text.n == strlen(word) && memcmp(text.p, word, text.n) == 0;
}

static bool is_header(struct view_text name, const char *word) {
  return name.n == strlen(word) && strncasecmp(name.p, word, name.n) == 0;
}

/* Stores the text before the next character `end`, and moves the cursor past `end`. Returns false if the text is empty or
 * contains a character that of_kind() refuses. */
static bool take(struct cursor *c, bool (*of_kind)(char), char end, struct view_text *text) {
  *text = (struct view_text){ c->p, 0 };
  while (c->p < c->end && *c->p != end && of_kind(*c->p)) c->p++;
  text->n = (size_t)(c->p - text->p);
  if (!text->n || c->p == c->end || *c->p != end) return false;
  c->p++;
  return true;
}

static bool take_newline(struct cursor *c) {
  if (c->end - c->p < 2 || c->p[0] != '\r' || c->p[1] != '\n') return false;
  c->p += 2;
  return true;
}

/* Parses the first line: GET /path?query HTTP/1.1 */
static bool take_request_line(struct cursor *c, struct view_request *r) {
  struct view_text method, target, version;
  if (!take(c, is_token, ' ', &method) || !take(c, is_visible, ' ', &target) || !take(c, is_visible, '\r', &version)) return false;
  c->p--;
  if (*target.p != '/' || !(view_text_is(version, "HTTP/1.1") || view_text_is(version, "HTTP/1.0"))) return false;
  const char *query = memchr(target.p, '?', target.n);
  r->path = (struct view_text){ target.p, query ? (size_t)(query - target.p) : target.n };
  r->method = view_text_is(method, "GET")    ? VIEW_GET
              : view_text_is(method, "HEAD") ? VIEW_HEAD
              : view_text_is(method, "POST") ? VIEW_POST
                                             : VIEW_OTHER;
  return take_newline(c);
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Takes the rest of the line, without spaces around it. Returns false if it contains control characters. */
static bool take_value(struct cursor *c, struct view_text *value) {
  while (c->p < c->end && is_blank(*c->p)) c->p++;
  value->p = c->p;
  while (c->p < c->end && ((unsigned char)*c->p >= 0x20 || *c->p == '\t') && *c->p != 0x7f) c->p++;
  value->n = (size_t)(c->p - value->p);
  while (value->n && is_blank(value->p[value->n - 1])) value->n--;
  return take_newline(c);
}

/* Stores the headers that the server evaluates. Returns false if one of them is repeated, or if the request has a body. */
static bool keep_header(struct view_text name, struct view_text value, struct view_request *r) {
  const struct {
    const char *name;
    struct view_text *to;
  } kept[] = { { "Host", &r->host }, { "Origin", &r->origin }, { "Sec-Fetch-Site", &r->site }, { "Sec-Fetch-Mode", &r->mode },
               { "Sec-Fetch-Dest", &r->dest } };
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    if (!is_header(name, kept[i].name)) continue;
    if (kept[i].to->p) return false;
    *kept[i].to = value;
  }
  if (is_header(name, "Transfer-Encoding")) return false;
  return !is_header(name, "Content-Length") || view_text_is(value, "0");
}

static bool take_header(struct cursor *c, struct view_request *r) {
  struct view_text name, value;
  return take(c, is_token, ':', &name) && take_value(c, &value) && keep_header(name, value, r);
}

/* Returns the end of the first empty line; NULL if there is none yet. */
static const char *end_of_head(const char *bytes, size_t n) {
  const char *end = memmem(bytes, n, "\r\n\r\n", 4);
  return end ? end + 4 : NULL;
}

enum view_parsed view_parse(const char *bytes, size_t n, struct view_request *r) {
  *r = (struct view_request){ .method = VIEW_OTHER };
  const char *end = end_of_head(bytes, n < VIEW_HEAD_MOST ? n : VIEW_HEAD_MOST);
  if (!end) return n < VIEW_HEAD_MOST ? VIEW_PARTIAL : VIEW_TOO_LONG;
  struct cursor c = { bytes, end };
  if (!take_request_line(&c, r)) return VIEW_BAD;
  while (c.end - c.p > 2)
    if (!take_header(&c, r)) return VIEW_BAD;
  return take_newline(&c) && r->host.p ? VIEW_WHOLE : VIEW_BAD;
}

/* ---- access ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* True for "127.0.0.1:41234" and other names of the loopback. Any port is accepted, because a tunnel may have another port. */
static bool is_loopback(struct view_text host) {
  static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i]);
    if (host.n < n || strncasecmp(host.p, names[i], n) != 0) continue;
    if (host.n == n) return true;
    if (host.p[n++] != ':') continue;
    while (n < host.n && is_digit(host.p[n])) n++;
    return n == host.n;
  }
  return false;
}

/* Returns true if the origin is "http://" and the host of the request. */
static bool is_own_origin(struct view_text origin, struct view_text host) {
  static const char scheme[] = "http://";
  const size_t n = sizeof scheme - 1;
  return origin.n == n + host.n && memcmp(origin.p, scheme, n) == 0 && strncasecmp(origin.p + n, host.p, host.n) == 0;
}

/* Returns true if, according to the header Sec-Fetch-Site, our own page or the user sent the request. All recent browsers send
 * this header, and no page of another site can suppress it. */
static bool is_own_site(const struct view_request *r) {
  return !r->site.p || view_text_is(r->site, "same-origin") || view_text_is(r->site, "none");
}

static bool is_followed_link(const struct view_request *r) {
  return r->method == VIEW_GET && view_text_is(r->mode, "navigate") && view_text_is(r->dest, "document");
}

bool view_allowed(const struct view_request *r, bool page) {
  if (!is_loopback(r->host)) return false;
  if (r->origin.p && !is_own_origin(r->origin, r->host)) return false;
  return is_own_site(r) || (page && is_followed_link(r));
}
