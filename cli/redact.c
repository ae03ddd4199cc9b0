/* redact.c - tracekit redact: a trace that can leave the house; and --redact of other commands. */
#include "redact.h"

#include "commands.h"
#include "tty.h"
#include "write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct params {
  struct shared shared;
};

const struct opt_word redact_names_words[] = {
  { "keep", TK_NAMES_KEEP, "names stay; paths, hosts, users, URLs, tokens and addresses in them become hashes" },
  { "hash", TK_NAMES_HASH, "names become hashes, the same one for the same name; those of steps and streams stay" },
  { "map=", TK_NAMES_MAP, "names become what this file says, a line NAME<tab>NEW for each; others become hashes" },
  { 0, 0, 0 },
};

static const struct opt opts[] = { ROWS_REDACT_HOW, ROWS_WRITE, ROW_JSON, ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit redact trace.json -o public.json.gz", "keep names without paths and hosts, and no args" },
  { "tracekit redact trace.json -o public.json.gz --redact-report kept.tsv", "list what was kept" },
  { "tracekit redact trace.json --names hash --keep-numbers -o public.pftrace", "hash the names, and keep sizes and ids" },
  { "tracekit redact trace.json --keep-args 'correlation' --keep-args 'stream' -o public.json.gz", "keep two args" },
  { 0, 0 },
};

/* ---- files that the options name ---- */

/* A file, ended by a NUL; at most a gigabyte of it. */
static char *read_file(const char *path, size_t *length, int *status) {
  size_t n = 0, room = 1 << 16;
  char *text = malloc(room);
  FILE *f = fopen(path, "rb");
  if (!f) {
    tty_say("%s: cannot open: %s", path, strerror(errno));
    *status = STATUS_INPUT;
    return free(text), NULL;
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
  if (ok) return text[n] = 0, *length = n, text;
  tty_say("%s: cannot be read", path);
  *status = STATUS_INPUT;
  return free(text), NULL;
}

/* A secret may be of any bytes: as a text it is their digits. */
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
                                                   : "--redact-report: the file is the output of the trace");
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
  if (r->options.names == TK_NAMES_MAP && !(r->map = read_file(s->redact.names.text, &n, status))) return false;
  if (s->redact.key_file && !(r->key = read_key(s->redact.key_file, status))) return release(r), false;
  if (r->key && !*r->key) {
    *status = run_usage(command, "--key-file: the file is empty");
    return release(r), false;
  }
  if (r->path && !(r->options.list = tk_redact_list_new())) {
    *status = run_no_memory();
    return release(r), false;
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

void redact_text(FILE *to, const struct tk_redact_report *r) {
  char a[64], b[64], c[64], d[64], e[64];
  fprintf(to, "redacted: %s changed; removed: %s, %s, %s, %s\n", tty_counted(r->names, "name", a), tty_counted(r->args, "arg", b),
          tty_counted(r->records + r->labels, "record", c), tty_counted(r->metas, "top-level key", d),
          tty_counted(r->blocks, "block", e));
}

static void report_json(struct json *j, const void *arg) { redact_json(j, arg); }
static void report_text(FILE *to, const void *arg) { redact_text(to, arg); }

/* ---- the command ---- */

static int redact(const struct shared *s, struct redacting *r, const char *input, const char *output) {
  struct tk_err err = { 0 };
  int status;
  struct tk_trace *t = run_load(s, input, &status);
  if (!t) return status;
  struct report more = { report_json, report_text, &r->report };
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
  .summary = "remove what a trace says beside how long things took, so that it can be shared",
  .operands = "[INPUT]",
  .description =
    "Writes a copy that is safe to share outside your organisation. What stays: times, durations, nesting, flows, the values of "
    "counters, categories, ranks, and the numbers of processes and threads. Names stay, but their sensitive parts become hashes: paths "
    "of files, hosts, users that a path names, what follows :// in a URL, values of keys such as token= and --password, tokens of "
    "well-known services, long random keys, e-mail addresses, domain names, and IP addresses (four numbers with dots, unless v or "
    "version precedes them). With --names hash all names become hashes, except those of steps, streams and planes. Categories are "
    "treated as names are by default. Ids that are text become hashes as well. Paths containing spaces are recognised only up to the "
    "first space, and a secret in plain words is not recognised: read the output before you send it, or hash the names.\n\n"
    "What goes: args that --keep-args or --keep-numbers do not ask for, labels of processes, records that are no events, top-level "
    "data (stack frames, properties of devices, ...) but for the rank and the base of times, programs of XLA and all else that only "
    "the format of the input understands, and what tracekit wrote of earlier commands but for the ranks.\n\n"
    "--redact-report lists every distinct text that was kept or changed, with its count and what it became, and the keys of what was "
    "removed. The list contains the original texts: read it before you send the trace, and do not send it along.\n\n"
    "Hashes are made with a secret that is drawn for each run, so that nobody can find a name by trying names. With --key-file several "
    "runs give the same hashes. Of a JSON trace nothing says that args were there; to keep some of them only, use filter.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_redact,
};
