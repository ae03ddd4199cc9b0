/* pieces.c - see pieces.h.
 *
 * Each piece that is being filled or compressed takes memory for its data, for its compressed data, and for a deflater. There
 * is one piece more than threads, because the caller fills one while the others are compressed. */
#include "pieces.h"

#include "base/jobs.h"
#include "flate.h"

enum { MOST_THREADS = 16, PULL = 64 << 10, COST = 2 * PIECE, SHARE = 16 }; /* COST: memory for one piece, in bytes */

struct piece {
  struct piece *next; /* next unused piece */
  uint8_t *raw;
  size_t n;
  bool last;
  uint32_t crc;
  struct deflater *z;
  struct mem mem; /* memory account of the deflater and of the gzip members that it writes; used by the compressing thread only */
  struct buf packed;
  bool failed;
};

struct pieces {
  struct mem *mem;
  pieces_take *take;
  void *arg;
  int level;
  unsigned threads, n, most;
  struct piece *all[MOST_THREADS + 1];
  struct piece *room; /* the piece that the caller is filling; NULL = not requested since the last push */
  struct piece *free;
  struct jobs *jobs; /* NULL = not started, or only one thread */
};

static void pack(void *job) {
  struct piece *p = job;
  size_t made = 1;
  uint8_t *to;
  p->packed.len = 0;
  p->crc = flate_crc(0, p->raw, p->n);
  deflater_feed(p->z, p->raw, p->n, p->last);
  for (bool broken = p->last; made || !broken;) {
    if (!made) deflater_break(p->z), broken = true;
    if (!(to = buf_reserve(&p->packed, PULL))) break;
    made = deflater_pull(p->z, to, PULL);
    p->packed.len += made;
  }
  p->failed = p->mem.failed;
}

static bool give(struct pieces *s, struct piece *p, struct tk_err *err) {
  p->next = s->free;
  s->free = p;
  if (p->failed) return mem_check(&p->mem, err);
  s->take(s->arg, p->packed.data, p->packed.len, p->n, p->crc);
  return true;
}

static void piece_free(struct pieces *s, struct piece *p) {
  if (!p) return;
  deflater_close(p->z);
  buf_free(&p->packed);
  mem_free(s->mem, p->raw);
  mem_free(s->mem, p);
}

static struct piece *piece_new(struct pieces *s, struct tk_err *err) {
  struct piece *p = mem_alloc(s->mem, sizeof *p);
  if (!p) {
    mem_check(s->mem, err);
    return NULL;
  }
  *p = (struct piece){.raw = mem_alloc(s->mem, PIECE + PIECE_SLACK)};
  p->packed.mem = &p->mem;
  p->z = p->raw ? deflater_open(FLATE_BEST, s->level, &p->mem, err) : NULL;
  if (p->z) return s->all[s->n++] = p;
  if (!p->raw) mem_check(s->mem, err);
  piece_free(s, p);
  return NULL;
}

struct pieces *pieces_open(int level, unsigned threads, pieces_take *take, void *arg, struct mem *mem, struct tk_err *err) {
  struct pieces *s = mem_alloc(mem, sizeof *s);
  if (!s) {
    mem_check(mem, err);
    return NULL;
  }
  const uint64_t fit = mem->limit ? mem->limit / SHARE / COST : MOST_THREADS + 1;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  *s = (struct pieces){.mem = mem, .take = take, .arg = arg, .level = level, .threads = threads};
  s->most = threads > 1 ? threads + 1 : 1;
  if (s->most > fit) s->most = fit > 1 ? (unsigned)fit : 1;
  if (s->threads > s->most) s->threads = s->most;
  return s;
}

uint8_t *pieces_room(struct pieces *s, struct tk_err *err) {
  struct piece *p;
  if (s->room) return s->room->raw;
  if (!s->free && s->n < s->most) {
    s->room = piece_new(s, err);
    return s->room ? s->room->raw : NULL;
  }
  if (!s->free && (p = jobs_take(s->jobs)) != NULL && !give(s, p, err)) return NULL;
  s->room = s->free;
  s->free = s->room->next;
  return s->room->raw;
}

bool pieces_push(struct pieces *s, size_t n, bool last, struct tk_err *err) {
  struct piece *p = s->room;
  s->room = NULL;
  p->n = n;
  p->last = last;
  if (!s->jobs && s->most > 1 && n == PIECE) s->jobs = jobs_start(s->threads - 1, pack);
  if (s->jobs) {
    jobs_give(s->jobs, p);
    return true;
  }
  pack(p);
  return give(s, p, err);
}

bool pieces_drain(struct pieces *s, struct tk_err *err) {
  struct piece *p;
  bool ok = true;
  while (s->jobs && (p = jobs_take(s->jobs)) != NULL) ok &= give(s, p, err);
  return ok;
}

void pieces_forget(struct pieces *s) {
  if (s->jobs) jobs_drop(s->jobs);
}

void pieces_close(struct pieces *s) {
  if (!s) return;
  jobs_stop(s->jobs);
  for (unsigned i = 0; i < s->n; i++) piece_free(s, s->all[i]);
  mem_free(s->mem, s);
}
