/* cut_binder.c - see cut_binder.h.
 *
 *     client                      server
 *     sent (request) ---------->  received       the client waits; the server works on the reply
 *     received       <----------  sent (reply)
 *
 * Importers show a span for each side. A request opens the span of the client when it is sent, and that of the server when it is
 * received; a reply closes the innermost span of each thread. The receipt of a message is ignored if the trace does not contain its
 * sending. So these events before the range are kept:
 *
 *     - those that opened a span that is still open, and those that sent a message that has not been received
 *     - the event that sent a message whose receipt is kept
 *     - the other end of a span of which one end is kept
 *
 * In a complete trace, these are the events of all calls that have not ended. If the trace lacks events, a reply may close the span of
 * another call. Rules: trace_processor's binder_tracker.cc. */
#include "cut_binder.h"

#include "base/hash.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"

enum step_kind { REQUEST, ONE_WAY, REPLY, RECEIVED, BUFFER };

/* An event. Members that refer to another event contain 1 + its index; 0 = none. */
struct cut_binder_step {
  const uint8_t *at;
  uint64_t message, thread; /* hashes with the machine */
  uint32_t sent;     /* received: the event that sent the message */
  uint32_t other;    /* the other end of the span that this event opened or closed */
  uint32_t below;    /* opened a span: the event that opened the enclosing span of the thread */
  uint32_t buffer;   /* sent: the last event about a buffer of the message; buffer: the one before it */
  enum step_kind kind;
  bool opens;      /* the span that this event opened has not been closed */
  bool waits;      /* the message that this event sent has not been received */
  bool is_kept;
};

struct states {
  struct map messages; /* message -> the event that sent it, until the message is received */
  struct map threads;  /* thread -> the event that opened its innermost span */
};

static enum step_kind step_kind_of(const struct pb_field *content) {
  if (content->number == FTRACE_BINDER_RECEIVED) return RECEIVED;
  if (content->number == FTRACE_BINDER_BUFFER) return BUFFER;
  if (head_number(content, BINDER_SENT_REPLY, 0)) return REPLY;
  return head_number(content, BINDER_SENT_FLAGS, 0) & BINDER_ONE_WAY ? ONE_WAY : REQUEST;
}

void cut_binder_add(struct cut_binder *b, const uint8_t *at, const struct pb_field *content, uint32_t machine, uint64_t tid,
                    int64_t ns) {
  const enum step_kind kind = step_kind_of(content);
  const uint32_t id = kind == RECEIVED ? BINDER_RECEIVED_ID : kind == BUFFER ? BINDER_BUFFER_ID : BINDER_SENT_ID;
  if (!mem_grow(b->mem, (void **)&b->steps, &b->cap, (uint64_t)b->n + 1, sizeof *b->steps) ||
      !mem_grow(b->mem, (void **)&b->times, &b->cap_times, (uint64_t)b->n + 1, sizeof *b->times)) return;
  b->times[b->n] = (struct keyed){ns, b->n};
  b->steps[b->n++] = (struct cut_binder_step){
    .at = at, .message = hash_pair(machine, head_number(content, id, 0)), .thread = hash_pair(machine, tid), .kind = kind};
}

static void open_span(struct cut_binder *b, struct states *c, uint32_t at) {
  uint32_t *top = map_put(&c->threads, b->steps[at].thread, 0);
  if (!top) return;
  b->steps[at].below = *top;
  b->steps[at].opens = true;
  *top = at + 1;
}

static void close_span(struct cut_binder *b, struct states *c, uint32_t at) {
  uint32_t *top = map_get(&c->threads, b->steps[at].thread);
  if (!top || !*top) return;
  struct cut_binder_step *opened = &b->steps[*top - 1];
  b->steps[at].other = *top;
  *top = opened->below;
  opened->other = at + 1;
  opened->opens = false;
}

static void follow_sent(struct cut_binder *b, struct states *c, uint32_t at) {
  uint32_t *message = map_put(&c->messages, b->steps[at].message, 0);
  if (!message) return;
  if (*message) b->steps[*message - 1].waits = false;
  b->steps[at].waits = true;
  *message = at + 1;
  if (b->steps[at].kind == REQUEST) open_span(b, c, at);
  if (b->steps[at].kind == REPLY) close_span(b, c, at);
}

static void follow(struct cut_binder *b, struct states *c, uint32_t at) {
  struct cut_binder_step *step = &b->steps[at];
  if (step->kind != RECEIVED && step->kind != BUFFER) return follow_sent(b, c, at);
  uint32_t *message = map_get(&c->messages, step->message);
  if (!message || !*message) return;
  struct cut_binder_step *sent = &b->steps[*message - 1];
  if (step->kind == BUFFER) {
    step->buffer = sent->buffer;
    sent->buffer = at + 1;
    return;
  }
  step->sent = *message;
  sent->waits = false;
  *message = 0;
  if (sent->kind == REQUEST) open_span(b, c, at);
  if (sent->kind == REPLY) close_span(b, c, at);
}

/* Events to keep whose related events have not been kept yet. */
struct waiting {
  uint32_t *v, n, cap;
};

static void keep_step(struct cut_binder *b, struct waiting *w, uint32_t event) {
  if (!event || b->steps[event - 1].is_kept) return;
  if (!mem_grow(b->mem, (void **)&w->v, &w->cap, (uint64_t)w->n + 1, sizeof *w->v)) return;
  b->steps[event - 1].is_kept = true;
  w->v[w->n++] = event;
}

static void keep_related(struct cut_binder *b, struct waiting *w) {
  while (w->n) {
    const struct cut_binder_step *step = &b->steps[w->v[--w->n] - 1];
    keep_step(b, w, step->sent);
    keep_step(b, w, step->other);
    keep_step(b, w, step->buffer);
  }
}

/* Keeps the events on which the state at the start of the range depends. */
static void keep_all(struct cut_binder *b) {
  struct waiting w = {.n = 0};
  for (uint32_t i = 0; i < b->n; i++)
    if (b->steps[i].opens || b->steps[i].waits) keep_step(b, &w, i + 1);
  keep_related(b, &w);
  mem_free(b->mem, w.v);
}

void cut_binder_find(struct cut_binder *b, struct map *open) {
  struct states c = {.messages.n = 0};
  struct keyed *spare = b->n ? mem_array(b->mem, b->n, sizeof *spare) : NULL;
  const struct keyed *sorted = spare ? keyed_sort(b->times, spare, b->n) : NULL;
  map_init(&c.messages, b->mem);
  map_init(&c.threads, b->mem);
  for (uint32_t i = 0; sorted && i < b->n; i++) follow(b, &c, sorted[i].index);
  keep_all(b);
  for (uint32_t i = 0; i < b->n; i++)
    if (b->steps[i].is_kept) map_put(open, (uint64_t)(uintptr_t)b->steps[i].at, 1);
  map_free(&c.messages);
  map_free(&c.threads);
  mem_free(b->mem, spare);
  mem_free(b->mem, b->times);
  mem_free(b->mem, b->steps);
}
