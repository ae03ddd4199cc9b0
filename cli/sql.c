/* sql.c - tracekit sql: runs SQL queries on a trace, with the tables of Perfetto. */
#include "commands.h"
#include "shared/run.h"
#include "sql/prompt.h"
#include "print/tty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct params {
  struct shared shared;
  struct opt_list queries;
  const char *script, *db;
  int64_t timeout;
  int max_rows;
  bool csv, jsonl;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  { OPT_LIST, 'e', "execute", "SQL", "run these statements; repeatable", FIELD(queries), 0, 0, 0 },
  { OPT_FILE, 0, "script", "FILE", "run the statements in this file", FIELD(script), 0, 0, 0 },
  { OPT_FLAG, 0, "csv", 0, "print results as CSV; text is quoted, and NULL is empty", FIELD(csv), 0, 0, 0 },
  { OPT_FLAG, 0, "jsonl", 0, "print each row as a JSON object on its own line", FIELD(jsonl), 0, 0, 0 },
  { OPT_FILE, 0, "db", "FILE", "write the tables, with indices, to an SQLite database", FIELD(db), 0, 0, 0 },
  ROW_STEP_NAME,
  ROW_FORCE,
  { OPT_TIME, 0, "timeout", "TIME", "abort a statement that takes longer than this (default: 10 minutes)", FIELD(timeout), 0, 0, 0 },
  { OPT_INT, 0, "max-rows", "N", "print only the first N rows of a result (default: all)", FIELD(max_rows), 0, 1, 2147483647 },
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit sql trace.json -e 'SELECT name, count(*) AS n, sum(dur)/1e6 AS ms FROM slice GROUP BY name ORDER BY ms DESC LIMIT 10'",
    "list the names that took the most time" },
  { "tracekit sql trace.json --db trace.sqlite", "write the tables to an SQLite database" },
  { "tracekit sql trace.json -e 'SELECT rank, kind, sum(dur) FROM event GROUP BY 1, 2' --csv", "sum up durations by rank and "
                                                                                               "kind" },
  { "echo 'SELECT name, dur FROM slice WHERE dur > 1e6' | tracekit sql trace.json --jsonl", "run a query from standard input" },
  { 0, 0 },
};

enum { TIMEOUT_MS = 600000 };

/* ---- statements ---- */

static bool append(char **text, size_t *n, const char *more, size_t more_n) {
  char *longer = realloc(*text, *n + more_n + 3);
  if (!longer) return false;
  memcpy(longer + *n, more, more_n);
  *text = longer;
  *n += more_n;
  longer[*n] = 0;
  return true;
}

static char *read_all(FILE *from) {
  char block[65536], *text = NULL;
  size_t n = 0, got;
  bool ok = append(&text, &n, "", 0);
  while (ok && (got = fread(block, 1, sizeof block, from)) > 0) ok = append(&text, &n, block, got);
  if (ok && !ferror(from)) return text;
  free(text);
  return NULL;
}

static char *read_script(const char *path) {
  FILE *from = fopen(path, "re");
  char *text = from ? read_all(from) : NULL;
  if (!text) tty_say("sql: %s: %s", path, errno ? strerror(errno) : "cannot be read");
  if (from) fclose(from);
  return text;
}

/* Appends a statement. Replaces the prompt's commands .tables and .schema with queries that list tables and columns. */
static bool append_statement(char **text, size_t *n, const char *query) {
  static const char TABLES[] = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name";
  char columns[256];
  if (!strncmp(query, ".tables", 7)) return append(text, n, TABLES, strlen(TABLES));
  if (strncmp(query, ".schema ", 8)) return append(text, n, query, strlen(query));
  const size_t length = strspn(query + 8, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  snprintf(columns, sizeof columns, "SELECT name, type FROM pragma_table_info('%.*s')", (int)(length < 128 ? length : 128), query + 8);
  return append(text, n, columns, strlen(columns));
}

/* Joins the values of -e, and adds a semicolon after each value, because a value may lack one. */
static char *join_queries(const struct opt_list *queries) {
  char *text = NULL;
  size_t n = 0;
  for (size_t i = 0; i < queries->n; i++)
    if (!append_statement(&text, &n, queries->v[i]) || !append(&text, &n, "\n;\n", 3)) {
      free(text);
      return NULL;
    }
  return text;
}

/* Returns the text of all statements; NULL with a message if it cannot be read. Sets *prompt if no statement is given and
 * standard input is a terminal. */
static char *read_queries(const struct params *p, bool *prompt) {
  char *text = NULL;
  errno = 0;
  if (p->script) return read_script(p->script);
  if (p->queries.n) text = join_queries(&p->queries);
  else if (p->db) text = strdup("");
  else if ((*prompt = isatty(STDIN_FILENO) != 0)) text = strdup("");
  else text = read_all(stdin);
  if (!text) tty_say("sql: %s", errno ? strerror(errno) : "failed to read the SQL statements");
  return text;
}

/* ---- running ---- */

static void note_differences(const struct params *p, const struct tk_sql *sql) {
  const char *text;
  for (size_t i = 0; !p->shared.quiet && (text = tk_sql_difference(sql, i)) != NULL; i++) tty_say("note: %s", text);
}

static int query(const struct params *p, struct tk_trace *t, const char *text, bool prompted) {
  struct progress progress;
  struct tk_err err = { 0 };
  progress_start(&progress, "querying", NULL, -1);
  const struct tk_sql_options options = { .timeout_ms = p->timeout ? (uint64_t)(p->timeout / 1000000000) + 1 : TIMEOUT_MS,
                                          .max_rows = (uint64_t)p->max_rows,
                                          .max_memory = p->shared.max_memory,
                                          .threads = (unsigned)p->shared.threads,
                                          .progress = run_ticker(&progress) };
  struct printer printer = { .as = p->csv            ? PRINT_CSV
                                   : p->shared.json  ? PRINT_JSON
                                   : p->jsonl        ? PRINT_JSONL
                                                     : PRINT_TABLE,
                             .to = stdout, .input = t->source, .width = tty_width(stdout) };
  struct tk_sql *sql = tk_sql_open(t, &options, &err);
  if (!sql) return run_fail(&err);
  int status = prompted ? sql_prompt(sql, &printer) : prompt_is_blank(text) ? STATUS_DONE : sql_run_text(sql, text, &printer);
  if (status == STATUS_DONE && p->db && !tk_sql_copy(sql, p->db, p->shared.force, &err)) status = run_fail(&err);
  note_differences(p, sql);
  tk_sql_close(sql);
  return status;
}

/* Returns true for an operand that is a statement rather than an input. */
static bool is_statement(const char *text) {
  static const char *const FIRST[] = { "select", "with", "pragma", "explain", "include", "create", "values", ".tables", ".schema" };
  for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) {
    const size_t n = strlen(FIRST[i]);
    if (!strncasecmp(text, FIRST[i], n) && strchr(" \t\r\n(;", text[n])) return access(text, F_OK) != 0;
  }
  return false;
}

static bool is_script(const char *name) {
  const size_t n = strlen(name);
  return n > 4 && !strcasecmp(name + n - 4, ".sql");
}

/* Copies the params, and moves operands that are statements or scripts to p->queries and p->script, because other SQL tools accept them
 * as operands, too. */
static bool take_statements(const struct params *from, const struct operands *operands, struct params *p, struct operands *in) {
  const size_t most = from->queries.n + operands->n + 1;
  *p = *from;
  p->queries.v = calloc(most, sizeof *p->queries.v);
  *in = (struct operands){ .v = calloc(most, sizeof *in->v) };
  if (!p->queries.v || !in->v) {
    tty_say("out of memory");
    return false;
  }
  for (size_t i = 0; i < from->queries.n; i++) p->queries.v[i] = from->queries.v[i];
  for (size_t i = 0; i < operands->n; i++) {
    const char *text = operands->v[i];
    if (is_statement(text)) p->queries.v[p->queries.n++] = text;
    else if (!is_script(text)) in->v[in->n++] = text;
    else if (p->script) {
      tty_say("sql: more than one script given");
      return false;
    } else p->script = text;
  }
  return true;
}

static int query_inputs(const struct params *p, const struct operands *in) {
  bool prompted = false;
  int status;
  if (p->csv + p->jsonl + p->shared.json > 1) return run_usage("sql", "--csv, --json and --jsonl cannot be combined");
  if (p->script && p->queries.n) return run_usage("sql", "-e and --script cannot be combined");
  if (!p->script && !p->queries.n && !p->db && in->n == 0)
    return run_usage("sql", "no trace given; standard input is read as SQL unless -e or --script is used");
  char *text = read_queries(p, &prompted);
  if (!text) return STATUS_USAGE;
  struct shared shared = p->shared;
  shared.without = TK_WITHOUT_RESTORING;
  if (!p->db && !prompted && !shared.strict) shared.without = tk_sql_without(text);
  struct tk_trace *t = run_load_operands(&shared, "sql", in, &status);
  if (t) status = query(p, t, text, prompted);
  tk_free(t);
  free(text);
  return status;
}

static int cmd_sql(const void *params, const struct operands *operands) {
  struct params p;
  struct operands in;
  const int status = take_statements(params, operands, &p, &in) ? query_inputs(&p, &in) : STATUS_USAGE;
  free(p.queries.v);
  free(in.v);
  return status;
}

const struct command command_sql = {
  .name = "sql",
  .group = GROUP_ANALYSE,
  .summary = "query a trace with SQL, using Perfetto's tables",
  .operands = "[INPUT...]",
  .description =
    "Runs SQL (SQLite's dialect) on a trace. The tables are those of Perfetto's trace_processor: slice, thread, process, "
    "thread_track, process_track, track, counter, counter_track, args, flow, metadata, thread_slice, process_slice and others; "
    "queries written for it run unchanged. Additional tables: event has the kind, rank, host, step, stream, device and self "
    "time of each event; step lists training steps, collective lists collectives. docs/sql.md lists the columns and the differences.\n"
    "\n"
    "Statements come from -e, from --script, or else from standard input; on a terminal there is a prompt. Several inputs are "
    "read as one trace, as in merge. Times are nanoseconds in the time base of the file; a span that never ended has the "
    "duration -1. INCLUDE PERFETTO MODULE is accepted for modules whose tables exist. Queries cannot access files or other "
    "databases. They may create temporary tables and views.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_sql,
};
