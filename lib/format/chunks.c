/* chunks.c - see chunks.h. */
#include "chunks.h"

#include <string.h>

#include "base/err.h"
#include "base/jobs.h"
#include "base/os.h"

enum {
  CHUNK = 1 << 20,
  TABLES = 8 << 20, /* maximum number of bytes of the trace's tables that a chunk may copy */
  SHARE = 8,        /* all chunks together use at most 1 / SHARE of the memory limit */
  MANY = 16         /* after so many chunks without a failure, `patience` is reset */
};

struct chunks {
  const struct chunks_of *of;
  struct tk_trace *t;
  struct mem *mem;
  struct jobs *jobs;     /* NULL = not needed yet */
  unsigned threads;      /* number of threads in addition to the caller's */
  size_t size;           /* bytes of a chunk */
  uint64_t from;         /* offset from which reading with threads may be tried again */
  uint64_t patience;     /* how far `from` moves at the next failure, in bytes */
  unsigned round;        /* how often these threads have been used */
  unsigned given, taken; /* total numbers of chunks given to threads and taken back; they never decrease */
  unsigned n;
  struct chunk v[];
};

/* A turn: one call of chunks_read, with its arguments. */
struct turn {
  struct chunks *s;
  void *one;
  struct in *in;
  uint64_t most; /* bytes that may still go into chunks */
  struct tk_err *err;
};

/* Reads the chunk's text from the file. */
static bool fetch(struct chunk *c) {
  const ptrdiff_t got = in_read_shared(c->in, c->text, c->size, c->offset, &c->fault);
  memset(c->text + c->size, 0, IN_PAD);
  return got == (ptrdiff_t)c->size;
}

static void read_chunk(struct chunk *c) {
  c->read = 0;
  if (!c->in || fetch(c)) c->of->read(c);
}

static void work_on(void *job) {
  struct chunk *c = job;
  if (c->joined) fragment_place(&c->fragment);
  else read_chunk(c);
}

/* ---- cutting ---- */

static void release(struct chunk *c) {
  if (c->prepared) c->of->end(c);
  c->prepared = false;
}

static bool is_ready(const struct chunks *s, const struct chunk *c) {
  if (!c->prepared) return false;
  return s->of->has_no_fragments || (c->round == s->round && !fragment_is_outgrown(&c->fragment, s->t));
}

/* Gives the chunk a copy of all tables that the trace contains so far. */
static bool chunks_prepare(struct turn *u, struct chunk *c) {
  struct chunks *s = u->s;
  if (is_ready(s, c)) return true;
  release(c);
  c->round = s->round;
  c->err = c->fault = (struct tk_err){.offset = UINT64_MAX};
  c->prepared = s->of->has_no_fragments || (fragment_cost(s->t) <= TABLES && fragment_begin(&c->fragment, s->t));
  if (c->prepared && s->of->begin(c, u->one)) return true;
  s->from = UINT64_MAX;
  return false;
}

/* Cuts the next chunk from a plain file. Reads only the first CHUNK_HEAD and the last `tail` bytes of its range, next to each
 * other into the chunk's buffer; fetch() reads the whole chunk later. Returns false if there is no cut. */
static bool cut_tail(struct turn *u, struct chunk *c, size_t asked, size_t tail) {
  const size_t n = CHUNK_HEAD + tail;
  const uint64_t at = in_offset(u->in);
  uint8_t *const text = c->text;
  if (in_read_shared(u->in, text, CHUNK_HEAD, at, NULL) != CHUNK_HEAD) return false;
  if (in_read_shared(u->in, text + CHUNK_HEAD, tail, at + asked - tail, NULL) != (ptrdiff_t)tail) return false;
  const size_t end = u->s->of->cut(text, n);
  if (end <= CHUNK_HEAD) return false;
  c->offset = at;
  c->size = asked - n + end;
  c->in = u->in;
  u->most -= c->size;
  in_move(u->in, at + c->size);
  return true;
}

/* Cuts the next chunk from a plain file; also returns false near the end of the file. First searches only an eighth of the tail, which
 * nearly always contains the end of an event. */
static bool cut_file(struct turn *u, struct chunk *c, size_t asked) {
  const size_t tail = u->s->of->tail;
  if (!tail || asked <= CHUNK_HEAD + tail || !in_is_shared(u->in) || in_offset(u->in) + asked >= in_raw_total(u->in)) return false;
  return cut_tail(u, c, asked, tail / 8) || cut_tail(u, c, asked, tail);
}

/* Cuts the next chunk from the input. Returns false if the sequential reader must handle the next bytes, or an error. */
static bool cut(struct turn *u, struct chunk *c) {
  struct chunks *s = u->s;
  c->joined = false;
  if (!u->most || !chunks_prepare(u, c)) return false;
  const size_t asked = u->most < s->size ? (size_t)u->most : s->size;
  c->in = NULL;
  if (cut_file(u, c, asked)) return true;
  c->offset = in_offset(u->in);
  const size_t n = in_take(u->in, c->text, asked);
  c->size = n < asked ? 0 : s->of->cut(c->text, n);
  if (n < asked) s->from = UINT64_MAX;
  if (!in_put_back(u->in, c->text + c->size, n - c->size, u->err)) return false;
  memset(c->text + c->size, 0, IN_PAD);
  u->most -= c->size;
  return c->size > 0;
}

/* ---- joining ---- */

/* Joins the chunk's fragment with the trace. A thread later copies its events to their places in the trace; before an array of the
 * trace moves, all fragments must have been copied. */
static bool join_fragment(struct chunks *s, struct chunk *c) {
  if (!fragment_fits(&c->fragment, s->t)) jobs_finish_first(s->jobs);
  if (!fragment_join(&c->fragment, s->t)) return false;
  c->joined = true;
  jobs_give_first(s->jobs, c);
  return true;
}

/* Joins the chunk's events with the trace. If this fails, the chunk counts as not read. */
static void join(struct turn *u, struct chunk *c) {
  struct chunks *s = u->s;
  const tk_id events = s->t->n_events, points = s->t->n_flow_points;
  if (s->of->has_no_fragments || join_fragment(s, c)) s->of->joined(c, u->one, events, points);
  else c->read = 0;
}

/* Discards the chunks that have not been taken. */
static void drop(struct chunks *s) {
  jobs_finish_first(s->jobs);
  jobs_drop(s->jobs);
}

/* Puts the bytes of chunks that did not join back into the input. */
static bool put_back(struct turn *u, const struct chunk *c) {
  struct chunks *s = u->s;
  bool ok = true;
  drop(s);
  if (in_is_shared(u->in)) {
    in_move(u->in, c->offset + c->read);
    s->given = s->taken;
    return true;
  }
  for (; s->given != s->taken; s->given--) {
    const struct chunk *later = &s->v[(s->given - 1) % s->n];
    ok = ok && in_put_back(u->in, later->text, later->size, u->err);
  }
  return ok && in_put_back(u->in, c->text + c->read, c->size - c->read, u->err);
}

/* Gives the threads as many chunks as are free. Returns false if the input has no more of them. */
static bool give_chunks(struct turn *u) {
  struct chunks *s = u->s;
  while (s->given - s->taken + jobs_count_first(s->jobs) < s->n) {
    struct chunk *c = &s->v[s->given % s->n];
    if (!cut(u, c)) return false;
    jobs_give(s->jobs, c);
    s->given++;
  }
  return true;
}

/* Reads as many chunks as possible with several threads. Returns true when all chunks have joined or were put back into the
 * input. */
static bool read_all(struct turn *u) {
  struct chunks *s = u->s;
  bool more = true;
  for (unsigned joined = 0;; joined++) {
    more = more && give_chunks(u);
    struct chunk *c = jobs_take(s->jobs);
    if (joined == MANY) s->patience = s->size;
    if (!c) jobs_finish_first(s->jobs);
    if (!c && more) continue;
    if (!c) return u->err->code == TK_OK;
    s->taken++;
    c->stops = false;
    if (c->in && c->fault.code != TK_OK) {
      *u->err = c->fault;
      drop(s);
      return false;
    }
    join(u, c);
    if (c->fragment.t && c->fragment.t->store->mem.failed) s->from = UINT64_MAX;
    if (c->stops || c->read < c->size) return put_back(u, c);
    if (!s->of->tick(u->one)) {
      drop(s);
      return false;
    }
  }
}

/* Starts threads and allocates memory for chunks on first use. */
static bool wake(struct turn *u) {
  struct chunks *s = u->s;
  size_t avail;
  if (s->jobs) return true;
  if (!in_ahead(u->in, s->size, &avail, NULL) || avail < s->size) {
    s->from = UINT64_MAX;
    return true;
  }
  s->jobs = jobs_start(s->threads, work_on);
  bool ok = s->jobs != NULL;
  for (unsigned i = 0; ok && i < s->n; i++) {
    struct chunk *c = &s->v[i];
    c->of = s->of;
    c->text = mem_alloc(s->mem, s->size + IN_PAD);
    c->reader = mem_alloc(s->mem, s->of->reader_size);
    ok = c->text && c->reader && (s->of->has_no_fragments || fragment_init(&c->fragment, s->mem, s->mem->limit / SHARE));
  }
  return ok || err_set(u->err, TK_ELIMIT, "out of memory");
}

bool chunks_are_due(const struct chunks *s, uint64_t offset) { return s && offset >= s->from; }

size_t chunks_least(const struct chunks *s) { return s->size; }

bool chunks_read(struct chunks *s, void *one, struct in *in, uint64_t most, struct tk_err *err) {
  struct turn u = {s, one, in, most, err};
  s->round++;
  if (!wake(&u) || (s->jobs && !read_all(&u))) return false;
  if (s->from != UINT64_MAX) s->from = in_offset(in) + s->patience;
  s->patience *= 2;
  return true;
}

bool chunks_start(struct chunks **out, const struct chunks_of *of, struct tk_trace *t, unsigned threads, size_t size) {
  struct mem *mem = &t->store->mem;
  *out = NULL;
  threads = os_threads(threads);
  if (!size) size = CHUNK;
  const unsigned n = threads + 2 < JOBS_MOST ? threads + 2 : JOBS_MOST;
  const uint64_t room = of->room ? (uint64_t)of->room * size : TABLES + 4 * (uint64_t)size;
  if (threads < 2 || (mem->limit && mem->limit / SHARE < n * room)) return true;
  struct chunks *s = mem_alloc(mem, sizeof *s + n * sizeof *s->v);
  if (!s) return false;
  *s = (struct chunks){.of = of, .t = t, .mem = mem, .threads = threads - 1, .size = size, .from = size / 4, .patience = size, .n = n};
  memset(s->v, 0, n * sizeof *s->v);
  *out = s;
  return true;
}

void chunks_stop(struct chunks *s) {
  if (!s) return;
  jobs_stop(s->jobs);
  for (unsigned i = 0; i < s->n; i++) {
    release(&s->v[i]);
    fragment_free(&s->v[i].fragment);
    mem_free(s->mem, s->v[i].text);
    mem_free(s->mem, s->v[i].reader);
  }
  mem_free(s->mem, s);
}
