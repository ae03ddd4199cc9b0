/* findings_commands.c - adds the input files to commands in the advice of a finding, so that the commands can be pasted into a shell
 * (findings.h).
 *
 * The advice contains commands without inputs: "tracekit top --kind host". The inputs follow the name of the command. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "fields.h"
#include "findings.h"
#include "report.h"

enum { MOST_INPUTS = 4 };

struct command_text {
  char *text;
  size_t n, len;
};

static void put_part(struct command_text *to, const char *from, size_t n) {
  for (size_t i = 0; i < n && to->len + 1 < to->n; i++) to->text[to->len++] = from[i];
  to->text[to->len] = 0;
}

static bool is_plain(const char *word) {
  for (const char *p = word; *p; p++)
    if (!ascii_letter(*p) && !ascii_digit(*p) && !strchr("%+,-./:=@_", *p)) return false;
  return *word;
}

/* Writes a string for a shell, in single quotes unless no character needs quoting. */
static void put_quoted(struct command_text *to, const char *text) {
  if (is_plain(text)) return put_part(to, text, strlen(text));
  put_part(to, "'", 1);
  for (const char *p = text; *p; p++)
    if (*p == '\'') put_part(to, "'\\''", 4);
    else put_part(to, p, 1);
  put_part(to, "'", 1);
}

/* Writes the name of an input, with "./" before a name that could be taken for an option. */
static void put_word(struct command_text *to, const char *name) {
  put_part(to, " ", 1);
  if (*name == '-' && name[1]) put_part(to, "./", 2);
  put_quoted(to, name);
}

/* Writes the report's option for step names, because the commands read the trace again and must find the same steps. */
static void put_step_name(struct command_text *to, const struct tk_report *r) {
  static const char OPTION[] = " --step-name=";
  if (!r->impl->step_pattern) return;
  put_part(to, OPTION, sizeof OPTION - 1);
  put_quoted(to, r->impl->step_pattern);
}

static bool is_earlier(const struct tk_report *r, size_t row) {
  for (size_t i = 0; i < row; i++)
    if (strcmp(r->ranks[i].input, r->ranks[row].input) == 0) return true;
  return false;
}

/* True if a command on device work, such as "top --kind kernel", must leave out the input of the row: it contains no work, unlike other
 * inputs. An example is the trace of a server beside the traces of its workers. */
static bool lacks_work(const struct tk_report *r, size_t row) {
  bool any = false, own = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    any = any || r->ranks[i].work;
    own = own || (r->ranks[i].work && strcmp(r->ranks[i].input, r->ranks[row].input) == 0);
  }
  return any && !own;
}

/* Writes the inputs of the whole job, or only those with device work; only the first if there are many. */
static void put_job(struct command_text *to, const struct tk_report *r, bool work_only) {
  size_t n = 0, put = 0;
  for (size_t i = 0; i < r->n_ranks && n <= MOST_INPUTS; i++) n += !is_earlier(r, i) && !(work_only && lacks_work(r, i));
  for (size_t i = 0; i < r->n_ranks && (put == 0 || n <= MOST_INPUTS); i++)
    if (!is_earlier(r, i) && !(work_only && lacks_work(r, i))) put_word(to, r->ranks[i].input), put++;
}

/* Writes an input, and selects the rank if the input contains several. */
static void put_input(struct command_text *to, const struct tk_report *r, const char *input, int64_t rank) {
  char option[40];
  put_word(to, input);
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (r->ranks[i].rank == rank || rank < 0 || strcmp(r->ranks[i].input, input) != 0) continue;
    snprintf(option, sizeof option, " --rank %lld", (long long)rank);
    return put_part(to, option, strlen(option));
  }
}

/* Returns the row of a rank; NULL if there is none. */
static const struct tk_report_rank *row_of(const struct tk_report *r, int64_t rank) {
  for (size_t i = 0; i < r->n_ranks; i++)
    if (r->ranks[i].rank == rank) return &r->ranks[i];
  return NULL;
}

static void put_subject(struct command_text *to, const struct finding_case *c, bool work_only) {
  const int64_t rank = c->meeting ? c->meeting->rank : c->memory ? c->memory->rank : -1;
  const struct tk_report_rank *row = c->meeting || c->memory ? row_of(c->r, rank) : c->row;
  if (row) put_input(to, c->r, row->input, row->rank);
  else put_job(to, c->r, work_only);
}

/* True if the option `word` is in a command of `len` characters. */
static bool has_option(const char *command, size_t len, const char *word) {
  const char *at = strstr(command, word);
  return at && (size_t)(at - command) < len;
}

/* Returns a rank to compare the straggler with: among the other ranks, the one that arrived last least often; NULL if there is none. */
static const struct tk_report_rank *peer_of(const struct finding_case *c) {
  const struct tk_report_meeting *best = NULL;
  for (size_t i = 0; i < c->r->n_meetings; i++) {
    const struct tk_report_meeting *m = &c->r->meetings[i];
    if (m->rank != c->meeting->rank && (!best || m->last < best->last)) best = m;
  }
  return best ? row_of(c->r, best->rank) : NULL;
}

/* True if operators launched so much work that they can have launched most of the kernel's. Kernels of a graph that is replayed have no
 * operator. */
static bool is_launched_by_operators(const struct finding_case *c) {
  const double total = field_seconds(c->kernel->total);
  double launched = 0;
  bool any = false;
  for (size_t i = 0; i < c->r->n_ranks; i++) any = any || c->r->ranks[i].host_ops;
  for (size_t i = 0; i < c->r->n_device_ops; i++) launched += c->r->device_ops[i].name ? field_seconds(c->r->device_ops[i].device) : 0;
  return any && launched >= total / 2;
}

/* True if work was launched within annotations or modules. */
static bool is_any_layer(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_layers; i++) any = any || r->layers[i].name;
  return any;
}

enum finding_launchers findings_launchers(const struct finding_case *c) {
  if (is_launched_by_operators(c)) return LAUNCHED_BY_OPERATORS;
  return c->r->n_annotations && is_any_layer(c->r) ? LAUNCHED_BY_ANNOTATIONS : LAUNCHED_BY_UNKNOWN;
}

const char *findings_compare(const struct finding_case *c) {
  const struct tk_report_rank *own = row_of(c->r, c->meeting->rank), *peer = peer_of(c);
  const bool apart = own && peer && strcmp(own->input, peer->input) != 0;
  return apart ? "compare the rank with another: tracekit diff --kind op"
               : "compare the rank with others: tracekit top --kind op --by rank";
}

/* Writes the inputs of a command. `command`: its name and its options. */
static void put_inputs(struct command_text *to, const struct finding_case *c, const char *command) {
  static const char DIFF[] = "diff ", RANKS[] = "--by rank";
  const size_t len = strcspn(command, ";");
  const bool work_only = has_option(command, len, "--kind kernel") || has_option(command, len, "--kind memcpy");
  if (strncmp(command, DIFF, sizeof DIFF - 1) == 0) {
    put_word(to, row_of(c->r, c->meeting->rank)->input);
    put_word(to, peer_of(c)->input);
  } else if (has_option(command, len, RANKS)) {
    put_job(to, c->r, work_only);
  } else {
    put_subject(to, c, work_only);
  }
}

void findings_commands(const struct finding_case *c, const char *advice, char *text, size_t n) {
  static const char BEGIN[] = "tracekit ";
  struct command_text to = {text, n, 0};
  *text = 0;
  for (const char *p = advice, *at; *p;) {
    at = strstr(p, BEGIN);
    const char *name = at ? at + sizeof BEGIN - 1 : p + strlen(p), *end = name + strcspn(name, " ;");
    put_part(&to, p, (size_t)(end - p));
    if (at) put_inputs(&to, c, name);
    if (at) put_step_name(&to, c->r);
    p = end;
  }
}
