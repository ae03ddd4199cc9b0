/* session.h - serves one client on standard input and output. */
#ifndef CLI_MCP_SESSION_H
#define CLI_MCP_SESSION_H

#include "options/opt.h"
#include "roots.h"

struct session_options {
  const struct roots *roots;
  const struct command *const *commands;
  uint64_t timeout_ms, max_memory; /* limits of one call; max_memory 0 = the command's default */
};

/* Serves the client until the client closes the input or a signal is received. Returns the exit status. */
int session_serve(const struct session_options *options);

#endif
