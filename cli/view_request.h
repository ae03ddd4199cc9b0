/* view_request.h - one HTTP request, as much of it as the server of one page has to know. */
#ifndef CLI_VIEW_REQUEST_H
#define CLI_VIEW_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* A browser sends the cookies of everything that ever ran on 127.0.0.1, so heads are larger than their content is worth. */
enum { VIEW_HEAD_MOST = 32 << 10 };

enum view_method { VIEW_GET, VIEW_HEAD, VIEW_POST, VIEW_OTHER };

/* A part of the bytes that were parsed, with no end of its own; NULL = the request has none. */
struct view_text {
  const char *p;
  size_t n;
};

struct view_request {
  enum view_method method;
  struct view_text path; /* begins with '/'; as it was sent: nothing is decoded, and a query is cut off */
  struct view_text host, origin, site, mode, dest; /* Host, Origin, Sec-Fetch-Site, Sec-Fetch-Mode, Sec-Fetch-Dest */
  int client; /* the connection that it came by, as the server says */
};

enum view_parsed {
  VIEW_PARTIAL, /* more bytes are needed */
  VIEW_WHOLE,
  VIEW_BAD,     /* it is no request that a browser would send: 400 */
  VIEW_TOO_LONG /* 431 */
};

/* Looks at the first n bytes that a client sent.  What stands in `r` points into them. */
enum view_parsed view_parse(const char *bytes, size_t n, struct view_request *r);

bool view_text_is(struct view_text text, const char *word);

/* May this request be answered at all?  Its Host must be this machine's loopback by a name that no DNS can give away, and no other site
 * may have sent it, unless somebody followed a link to the page itself (`page`). */
bool view_allowed(const struct view_request *r, bool page);

#endif
