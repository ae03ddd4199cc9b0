/* server.h - an HTTP server for the browser of one user on this machine: limited in resources, and inaccessible to
 * others. */
#ifndef CLI_VIEW_SERVER_H
#define CLI_VIEW_SERVER_H

#include "request.h"

#include <stdint.h>

/* The reply to a request. Its texts and bytes belong to the site and must exist until the server is closed, except for
 * `owned`. */
struct view_reply {
  int status;
  const char *type;    /* type of the body; NULL = a line of text with the status */
  const char *policy;  /* Content-Security-Policy; NULL = nothing is allowed */
  const char *name;    /* file name, if the body is a download; NULL = it is not */
  const void *body;
  size_t size;
  void *owned;         /* memory to free after sending */
  bool hold;           /* no body; the connection stays open until the client closes it */
};

/* The site that a server serves: callbacks and their arg. */
struct view_site {
  void (*answer)(void *arg, const struct view_request *r, struct view_reply *reply);
  /* Called a few times a second with the number of held connections (view_reply.hold); returns true to end the server. */
  bool (*is_over)(void *arg, unsigned held);
  void *arg;
};

struct view_server;

/* Listens on 127.0.0.1. Port 0 selects a free port and stores it in *port. Returns NULL on failure, with errno set. */
struct view_server *view_server_open(uint16_t *port);
/* Answers requests until site->is_over() or a signal (interrupt_signal). */
void view_serve(struct view_server *s, const struct view_site *site);
void view_server_close(struct view_server *s);

/* Returns the monotonic time in milliseconds. */
uint64_t view_now_ms(void);

#endif
