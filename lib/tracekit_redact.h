/* tracekit_redact.h - redaction. Part of tracekit.h, which includes this file. */
#ifndef TRACEKIT_REDACT_H
#define TRACEKIT_REDACT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* tk_redact removes private text from a trace. Kept: times, durations, nesting, flows, counter values, categories, ranks,
 * process and thread numbers. In names, sensitive parts (paths, hosts, users, addresses, URLs, tokens) are hashed, or the
 * whole name is replaced. Removed unless requested: args, records, labels, top-level data, passthrough, and tracekit's own
 * metadata. */
enum tk_redact_names {
  TK_REDACT_NAMES_KEEP, /* hash the sensitive parts: paths, hosts, users, URLs, tokens, addresses */
  TK_REDACT_NAMES_HASH, /* hash whole names, equal names alike; names of steps, streams and planes are kept */
  TK_REDACT_NAMES_MAP   /* replace according to `map`; hash names that are not in it */
};

struct tk_redact_options {
  size_t size;
  enum tk_redact_names names;
  const char *map;              /* lines "NAME<TAB>NEW" */
  const char *const *keep_args; /* NULL-terminated globs of arg keys; NULL = none */
  bool keep_numbers;            /* non-text args: streams, sizes, correlation ids */
  const char *key;              /* secret key of the hashes; NULL = random for this process */
  struct tk_redact_list *list;  /* receives the strings that were kept, changed and removed; NULL = none */
};
#define TK_REDACT_OPTIONS_INIT TK_OPTIONS_INIT(tk_redact_options)

struct tk_redact_report {
  uint64_t names;           /* distinct names that were replaced */
  uint64_t paths_and_hosts; /* distinct strings with a sensitive part */
  uint64_t args, records, labels, metas, blocks; /* number of removed items; blocks: of passthrough data */
};

/* Redacts a sealed trace in place. Adds its counts to `report`, which may be NULL. */
TK_EXPERIMENTAL bool tk_redact(struct tk_trace *t, const struct tk_redact_options *opt, struct tk_redact_report *report,
                               struct tk_err *err);

/* List of the strings that one or more calls kept, changed and removed, with counts. It contains the original strings: read it
 * before you send a trace, and do not send the list. Printed as tab-separated lines: action, kind, count, text, replacement. For
 * removed args, records and top-level data it contains only their keys. */
struct tk_redact_list;
TK_EXPERIMENTAL struct tk_redact_list *tk_redact_list_new(void); /* NULL if out of memory */
TK_EXPERIMENTAL void tk_redact_list_free(struct tk_redact_list *list);
/* Writes the list to a file that only its owner may read, whatever the umask; `force` replaces an existing file. */
TK_EXPERIMENTAL bool tk_redact_list_save(struct tk_redact_list *list, const char *path, bool force, struct tk_err *err);
TK_EXPERIMENTAL bool tk_redact_list_print(struct tk_redact_list *list, struct tk_writer to, struct tk_err *err);

#endif
