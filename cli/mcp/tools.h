/* tools.h - the tools of the server: commands with --json, whose options come from the commands' own rows. */
#ifndef CLI_MCP_TOOLS_H
#define CLI_MCP_TOOLS_H

#include "cut.h"
#include "options/opt.h"
#include "print/json.h"
#include "roots.h"

/* A command that the client may run. */
struct tool {
  const char *name;     /* shared by the tool and its command */
  const char *options;  /* names of the options that the client may set, separated by spaces; none of these options names a file */
  const char *paged;    /* key of the lists of rows that `offset` pages through; NULL = none */
  const char *rows;     /* option that limits the rows of the answer; NULL = none */
  const char *required; /* option that the client must set; NULL = none */
  const char *note;     /* added to the command's summary */
  size_t inputs;        /* number of paths; 0 = any */
  bool text;            /* the answer is text, because the command has no --json */
  bool shown;           /* not run: the answer is the command line, for the user to run */
};

/* Returns the i-th tool, or the tool with this name; NULL if there is none. */
const struct tool *tool_at(size_t i);
const struct tool *tool_find(const char *name);

/* Writes the members of tools/list for the tool. */
void tool_describe(const struct tool *t, const struct command *c, struct json *j);

enum { TOOL_WORDS = 128, TOOL_WHY = 512 };

/* A call of a tool: the words of its command line, which tool_free() frees, and the limits of its answer. */
struct tool_call {
  char *argv[TOOL_WORDS + 1];
  size_t n;
  struct cut cut;
  char why[TOOL_WHY]; /* why the arguments are refused */
};

/* Makes the command line from the arguments of a call. Returns false with call->why if they are invalid or not permitted. */
bool tool_words(const struct tool *t, const struct command *c, const struct roots *r, const struct value *arguments,
                struct tool_call *call);
void tool_free(struct tool_call *call);

#endif
