/* mcp.c - tracekit mcp: answers an assistant's questions about traces, over the Model Context Protocol (mcp/session.c). */
#include "commands.h"
#include "mcp/session.h"
#include "shared/run.h"

struct params {
  struct shared shared;
  int64_t timeout;
};

enum { TIMEOUT_MS = 120000 };

/* The commands that are tools (mcp/tools.c). */
static const struct command *const served[] = {
  &command_list, &command_info, &command_report, &command_top,  &command_tree,
  &command_diff, &command_sql,  &command_check,  &command_view, NULL,
};

static const struct opt opts[] = {
  { OPT_TIME, 0, "timeout", "TIME", "end a call that takes longer than this (default: 2 minutes)",
    offsetof(struct params, timeout), 0, 0, 0 },
  ROW_MAX_MEMORY,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit mcp logdir < /dev/null", "answer questions about the traces in logdir" },
  { 0, 0 },
};

static int cmd_mcp(const void *params, const struct operands *in) {
  static const char *const here[] = { "." };
  const struct params *p = params;
  struct roots roots = { .n = 0 };
  int status = STATUS_INPUT;
  const struct session_options options = { &roots, served, p->timeout > 0 ? (uint64_t)(p->timeout / 1000000000) : TIMEOUT_MS,
                                           p->shared.max_memory };
  if (roots_open(&roots, in->n ? in->v : here, in->n ? in->n : 1)) status = session_serve(&options);
  roots_free(&roots);
  return status;
}

const struct command command_mcp = {
  .name = "mcp",
  .group = GROUP_INSPECT,
  .summary = "answer an assistant's questions about traces (Model Context Protocol)",
  .operands = "[FOLDER...]",
  .description =
    "Serves the Model Context Protocol on standard input and output. An assistant starts this server and calls its tools: "
    "list, info, report, top, tree, diff, sql and check run the commands of these names, and view returns the command line "
    "that opens a viewer. Answers are the JSON that the commands print.\n"
    "\n"
    "Only files in the given folders are read (default: the current folder). Links that lead out of them, and addresses, are "
    "refused. Nothing is written. The lists of an answer have at most 200 rows, and the answer at most 20,000 bytes; the "
    "client can change this with limit, offset and max_bytes, and anything left out is reported.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_mcp,
};
