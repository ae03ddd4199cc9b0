/* atrace.c - reads events that programs wrote to the kernel's trace_marker (format/perfetto/atrace_text.h).
 *
 * Async spans pair by name (or track) and cookie: these become the scope and the id of async events. */
#include "atrace.h"

#include "graph/args.h"

static tk_id text_of(struct perfetto *r, struct atrace_part s) { return perfetto_text(r, s.p, s.n); }

/* ---- events of a thread ---- */

static void thread_event(struct perfetto *r, const struct atrace_at *at, uint32_t thread, enum tk_kind kind, tk_id name) {
  struct tk_event *e = proc_event(r, thread, ON_TRACK, at->time);
  e->kind = (uint8_t)kind;
  e->cls = trace_class(r->t, name, 0);
  r->nodes[thread].has_slices = true;
  r->t->counts.by_phase[kind == TK_EVENT_BEGIN ? 'B' : kind == TK_EVENT_END ? 'E' : 'i']++;
}

static bool on_thread(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e) {
  const bool is_end = e->phase == 'E', is_begin = e->phase == 'B';
  if (is_end && e->pid == ATRACE_NO_PID && !proc_find_thread(r, at->machine, at->tid)) return false;
  const uint32_t thread = proc_thread(r, at->machine, at->tid, e->pid);
  tk_id name = is_end ? 0 : text_of(r, e->name);
  if (is_begin && e->name.n == 0) name = trace_text(r->t, "[empty slice name]"); /* the text that trace_processor shows */
  if (thread) thread_event(r, at, thread, is_end ? TK_EVENT_END : is_begin ? TK_EVENT_BEGIN : TK_EVENT_INSTANT, name);
  return thread != 0;
}

/* ---- events of a process ---- */

static uint32_t process_of(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e) {
  return proc_process(r, at->machine, e->pid == ATRACE_NO_PID ? 0 : e->pid);
}

static bool counter(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e) {
  const uint32_t node = proc_counter(r, at->machine, process_of(r, at, e), text_of(r, e->name), 0);
  if (node) proc_sample(r, node, at->time, e->value);
  return node != 0;
}

static uint32_t identity(struct perfetto *r, const struct atrace_text *e) {
  args_begin(r->t);
  args_int(r->t, KEY_ID, e->value);
  args_str(r->t, KEY_SCOPE, TK_ARG_STR, text_of(r, e->track.p ? e->track : e->name));
  return args_end(r->t);
}

static bool async(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e) {
  const bool is_end = e->phase == 'F' || e->phase == 'H', is_instant = e->phase == 'N';
  const uint32_t process = process_of(r, at, e), args = identity(r, e);
  if (!process) return false;
  struct tk_event *event = proc_event(r, process, ON_ASYNCS, at->time);
  event->kind = is_instant ? TK_EVENT_INSTANT : is_end ? TK_EVENT_END : TK_EVENT_BEGIN;
  event->cls = trace_class(r->t, e->name.n ? text_of(r, e->name) : 0, 0);
  event->flags = TK_FLAG_ASYNC;
  event->args = args;
  r->t->counts.by_phase[is_instant ? 'n' : is_end ? 'e' : 'b']++;
  return true;
}

bool atrace_add(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e) {
  switch (e->phase) {
  case 'B':
  case 'E':
  case 'I': return on_thread(r, at, e);
  case 'C': return counter(r, at, e);
  default: return async(r, at, e);
  }
}

bool atrace_read(struct perfetto *r, const struct atrace_at *at, const uint8_t *p, size_t n) {
  struct atrace_text e;
  return atrace_text(&e, p, n) && atrace_add(r, at, &e);
}
