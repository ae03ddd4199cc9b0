/* tracekit_redact.h - redaction: a part of tracekit.h, which includes it. */
#ifndef TRACEKIT_REDACT_H
#define TRACEKIT_REDACT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* A trace that can leave the house.  Times, durations, nesting, flows, values of counters, categories, ranks and numbers of processes
 * and threads stay.  Names stay without the paths of files, hosts, users, addresses, URLs and tokens in them, or become others.  Args
 * go unless they are asked for, and so do records, labels, top-level data, passthrough, and what tracekit said of the trace. */
enum tk_redact_names {
  TK_NAMES_KEEP, /* hash the sensitive parts: paths, hosts, users, URLs, tokens, addresses */
  TK_NAMES_HASH, /* the same hash for the same name; names of steps, streams and planes stay */
  TK_NAMES_MAP   /* as `map` says, others hashed */
};

struct tk_redact_options {
  size_t size;
  enum tk_redact_names names;
  const char *map;              /* lines "NAME<TAB>NEW" */
  const char *const *keep_args; /* NULL-terminated globs of arg keys; NULL = none */
  bool keep_numbers;            /* args that are no text: streams, sizes, correlation ids */
  const char *key;              /* secret of the hashes; NULL = drawn at random for this process */
  struct tk_redact_list *list;  /* filled with what was kept, changed and removed; NULL = none */
};
#define TK_REDACT_OPTIONS_INIT TK_OPTIONS_INIT(tk_redact_options)

struct tk_redact_report {
  uint64_t names;           /* distinct ones that became others */
  uint64_t paths_and_hosts; /* distinct texts with a sensitive part */
  uint64_t args, records, labels, metas, blocks; /* that went; blocks: of passthrough */
};

/* Redacts a sealed trace in place.  `report` may be NULL; it is added to. */
TK_API bool tk_redact(struct tk_trace *t, const struct tk_redact_options *opt, struct tk_redact_report *report, struct tk_err *err);

/* What one or more calls kept, changed and removed, with counts and the original texts: to be read before a trace is sent, and not to
 * be sent with it.  As text it has a line for each, with tabs between action, kind, count, text, and what became of it.  Of args,
 * records and top-level data that went it lists the keys. */
struct tk_redact_list;
TK_API struct tk_redact_list *tk_redact_list_new(void); /* NULL = no memory */
TK_API void tk_redact_list_free(struct tk_redact_list *list); /* NULL is allowed */
/* To a file that only its owner may read, whatever the umask; `force` replaces an existing one. */
TK_API bool tk_redact_list_save(struct tk_redact_list *list, const char *path, bool force, struct tk_err *err);
TK_API bool tk_redact_list_print(struct tk_redact_list *list, struct tk_writer to, struct tk_err *err);

#endif
