/* view_server.h - a server for one person's browser on this machine: bounded, and of no use to anybody else. */
#ifndef CLI_VIEW_SERVER_H
#define CLI_VIEW_SERVER_H

#include "view_request.h"

#include <stdint.h>

/* What a request is answered with.  Texts and bytes must live until the server is closed, but for `owned`. */
struct view_reply {
  int status;
  const char *type;    /* of the body; NULL = a line of text that says the status */
  const char *policy;  /* Content-Security-Policy; NULL = nothing may be done with it */
  const char *name;    /* a file of this name is offered for download; NULL = it is not */
  const void *body;
  size_t size;
  void *owned;         /* freed when it has been sent */
  bool hold;           /* no body: the connection stays open for as long as the client wants it */
};

/* What the server is a server of. */
struct view_site {
  void (*answer)(void *arg, const struct view_request *r, struct view_reply *reply);
  /* Asked a few times a second, with the number of connections that are held: is it over? */
  bool (*is_over)(void *arg, unsigned held);
  void *arg;
};

struct view_server;

/* Listens on 127.0.0.1; port 0 = any that is free, which *port says then.  NULL with errno. */
struct view_server *view_server_open(uint16_t *port);
/* Answers until it is over, or until a signal comes (interrupt_signal). */
void view_serve(struct view_server *s, const struct view_site *site);
void view_server_close(struct view_server *s);

/* Milliseconds that only go forward. */
uint64_t view_now_ms(void);

#endif
