/* tools.c - see tools.h. */
#include "tools.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/decimal.h"

enum { LIMIT = 200, MOST_LIMIT = 10000, BYTES = 20000, MOST_BYTES = 200000, MOST_OFFSET = 1000000000, MOST_PATHS = 64 };

#define SELECT "expr name kind time step step-name rank host device stream "
#define RUN "run step-dir latest-good "

static const struct tool TOOLS[] = {
  { "list", RUN "deep all host rank", "files", NULL, NULL, "Begin here to see which traces there are.", 0, false, false },
  { "info", RUN "step-name", "traces", NULL, NULL, "", 0, false, false },
  { "report", RUN SELECT "findings keep-going", NULL, NULL, NULL, "Its findings say what is wrong and what to do next.", 0, false,
    false },
  { "top", RUN SELECT "by fold cols min-count sort keep-going", "rows", "top", NULL, "", 0, false, false },
  { "tree", RUN SELECT "by path per fold sort keep-going", "paths", NULL, NULL, "", 0, false, false },
  { "diff", RUN SELECT "by fold whole fail-if", "rows", NULL, NULL, "The first path is before, the second after.", 2, false, false },
  { "sql", RUN "step-name execute timeout keep-going", "rows", "max-rows", "execute",
    "Read only. The tables are those of Perfetto (slice, thread_track, thread, process, args, ...); event has one row per event.", 0,
    false, false },
  { "check", RUN "step-name assert", NULL, NULL, NULL, "", 0, true, false },
  { "view", RUN SELECT "to", NULL, NULL, NULL, "Returns the command line for the user to run: a browser cannot be opened from here.",
    0, false, true },
};

const struct tool *tool_at(size_t i) { return i < sizeof TOOLS / sizeof *TOOLS ? &TOOLS[i] : NULL; }

const struct tool *tool_find(const char *name) {
  for (size_t i = 0; i < sizeof TOOLS / sizeof *TOOLS; i++)
    if (strcmp(TOOLS[i].name, name) == 0) return &TOOLS[i];
  return NULL;
}

/* Returns true if the tool's list contains the option. */
static bool permits(const struct tool *t, const char *name, size_t n) {
  for (const char *p = t->options; *p; p += strspn(p, " ")) {
    const size_t word = strcspn(p, " ");
    if (word == n && memcmp(p, name, n) == 0) return true;
    p += word;
  }
  return false;
}

/* ---- schemas ---- */

static const char *schema_type(const struct opt *o) {
  switch (o->kind) {
  case OPT_FLAG: case OPT_SWITCH: return "boolean";
  case OPT_INT: case OPT_NUMBER: return "integer";
  case OPT_LIST: case OPT_RANGES: return "array";
  default: return "string";
  }
}

static void describe_option(const struct opt *o, struct json *j) {
  json_open(j, o->name, '{');
  json_string(j, "type", schema_type(o));
  if (opt_repeats(o)) json_raw(j, "items", "{\"type\": \"string\"}");
  json_string(j, "description", o->help);
  if (o->kind == OPT_WORD) {
    json_open(j, "enum", '[');
    for (const struct opt_word *w = o->words; w->word; w++) json_string(j, NULL, w->word);
    json_close(j, ']');
  }
  json_close(j, '}');
}

static void describe_number(struct json *j, const char *name, const char *help, int least, int most) {
  json_open(j, name, '{');
  json_string(j, "type", "integer");
  json_string(j, "description", help);
  json_int(j, "minimum", least);
  json_int(j, "maximum", most);
  json_close(j, '}');
}

static void describe_input(const struct tool *t, const struct command *c, struct json *j) {
  json_open(j, "inputSchema", '{');
  json_string(j, "type", "object");
  json_open(j, "properties", '{');
  json_open(j, "paths", '{');
  json_string(j, "type", "array");
  json_raw(j, "items", "{\"type\": \"string\"}");
  json_uint(j, "minItems", t->inputs ? t->inputs : 1);
  json_uint(j, "maxItems", t->inputs ? t->inputs : MOST_PATHS);
  json_string(j, "description", "files, run folders, archives or members of archives (logs.zip:rank0.json) in the permitted folders");
  json_close(j, '}');
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++)
    if (permits(t, o->name, strlen(o->name))) describe_option(o, j);
  if (!t->shown) {
    describe_number(j, "limit", "most rows of each list in the answer (default: 200)", 1, MOST_LIMIT);
    if (t->paged) describe_number(j, "offset", "rows to skip, to see more of a list that was cut", 0, MOST_OFFSET);
    describe_number(j, "max_bytes", "most bytes of the answer (default: 20000)", 1000, MOST_BYTES);
  }
  json_close(j, '}');
  json_open(j, "required", '[');
  json_string(j, NULL, "paths");
  if (t->required) json_string(j, NULL, t->required);
  json_close(j, ']');
  json_bool(j, "additionalProperties", false);
  json_close(j, '}');
}

static const char OUTPUT[] =
  "{\"type\": \"object\", \"required\": [\"answer\"], \"properties\": {\"answer\": {\"description\": \"what the command prints "
  "with --json\"}, \"left_out\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"description\": \"lists that were "
  "cut, and how to see the rest\"}, \"notes\": {\"type\": \"string\", \"description\": \"repairs and warnings\"}}}";

void tool_describe(const struct tool *t, const struct command *c, struct json *j) {
  char text[512];
  snprintf(text, sizeof text, "%c%s.%s%s", c->summary[0] - 'a' + 'A', c->summary + 1, *t->note ? " " : "", t->note);
  json_open(j, NULL, '{');
  json_string(j, "name", t->name);
  json_string(j, "description", text);
  describe_input(t, c, j);
  json_raw(j, "outputSchema", OUTPUT);
  json_raw(j, "annotations", "{\"readOnlyHint\": true, \"idempotentHint\": true, \"openWorldHint\": false}");
  json_close(j, '}');
}

/* ---- calls ---- */

static bool deny(struct tool_call *call, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool deny(struct tool_call *call, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(call->why, sizeof call->why, fmt, ap);
  va_end(ap);
  return false;
}

/* Adds a word, allocated by malloc, to the command line of the call, which then owns it. */
static bool take_word(struct tool_call *call, char *word) {
  if (word && call->n < TOOL_WORDS) {
    call->argv[call->n++] = word;
    return true;
  }
  free(word);
  return deny(call, word ? "too many arguments" : "out of memory");
}

static bool add_text(struct tool_call *call, const char *text) { return take_word(call, strdup(text)); }

/* Adds --NAME=VALUE, one word, so that no value is taken for an option. */
static bool add_value(struct tool_call *call, const struct opt *o, const struct value *v) {
  char *text = v->kind == VALUE_NUMBER ? strndup(v->raw, v->n_raw) : value_text(v), *word = NULL;
  if (!text) return deny(call, "%s: expected %s", o->name, schema_type(o));
  if (asprintf(&word, "--%s=%s", o->name, text) < 0) word = NULL;
  free(text);
  return take_word(call, word);
}

static bool add_option(struct tool_call *call, const struct opt *o, const struct value *v) {
  char word[80];
  if (v->kind == VALUE_NULL) return true;
  if (opt_has_value(o) && v->kind != VALUE_ARRAY) return add_value(call, o, v);
  if (opt_has_value(o) && !opt_repeats(o)) return deny(call, "%s: expected one value", o->name);
  for (const struct value *one = opt_has_value(o) ? v->child : NULL; one; one = one->next)
    if (!add_value(call, o, one)) return false;
  if (opt_has_value(o) || v->kind == VALUE_FALSE) return true;
  if (v->kind != VALUE_TRUE) return deny(call, "%s: expected true or false", o->name);
  snprintf(word, sizeof word, "--%s", o->name);
  return add_text(call, word);
}

static bool take_number(struct tool_call *call, const struct value *v, size_t least, size_t most, size_t *to) {
  char text[24] = "";
  const char *end;
  if (v->kind == VALUE_NUMBER && v->n_raw < sizeof text) snprintf(text, sizeof text, "%.*s", (int)v->n_raw, v->raw);
  const double number = decimal_read(text, &end); /* 2.0 is also an integer */
  if (end == text || *end || !(number >= (double)least && number <= (double)most) || number != (double)(size_t)number)
    return deny(call, "%.*s: expected an integer from %zu to %zu", (int)v->n_key, v->key, least, most);
  *to = (size_t)number;
  return true;
}

static bool has_key(const struct value *v, const char *key) {
  return v->n_key == strlen(key) + 2 && memcmp(v->key + 1, key, v->n_key - 2) == 0;
}

static bool add_argument(const struct tool *t, const struct command *c, struct tool_call *call, const struct value *v) {
  if (has_key(v, "paths")) return true;
  if (has_key(v, "limit")) return take_number(call, v, 1, MOST_LIMIT, &call->cut.limit);
  if (has_key(v, "offset")) return take_number(call, v, 0, MOST_OFFSET, &call->cut.offset);
  if (has_key(v, "max_bytes")) return take_number(call, v, 1000, MOST_BYTES, &call->cut.bytes);
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++)
    if (has_key(v, o->name) && permits(t, o->name, strlen(o->name))) return add_option(call, o, v);
  return deny(call, "unknown argument %.*s; %s has: paths limit offset max_bytes %s", v->n_key < 60 ? (int)v->n_key : 60, v->key,
              t->name, t->options);
}

static bool add_paths(const struct tool *t, const struct roots *r, struct tool_call *call, const struct value *paths) {
  if (!paths || paths->kind != VALUE_ARRAY || paths->n == 0) return deny(call, "paths: expected a list of files or folders");
  if (t->inputs ? paths->n != t->inputs : paths->n > MOST_PATHS) return deny(call, "paths: wrong number of paths");
  for (const struct value *v = paths->child; v; v = v->next) {
    char *name = value_text(v), *path, why[ROOTS_WHY];
    if (!name) return deny(call, "paths: expected strings");
    path = roots_resolve(r, name, why);
    if (!path) deny(call, "%.200s: %s", name, why);
    free(name);
    if (!path || !take_word(call, path)) return false;
  }
  return true;
}

/* Limits the rows of the command to one more than the answer can show; the additional row indicates that there are more. */
static bool add_rows(const struct tool *t, struct tool_call *call) {
  char word[64];
  snprintf(word, sizeof word, "--%s=%zu", t->rows, call->cut.offset + call->cut.limit + 1);
  return add_text(call, word);
}

bool tool_words(const struct tool *t, const struct command *c, const struct roots *r, const struct value *arguments,
                struct tool_call *call) {
  call->cut = (struct cut){ LIMIT, 0, BYTES, t->paged };
  bool ok = add_text(call, "tracekit") && add_text(call, t->name);
  if (!t->text && !t->shown) ok = ok && add_text(call, "--json");
  if (!t->shown) ok = ok && add_text(call, "--no-fetch") && add_text(call, "--no-progress");
  if (t->required && !value_member(arguments, t->required)) ok = deny(call, "%s: the argument is missing", t->required);
  for (const struct value *v = arguments && arguments->kind == VALUE_OBJECT ? arguments->child : NULL; ok && v; v = v->next)
    ok = add_argument(t, c, call, v);
  if (ok && t->rows) ok = add_rows(t, call);
  return ok && add_text(call, "--") && add_paths(t, r, call, value_member(arguments, "paths"));
}

void tool_free(struct tool_call *call) {
  for (size_t i = 0; i < call->n; i++) free(call->argv[i]);
  *call = (struct tool_call){ .n = 0 };
}
