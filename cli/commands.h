/* commands.h - the commands, one file each; commands.c lists them in a table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options/opt.h"

extern const struct command command_extract;
extern const struct command command_list;
extern const struct command command_convert;
extern const struct command command_merge;
extern const struct command command_scan;
extern const struct command command_plan;
extern const struct command command_apply;
extern const struct command command_concat;
extern const struct command command_rebase;
extern const struct command command_filter;
extern const struct command command_redact;
extern const struct command command_split;
extern const struct command command_shrink;
extern const struct command command_top;
extern const struct command command_tree;
extern const struct command command_sql;
extern const struct command command_report;
extern const struct command command_diff;
extern const struct command command_view;
extern const struct command command_size;
extern const struct command command_info;
extern const struct command command_check;
extern const struct command command_dump;
extern const struct command command_mcp;

extern const struct command *const commands[]; /* all commands in the order of help, followed by NULL */

#endif
