/* run.c - see run.h.
 *
 * The file for the viewer is made in memory (make.c). A server that only this machine can reach (server.c) passes
 * the file to one browser and ends when the viewer has loaded it. Temporary files, child processes and sockets end with the
 * command; only the browser, which belongs to the user, stays. */
#include "run.h"
#include "xprof.h"
#include "make.h"

#include "shared/interrupt.h"
#include "print/tty.h"
#include "open.h"
#include "site.h"

#include <errno.h>
#include <string.h>

/* ---- the server ---- */

static void say_what(const struct shared *s, const struct view_made *made) {
  char size[32], count[64];
  tk_print_size(made->bytes.n, size);
  if (!s->quiet) tty_say("%s: %s, %s; stop with Ctrl-C", made->name, tty_counted(made->events, "event", count), size);
}

static void say_end(const struct view_visit *v) {
  if (v->p->selected.shared.quiet) return;
  tty_say(v->has_the_trace ? "the viewer has loaded the trace" : "the page was closed");
}

static int serve(struct view_visit *v) {
  uint16_t port = (uint16_t)v->p->port;
  char url[96];
  struct view_server *server = view_server_open(&port);
  if (!server) {
    if (v->p->port) tty_say("failed to listen on port %d of 127.0.0.1: %s", v->p->port, strerror(errno));
    else tty_say("failed to listen on any port of 127.0.0.1: %s", strerror(errno));
    return STATUS_OUTPUT;
  }
  const struct view_site site = view_visit_site(v);
  snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/", port, v->token);
  say_what(&v->p->selected.shared, v->made);
  view_open(url, port, v->p->no_browser);
  view_serve(server, &site);
  view_server_close(server);
  if (interrupt_signal()) return STATUS_SIGNALLED + interrupt_signal();
  say_end(v);
  return STATUS_DONE;
}

static int visit(const struct view_params *p, const struct view_made *made, const struct view_ui *ui) {
  struct view_visit v = { .p = p, .made = made, .ui = ui };
  if (!view_visit_begin(&v)) {
    tty_say("failed to get random bytes from the system: %s", strerror(errno));
    return STATUS_OUTPUT;
  }
  const int status = serve(&v);
  view_visit_end(&v);
  return status;
}

/* Opens a local copy of the viewer, if there is one. Returns false with a message if the copy given by --ui cannot be used. */
static bool find_ui(const struct view_params *p, struct view_ui **ui) {
  const char *why = NULL;
  *ui = p->ui ? view_ui_open(p->ui, &why) : p->with == VIEW_PERFETTO ? view_ui_find() : NULL;
  if (!p->ui || *ui) return true;
  tty_say("--ui: %s: %s", p->ui, why);
  return false;
}

int view_run(const struct view_params *p, const struct operands *in) {
  struct view_ui *ui;
  struct view_made made;
  int status = STATUS_INPUT;
  if (view_is_program(p->with)) return view_xprof(p, in);
  if (!find_ui(p, &ui)) return status;
  if (view_make(p, in, &made, &status)) status = visit(p, &made, ui);
  view_made_free(&made);
  view_ui_close(ui);
  return status;
}
