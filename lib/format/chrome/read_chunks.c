/* read_chunks.c - a large file by several threads.
 *
 * The text is cut where an event seems to begin, and each chunk is read by itself, into a fragment (graph/fragment.h):
 *
 *     ... {event} | , {event} , {event} | , {event} , {event} , {eve...
 *                 |<----- chunk 1 ----->|<----- chunk 2 ------->|
 *
 * A chunk that was read from behind an event to its very end proves that the next one begins behind an event, too.  So chunks join
 * in their order, as far as they hold nothing but sound events: what comes then (metadata, damage, the end of the array, a place that
 * only looked like the beginning of an event) goes back into the input, with all that was cut behind it, and the one reader that
 * there was before goes on from there.  It alone decides what is repaired, and what a name means; and the trace does not depend on the
 * number of threads, nor on where the text was cut.
 *
 * A file that sends chunks back again and again is left to the one reader for longer each time. */
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "base/os.h"
#include "graph/fragment.h"
#include "reader.h"

enum {
  CHUNK = 1 << 20,
  TABLES = 8 << 20,     /* bytes that a chunk copies of the trace's tables, at most */
  SHARE = 8,            /* all chunks together take this part of what memory is allowed, at most */
  MANY = 16,            /* chunks that are read without a failure: the file deserves another try soon */
  LOOK_BACK = 64 << 10, /* for the beginning of an event */
  ALIKE = 6             /* bytes in which events begin alike: `{"ph":` */
};

struct chunk {
  struct fragment fragment;
  struct chrome r;
  struct tk_err err;
  uint8_t *text; /* [size], and the pad of an input */
  size_t size, read;
  unsigned round; /* in which it was prepared; 0 = never */
};

struct chunks {
  struct mem *mem;
  struct jobs *jobs;    /* NULL = not needed yet */
  unsigned threads;     /* beside this one */
  size_t size;          /* of a chunk */
  uint64_t from;        /* where it is worth to try again */
  uint64_t patience;    /* how far behind the next failure that will be */
  unsigned round;       /* counts turns of these threads */
  unsigned given, taken; /* chunks; count on without wrapping */
  unsigned n;
  struct chunk v[];
};

/* ---- one chunk, by any thread ---- */

/* One event behind a comma by the general path; j.p stays where it is if that is not what follows. */
static bool plain_event(struct chrome *r) {
  const uint8_t *const from = r->j.p;
  const uint32_t n_strings = r->t->store->strings.n;
  while (json_is_space(*r->j.p)) r->j.p++;
  bool ok = *r->j.p == ',';
  r->j.p += ok;
  while (json_is_space(*r->j.p)) r->j.p++;
  ok = ok && *r->j.p == '{' && chrome_event(r);
  if (ok) {
    r->t->counts.read++;
    chrome_keep_fixes(r);
  } else {
    r->j.p = from;
    intern_forget(&r->t->store->strings, n_strings);
  }
  return ok;
}

static void read_chunk(void *job) {
  struct chunk *c = job;
  struct chrome *r = &c->r;
  r->base = r->j.p = c->text;
  r->j.end = c->text + c->size;
  r->j.status = JSON_OK;
  r->j.n_fixes = 0;
  do chrome_predicted_events(r);
  while (r->j.p < r->j.end && plain_event(r));
  c->read = (size_t)(r->j.p - c->text);
}

/* ---- where to cut ---- */

/* Behind the event that seems to end last in text[0, n), which itself begins behind an event; 0 = none seems to.  Nested objects may
 * begin as events do: the last place counts from which the text goes on as it begins, or else the last one. */
static size_t find_cut(const uint8_t *text, size_t n) {
  const size_t least = n > LOOK_BACK ? n - LOOK_BACK : 1;
  const uint8_t *const first = memchr(text, '{', n);
  size_t found = 0;
  for (size_t i = n - 1; first && i > least; i--) {
    size_t end = i;
    if (text[i] != '{' || n - i <= ALIKE || !chrome_looks_like_event(text + i, text + n)) continue;
    while (end > 1 && json_is_space(text[end - 1])) end--;
    if (text[--end] != ',') continue;
    while (end > 1 && json_is_space(text[end - 1])) end--;
    if (end == 0 || text[end - 1] != '}') continue;
    if (memcmp(text + i, first, ALIKE) == 0) return end;
    if (!found) found = end;
  }
  return found;
}

static void release_reader(struct chunk *c) {
  c->r.lanes = (struct map){0}; /* those of the one reader */
  if (c->round) chrome_reader_free(&c->r);
  c->round = 0;
}

/* The chunk begins with all that the trace has by now. */
static bool prepare(struct chunks *s, struct chunk *c, const struct chrome *r) {
  if (c->round == s->round && !fragment_is_outgrown(&c->fragment, r->t)) return true;
  release_reader(c);
  c->r = (struct chrome){.t = c->fragment.t, .err = &c->err, .opt = r->opt, .apart = true};
  const bool fits = fragment_cost(r->t) <= TABLES && fragment_begin(&c->fragment, r->t);
  c->round = fits ? s->round : 0;
  if (!fits || !chrome_reader_init(&c->r)) {
    s->from = UINT64_MAX;
    return false;
  }
  c->r.has_origin = true;
  c->r.origin_ns = r->origin_ns;
  c->r.lanes = r->lanes;
  return true;
}

/* The next chunk of the input; false if what follows is for the one reader, errors too. */
static bool cut(struct chunks *s, struct chunk *c, struct chrome *r) {
  if (!prepare(s, c, r)) return false;
  c->r.base_offset = in_offset(r->in);
  const size_t n = in_take(r->in, c->text, s->size);
  c->size = n < s->size ? 0 : find_cut(c->text, n);
  if (n < s->size) s->from = UINT64_MAX;
  if (!in_put_back(r->in, c->text + c->size, n - c->size, r->err)) return false;
  memset(c->text + c->size, 0, IN_PAD);
  return c->size > 0;
}

/* ---- all chunks, by the thread of the one reader ---- */

/* What was read of the chunk joins the trace.  If it cannot, nothing of it was read. */
static void join(struct chrome *r, struct chunk *c) {
  const tk_id events = r->t->n_events, points = r->t->n_flow_points;
  if (!fragment_join(&c->fragment, r->t)) {
    c->read = 0;
    return;
  }
  for (uint32_t i = 0; i < c->r.n_pending; i++) {
    struct pending p = c->r.pending[i];
    p.at += p.kind == PENDING_FLOW ? points : events;
    chrome_add_pending(r, p);
  }
  c->r.n_pending = 0;
}

/* What was cut and has not joined is the input's again. */
static bool put_back(struct chunks *s, struct chrome *r, const struct chunk *c) {
  bool ok = true;
  jobs_drop(s->jobs);
  for (; s->given != s->taken; s->given--) {
    const struct chunk *later = &s->v[(s->given - 1) % s->n];
    ok = ok && in_put_back(r->in, later->text, later->size, r->err);
  }
  return ok && in_put_back(r->in, c->text + c->read, c->size - c->read, r->err);
}

/* True when there is nothing more for several threads, and all that was cut has joined or is the input's again. */
static bool read_all(struct chunks *s, struct chrome *r) {
  bool more = true;
  for (unsigned joined = 0;; joined++) {
    struct chunk *c;
    for (; more && s->given - s->taken < s->n && (more = cut(s, c = &s->v[s->given % s->n], r)); s->given++) jobs_give(s->jobs, c);
    c = jobs_take(s->jobs);
    if (joined == MANY) s->patience = s->size;
    if (!c) return r->err->code == TK_OK;
    s->taken++;
    join(r, c);
    if (c->fragment.t->store->mem.failed) s->from = UINT64_MAX;
    if (c->read < c->size) return put_back(s, r, c);
    if (!chrome_tick(r)) return jobs_drop(s->jobs), false;
  }
}

/* Threads, and memory for what they read, once there is so much. */
static bool wake(struct chunks *s, struct chrome *r) {
  size_t avail;
  if (s->jobs) return true;
  if (!in_ahead(r->in, s->size, &avail, NULL) || avail < s->size) {
    s->from = UINT64_MAX;
    return true;
  }
  s->jobs = jobs_start(s->threads, read_chunk);
  bool ok = s->jobs != NULL;
  for (unsigned i = 0; ok && i < s->n; i++) {
    s->v[i].text = mem_alloc(s->mem, s->size + IN_PAD);
    ok = s->v[i].text && fragment_init(&s->v[i].fragment, s->mem->limit / SHARE);
  }
  return ok || err_set(r->err, TK_ELIMIT, "out of memory");
}

bool chunks_are_due(const struct chrome *r) {
  return r->chunks && r->has_origin && chrome_offset(r, r->j.p) >= r->chunks->from;
}

bool chunks_read(struct chrome *r) {
  struct chunks *s = r->chunks;
  in_consume(r->in, (size_t)(r->j.p - r->base));
  r->base = r->j.p;
  s->round++;
  if (!wake(s, r) || (s->jobs && !read_all(s, r))) return false;
  if (s->from != UINT64_MAX) s->from = in_offset(r->in) + s->patience;
  s->patience *= 2;
  return chrome_refill(r, r->base, 1);
}

bool chunks_start(struct chrome *r) {
  struct mem *mem = &r->t->store->mem;
  const unsigned threads = r->opt->threads ? r->opt->threads : os_cores();
  const unsigned n = threads + 2 < JOBS_MOST ? threads + 2 : JOBS_MOST;
  const size_t size = r->opt->chunk ? r->opt->chunk : CHUNK;
  if (threads < 2 || (mem->limit && mem->limit / SHARE < (uint64_t)n * (TABLES + 4 * size))) return true;
  struct chunks *s = mem_alloc(mem, sizeof *s + n * sizeof *s->v);
  if (!s) return false;
  *s = (struct chunks){.mem = mem, .threads = threads - 1, .size = size, .from = size / 4, .patience = size, .n = n};
  memset(s->v, 0, n * sizeof *s->v);
  r->chunks = s;
  return true;
}

void chunks_stop(struct chunks *s) {
  if (!s) return;
  jobs_stop(s->jobs);
  for (unsigned i = 0; i < s->n; i++) {
    release_reader(&s->v[i]);
    fragment_free(&s->v[i].fragment);
    mem_free(s->mem, s->v[i].text);
  }
  mem_free(s->mem, s);
}
