/* cut_binder.c - see cut_binder.h.
 *
 *     client                      server
 *     sent (request) ---------->  received       the client waits; the server works on the reply
 *     received       <----------  sent (reply)
 *
 * Importers show a span for each side, and need all earlier events of a call to show the later ones: a reply without its request closes
 * another span of the thread. So a call that has not ended before the range stays whole. A reply belongs to the request that its thread
 * received last. A one-way request ends when it is received. Rules: trace_processor's binder_tracker.cc. */
#include "cut_binder.h"

#include "base/hash.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"

enum step_kind { REQUEST, ONE_WAY, REPLY, RECEIVED, BUFFER };
struct cut_binder_step {
  const uint8_t *at;
  uint64_t message, thread; /* hashes with the machine */
  uint32_t previous;        /* 1 + index of the previous step of this call */
  enum step_kind kind;
};

struct call {
  uint32_t last;  /* 1 + index of its last step */
  uint32_t below; /* 1 + index of the call that its server received before, and has not replied to */
  enum step_kind sent;
  bool has_ended;
};

struct calls {
  struct call *of;
  struct map messages; /* message -> 1 + index of its call, until it is received */
  struct map servers;  /* thread -> 1 + index of the call to which it replies next */
  uint32_t n, cap;
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

/* Returns 1 + the index of a new call, or 0 when memory runs out. */
static uint32_t add_call(struct cut_binder *b, struct calls *c) {
  if (!mem_grow(b->mem, (void **)&c->of, &c->cap, (uint64_t)c->n + 1, sizeof *c->of)) return 0;
  c->of[c->n] = (struct call){.has_ended = false};
  return ++c->n;
}

/* Removes the call to which the thread replies next, and returns 1 + its index, or 0. */
static uint32_t take_reply(struct calls *c, uint64_t thread) {
  uint32_t *top = map_get(&c->servers, thread);
  if (!top || !*top) return 0;
  const uint32_t call = *top;
  *top = c->of[call - 1].below;
  return call;
}

/* Notes that the message of a call was received: the call ends, or the thread will reply to it. */
static void receive(struct calls *c, const struct cut_binder_step *step, uint32_t *message) {
  struct call *call = &c->of[*message - 1];
  uint32_t *top = call->sent == REQUEST ? map_put(&c->servers, step->thread, 0) : NULL;
  call->has_ended = call->sent != REQUEST;
  if (top) call->below = *top, *top = *message;
  *message = 0;
}

static void follow(struct cut_binder *b, struct calls *c, uint32_t at) {
  struct cut_binder_step *step = &b->steps[at];
  const bool is_sent = step->kind != RECEIVED && step->kind != BUFFER;
  uint32_t *message = is_sent ? map_put(&c->messages, step->message, 0) : map_get(&c->messages, step->message);
  if (!message) return;
  if (is_sent) *message = step->kind == REPLY ? take_reply(c, step->thread) : 0;
  if (is_sent && !*message) *message = add_call(b, c);
  if (!*message) return;
  struct call *call = &c->of[*message - 1];
  step->previous = call->last;
  call->last = at + 1;
  if (is_sent) call->sent = step->kind;
  if (step->kind == RECEIVED) receive(c, step, message);
}

void cut_binder_find(struct cut_binder *b, struct map *open) {
  struct calls c = {.n = 0};
  struct keyed *spare = b->n ? mem_array(b->mem, b->n, sizeof *spare) : NULL;
  const struct keyed *sorted = spare ? keyed_sort(b->times, spare, b->n) : NULL;
  map_init(&c.messages, b->mem);
  map_init(&c.servers, b->mem);
  for (uint32_t i = 0; sorted && i < b->n; i++) follow(b, &c, sorted[i].index);
  for (uint32_t i = 0; i < c.n; i++)
    for (uint32_t at = c.of[i].has_ended ? 0 : c.of[i].last; at; at = b->steps[at - 1].previous)
      map_put(open, (uint64_t)(uintptr_t)b->steps[at - 1].at, 1);
  map_free(&c.messages);
  map_free(&c.servers);
  mem_free(b->mem, c.of);
  mem_free(b->mem, spare);
  mem_free(b->mem, b->times);
  mem_free(b->mem, b->steps);
}
