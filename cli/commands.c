/* commands.c - the table of commands, in the order in which help shows them. */
#include "commands.h"

const struct command *const commands[] = {
  &command_extract, &command_list,   &command_convert, &command_merge,  &command_scan,  &command_plan,
  &command_apply,   &command_concat, &command_rebase,  &command_filter, &command_redact, &command_split, &command_shrink,
  &command_view,    &command_top,    &command_tree,    &command_report, &command_diff,  &command_sql,  &command_size,
  &command_info,    &command_check,  &command_dump,
  NULL,
};
