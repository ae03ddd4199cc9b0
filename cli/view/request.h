/* request.h - parses an HTTP request; supports only what the server of the viewer page needs. */
#ifndef CLI_VIEW_REQUEST_H
#define CLI_VIEW_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum size of a request's head, in bytes. Heads are large because a browser sends the cookies of all servers that ever ran
 * on 127.0.0.1. */
enum { VIEW_HEAD_MOST = 32 << 10 };

enum view_method { VIEW_GET, VIEW_HEAD, VIEW_POST, VIEW_OTHER };

/* A part of a request: it points into the received bytes and is not terminated by NUL; p is NULL if the request has no such
 * part. */
struct view_text {
  const char *p;
  size_t n;
};

struct view_request {
  enum view_method method;
  struct view_text path; /* begins with '/'; not decoded, without the query */
  struct view_text host, origin, site, mode, dest; /* Host, Origin, Sec-Fetch-Site, Sec-Fetch-Mode, Sec-Fetch-Dest */
  int client; /* descriptor of the connection, set by the server */
};

enum view_parsed {
  VIEW_PARTIAL, /* the request is incomplete: more bytes are needed */
  VIEW_WHOLE,
  VIEW_BAD,     /* not a request that a browser would send: answered with status 400 */
  VIEW_TOO_LONG /* the head exceeds VIEW_HEAD_MOST: answered with status 431 */
};

/* Parses the first n bytes that a client sent. The texts in `r` point into these bytes. */
enum view_parsed view_parse(const char *bytes, size_t n, struct view_request *r);

bool view_text_is(struct view_text text, const char *word);

/* True if the request may be answered. Its Host must name the loopback of this machine in a way that no DNS server can assign,
 * and no other site may have sent the request. Other sites may link to the page itself: `page` is true if the request is for
 * it. */
bool view_allowed(const struct view_request *r, bool page);

#endif
