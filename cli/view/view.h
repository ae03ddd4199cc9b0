/* view.h - declarations shared by the files of tracekit view.
 *
 *     view.c          the command and its options
 *     run.c           the order of steps
 *     make.c          sources and selections -> the file that the viewer opens, in memory
 *     opening.c       the time range that the viewer shows first, and its row of steps
 *     site.c          contents by address: the page, the trace, the report, the viewer's own files
 *     page.c          the page itself: the files of cli/view/page/
 *     ui.c            a viewer's own files, from a folder or a zip
 *     server.c        connections and their limits;  request.c       parsed requests;  peer.c       user of a connection
 *     open.c          starts a browser, or prints the address for one
 *     xprof.c         replaces all of these: a run directory, and xprof or TensorBoard */
#ifndef CLI_VIEW_VIEW_H
#define CLI_VIEW_VIEW_H

#include "shared/merging.h"
#include "shared/select.h"

enum view_with { VIEW_PERFETTO, VIEW_XPROF, VIEW_TENSORBOARD, VIEW_REPORT, VIEW_SPEEDSCOPE };

/* True for viewers that are separate programs. */
static inline bool view_is_program(int with) { return with == VIEW_XPROF || with == VIEW_TENSORBOARD; }

struct view_params {
  struct selected selected; /* first, because the offsets in its rows require it */
  struct merging merging;
  const char *ui, *at;
  struct opt_list drop_args;
  uint64_t to;
  int with, port;
  bool drop_flows, hard, no_browser, keep;
};

/* The file that the viewer opens. */
struct view_made {
  struct tk_bytes bytes;
  const struct tk_format_info *format;
  char name[160];       /* file name, "merged.pftrace"; only letters, digits and . - _ + */
  char title[160];      /* title of the timeline */
  uint64_t events, events_before, bytes_before; /* events: in this file; events_before, bytes_before: in the input, 0 if
                                                 * nothing was left out or shrunk */
  char *left_out;       /* JSON array of sentences */
  char *rows;           /* JSON array of the names of processes, in the order of their rows */
  char *opening;        /* JSON object: what the viewer shows first (opening.h) */
};

#endif
