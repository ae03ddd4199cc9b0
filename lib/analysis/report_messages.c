/* report_messages.c - messages from one rank to another in the table of collectives. A report on several ranks matches the two sides of
 * a message if both record the peer (merge/pairs.c). This file counts the kernels that do not record it. */
#include <stdio.h>
#include <string.h>

#include "report.h"

/* Names of messages in PyTorch (torch/csrc/profiler/util.cpp, saveNcclMeta), which records the peer only for these two. */
bool report_is_message(const char *name) { return strcmp(name, "send") == 0 || strcmp(name, "recv") == 0; }

void report_see_message(struct tk_report_impl *impl, const struct report_args *args, const char *kernel) {
  const char *name = report_args_text(args, ARG_COLLECTIVE);
  double rank;
  if (name && report_is_message(name)) impl->peerless += !report_args_number(args, *name == 's' ? ARG_TO_RANK : ARG_FROM_RANK, &rank);
  else if (name) impl->peerless += strstr(name, "isend") != NULL;
  else impl->peerless += strstr(kernel, "SendRecv") != NULL;
}

void report_say_messages(struct tk_report *r) {
  const struct tk_report_impl *impl = r->impl;
  char text[200];
  if (!impl->peerless || impl->messages || r->inputs < 2) return;
  snprintf(text, sizeof text, "sends and receives could not be matched, so waits in them are unknown: %llu kernels do not record the "
                              "other rank", (unsigned long long)impl->peerless);
  report_unknown(r, report_text(r->impl, text));
}
