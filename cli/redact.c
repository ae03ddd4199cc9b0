/* redact.c - tracekit redact, and the --redact option of other commands. */
#include "redact.h"

#include "commands.h"
#include "print/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct params {
  struct shared shared;
};

const struct opt_word redact_names_words[] = {
  { "keep", TK_REDACT_NAMES_KEEP, "keep names; hash the paths, hosts, users, URLs, tokens and addresses in them" },
  { "hash", TK_REDACT_NAMES_HASH, "hash names, equal names alike; names of steps and streams are kept" },
  { "map=", TK_REDACT_NAMES_MAP, "replace names according to this file, with lines NAME<tab>NEW; hash all others" },
  { 0, 0, 0 },
};

static const struct opt opts[] = { ROWS_REDACT_HOW, ROWS_WRITE, ROW_JSON, ROW_KEEP_GOING, ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit redact trace.json -o public.json.gz", "remove args; hash paths and hosts in names" },
  { "tracekit redact trace.json -o public.json.gz --redact-report kept.tsv", "also list what was kept" },
  { "tracekit redact trace.json --names hash --keep-numbers -o public.pftrace", "hash names; keep sizes and ids" },
  { "tracekit redact trace.json --keep-args 'correlation' --keep-args 'stream' -o public.json.gz", "keep two args" },
  { 0, 0 },
};

/* ---- files that the options name ---- */

/* Reads a file of less than 1 GiB as NUL-terminated text. */
static char *read_file(const char *path, size_t *length, int *status) {
  size_t n = 0, room = 1 << 16;
  char *text = malloc(room);
  FILE *f = fopen(path, "rb");
  if (!f) {
    tty_say("%s: cannot open: %s", path, strerror(errno));
    *status = STATUS_INPUT;
    free(text);
    return NULL;
  }
  while (text && !feof(f) && !ferror(f) && room < 1u << 30) {
    n += fread(text + n, 1, room - n - 1, f);
    if (n + 1 < room) continue;
    char *more = realloc(text, room *= 2);
    if (!more) free(text);
    text = more;
  }
  bool ok = text && !ferror(f) && room < 1u << 30;
  fclose(f);
  if (ok) {
    text[n] = 0;
    *length = n;
    return text;
  }
  tty_say("%s: failed to read the file", path);
  *status = STATUS_INPUT;
  free(text);
  return NULL;
}

/* Reads a secret, which may contain any bytes, as hexadecimal text. */
static char *read_key(const char *path, int *status) {
  size_t n = 0;
  char *bytes = read_file(path, &n, status), *key = bytes ? malloc(2 * n + 1) : NULL;
  if (bytes && !key) *status = run_no_memory();
  for (size_t i = 0; key && i < n; i++) snprintf(key + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
  if (key) key[2 * n] = 0;
  free(bytes);
  return key;
}

static bool asks_how(const struct shared *s) {
  return s->redact.names.value || s->redact.keep_args.n || s->redact.keep_numbers || s->redact.key_file || s->redact.list;
}

static bool check_list(const struct shared *s, const char *command, const struct operands *in, int *status) {
  const char *path = s->redact.list;
  if (run_is_stdout(path) && !s->json) return true;
  if (!run_is_stdout(path) && (!s->output || strcmp(path, s->output) != 0)) return run_check_file(s, path, in, status);
  *status = run_usage(command, run_is_stdout(path) ? "--redact-report - cannot be combined with --json"
                                                   : "--redact-report: the file is also the output; choose another name");
  return false;
}

static void release(struct redacting *r) {
  free(r->map);
  free(r->key);
  tk_redact_list_free(r->options.list);
}

bool redact_begin(const struct shared *s, const char *command, const struct operands *in, struct redacting *r, int *status) {
  *r = (struct redacting){ .options = { .names = (enum tk_redact_names)s->redact.names.value,
                                        .keep_args = s->redact.keep_args.v,
                                        .keep_numbers = s->redact.keep_numbers } };
  if (!s->redact.asked && asks_how(s)) {
    *status = run_usage(command, "--names, --keep-args, --keep-numbers, --key-file and --redact-report need --redact");
    return false;
  }
  size_t n;
  r->path = s->redact.list;
  r->force = s->force;
  if (r->path && !check_list(s, command, in, status)) return false;
  if (r->options.names == TK_REDACT_NAMES_MAP && !(r->map = read_file(s->redact.names.text, &n, status))) return false;
  if (s->redact.key_file && !(r->key = read_key(s->redact.key_file, status))) {
    release(r);
    return false;
  }
  if (r->key && !*r->key) {
    *status = run_usage(command, "--key-file: the file is empty");
    release(r);
    return false;
  }
  if (r->path && !(r->options.list = tk_redact_list_new())) {
    *status = run_no_memory();
    release(r);
    return false;
  }
  r->options.map = r->map;
  r->options.key = r->key;
  return true;
}

static bool print_bytes(void *to, const void *p, size_t n) { return fwrite(p, 1, n, to) == n; }

int redact_end(struct redacting *r, const char *output, int status) {
  struct tk_err err = { 0 };
  bool ok = true;
  if (r->path && (status == STATUS_DONE || status == STATUS_FINDING)) {
    struct tk_writer to = { print_bytes, output && run_is_stdout(output) ? stderr : stdout };
    if (run_is_stdout(r->path)) ok = tk_redact_list_print(r->options.list, to, &err);
    else ok = tk_redact_list_save(r->options.list, r->path, r->force, &err);
  }
  if (!ok) status = run_fail(&err);
  release(r);
  return status;
}

/* ---- the report ---- */

void redact_json(struct json *j, const struct tk_redact_report *r) {
  json_open(j, "redacted", '{');
  json_uint(j, "names", r->names);
  json_uint(j, "paths_and_hosts", r->paths_and_hosts);
  json_uint(j, "args", r->args);
  json_uint(j, "records", r->records);
  json_uint(j, "labels", r->labels);
  json_uint(j, "top_level_keys", r->metas);
  json_uint(j, "blocks", r->blocks);
  json_close(j, '}');
}

void redact_text(FILE *to, const struct tk_redact_report *r, enum tk_redact_names names) {
  char a[64], b[64], c[64], d[64], e[64];
  fprintf(to, "redacted: %s changed; removed: %s, %s, %s, %s\n", tty_counted(r->names, "name", a), tty_counted(r->args, "arg", b),
          tty_counted(r->records + r->labels, "record", c), tty_counted(r->metas, "top-level key", d),
          tty_counted(r->blocks, "block", e));
  if (names == TK_REDACT_NAMES_KEEP) fputs("names are kept, except for sensitive parts; --names hash hashes them\n", to);
}

static void report_json(struct json *j, const void *arg) { redact_json(j, &((const struct redacting *)arg)->report); }
static void report_text(FILE *to, const void *arg) {
  const struct redacting *r = arg;
  redact_text(to, &r->report, r->options.names);
}

struct report redact_report(const struct redacting *r) { return (struct report){ report_json, report_text, r }; }

/* ---- the command ---- */

static int redact(const struct shared *s, struct redacting *r, const char *input, const char *output) {
  struct tk_err err = { 0 };
  int status;
  struct tk_trace *t = run_load(s, input, &status);
  if (!t) return status;
  struct report more = redact_report(r);
  if (tk_redact(t, &r->options, &r->report, &err)) status = write_trace(s, "redact", t, output, &more);
  else status = run_fail(&err);
  tk_free(t);
  return status;
}

static int cmd_redact(const void *params, const struct operands *in) {
  struct shared s = ((const struct params *)params)->shared;
  struct redacting r;
  int status;
  s.redact.asked = true;
  const char *input = run_input("redact", in, &status);
  const char *output = input ? run_trace_output(&s, "redact", in, &status) : NULL;
  if (!output || !redact_begin(&s, "redact", in, &r, &status)) return status;
  status = redact(&s, &r, input, output);
  return redact_end(&r, output, status);
}

const struct command command_redact = {
  .name = "redact",
  .group = GROUP_CUT,
  .summary = "remove private text, such as paths, hosts and args",
  .operands = "[INPUT]",
  .description =
    "Writes a copy without private text, so that a trace can be shared. Kept: times, durations, nesting, flows, counter "
    "values, categories, ranks, process and thread numbers, and names. Sensitive parts of names are hashed: file paths, hosts, "
    "users in paths, the part after :// of URLs, values after token=, --password and similar keys, tokens of well-known "
    "services, long random keys, e-mail addresses, domain names, and IP addresses (four numbers with dots, unless v or version "
    "precedes them). With --names hash, whole names are hashed, except those of steps, streams and planes. Categories are "
    "always treated as names are with --names keep. Text ids are hashed too. Limits: a path is only recognised up to its first "
    "space, and a secret in plain words or a host name without a domain is not recognised. Read the output before you send it, "
    "or hash the names.\n"
    "\n"
    "Removed: args (unless --keep-args or --keep-numbers selects them), process labels, records that are not events, top-level "
    "data such as stack frames and device properties (except the rank and the time base), data specific to the input format "
    "such as XLA programs, and tracekit's own metadata except the ranks.\n"
    "\n"
    "--redact-report lists every distinct string that was kept or changed, with its count and replacement, and the keys of "
    "removed data. The list contains the original strings: read it before you send the trace, and do not send the list.\n"
    "\n"
    "Hashes use a random secret for each run, so that nobody can recover a name by guessing. With --key-file, several runs "
    "give equal hashes. Removed args leave no mark in JSON output. To only drop some args, use filter.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_redact,
};
