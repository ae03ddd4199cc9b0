/* site.h - the addresses that are served while a trace is viewed, and their contents. */
#ifndef CLI_VIEW_SITE_H
#define CLI_VIEW_SITE_H

#include "view.h"
#include "server.h"
#include "ui.h"

enum { VIEW_TOKEN = 32 }; /* hexadecimal digits: 128 bits */

struct view_visit {
  const struct view_params *p;
  const struct view_made *made;
  const struct view_ui *ui;  /* NULL = no copy of the viewer on this machine */
  char token[VIEW_TOKEN + 1];
  bool has_the_trace;        /* the viewer has loaded the trace, according to the page */
  bool was_open;             /* a page has been open */
  uint64_t closed_ms;        /* time since which no page is open; 0 = a page is open, or none was yet */
  char *report, *info;       /* created at the first request; NULL before */
  size_t report_size, info_size;
};

/* Creates the token. Returns false if the system provides no random bytes. */
bool view_visit_begin(struct view_visit *v);
void view_visit_end(struct view_visit *v);
/* Returns the callbacks by which a server serves this visit. */
struct view_site view_visit_site(struct view_visit *v);

#endif
