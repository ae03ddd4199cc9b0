/* chunks.c - reads a long line of an XPlane file with several threads (format/chunks.h).
 *
 *     line    name  event event event ... event event event | event event event event ... timestamp
 *                   main reader learns    chunk             | chunk                       main reader
 *
 * Events contain their lengths, so the line can be cut between two events. Events refer to tables of their plane by arbitrary
 * ids. The reader of a chunk has a copy of the ids that the main reader has found so far; it stops at new ids and at unusual
 * events, which the main reader handles. */
#include <string.h>

#include "chunks.h"
#include "reader.h"
#include "event.h"
#include "alike.h"

enum { TAG_EVENT = PB_KEY(XLINE_EVENTS, PB_BYTES) };

/* Returns the length of the event at p, and in *head the number of bytes before its content; 0 if there is no event, or if it
 * is not complete before `end`. */
static size_t event_at(const uint8_t *p, const uint8_t *end, size_t *head) {
  struct pb c = pb_over(p, (size_t)(end - p));
  uint64_t n;
  if (c.p == c.end || *c.p++ != TAG_EVENT || !pb_varint(&c, &n) || n > (size_t)(end - c.p)) return 0;
  *head = (size_t)(c.p - p);
  return *head + (size_t)n;
}

static size_t find_cut(const uint8_t *text, size_t n) {
  size_t at = 0, size, head;
  while ((size = event_at(text + at, text + n, &head)) > 0) at += size;
  return at;
}

/* Reads the event at the cursor with the general code. The cursor does not move if the main reader must handle the event. */
static bool plain_event(struct xplane_reader *r, const struct xplane_line *line) {
  const uint8_t *const from = r->s.p;
  const uint32_t n_strings = r->t->store->strings.n;
  size_t head;
  const size_t size = event_at(from, r->s.end, &head);
  r->s.p += size;
  if (size && xplane_read_event_apart(r, line, from + head, size - head)) return true;
  intern_forget(&r->t->store->strings, n_strings);
  r->s.p = from;
  return false;
}

static void read_chunk(struct chunk *c) {
  struct xplane_reader *r = c->reader;
  const struct xplane_line line = {.track = r->track};
  r->s = (struct pb_in){.base = c->text, .p = c->text, .end = c->text + c->size, .base_offset = c->offset, .last = true};
  do xplane_read_alike(r, &line, c->offset + c->size, UINT32_MAX);
  while (r->s.p < r->s.end && plain_event(r, &line));
  c->read = (size_t)(r->s.p - c->text);
}

static bool begin_chunk(struct chunk *c, const void *one) {
  struct xplane_reader *r = c->reader;
  struct mem *mem = &c->fragment.t->store->mem;
  memcpy(r, one, sizeof *r);
  r->t = c->fragment.t;
  r->err = &c->err;
  r->planes = r->lines = r->classes = r->space = r->line_fields = (struct buf){0}; /* these tables belong to the main reader */
  r->text = r->event_fields = (struct buf){.mem = mem};
  r->stat_bytes = 0;
  r->chunks = NULL;
  r->apart = true;
  return true;
}

static void end_chunk(struct chunk *c) {
  struct xplane_reader *r = c->reader;
  buf_free(&r->text);
  buf_free(&r->event_fields);
}

static void chunk_joined(struct chunk *c, void *one, tk_id events, tk_id points) {
  struct xplane_reader *r = c->reader, *of = one;
  (void)events, (void)points;
  of->stat_bytes += r->stat_bytes;
  r->stat_bytes = 0;
}

static bool tick(void *one) { return xplane_tick(one); }

static const struct chunks_of CHUNKS = {.reader_size = sizeof(struct xplane_reader),
                                        .cut = find_cut,
                                        .begin = begin_chunk,
                                        .end = end_chunk,
                                        .read = read_chunk,
                                        .joined = chunk_joined,
                                        .tick = tick};

bool xplane_chunks_start(struct xplane_reader *r) {
  return r->opt->no_templates || chunks_start(&r->chunks, &CHUNKS, r->t, r->opt->threads, r->opt->chunk);
}

/* True if enough of the line is left. A short remainder is read faster without threads. */
bool xplane_chunks_are_due(const struct xplane_reader *r, uint64_t end) {
  const uint64_t at = pb_in_offset(&r->s);
  return chunks_are_due(r->chunks, at) && end > at && end - at >= 2 * (uint64_t)chunks_least(r->chunks);
}

bool xplane_chunks_read(struct xplane_reader *r, tk_id track, uint64_t end) {
  struct pb_in *s = &r->s;
  const uint64_t most = end - pb_in_offset(s);
  in_consume(s->in, (size_t)(s->p - s->base));
  r->track = track;
  const bool ok = chunks_read(r->chunks, r, s->in, most, r->err);
  const bool last = s->last; /* repairs depend on whether the input ends */
  *s = (struct pb_in){.in = s->in, .err = s->err};
  if (!ok || !pb_in_ahead(s, 1)) return false;
  s->last |= last;
  s->header = pb_in_offset(s);
  return true;
}
