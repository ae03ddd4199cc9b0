/* view.h - tracekit view: what its files share.
 *
 *     view.c          the command: options, and the order of things
 *     view_make.c     sources and selections -> the file that the viewer opens, in memory
 *     view_site.c     what is at which address: the page, the trace, the report, the viewer's own files
 *     view_page.c     the page itself: the files of cli/view/
 *     view_ui.c       a viewer's own files, out of a folder or a zip
 *     view_server.c   connections and their limits;  view_request.c  what a request says;  view_peer.c  whose
 *     view_open.c     a browser, or the address for one
 *     view_xprof.c    instead of all that: a run directory, and xprof or TensorBoard */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "select.h"

enum view_with { VIEW_PERFETTO, VIEW_XPROF, VIEW_REPORT, VIEW_SPEEDSCOPE };

struct view_params {
  struct selected selected; /* first, as its rows want it */
  struct opt_choice align;
  const char *reference, *offsets_from, *anchor, *label, *run, *ui;
  struct opt_list drop_args;
  struct opt_offsets offsets;
  int64_t clock_error;
  uint64_t to;
  int group_by, every_rank, with, port;
  bool link_collectives, keep_going, to_zero, drop_flows, hard, no_browser, keep;
};

/* What is shown. */
struct view_made {
  struct tk_bytes bytes;
  const struct tk_format_info *format;
  char name[160];       /* "merged.pftrace": only letters, digits, dots and the like */
  char title[160];      /* of the timeline */
  uint64_t events, events_before, bytes_before; /* before: of what was read; 0 = nothing was left out, or shrunk */
  char *left_out;       /* JSON: an array of sentences */
  char *rows;           /* JSON: an array of the names of processes, in the order of their rows */
};

/* Prints what is wrong, or what was left out.  False: *status. */
bool view_make(const struct view_params *p, const struct operands *in, struct view_made *made, int *status);
void view_made_free(struct view_made *made);

/* The options of a merge of what is viewed. */
struct tk_merge_options view_merge_options(const struct view_params *p, struct progress *progress);
/* Sources as the options choose them.  NULL: *status. */
struct tk_sources *view_sources(const struct view_params *p, const struct operands *in, int *status);

/* A page of the report of what was made, which free() takes.  NULL: it cannot be made. */
char *view_report(const struct view_params *p, const struct view_made *made, size_t *size);

/* Writes a temporary run directory and starts xprof or TensorBoard on it, until it or the user ends. */
int view_xprof(const struct view_params *p, const struct operands *in);

#endif
