/* site.c - see site.h.
 *
 *     /TOKEN/          the page; also page.css, page.js and info
 *     /TOKEN/trace     the file for the viewer
 *     /TOKEN/report    the page of tracekit report about the file
 *     /TOKEN/ui/...    a viewer's own files
 *     /TOKEN/alive     a connection that stays open, which shows the server that a page is open
 *     /TOKEN/done      POST: the viewer has the trace
 *
 * Addresses without the correct token all get the same reply. */
#include "site.h"

#include "print/json.h"
#include "print/tty.h"
#include "report/script.h"
#include "page.h"
#include "peer.h"
#include "make.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RELOAD_MS = 3000 }; /* if the page returns within this time, it was only reloaded */

/* Reads random bytes from /dev/urandom, because wheels support C libraries that have no function for them yet. */
static bool draw(unsigned char *bytes, size_t n) {
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const bool ok = fd >= 0 && read(fd, bytes, n) == (ssize_t)n;
  if (fd >= 0) close(fd);
  return ok;
}

bool view_visit_begin(struct view_visit *v) {
  unsigned char bytes[VIEW_TOKEN / 2];
  if (!draw(bytes, sizeof bytes)) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(v->token + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

void view_visit_end(struct view_visit *v) {
  free(v->report);
  free(v->info);
  v->report = v->info = NULL;
}

/* ---- addresses ---- */

/* Stores the part of the path after "/TOKEN/". Returns false for any other address. Takes the same time for all wrong tokens. */
static bool below_token(const struct view_visit *v, struct view_text path, struct view_text *rest) {
  unsigned char other = 0;
  if (path.n < VIEW_TOKEN + 2 || path.p[VIEW_TOKEN + 1] != '/') return false;
  for (size_t i = 0; i < VIEW_TOKEN; i++) other |= (unsigned char)(path.p[i + 1] ^ v->token[i]);
  *rest = (struct view_text){ path.p + VIEW_TOKEN + 2, path.n - VIEW_TOKEN - 2 };
  return other == 0;
}

/* ---- contents ---- */

static const char *viewer_of(const struct view_visit *v) {
  switch (v->p->with) {
    case VIEW_REPORT: return "report";
    case VIEW_SPEEDSCOPE: return "speedscope";
    default: return v->p->ui ? "local" : "hosted";
  }
}

/* Writes v->info, the JSON that describes the trace to the page. */
static bool write_info(struct view_visit *v) {
  const struct view_made *made = v->made;
  FILE *to = tty_open_text(&v->info, &v->info_size);
  struct json j = { .to = to };
  if (!to) return false;
  json_open(&j, NULL, '{');
  json_string(&j, "title", made->title);
  json_string(&j, "name", made->name);
  json_string(&j, "format", made->format->title);
  json_uint(&j, "bytes", made->bytes.n);
  json_uint(&j, "events", made->events);
  json_uint(&j, "events_before", made->events_before);
  json_raw(&j, "left_out", made->left_out);
  json_raw(&j, "rows", made->rows);
  json_raw(&j, "opening", made->opening);
  json_string(&j, "viewer", viewer_of(v));
  json_bool(&j, "local", v->ui != NULL);
  json_close(&j, '}');
  return tty_close_text(to, &v->info);
}

static void give(struct view_reply *reply, const char *type, const void *body, size_t size) {
  *reply = (struct view_reply){ .status = 200, .type = type, .body = body, .size = size };
}

static void give_info(struct view_visit *v, struct view_reply *reply) {
  if (v->info || write_info(v)) give(reply, "application/json", v->info, v->info_size);
}

static void give_report(struct view_visit *v, struct view_reply *reply) {
  if (!v->report) v->report = view_report(v->p, v->made, &v->report_size);
  if (!v->report) return;
  give(reply, "text/html; charset=utf-8", v->report, v->report_size);
  reply->policy = "default-src 'none'; style-src 'unsafe-inline'; script-src '" SCRIPT_HASH "'; img-src data:; "
                  "frame-ancestors 'self'";
}

static void give_trace(const struct view_visit *v, struct view_reply *reply) {
  give(reply, "application/octet-stream", v->made->bytes.p, v->made->bytes.n);
  reply->name = v->made->name;
}

static void hold(struct view_reply *reply) {
  give(reply, "text/plain; charset=utf-8", NULL, 0);
  reply->hold = true;
}

static bool begins_with(struct view_text *text, const char *word) {
  const size_t n = strlen(word);
  if (text->n < n || memcmp(text->p, word, n) != 0) return false;
  text->p += n;
  text->n -= n;
  return true;
}

/* Replies to a GET. The initial status 500 remains if the contents cannot be made. */
static void get(struct view_visit *v, struct view_text name, struct view_reply *reply) {
  reply->status = 500;
  if (view_page_answer(name, reply)) return;
  if (view_text_is(name, "info")) give_info(v, reply);
  else if (view_text_is(name, "trace")) give_trace(v, reply);
  else if (view_text_is(name, "report")) give_report(v, reply);
  else if (view_text_is(name, "alive")) hold(reply);
  else if (!begins_with(&name, "ui/") || !v->ui || !view_ui_answer(v->ui, name, reply)) reply->status = 404;
}

static void post(struct view_visit *v, struct view_text name, struct view_reply *reply) {
  if (!view_text_is(name, "done")) return;
  v->has_the_trace = true;
  reply->status = 204;
}

static void answer(void *arg, const struct view_request *r, struct view_reply *reply) {
  struct view_visit *v = arg;
  struct view_text name = { NULL, 0 };
  const bool known = below_token(v, r->path, &name);
  *reply = (struct view_reply){ .status = 405 };
  if (!view_allowed(r, known && name.n == 0)) reply->status = 403;
  else if (!known) reply->status = 404;
  else if (view_is_other_user(r->client)) reply->status = 403;
  else if (r->method == VIEW_GET || r->method == VIEW_HEAD) get(v, name, reply);
  else if (r->method == VIEW_POST) post(v, name, reply);
}

/* ---- the end ---- */

/* True if the viewer has the trace, or if the page was open and has been closed for RELOAD_MS. Always false with --keep. */
static bool is_over(void *arg, unsigned held) {
  struct view_visit *v = arg;
  if (v->p->keep) return false;
  if (held) v->was_open = true, v->closed_ms = 0;
  else if (v->was_open && !v->closed_ms) v->closed_ms = view_now_ms();
  return v->has_the_trace || (v->closed_ms && view_now_ms() - v->closed_ms > RELOAD_MS);
}

struct view_site view_visit_site(struct view_visit *v) { return (struct view_site){ answer, is_over, v }; }
