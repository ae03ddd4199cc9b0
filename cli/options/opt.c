/* opt.c - the parser of option rows (opt.h): -x, -xVALUE, -x VALUE, -xyz, --name, --name=VALUE, --name VALUE, --no-name, "--",
 * and operands anywhere between them. Names cannot be abbreviated, so that a new option never breaks a script. */
#include "opt.h"
#include "meant.h"

#include "tracekit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_WORD = 64, MAX_VALID = 64 };

/* State of the parser. */
struct parser {
  const struct command *command;
  char **next; /* the next argument */
  void *params;
  struct operands *in;
  struct opt_error *error;
};

static enum parsed fail(struct opt_error *error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static enum parsed fail(struct opt_error *error, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(error->why, sizeof error->why, fmt, ap);
  va_end(ap);
  return PARSED_ERROR;
}

void opt_unknown(struct opt_error *error, const char *what, const char *word, const char *const *valid) {
  const char *near = tk_nearest(word, valid);
  if (near) fail(error, "unknown %s '%s'; did you mean '%s'?", what, word, near);
  else fail(error, "unknown %s '%s'", what, word);
}

/* ---- values ---- */

static void *field(const struct parser *p, const struct opt *o) { return (char *)p->params + o->offset; }

static enum parsed bad_word(const struct parser *p, const struct opt *o, const char *value, const char *const *valid) {
  const char *near = tk_nearest(value, valid);
  char list[256] = "";
  for (size_t i = 0; valid[i]; i++) {
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", valid[i]);
  }
  if (near) return fail(p->error, "--%s: unknown value '%s'; did you mean '%s'? (one of: %s)", o->name, value, near, list);
  return fail(p->error, "--%s: unknown value '%s'; expected one of: %s", o->name, value, list);
}

/* If `w` is a word that takes text, such as "marker=", and `value` is this word with its text, stores both and returns true. */
static bool set_choice(const struct parser *p, const struct opt *o, const struct opt_word *w, const char *value) {
  size_t n = strlen(w->word);
  if (w->word[n - 1] != '=' || strncmp(value, w->word, n) != 0 || !value[n]) return false;
  *(struct opt_choice *)field(p, o) = (struct opt_choice){ w->value, value + n };
  return true;
}

static enum parsed set_word(const struct parser *p, const struct opt *o, const char *value) {
  const char *valid[MAX_VALID], *meant = meant_value(o->name, value);
  size_t n = 0;
  for (; o->words[n].word && n < MAX_VALID - 1; n++) {
    const struct opt_word *w = &o->words[n];
    if (set_choice(p, o, w, value)) return PARSED_RUN;
    if (!strcmp(value, w->word) && w->word[strlen(w->word) - 1] != '=') {
      *(int *)field(p, o) = w->value;
      return PARSED_RUN;
    }
    valid[n] = o->words[n].word;
  }
  valid[n] = NULL;
  return meant ? set_word(p, o, meant) : bad_word(p, o, value, valid);
}

/* Lists the formats that share a name: "xplane (.xplane.pb) or perfetto (.pftrace)". Returns NULL if fewer than two do. */
static const char *list_called(const char *word, char *list, size_t size) {
  const struct tk_format_info *format;
  unsigned found = 0;
  *list = 0;
  for (size_t i = 0; (format = tk_format(i)); i++)
    for (const char *const *w = format->words; w && *w; w++) {
      const size_t n = strlen(list);
      if (!strcasecmp(*w, word)) snprintf(list + n, size - n, "%s%s (%s)", found++ ? " or " : "", format->name, format->ending);
    }
  return found > 1 ? list : NULL;
}

/* Stores the name of the format. A value that includes a compression, such as json.gz, is stored unchanged. */
static enum parsed set_format(const struct parser *p, const struct opt *o, const char *value) {
  const char *valid[MAX_VALID];
  const struct tk_format_info *format;
  const struct tk_path asked = tk_format_of(value);
  char list[128];
  size_t n = 0;
  if (!strcmp(value, "help")) return PARSED_FORMATS;
  if (asked.format) {
    *(const char **)field(p, o) = *asked.packing ? value : asked.format->name;
    return PARSED_RUN;
  }
  if (list_called(value, list, sizeof list)) return fail(p->error, "--%s: '%s' is ambiguous: %s", o->name, value, list);
  for (; (format = tk_format(n)) && n < MAX_VALID - 1; n++) valid[n] = format->name;
  valid[n] = NULL;
  return bad_word(p, o, value, valid);
}

/* A size below this number of bytes must have a unit, because no file is that small and the user probably meant MB. */
enum { SMALL = 4096 };

static enum parsed set_size(const struct parser *p, const struct opt *o, const char *value) {
  uint64_t bytes;
  if (!tk_parse_size(value, &bytes))
    return fail(p->error, "--%s: invalid size '%s'; expected a size such as 64KiB, 2MB or 1G", o->name, value);
  if (bytes > 0 && bytes < SMALL && !value[strspn(value, "0123456789.+")])
    return fail(p->error, "--%s: missing unit of %s; use %sMB, %sKB or %sB", o->name, value, value, value, value);
  *(uint64_t *)field(p, o) = bytes;
  return PARSED_RUN;
}

static enum parsed set_int(const struct parser *p, const struct opt *o, const char *value) {
  char *end;
  long n;
  errno = 0;
  n = strtol(value, &end, 10);
  if (end == value || *end || errno) return fail(p->error, "--%s: invalid number '%s'", o->name, value);
  if (n < o->min || n > o->max) return fail(p->error, "--%s: %s is out of range %d..%d", o->name, value, o->min, o->max);
  *(int *)field(p, o) = (int)n;
  return PARSED_RUN;
}

static enum parsed set_list(const struct parser *p, const struct opt *o, const char *value) {
  struct opt_list *list = field(p, o);
  const char **v = realloc(list->v, (list->n + 2) * sizeof *v);
  if (!v) return fail(p->error, "out of memory");
  list->v = v;
  v[list->n++] = value;
  v[list->n] = NULL;
  return PARSED_RUN;
}

static enum parsed add_range(const struct parser *p, const struct opt *o, const char *value) {
  struct opt_ranges *list = field(p, o);
  struct tk_range range, *v;
  if (!tk_parse_range(value, &range)) return fail(p->error, "--%s: invalid range '%s'; expected N, N..M, N.. or ..M", o->name, value);
  v = realloc(list->v, (list->n + 1) * sizeof *v);
  if (!v) return fail(p->error, "out of memory");
  list->v = v;
  v[list->n++] = range;
  return PARSED_RUN;
}

static enum parsed add_offset(const struct parser *p, const struct opt *o, const char *value) {
  struct opt_offsets *list = field(p, o);
  const char *equals = strrchr(value, '=');
  struct tk_offset *v;
  size_t who;
  int64_t ns;
  if (!tk_parse_offset(value, &who, &ns)) {
    if (equals && equals != value && tk_is_duration(equals + 1))
      return fail(p->error, "--%s: '%s' is out of range: more than 106 days", o->name, value);
    return fail(p->error, "--%s: invalid offset '%s'; expected an offset such as 3=+1.5ms or host42=-20us", o->name, value);
  }
  v = realloc(list->v, (list->n + 1) * sizeof *v);
  if (!v) return fail(p->error, "out of memory");
  list->v = v;
  v[list->n] = (struct tk_offset){ strndup(value, who), ns };
  return v[list->n++].who ? PARSED_RUN : fail(p->error, "out of memory");
}

static void free_offsets(struct opt_offsets *list) {
  for (size_t i = 0; i < list->n; i++) free((char *)list->v[i].who);
  free(list->v);
}

static enum parsed set_number(const struct parser *p, const struct opt *o, const char *value) {
  struct tk_range range;
  bool good = tk_parse_range(value, &range) && range.first == range.last && range.first >= 0;
  if (!good) return fail(p->error, "--%s: invalid number '%s'", o->name, value);
  *(struct opt_number *)field(p, o) = (struct opt_number){ true, range.first };
  return PARSED_RUN;
}

void opt_free(const struct command *c, void *params) {
  for (const struct opt *o = c->opts; params && o->kind != OPT_END; o++) {
    void *at = (char *)params + o->offset;
    if (o->kind == OPT_LIST) free(((struct opt_list *)at)->v);
    if (o->kind == OPT_RANGES) free(((struct opt_ranges *)at)->v);
    if (o->kind == OPT_OFFSETS) free_offsets(at);
  }
}

static enum parsed set_value(const struct parser *p, const struct opt *o, const char *value) {
  switch (o->kind) {
    case OPT_INT: return set_int(p, o, value);
    case OPT_NUMBER: return set_number(p, o, value);
    case OPT_RANGES: return add_range(p, o, value);
    case OPT_OFFSETS: return add_offset(p, o, value);
    case OPT_WORD: return set_word(p, o, value);
    case OPT_FORMAT: return set_format(p, o, value);
    case OPT_SIZE: return set_size(p, o, value);
    case OPT_TIME:
      if (tk_parse_duration(value, field(p, o))) return PARSED_RUN;
      if (tk_is_duration(value)) return fail(p->error, "--%s: '%s' is out of range: times are at most 106 days", o->name, value);
      opt_time_bad(p->error, o->name, value);
      return PARSED_ERROR;
    default:
      if (!*value) return fail(p->error, "--%s: empty value", o->name);
      if (o->kind == OPT_LIST) return set_list(p, o, value);
      *(const char **)field(p, o) = value;
      return PARSED_RUN;
  }
}

static void set_flag(const struct parser *p, const struct opt *o, bool on) {
  if (o->kind == OPT_FLAG) *(bool *)field(p, o) = on;
  else if (o->kind == OPT_SWITCH) *(int *)field(p, o) = on ? 1 : -1;
  else *(int *)field(p, o) = on ? *(int *)field(p, o) + 1 : 0;
}

/* ---- names ---- */

static const struct opt *find_letter(const struct command *c, char letter) {
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++)
    if (o->letter == letter) return o;
  return NULL;
}

static bool same_name(const char *row, const char *word, size_t n) { return strlen(row) == n && !memcmp(row, word, n); }

static bool starts_with_no(const char *s) { return !strncmp(s, "no-", 3); }

/* Returns the row of a long option; NULL if unknown. Sets *on to false if the option was negated, as in no-NAME. */
static const struct opt *find_long(const struct command *c, const char *word, size_t n, bool *on) {
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    *on = true;
    if (same_name(o->name, word, n)) return o;
    if (opt_has_value(o)) continue;
    *on = false;
    if (starts_with_no(o->name) && same_name(o->name + 3, word, n)) return o;
    if (n > 3 && starts_with_no(word) && same_name(o->name, word + 3, n - 3)) return o;
  }
  return NULL;
}

/* Returns the only long option that begins with the word, as in --out; NULL if there are none or several. */
static const char *completed(const struct command *c, const char *word, size_t n) {
  const char *found = NULL;
  for (const struct opt *o = c->opts; o->kind != OPT_END; o++) {
    if (strncmp(o->name, word, n)) continue;
    if (found) return NULL;
    found = o->name;
  }
  return n > 1 ? found : NULL;
}

/* Copies a name and replaces underscores with dashes, as in --min_dur. Returns the length. */
static size_t with_dashes(const char *word, size_t n, char to[MAX_WORD]) {
  if (n >= MAX_WORD) n = MAX_WORD - 1;
  for (size_t i = 0; i < n; i++) to[i] = word[i] == '_' ? '-' : word[i];
  to[n] = 0;
  return n;
}

static enum parsed unknown_long(const struct parser *p, const char *typed, size_t n_typed) {
  char word[MAX_WORD];
  const size_t n = with_dashes(typed, n_typed, word);
  const char *here = meant_option(p->command->name, word, n), *whole = completed(p->command, word, n);
  const char *valid[MAX_VALID] = { "help", "version" };
  char shown[MAX_WORD + 4], dashed[MAX_VALID][MAX_WORD];
  size_t count = 2;
  for (const struct opt *o = p->command->opts; o->kind != OPT_END && count < MAX_VALID - 1; o++) valid[count++] = o->name;
  valid[count] = NULL;
  for (size_t i = 0; i < count; i++) {
    snprintf(dashed[i], sizeof dashed[i], "--%s", valid[i]);
    valid[i] = dashed[i];
  }
  snprintf(shown, sizeof shown, "--%.*s", (int)(n_typed < MAX_WORD ? n_typed : MAX_WORD), typed);
  if (here) return fail(p->error, "unknown option '%s': %s", shown, here);
  if (whole) return fail(p->error, "unknown option '%s'; did you mean '--%s'?", shown, whole);
  opt_unknown(p->error, "option", shown, valid);
  return PARSED_ERROR;
}

/* ---- the three forms of an argument: long option, letters, operand ---- */

/* Sets a value, joined with its unit if that is the next argument: "--to 100 MB". */
static enum parsed set_apart(struct parser *p, const struct opt *o, const char *value) {
  struct operands *in = p->in;
  char joined[MAX_WORD];
  uint64_t bytes;
  tk_time time;
  const char *unit = *p->next;
  bool is_number = *value && !value[strspn(value, "0123456789.")] && unit && *unit && !strchr("0123456789.+-", *unit);
  const bool is_time = o->kind == OPT_TIME || (o->arg && !strcmp(o->arg, "TIME"));
  if (!is_number || (o->kind != OPT_SIZE && !is_time)) return set_value(p, o, value);
  int n = snprintf(joined, sizeof joined, "%s%s", value, unit);
  bool fits = n < (int)sizeof joined && (o->kind == OPT_SIZE ? tk_parse_size(joined, &bytes) : tk_parse_duration(joined, &time));
  if (!fits) return set_value(p, o, value);
  p->next++;
  if (o->kind != OPT_STRING) return set_value(p, o, joined);
  const bool room = in->n_joined < sizeof in->joined / sizeof *in->joined && n < (int)sizeof *in->joined;
  if (!room) return fail(p->error, "--%s: write '%s' and its unit without a space", o->name, value);
  return set_value(p, o, strcpy(in->joined[in->n_joined++], joined));
}

static enum parsed parse_long(struct parser *p, const char *word) {
  const char *equals = strchr(word, '=');
  size_t n = equals ? (size_t)(equals - word) : strlen(word);
  const struct opt *o;
  bool on;
  if (same_name("help", word, n)) return PARSED_HELP;
  if (same_name("version", word, n)) return PARSED_VERSION;
  o = find_long(p->command, word, n, &on);
  if (!o) return unknown_long(p, word, n);
  if (opt_has_value(o)) {
    const char *value = equals ? equals + 1 : *p->next;
    if (!value) return fail(p->error, "--%s needs a value: %s", o->name, o->arg);
    if (equals) return set_value(p, o, value);
    p->next++;
    return set_apart(p, o, value);
  }
  if (equals && on && o->words) return set_word(p, o, equals + 1);
  if (equals && equals[1] && meant_output(o->name))
    return fail(p->error, "--%s takes no value; to write a file, redirect: --%s > %s", o->name, o->name, equals + 1);
  if (equals) return fail(p->error, "--%.*s takes no value", (int)n, word);
  set_flag(p, o, on);
  return PARSED_RUN;
}

static enum parsed parse_letters(struct parser *p, const char *letters) {
  for (; *letters; letters++) {
    const struct opt *o;
    if (*letters == 'h') return PARSED_SHORT;
    if (*letters == 'V') return PARSED_VERSION;
    o = find_letter(p->command, *letters);
    const char *here = o ? NULL : meant_option(p->command->name, letters, 1);
    if (here) return fail(p->error, "unknown option '-%c': %s", *letters, here);
    if (!o) return fail(p->error, "unknown option '-%c'", *letters);
    if (opt_has_value(o)) {
      const char *value = letters[1] ? letters + 1 : *p->next;
      if (!value) return fail(p->error, "-%c needs a value: %s", o->letter, o->arg);
      if (!letters[1]) p->next++;
      return set_value(p, o, value);
    }
    set_flag(p, o, true);
  }
  return PARSED_RUN;
}

/* Returns true if the operand looks like the output, that is, if the command writes a trace, -o is missing, and the name implies a
 * format. */
static bool is_output(const struct parser *p, const char *operand) {
  const struct opt *output = find_letter(p->command, 'o');
  return output && find_letter(p->command, 'f') && !*(const char **)field(p, output) && tk_path_of(operand).format;
}

static enum parsed check_operands(const struct parser *p, const struct operands *in) {
  const struct command *c = p->command;
  const char *extra = in->n > c->max_operands ? in->v[c->max_operands] : NULL;
  if (in->n < c->min_operands) return fail(p->error, "missing operand: %s", c->operands);
  if (extra && is_output(p, extra)) return fail(p->error, "unexpected operand '%s'; to write to it, use -o %s", extra, extra);
  if (extra && find_letter(c, 'f') && tk_path_of(extra).format)
    return fail(p->error, "unexpected operand '%s'; only one trace is accepted (merge combines several)", extra);
  bool on;
  if (extra && find_long(c, "before", 6, &on))
    return fail(p->error, "unexpected operand '%s'; if a run has several inputs, name them with --before and --after", extra);
  if (extra) return fail(p->error, "unexpected operand '%s'", extra);
  return PARSED_RUN;
}

enum parsed opt_parse(const struct command *c, char **argv, void *params, struct operands *in, struct opt_error *error) {
  struct parser p = { .command = c, .next = argv + 1, .params = params, .in = in, .error = error };
  bool only_operands = false;
  while (*p.next) {
    const char *arg = *p.next++;
    enum parsed result = PARSED_RUN;
    if (only_operands || arg[0] != '-' || !arg[1]) in->v[in->n++] = arg;
    else if (!strcmp(arg, "--")) only_operands = true;
    else if (arg[1] == '-') result = parse_long(&p, arg + 2);
    else result = parse_letters(&p, arg + 1);
    if (result != PARSED_RUN) return result;
  }
  return check_operands(&p, in);
}

const struct command *opt_find_command(const struct command *const *commands, const char *name) {
  for (const struct command *const *c = commands; *c; c++)
    if (!strcmp((*c)->name, name)) return *c;
  return NULL;
}

const char *opt_group_heading(enum command_group group) {
  static const char *const headings[] = {
    [GROUP_OPEN] = "Convert and open",
    [GROUP_COMBINE] = "Combine several traces",
    [GROUP_CUT] = "Keep or share a part",
    [GROUP_ANALYSE] = "Find out where the time went",
    [GROUP_INSPECT] = "Look inside",
    [GROUP_CLUSTER] = "Merge on a cluster, rank by rank",
  };
  return headings[group];
}
