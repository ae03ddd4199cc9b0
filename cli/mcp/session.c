/* session.c - the Model Context Protocol on standard input and output: JSON-RPC 2.0, one message a line.
 *
 * Each call of a tool runs this program again, as a child with --json. So a crash, an endless query or a trace that needs too much
 * memory fails only one call, not the session. A call is cancelled by ending its process. Calls wait in a queue and run one at a time;
 * other messages are answered at once. */
#include "session.h"

#include "print/json.h"
#include "print/tty.h"
#include "shared/helper.h"
#include "shared/interrupt.h"
#include "shared/run.h"
#include "tools.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 1 << 20, ANSWER = 8 << 20, ERRORS = 4096, QUEUE = 64, TICK_MS = 200 };
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601, INVALID_PARAMS = -32602 };

/* A message, which owns its text. */
struct message {
  char *text;
  struct value_tree tree;
};

struct session {
  const struct session_options *o;
  char *line; /* part of the next message that was read */
  size_t n_line;
  bool skipping, ended; /* skipping: the rest of a too long line is skipped. ended: the client closed its side */
  struct message queue[QUEUE];
  size_t n_queue;
  /* the call that is running */
  bool busy, cancelled;
  struct message now;
  const struct tool *tool;
  struct tool_call call;
  struct helper child;
  char *answer, *errors;
  size_t n_answer, n_errors;
  uint64_t since_ms;
};

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void message_free(struct message *m) {
  value_free(&m->tree);
  free(m->text);
  *m = (struct message){ .text = NULL };
}

/* ---- answers ---- */

static void put_raw(struct json *j, const char *key, const struct value *v) {
  char *text = v ? strndup(v->raw, v->n_raw) : NULL;
  json_raw(j, key, text ? text : "null");
  free(text);
}

static void begin_answer(struct json *j, const struct value *id) {
  *j = (struct json){ .to = stdout, .flat = true };
  json_open(j, NULL, '{');
  json_string(j, "jsonrpc", "2.0");
  put_raw(j, "id", id);
}

static void end_answer(struct json *j) {
  json_close(j, '}');
  fflush(stdout);
}

static void send_error(const struct value *id, int code, const char *text) {
  struct json j;
  begin_answer(&j, id);
  json_open(&j, "error", '{');
  json_int(&j, "code", code);
  json_string(&j, "message", text);
  json_close(&j, '}');
  end_answer(&j);
}

static void put_text(struct json *j, const char *text) {
  json_open(j, "content", '[');
  json_open(j, NULL, '{');
  json_string(j, "type", "text");
  json_string(j, "text", text);
  json_close(j, '}');
  json_close(j, ']');
}

/* Sends the failure of a tool, which the assistant can read and correct. */
static void send_failure(const struct value *id, const char *text) {
  struct json j;
  begin_answer(&j, id);
  json_open(&j, "result", '{');
  put_text(&j, text);
  json_bool(&j, "isError", true);
  json_close(&j, '}');
  end_answer(&j);
}

/* Sends an answer as structured content and again as a string of the same JSON. answer: JSON; left_out: JSON array that
 * describes omitted data, or NULL. */
static void send_result(const struct value *id, const char *answer, const char *left_out, const char *notes) {
  char *whole = NULL;
  size_t n = 0;
  struct json j = { .to = tty_open_text(&whole, &n), .flat = true };
  if (j.to) {
    json_open(&j, NULL, '{');
    json_raw(&j, "answer", answer);
    if (left_out && strlen(left_out) > 3) json_raw(&j, "left_out", left_out);
    if (notes && *notes) json_string(&j, "notes", notes);
    json_close(&j, '}');
  }
  if (!j.to || !tty_close_text(j.to, &whole)) {
    send_failure(id, "out of memory");
    return;
  }
  for (char *p = whole; *p; p++)
    if (*p == '\n') *p = ' ';
  begin_answer(&j, id);
  json_open(&j, "result", '{');
  put_text(&j, whole);
  json_raw(&j, "structuredContent", whole);
  json_bool(&j, "isError", false);
  json_close(&j, '}');
  end_answer(&j);
  free(whole);
}

/* ---- a call ---- */

static const struct value *message_id(const struct message *m) { return value_member(m->tree.root, "id"); }

static void end_call(struct session *s) {
  helper_stop(&s->child);
  tool_free(&s->call);
  message_free(&s->now);
  free(s->answer);
  free(s->errors);
  s->answer = s->errors = NULL;
  s->n_answer = s->n_errors = 0;
  s->busy = s->cancelled = false;
}

/* Returns at most the first `most` bytes of the text as a JSON string, to be freed; NULL if out of memory. */
static char *text_as_json(const char *text, size_t n, size_t most) {
  char *quoted = NULL;
  size_t size = 0;
  struct json j = { .to = tty_open_text(&quoted, &size), .flat = true };
  if (!j.to) return NULL;
  json_text(&j, NULL, text, n < most ? n : most);
  return tty_close_text(j.to, &quoted) ? quoted : NULL;
}

static void send_text(struct session *s) {
  char *text = text_as_json(s->answer ? s->answer : "", s->n_answer, s->call.cut.bytes);
  const bool cut = s->n_answer > s->call.cut.bytes;
  if (text) send_result(message_id(&s->now), text, cut ? "[\"the text was cut; set max_bytes to see more\"]" : NULL, s->errors);
  else send_failure(message_id(&s->now), "out of memory");
  free(text);
}

static void send_json(struct session *s) {
  struct value_tree tree;
  char *notes = NULL, *answer = NULL;
  if (!value_read(&tree, s->answer ? s->answer : "", s->n_answer)) {
    send_failure(message_id(&s->now), "the answer is too large; select less, for example with step, rank, name or limit");
    return;
  }
  answer = cut_answer(tree.root, &s->call.cut, &notes);
  if (answer) send_result(message_id(&s->now), answer, notes, s->errors);
  else send_failure(message_id(&s->now), "the answer does not fit into max_bytes; select less, for example with step or name");
  free(answer);
  free(notes);
  value_free(&tree);
}

/* Sends the answer of the call after its child process has ended. A tool with text output, such as check, may fail and still
 * have an answer. */
static void finish_call(struct session *s) {
  char why[512] = "";
  const bool ok = helper_end(&s->child, why, sizeof why);
  helper_hear(&s->child);
  s->n_errors = s->child.n_log;
  if (s->errors) s->errors[s->n_errors] = 0;
  if (!s->cancelled && (ok || (s->tool->text && s->n_answer))) {
    if (s->tool->text) send_text(s);
    else send_json(s);
  } else if (!s->cancelled) {
    send_failure(message_id(&s->now), s->errors && *s->errors ? s->errors : why);
  }
  end_call(s);
}

static void stop_call(struct session *s, const char *why) {
  if (!s->cancelled) send_failure(message_id(&s->now), why);
  end_call(s);
}

/* Reads the output of the child process. At its end, sends the answer. */
static void hear_child(struct session *s) {
  const ssize_t got = s->n_answer < ANSWER ? read(s->child.out, s->answer + s->n_answer, ANSWER - s->n_answer) : -1;
  if (got > 0) s->n_answer += (size_t)got;
  else if (got == 0) finish_call(s);
  else if (s->n_answer == ANSWER) stop_call(s, "the answer is too large; select less, for example with step, rank, name or limit");
}

/* Returns the path of this program. */
static const char *own_path(char path[PATH_MAX]) {
  const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (n <= 0) return "tracekit";
  path[n] = 0;
  return access(path, X_OK) == 0 ? path : "tracekit";
}

static void start_child(struct session *s) {
  char path[PATH_MAX], limit[48];
  const char *argv[TOOL_WORDS + 3];
  size_t n = 0;
  argv[n++] = own_path(path);
  argv[n++] = s->call.argv[1];
  snprintf(limit, sizeof limit, "--max-memory=%llu", (unsigned long long)s->o->max_memory);
  if (s->o->max_memory) argv[n++] = limit;
  for (size_t i = 2; i < s->call.n; i++) argv[n++] = s->call.argv[i];
  argv[n] = NULL;
  s->answer = malloc(ANSWER);
  s->errors = calloc(1, ERRORS);
  if (!s->answer || !s->errors || !helper_start(&s->child, argv, true)) {
    stop_call(s, "failed to start the command");
    return;
  }
  s->child.name = s->tool->name;
  s->child.log = s->errors;
  s->child.most_log = ERRORS - 1;
  s->since_ms = now_ms();
}

/* Answers a call of a tool that the server does not run: sends the command line, quoted for a shell, so that the user can run it. */
static void send_command(struct session *s) {
  char *line = NULL, *quoted;
  size_t n = 0;
  FILE *to = tty_open_text(&line, &n);
  for (size_t i = 0; to && i < s->call.n; i++) {
    fputs(i ? " '" : "'", to);
    for (const char *p = s->call.argv[i]; *p; p++) fputs(*p == '\'' ? "'\\''" : (char[]){ *p, 0 }, to);
    fputc('\'', to);
  }
  quoted = to && tty_close_text(to, &line) ? text_as_json(line, strlen(line), n) : NULL;
  if (quoted) send_result(message_id(&s->now), quoted, NULL, NULL);
  else send_failure(message_id(&s->now), "out of memory");
  free(line);
  free(quoted);
  end_call(s);
}

static void start_call(struct session *s, struct message m) {
  const struct value *params = value_member(m.tree.root, "params");
  char *name = value_text(value_member(params, "name"));
  s->tool = name ? tool_find(name) : NULL;
  s->now = m;
  s->busy = true;
  free(name);
  if (!s->tool) {
    send_error(message_id(&m), INVALID_PARAMS, "unknown tool; see tools/list");
    end_call(s);
    return;
  }
  s->call = (struct tool_call){ .n = 0 };
  const struct command *c = opt_find_command(s->o->commands, s->tool->name);
  if (!tool_words(s->tool, c, s->o->roots, value_member(params, "arguments"), &s->call)) stop_call(s, s->call.why);
  else if (s->tool->shown) send_command(s);
  else start_child(s);
}

/* ---- other messages ---- */

static void answer_initialize(const struct value *id, const struct value *params) {
  static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
  char *asked = value_text(value_member(params, "protocolVersion"));
  const char *version = versions[0];
  struct json j;
  for (size_t i = 0; asked && i < sizeof versions / sizeof *versions; i++)
    if (strcmp(asked, versions[i]) == 0) version = versions[i];
  free(asked);
  begin_answer(&j, id);
  json_open(&j, "result", '{');
  json_string(&j, "protocolVersion", version);
  json_raw(&j, "capabilities", "{\"tools\": {}}");
  json_open(&j, "serverInfo", '{');
  json_string(&j, "name", "tracekit");
  json_string(&j, "version", TK_VERSION);
  json_close(&j, '}');
  json_string(&j, "instructions", "Answers questions about profiler traces of machine-learning programs. Begin with list, then "
                                  "report: its findings say what is slow and why. top, tree and sql give details, diff compares "
                                  "two runs. Long lists are cut; left_out says how to see the rest.");
  json_close(&j, '}');
  end_answer(&j);
}

static void answer_list(const struct session *s, const struct value *id) {
  const struct tool *t;
  struct json j;
  begin_answer(&j, id);
  json_open(&j, "result", '{');
  json_open(&j, "tools", '[');
  for (size_t i = 0; (t = tool_at(i)) != NULL; i++) tool_describe(t, opt_find_command(s->o->commands, t->name), &j);
  json_close(&j, ']');
  json_close(&j, '}');
  end_answer(&j);
}

static void answer_ping(const struct value *id) {
  struct json j;
  begin_answer(&j, id);
  json_raw(&j, "result", "{}");
  end_answer(&j);
}

static bool is_same(const struct value *a, const struct value *b) {
  return a && b && a->n_raw == b->n_raw && memcmp(a->raw, b->raw, a->n_raw) == 0;
}

/* Cancels the call with the given requestId, running or queued. The call gets no answer. */
static void cancel(struct session *s, const struct value *params) {
  const struct value *id = value_member(params, "requestId");
  size_t kept = 0;
  for (size_t i = 0; i < s->n_queue; i++) {
    if (is_same(message_id(&s->queue[i]), id)) message_free(&s->queue[i]);
    else s->queue[kept++] = s->queue[i];
  }
  s->n_queue = kept;
  if (!s->busy || !is_same(message_id(&s->now), id)) return;
  s->cancelled = true;
  end_call(s);
}

/* Handles a message. Returns true if it was put into the queue, which then owns it. */
static bool handle(struct session *s, const struct message *m) {
  const struct value *root = m->tree.root, *id = value_member(root, "id"), *params = value_member(root, "params");
  char *method = value_text(value_member(root, "method"));
  const bool is_request = id && (id->kind == VALUE_NUMBER || id->kind == VALUE_STRING);
  bool kept = false;
  if (root->kind != VALUE_OBJECT || !method || (id && !is_request)) {
    const bool is_answer = !method && (value_member(root, "result") || value_member(root, "error"));
    if (!is_answer) send_error(is_request ? id : NULL, INVALID_REQUEST, "invalid request");
  } else if (!is_request) {
    if (strcmp(method, "notifications/cancelled") == 0) cancel(s, params);
  } else if (strcmp(method, "initialize") == 0) {
    answer_initialize(id, params);
  } else if (strcmp(method, "ping") == 0) {
    answer_ping(id);
  } else if (strcmp(method, "tools/list") == 0) {
    answer_list(s, id);
  } else if (strcmp(method, "tools/call") != 0) {
    send_error(id, NO_METHOD, "unknown method");
  } else if (s->n_queue == QUEUE) {
    send_failure(id, "too many calls are waiting; try again later");
  } else {
    s->queue[s->n_queue++] = *m;
    kept = true;
  }
  free(method);
  return kept;
}

static void handle_text(struct session *s, const char *text, size_t n) {
  struct message m = { .text = strndup(text, n) };
  if (!m.text || memchr(text, 0, n) || !value_read(&m.tree, m.text, n)) {
    send_error(NULL, PARSE_ERROR, "not a JSON text of at most 1 MiB");
    free(m.text);
    return;
  }
  if (!handle(s, &m)) message_free(&m);
}

/* Handles a line: a message, or a batch of messages (only in protocol version 2025-03-26), each of which gets its own
 * answer. */
static void handle_line(struct session *s, const char *line, size_t n) {
  struct value_tree tree;
  while (n && (line[n - 1] == '\r' || line[n - 1] == ' ')) n--;
  if (n == 0) return;
  if (*line != '[' || !value_read(&tree, line, n)) {
    handle_text(s, line, n);
    return;
  }
  if (tree.root->n == 0) send_error(NULL, INVALID_REQUEST, "an empty batch");
  for (const struct value *v = tree.root->child; v; v = v->next) handle_text(s, v->raw, v->n_raw);
  value_free(&tree);
}

/* ---- the loop ---- */

/* Handles the complete lines that were read and, at the end of the input, an unterminated last line. */
static void handle_lines(struct session *s) {
  char *from = s->line, *end = s->line + s->n_line, *stop;
  while ((stop = memchr(from, '\n', (size_t)(end - from))) != NULL) {
    if (!s->skipping) handle_line(s, from, (size_t)(stop - from));
    s->skipping = false;
    from = stop + 1;
  }
  s->n_line = (size_t)(end - from);
  memmove(s->line, from, s->n_line);
  if (s->ended && !s->skipping) handle_line(s, s->line, s->n_line);
  if (s->n_line < LINE) return;
  if (!s->skipping) send_error(NULL, PARSE_ERROR, "not a JSON text of at most 1 MiB");
  s->skipping = true;
  s->n_line = 0;
}

static void hear_client(struct session *s) {
  const ssize_t got = read(STDIN_FILENO, s->line + s->n_line, LINE - s->n_line);
  if (got < 0 && errno == EINTR) return;
  if (got > 0) s->n_line += (size_t)got;
  else s->ended = true;
  handle_lines(s);
}

static void wait_for_more(struct session *s) {
  struct pollfd all[] = { { .fd = s->ended ? -1 : STDIN_FILENO, .events = POLLIN },
                          { .fd = s->busy ? s->child.out : -1, .events = POLLIN },
                          { .fd = s->busy ? s->child.err : -1, .events = POLLIN } };
  if (poll(all, 3, TICK_MS) < 0) return;
  if (all[2].revents) helper_hear(&s->child);
  if (all[1].revents) hear_child(s);
  if (all[0].revents) hear_client(s);
}

static void start_next(struct session *s) {
  struct message m = s->queue[0];
  memmove(s->queue, s->queue + 1, --s->n_queue * sizeof *s->queue);
  start_call(s, m);
}

int session_serve(const struct session_options *options) {
  struct session s = { .o = options, .line = malloc(LINE + 1), .child = { .out = -1, .err = -1 } };
  if (!s.line) return run_no_memory();
  while (!interrupt_signal() && !ferror(stdout) && (!s.ended || s.busy || s.n_queue)) {
    wait_for_more(&s);
    while (!s.busy && s.n_queue) start_next(&s);
    if (s.busy && now_ms() - s.since_ms > options->timeout_ms) stop_call(&s, "the call took too long and was ended; select less");
  }
  if (s.busy) end_call(&s);
  while (s.n_queue) message_free(&s.queue[--s.n_queue]);
  free(s.line);
  return interrupt_signal() ? STATUS_SIGNALLED + interrupt_signal() : STATUS_DONE;
}
