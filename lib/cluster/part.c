/* part.c - writes the end of a part, and copies its bytes into the output (part.h). */
#include "part.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "format/pb_out.h"
#include "format/pb_unpack.h"
#include "io/flate.h"
#include "load/save.h"

static const char MAGIC[] = "tracekit";
enum { MAGIC_SIZE = sizeof MAGIC - 1, LENGTH = 8, CRC = 4, END = LENGTH + CRC + MAGIC_SIZE, PIECE = 256 << 10 };

/* ---- writing ---- */

static void part_put_text(struct buf *b, uint32_t field, const char *text) {
  if (text && *text) pb_bytes(b, field, text, strlen(text));
}

static void put_sint(struct buf *b, uint32_t field, int64_t v) { pb_u64(b, field, zigzag(v)); }

/* Stores the data that the first rank adds at the top and at the end of the output. */
static void put_first(struct buf *to, const struct tk_trace *first) {
  struct buf b = {.mem = to->mem}, one = {.mem = to->mem};
  part_put_text(&b, 1, first->format);
  pb_u64(&b, 2, first->has_zero);
  pb_u64(&b, 3, first->edits);
  for (tk_id i = 1; i <= first->n_metas; i++) {
    const struct tk_meta *m = &first->metas[i];
    size_t n;
    const char *key = tk_string(first, m->key, &n);
    one.len = 0;
    pb_bytes(&one, 1, key, n);
    pb_bytes(&one, 2, trace_raw(first, m->at), (size_t)m->size);
    part_put_text(&one, 3, m->origin);
    if (m->after) pb_u64(&one, 4, 1);
    pb_message(&b, 4, &one);
  }
  pb_message(to, 26, &b);
  buf_free(&b);
  buf_free(&one);
}

static void put_rank(struct buf *b, const struct tk_merge_rank *r) {
  part_put_text(b, 10, r->host);
  pb_u64(b, 11, r->read);
  pb_u64(b, 12, r->events);
  pb_u64(b, 13, r->flow_points);
  pb_u64(b, 14, r->bytes);
  pb_u64(b, 15, r->processes);
  pb_u64(b, 16, r->hidden_processes);
  put_sint(b, 17, r->shift_ns);
  pb_u64(b, 18, r->merged);
  part_put_text(b, 19, r->rank_from);
  put_sint(b, 27, r->rank);
}

static void put_saved(struct buf *b, const struct saver *s) {
  const struct tk_saved *saved = &s->sink->saved;
  pb_u64(b, 20, saved->records);
  pb_u64(b, 21, saved->events);
  pb_u64(b, 22, saved->flow_points);
  pb_u64(b, 23, s->derived);
  pb_u64(b, 24, saved->rounded);
  for (int i = 0; i < TK_LOSSES; i++) pb_u64(b, 25, saved->lost[i]);
}

static void put_gone(struct buf *to, const struct merge_gone *gone) {
  struct buf one = {.mem = to->mem};
  for (uint32_t i = 0; i < gone->n; i++) {
    const struct merge_gone_row *g = &gone->v[i];
    const struct intern_str *name = &gone->names.strs[g->name];
    one.len = 0;
    pb_u64(&one, 1, g->kind);
    pb_bytes(&one, 2, name->bytes, name->len);
    pb_u64(&one, 3, g->count);
    pb_u64(&one, 4, (uint64_t)g->total_ps);
    pb_u64(&one, 5, (uint64_t)(g->total_ps >> 64));
    pb_message(to, 29, &one);
  }
  buf_free(&one);
}

static void part_put_number(struct buf *b, uint64_t v, int n) {
  uint8_t bytes[LENGTH];
  for (int i = 0; i < n; i++) bytes[i] = (uint8_t)(v >> 8 * i);
  buf_append(b, bytes, (size_t)n);
}

static void put_part(struct buf *b, struct saver *s, struct merger *m, const struct tasks *t, uint32_t rank) {
  const struct out_crcs crcs = out_crcs(&s->out);
  struct buf left = {.mem = b->mem};
  pb_u64(b, 1, PART_SCHEMA);
  pb_fixed64(b, 2, t->id);
  pb_u64(b, 3, rank);
  pb_u64(b, 4, out_file_bytes(&s->out));
  pb_fixed32(b, 5, crcs.file);
  pb_u64(b, 6, out_raw_bytes(&s->out));
  pb_fixed32(b, 7, crcs.raw);
  save_leave(s, &left);
  pb_message(b, 8, &left);
  buf_free(&left);
  pb_message(b, 9, &m->blocks);
  put_rank(b, &m->report->ranks[rank]);
  put_saved(b, s);
  pb_u64(b, 28, m->n_events);
  put_gone(b, &m->gone);
  if (s->sink->ordinal == 0) put_first(b, m->first_trace);
}

bool part_end(struct saver *s, struct merger *m, const struct tasks *t, uint32_t rank) {
  struct buf b = {.mem = &m->mem};
  out_break(&s->out);
  put_part(&b, s, m, t, rank);
  const size_t n = b.len;
  if (!mem_check(&m->mem, m->err)) return false;
  part_put_number(&b, n, LENGTH);
  part_put_number(&b, flate_crc(0, b.data, n), CRC);
  buf_append(&b, MAGIC, MAGIC_SIZE);
  if (mem_check(&m->mem, m->err)) out_packed(&s->out, b.data, b.len);
  buf_free(&b);
  return mem_check(&m->mem, m->err);
}

/* ---- reading ---- */

static uint64_t number_at(const uint8_t *p, int n) {
  uint64_t v = 0;
  for (int i = n; i-- > 0;) v = v << 8 | p[i];
  return v;
}

static bool read_at(struct part *p, int64_t at, void *to, size_t n, struct tk_err *err) {
  errno = 0;
  if (fseeko(p->f, at, SEEK_SET) == 0 && fread(to, 1, n, p->f) == n) return true;
  return err_sys(err, TK_EREAD, errno, "failed to read at byte %lld", (long long)at);
}

static bool refuse(struct tk_err *err) {
  return err_set(err, TK_EFORMAT, "not a part written by tracekit apply, or incomplete");
}

static bool read_end(struct part *p, struct tk_err *err) {
  struct buf b = {.mem = p->mem};
  uint8_t end[END];
  const int64_t size = fseeko(p->f, 0, SEEK_END) == 0 ? ftello(p->f) : -1;
  if (size < 0) return err_sys(err, TK_EREAD, errno, "failed to find the end of the part: not a regular file");
  if (size < END) return refuse(err);
  if (!read_at(p, size - END, end, END, err)) return false;
  const uint64_t n = number_at(end, LENGTH);
  if (memcmp(end + LENGTH + CRC, MAGIC, MAGIC_SIZE) != 0 || n > (uint64_t)size - END) return refuse(err);
  uint8_t *message = buf_reserve(&b, n + 1);
  bool ok = message ? read_at(p, size - END - (int64_t)n, message, n, err) : mem_check(p->mem, err);
  if (ok && flate_crc(0, message, n) != (uint32_t)number_at(end + LENGTH, CRC)) ok = refuse(err);
  p->is = ok ? pb_unpack(&plan__part__descriptor, pb_over(message, n), p->mem) : NULL;
  buf_free(&b);
  if (!ok) return false;
  if (!p->is) return mem_check(p->mem, err) && refuse(err);
  if (p->is->schema != PART_SCHEMA) return err_set(err, TK_EFORMAT, "was written by another version of tracekit; write it "
                                                                    "again with this version");
  return p->is->bytes == (uint64_t)size - END - n || refuse(err);
}

bool part_open(struct part *p, const char *path, struct mem *mem, struct tk_err *err) {
  *p = (struct part){.f = fopen(path, "rb"), .mem = mem};
  bool ok = p->f ? read_end(p, err) : err_sys(err, TK_EOPEN, errno, "cannot open");
  return ok || (part_close(p), err_prefix(err, "%s", path));
}

/* Reads the bytes of a part and copies them to `to`; NULL: only checks the bytes. */
static bool read_bytes(struct part *p, struct out *to, struct tk_err *err) {
  uint8_t *piece = mem_alloc(p->mem, PIECE);
  uint32_t crc = 0;
  bool ok = piece ? true : mem_check(p->mem, err);
  for (uint64_t at = 0, n; ok && at < p->is->bytes; at += n) {
    n = p->is->bytes - at < PIECE ? p->is->bytes - at : PIECE;
    ok = read_at(p, (int64_t)at, piece, n, err);
    if (!ok) break;
    crc = flate_crc(crc, piece, n);
    if (to) out_packed(to, piece, n);
  }
  mem_free(p->mem, piece);
  return ok && (crc == p->is->crc || err_set(err, TK_ECORRUPT, "is damaged: CRC mismatch"));
}

bool part_verify(struct part *p, struct tk_err *err) { return read_bytes(p, NULL, err); }

bool part_copy(struct part *p, struct out *to, struct tk_err *err) {
  const bool ok = read_bytes(p, to, err);
  if (ok) out_join(to, p->is->raw_bytes, p->is->raw_crc);
  return ok;
}

void part_close(struct part *p) {
  if (p->f) fclose(p->f);
  pb_unpack_free(p->is, p->mem);
  p->f = NULL;
  p->is = NULL;
}
