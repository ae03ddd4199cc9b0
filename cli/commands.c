/* commands.c - the table of commands, in the order of help. */
#include "commands.h"

#include <stddef.h>

const struct command *const commands[] = {
  &command_convert, &command_extract, &command_list,   &command_view, /* open */
  &command_merge,   &command_rebase,                                  /* combine */
  &command_filter,  &command_shrink,  &command_split,  &command_redact, /* cut */
  &command_report,  &command_top,     &command_tree,   &command_diff,   &command_sql, /* analyse */
  &command_info,    &command_size,    &command_check,  &command_dump,   &command_mcp, /* inspect */
  &command_scan,    &command_plan,    &command_apply,  &command_concat, /* cluster */
  NULL,
};
