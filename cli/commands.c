/* commands.c - the table of commands, with the order and the headings of help. */
#include "commands.h"

#include <stddef.h>

const struct command *const commands[] = {
  &command_convert, &command_extract, &command_list,   &command_view, /* open */
  &command_merge,   &command_rebase,                                  /* combine */
  &command_filter,  &command_shrink,  &command_split,  &command_redact, /* cut */
  &command_report,  &command_top,     &command_tree,   &command_diff,   &command_sql, /* analyse */
  &command_info,    &command_size,    &command_check,  &command_dump, /* inspect */
  &command_scan,    &command_plan,    &command_apply,  &command_concat, /* cluster */
  NULL,
};

static const struct {
  const struct command *first;
  const char *heading;
} groups[] = {
  { &command_convert, "Convert and open" },        { &command_merge, "Combine several traces" },
  { &command_filter, "Keep or share a part" },     { &command_report, "Find out where the time went" },
  { &command_info, "Look inside" },                { &command_scan, "Merge on a cluster, rank by rank" },
};

const char *command_heading(const struct command *c) {
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (groups[i].first == c) return groups[i].heading;
  return NULL;
}
