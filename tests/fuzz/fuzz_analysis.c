/* fuzz_analysis.c - runs every analysis on arbitrary bytes that load: top, tree, report, diff with itself, tables for data
 * frames, SQL over all tables. Each succeeds or fails with a message, and the trace stays unchanged.
 *
 *     byte 0   input format: by content, JSON, Perfetto, XPlane
 *     byte 1   options of the analyses
 *     byte 2   the analysed part of the trace
 *     rest     the input */
#include "tracekit.h"
#include "tracekit_arrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 3, MOST_COLUMNS = 64 };

static const char *const INPUTS[] = {NULL, "json", "perfetto", "xplane"};
static const char *const WHERE[] = {NULL, "dur > 1us", "kind == kernel || kind == op", "self < 5us && depth >= 1", "name ~ \"*a*\"",
                                    "!(rank == 0)", "step == 1 || stream > 2", "arg.a == 1"};
static const char *const TIMES[] = {NULL, "10%..60%", "..50%", "+1us..-1us"};

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void check(bool ok, const struct tk_err *err, const char *what) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
}

static volatile uint64_t sum;

static void touch(const char *text, size_t n) {
  for (size_t i = 0; text && i < n; i++) sum += (uint8_t)text[i];
}

static void ask_top(struct tk_trace *t, const struct tk_selection *select, unsigned how) {
  const char *const cols[] = {"a", "stream", NULL};
  const struct tk_top_options o = {.size = sizeof o, .select = *select, .by = (enum tk_top_by)(how % 14), .arg = "a",
                                   .cols = how & 16 ? cols : NULL, .sort = (enum tk_top_sort)(how % 10), .fold = how & 32};
  struct tk_top_report *r = NULL;
  struct tk_err err = {0};
  check(tk_top(t, &o, &r, &err), &err, "top");
  for (size_t i = 0; i < r->n_rows; i++) touch(r->rows[i].name, r->rows[i].name_len);
  tk_top_report_free(r);
}

static void ask_tree(struct tk_trace *t, const struct tk_selection *select, unsigned how) {
  const enum tk_top_by by = how % 14 == TK_TOP_KIND ? TK_TOP_CAT : (enum tk_top_by)(how % 14);
  const struct tk_tree_options o = {.size = sizeof o, .select = *select, .has_by = how & 64, .by = by, .arg = "a",
                                    .per = how & 128 ? "*a*" : NULL, .fold = how & 32};
  struct tk_tree_report *r = NULL;
  struct tk_err err = {0};
  check(tk_tree(t, &o, &r, &err), &err, "tree");
  for (size_t i = 0; i < r->n_nodes; i++) {
    touch(r->nodes[i].name, r->nodes[i].name_len);
    require(r->nodes[i].parent == UINT32_MAX || r->nodes[i].parent < i, "tree", "a parent that is not before its child");
  }
  tk_tree_report_free(r);
}

static void ask_report(struct tk_trace *t, const struct tk_selection *select, unsigned how) {
  const struct tk_report_options o = {.size = sizeof o, .select = *select, .strips = how & 8, .brief = how & 4};
  struct tk_report *r = NULL;
  struct tk_err err = {0};
  check(tk_report_trace(t, &o, &r, &err), &err, "report");
  for (size_t i = 0; i < r->n_ranks; i++) touch(r->ranks[i].device, strlen(r->ranks[i].device));
  for (size_t i = 0; i < r->n_kernels; i++) touch(r->kernels[i].name, r->kernels[i].name_len);
  tk_report_free(r);
}

static void ask_arrow(struct tk_trace *t, unsigned how) {
  for (int i = 0; i < TK_TABLES; i++) {
    const char *columns[MOST_COLUMNS + 1] = {NULL}; /* all columns, including those created on request */
    for (size_t k = 0; k < MOST_COLUMNS && (columns[k] = tk_table_column((enum tk_table)i, k, NULL)); k++) {}
    const struct tk_arrow_options o = {.columns = columns, .ps = how & 1};
    struct ArrowArrayStream s;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct tk_err err = {0};
    const bool ok = tk_arrow(t, (enum tk_table)i, &o, &s, &err);
    check(ok, &err, "arrow");
    if (!ok) continue;
    require(s.get_schema(&s, &schema) == 0, "arrow", "no schema");
    schema.release(&schema);
    while (s.get_next(&s, &batch) == 0 && batch.release) batch.release(&batch);
    s.release(&s);
  }
}

static const char JOINS[] =
    "SELECT c.name, p.name, p.depth FROM slice c JOIN slice p ON p.id = c.parent_id; SELECT kind, sum(self_dur) FROM event GROUP BY 1;"
    "SELECT a.id, d.id FROM slice s JOIN ancestor_slice(s.id) a JOIN descendant_slice(s.id) d";

static bool read_row(void *arg, const struct tk_sql_value *values, size_t n) {
  (void)arg;
  for (size_t i = 0; i < n; i++)
    if (values[i].type == TK_SQL_TEXT || values[i].type == TK_SQL_BLOB) touch(values[i].text, values[i].n);
  return true;
}

static void ask_sql(struct tk_trace *t) {
  const struct tk_sql_options o = {.size = sizeof o, .timeout_ms = 5000, .max_rows = 2000, .threads = 1};
  const struct tk_sql_answer to = {.row = read_row};
  struct tk_err err = {0};
  struct tk_sql *s = tk_sql_open(t, &o, &err);
  size_t n;
  check(s != NULL, &err, "sql");
  if (!s) return;
  const char *const *tables = tk_sql_tables(s, &n);
  for (size_t i = 0; i < n; i++) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", tables[i]);
    err = (struct tk_err){0};
    check(tk_sql_run(s, sql, &to, &err), &err, "sql");
  }
  err = (struct tk_err){0};
  check(tk_sql_run(s, JOINS, &to, &err), &err, "sql");
  tk_sql_close(s);
}

static void ask_diff(const char *path, const struct tk_selection *select, unsigned how) {
  const struct tk_diff_options o = {.size = sizeof o, .select = *select, .by_path = how & 2, .fold = how & 32, .whole = how & 16,
                                    .by_launch = !(how & 2), .keep_going = how & 16};
  struct tk_err err = {0};
  struct tk_sources *before = tk_sources_open(&path, 1, NULL, &err), *after = before ? tk_sources_open(&path, 1, NULL, &err) : NULL;
  struct tk_diff_report *r = NULL;
  check(after && tk_diff(before, after, &o, &r, &err), &err, "diff");
  tk_diff_report_free(r);
  struct tk_sources *const runs[] = {before, after, before, after};
  const char *const names[] = {"a", "b", "a", "b"};
  struct tk_diff_options trends = o;
  struct tk_compare_report *compared = NULL;
  trends.trends = true;
  err = (struct tk_err){0};
  check(after && tk_compare(runs, names, 4, &trends, &compared, &err), &err, "compare");
  tk_compare_report_free(compared);
  tk_sources_close(before);
  tk_sources_close(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tk_err err = {0};
  char path[64];
  if (size < HEAD) return 0;
  const int fd = memfd_create("fuzz", 0);
  require(fd >= 0 && write(fd, data + HEAD, size - HEAD) == (ssize_t)(size - HEAD), "memfd", "not written");
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const struct tk_load_options load = {.format = INPUTS[data[0] % 4], .max_memory = 512u << 20, .max_size = 2u << 20, .threads = 1};
  struct tk_trace *t = tk_load(path, &load, &err);
  check(t != NULL, &err, "load");
  if (t) {
    const char *const where[] = {WHERE[data[2] % 8], NULL};
    const struct tk_selection select = {.where = where[0] ? where : NULL, .time = TIMES[data[2] >> 3 & 3]};
    char *before = tk_dump(t), *after;
    ask_top(t, &select, data[1]);
    ask_tree(t, &select, data[1]);
    ask_report(t, &select, data[1]);
    ask_arrow(t, data[1]);
    ask_sql(t);
    if (data[0] % 4 == 0) ask_diff(path, &select, data[1]);
    require(tk_check(t, &err), "check", err.msg);
    after = tk_dump(t);
    require(before && after && strcmp(before, after) == 0, "questions", "another trace than before");
    tk_free_text(before);
    tk_free_text(after);
  }
  tk_free(t);
  close(fd);
  return 0;
}
