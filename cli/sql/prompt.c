/* prompt.c - see prompt.h. A statement runs when a semicolon ends it; an error or an interrupt ends only that
 * statement. Lines that begin with '.' are commands of the prompt, as in the shells of SQLite and Perfetto. */
#include "prompt.h"

#include "shared/interrupt.h"
#include "line.h"
#include "shared/run.h"
#include "print/tty.h"

#include <stdlib.h>
#include <string.h>

int sql_run_text(struct tk_sql *sql, const char *text, struct printer *printer) {
  struct tk_err err = { 0 };
  const struct tk_sql_answer answer = sql_print_answer(printer);
  sql_print_open(printer);
  bool ok = tk_sql_run(sql, text, &answer, &err);
  fflush(printer->to);
  if (!sql_print_close(printer)) return STATUS_INPUT;
  return ok || err.code == TK_OK ? STATUS_DONE : run_fail(&err);
}

/* ---- words ---- */

static const char *const WORDS[] = {
  ".help", ".mode", ".quit", ".schema", ".tables", "ALL", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CREATE",
  "DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "END", "EXCEPT", "EXISTS", "FROM", "FULL", "GLOB", "GROUP", "HAVING", "INCLUDE",
  "INNER", "INTERSECT", "INTO", "IS", "JOIN", "LEFT", "LIKE", "LIMIT", "MODULE", "NOT", "NULL", "OFFSET", "ORDER", "OUTER",
  "OVER", "PARTITION", "PERFETTO", "RECURSIVE", "SELECT", "TABLE", "THEN", "UNION", "USING", "VALUES", "VIEW", "WHEN", "WHERE",
  "WINDOW", "WITH",
};

static bool add_word(struct line_words *words, const char *text) {
  enum { STRIDE = 256 };
  if (words->n % STRIDE == 0) {
    char **more = realloc(words->v, (words->n + STRIDE) * sizeof *more);
    if (!more) return false;
    words->v = more;
  }
  char *copy = strdup(text);
  if (copy) words->v[words->n++] = copy;
  return copy != NULL;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorts the words and removes duplicates. */
static void sort_words(struct line_words *words) {
  size_t n = 0;
  if (words->n) qsort(words->v, words->n, sizeof *words->v, by_text);
  for (size_t i = 0; i < words->n; i++) {
    if (n && strcmp(words->v[i], words->v[n - 1]) == 0) free(words->v[i]);
    else words->v[n++] = words->v[i];
  }
  words->n = n;
}

static bool take_word(void *arg, const struct tk_sql_value *values, size_t n) {
  return n == 0 || values[0].type != TK_SQL_TEXT || add_word(arg, values[0].text);
}

/* Collects the words for completion: functions, tables and their columns, and the keywords of SQL. */
static void find_words(struct tk_sql *sql, struct line_words *words) {
  const struct tk_sql_answer answer = { .row = take_word, .arg = words };
  struct tk_err err = { 0 };
  size_t n;
  const char *const *tables = tk_sql_tables(sql, &n);
  bool ok = tk_sql_run(sql, "SELECT name FROM pragma_function_list WHERE name GLOB '[a-zA-Z]*'", &answer, &err) &&
            tk_sql_run(sql, "SELECT name FROM sqlite_schema", &answer, &err) &&
            tk_sql_run(sql, "SELECT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c", &answer, &err);
  for (size_t i = 0; ok && i < n; i++) {
    char columns[256];
    snprintf(columns, sizeof columns, "SELECT name FROM pragma_table_info('%s')", tables[i]);
    ok = add_word(words, tables[i]) && tk_sql_run(sql, columns, &answer, &err);
  }
  for (size_t i = 0; ok && i < sizeof WORDS / sizeof *WORDS; i++) ok = add_word(words, WORDS[i]);
  sort_words(words);
}

static void free_words(struct line_words *words) {
  for (size_t i = 0; i < words->n; i++) free(words->v[i]);
  free(words->v);
}

/* ---- commands of the prompt ---- */

static void help(void) {
  puts(".help            show this help\n"
       ".tables          list the tables\n"
       ".schema TABLE    list the columns of a table\n"
       ".mode MODE       print results as table, csv, json or jsonl\n"
       ".quit            exit, like Ctrl-D\n"
       "Everything else is SQL and ends with a semicolon.");
}

static void set_mode(struct printer *like, const char *name) {
  static const char *const modes[] = { [PRINT_TABLE] = "table", [PRINT_CSV] = "csv", [PRINT_JSON] = "json", [PRINT_JSONL] = "jsonl" };
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(name, modes[i]) == 0) return (void)(like->as = (enum print_as)i);
  tty_say("sql: .mode: unknown mode '%s'; expected table, csv, json or jsonl", name);
}

static bool print_name(void *arg, const struct tk_sql_value *values, size_t n) {
  (void)arg;
  if (n && values[0].type == TK_SQL_TEXT) tty_text(stdout, values[0].text, values[0].n), putchar('\n');
  return true;
}

static void list_columns(struct tk_sql *sql, const struct printer *like, const char *table) {
  struct printer printer = *like;
  char quoted[512], text[1024];
  size_t n = 0;
  for (; *table && n + 3 < sizeof quoted; table++) {
    if (*table == '\'') quoted[n++] = '\'';
    quoted[n++] = *table;
  }
  quoted[n] = 0;
  snprintf(text, sizeof text, "SELECT name, type FROM pragma_table_info('%s')", quoted);
  sql_run_text(sql, text, &printer);
}

static void list_tables(struct tk_sql *sql) {
  const struct tk_sql_answer answer = { .row = print_name };
  struct tk_err err = { 0 };
  size_t n;
  const char *const *tables = tk_sql_tables(sql, &n);
  for (size_t i = 0; i < n; i++) puts(tables[i]);
  tk_sql_run(sql, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", &answer, &err);
}

/* Runs a command of the prompt, such as .tables. Returns false if the command is .quit. */
static bool obey(struct tk_sql *sql, struct printer *like, const char *line) {
  char word[16] = "", name[256] = "";
  sscanf(line, "%15s %255s", word, name);
  char *end = strchr(name, ';');
  if (end) *end = 0;
  if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0 || strcmp(word, ".q") == 0) return false;
  if (strcmp(word, ".help") == 0) help();
  else if (strcmp(word, ".tables") == 0) list_tables(sql);
  else if (strcmp(word, ".schema") == 0 && *name) list_columns(sql, like, name);
  else if (strcmp(word, ".mode") == 0) set_mode(like, name);
  else tty_say("sql: unknown command '%s'; expected .help, .tables, .schema TABLE, .mode MODE or .quit", line);
  return true;
}

/* ---- statements ---- */

struct statement {
  char *text;
  size_t n;
};

static bool add_line(struct statement *s, const char *line) {
  const size_t n = strlen(line);
  char *longer = realloc(s->text, s->n + n + 2);
  if (!longer) return false;
  memcpy(longer + s->n, line, n);
  memcpy(longer + s->n + n, "\n", 2);
  *s = (struct statement){ longer, s->n + n + 1 };
  return true;
}

static void forget(struct statement *s) {
  free(s->text);
  *s = (struct statement){ 0 };
}

bool prompt_is_blank(const char *text) { return text[strspn(text, " \t\r\n;")] == 0; }

/* Runs a command, or adds the line to the statement and runs the statement if it is complete. False if the user quits or if
 * out of memory. */
static bool take_line(struct tk_sql *sql, struct printer *like, struct statement *s, const char *line) {
  if (!s->text && line[0] == '.') return obey(sql, like, line);
  if (!s->text && prompt_is_blank(line)) return true;
  if (!add_line(s, line)) return false;
  if (!tk_sql_complete(s->text)) return true;
  struct printer printer = *like;
  sql_run_text(sql, s->text, &printer);
  forget(s);
  return true;
}

static void talk(struct tk_sql *sql, struct printer *like, struct line_editor *editor) {
  struct statement s = { 0 };
  for (bool interrupted = false, more = true; more;) {
    const char *line = line_read(editor, s.text ? "   ...> " : "tracekit> ", &interrupted);
    if (interrupted) fputc('\n', stdout);
    if (interrupted || interrupt_signal()) forget(&s), interrupt_forget(); /* or the signal came before line_read() */
    if (!line && !interrupted) break;
    if (line) line_remember(editor, line);
    if (line) more = take_line(sql, like, &s, line);
    if (interrupt_signal()) interrupt_forget();
  }
  if (s.text && !prompt_is_blank(s.text)) tty_say("sql: the last statement has no semicolon and was not run");
  forget(&s);
  fputc('\n', stdout);
}

int sql_prompt(struct tk_sql *sql, const struct printer *like) {
  struct printer printer = *like;
  struct line_words words = { 0 };
  find_words(sql, &words);
  struct line_editor *editor = line_open("sql_history", &words);
  if (editor) talk(sql, &printer, editor);
  line_close(editor);
  free_words(&words);
  return editor ? STATUS_DONE : run_no_memory();
}
