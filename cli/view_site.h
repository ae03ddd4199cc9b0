/* view_site.h - what is at which address while a trace is viewed. */
#ifndef CLI_VIEW_SITE_H
#define CLI_VIEW_SITE_H

#include "view.h"
#include "view_server.h"
#include "view_ui.h"

enum { VIEW_TOKEN = 32 }; /* hexadecimal digits: 128 bits */

struct view_visit {
  const struct view_params *p;
  const struct view_made *made;
  const struct view_ui *ui;  /* NULL = no viewer is on this machine */
  char token[VIEW_TOKEN + 1];
  bool has_the_trace;        /* the viewer does, as the page says */
  bool was_open;             /* a page */
  uint64_t closed_ms;        /* since when no page is open; 0 = one is, or none was yet */
  char *report, *info;       /* made when they are asked for first */
  size_t report_size, info_size;
};

/* Draws the token.  False: the system gives no random bytes. */
bool view_visit_begin(struct view_visit *v);
void view_visit_end(struct view_visit *v);
/* The server's view of it. */
struct view_site view_visit_site(struct view_visit *v);

#endif
