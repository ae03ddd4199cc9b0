/* settings.h - settings of single formats by name, such as "perfetto.sched=true".
 *
 * The options of loading and saving are shared by all formats. A setting of only one format is instead a row in the table of that
 * format. The row names the member that it sets, so that a new setting changes no public struct. */
#ifndef FORMAT_SETTINGS_H
#define FORMAT_SETTINGS_H

#include "tracekit.h"
#include "graph/sink.h"

/* A setting of one format: a row in the format's table of settings. */
struct setting {
  struct tk_setting info;
  uint64_t with; /* loading: bit of enum tk_with */
  size_t flag;   /* saving: offset of a bool in struct sink_options */
};

/* Set the members that the settings name. Return false with err (TK_EUSAGE) if a setting is unknown or malformed, or if a setting for
 * saving is used for loading or vice versa. */
bool settings_load(struct tk_load_options *opt, struct tk_err *err);
/* `format` is the name of the output format; settings of other formats are only checked. */
bool settings_save(const struct tk_save_options *opt, const char *format, struct sink_options *sink, struct tk_err *err);

#endif
