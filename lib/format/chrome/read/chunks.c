/* chunks.c - reads a large Chrome JSON file with several threads (format/chunks.h): text is cut where an event seems to
 * start.
 *
 *     ... {event} | , {event} , {event} | , {event} , {event} , {eve...
 *                 |<----- chunk 1 ----->|<----- chunk 2 ------->| */
#include <string.h>

#include "chunks.h"
#include "reader.h"
#include "event.h"

enum {
  LOOK_BACK = 64 << 10, /* bytes to search backwards for the start of an event */
  ALIKE = 6             /* length of the common start of events: `{"ph":` */
};

/* Reads the next event by the general path; leaves j.p unchanged if something else follows. */
static bool plain_event(struct chrome *r) {
  const uint8_t *const from = r->j.p;
  const uint32_t n_strings = r->t->store->strings.n;
  const bool ok = chrome_between(r) && *r->j.p == '{' && chrome_event(r);
  if (ok) {
    r->t->counts.read++;
    chrome_keep_fixes(r);
  } else {
    r->j.p = from;
    intern_forget(&r->t->store->strings, n_strings);
  }
  return ok;
}

static void read_chunk(struct chunk *c) {
  struct chrome *r = c->reader;
  r->base = r->j.p = c->text;
  r->base_offset = c->offset;
  r->j.end = c->text + c->size;
  r->j.status = JSON_OK;
  r->j.n_fixes = 0;
  do chrome_predicted_events(r);
  while (r->j.p < r->j.end && plain_event(r));
  c->read = (size_t)(r->j.p - c->text);
}

/* Returns the position after the last event that seems to end in text[0, n); 0 if there is none. The text starts after an event. Nested
 * objects may look like events, so the function prefers a position whose next event starts with the same bytes as the first event in
 * the text. */
static size_t find_cut(const uint8_t *text, size_t n) {
  const size_t least = n > LOOK_BACK ? n - LOOK_BACK : 1;
  const uint8_t *const first = memchr(text, '{', n);
  size_t found = 0;
  for (size_t i = n - 1; first && i > least; i--) {
    size_t end = i;
    if (text[i] != '{' || n - i <= ALIKE || !chrome_looks_like_event(text + i, text + n)) continue;
    while (end > 1 && json_is_space(text[end - 1])) end--;
    if (text[end - 1] == ',') end--; /* the comma is optional with one event per line */
    while (end > 1 && json_is_space(text[end - 1])) end--;
    if (end == 0 || text[end - 1] != '}') continue;
    if (memcmp(text + i, first, ALIKE) == 0) return end;
    if (!found) found = end;
  }
  return found;
}

static bool begin_chunk(struct chunk *c, const void *one) {
  const struct chrome *of = one;
  struct chrome *r = c->reader;
  *r = (struct chrome){.t = c->fragment.t, .err = &c->err, .opt = of->opt, .apart = true};
  if (!chrome_reader_init(r)) return false;
  r->lines = of->lines;
  r->has_origin = true;
  r->origin_ns = of->origin_ns;
  r->origin_ps = of->origin_ps;
  r->lanes = of->lanes;
  return true;
}

static void end_chunk(struct chunk *c) {
  struct chrome *r = c->reader;
  r->lanes = (struct map){0}; /* the table belongs to the sequential reader */
  chrome_reader_free(r);
}

static void chunk_joined(struct chunk *c, void *one, tk_id events, tk_id points) {
  struct chrome *r = c->reader;
  for (uint32_t i = 0; i < r->n_pending; i++) {
    struct pending p = r->pending[i];
    p.at += p.kind == PENDING_FLOW ? points : events;
    chrome_add_pending(one, p);
  }
  r->n_pending = 0;
}

static bool tick(void *one) { return chrome_tick(one); }

static const struct chunks_of CHUNKS = {.reader_size = sizeof(struct chrome),
                                        .cut = find_cut,
                                        .tail = LOOK_BACK,
                                        .begin = begin_chunk,
                                        .end = end_chunk,
                                        .read = read_chunk,
                                        .joined = chunk_joined,
                                        .tick = tick};

bool chrome_chunks_start(struct chrome *r) {
  return chunks_start(&r->chunks, &CHUNKS, r->t, r->opt->threads, r->opt->chunk);
}

bool chrome_chunks_are_due(const struct chrome *r) { return r->has_origin && chunks_are_due(r->chunks, chrome_offset(r, r->j.p)); }

bool chrome_chunks_read(struct chrome *r) {
  in_consume(r->in, (size_t)(r->j.p - r->base));
  r->base = r->j.p;
  return chunks_read(r->chunks, r, r->in, UINT64_MAX, r->err) && chrome_refill(r, r->base, 1);
}
