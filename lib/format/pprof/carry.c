/* carry.c - the sample types of a profile as a block that other formats embed (format/carry.h): a line for each graph, with the JSON
 * list of PPROF_TYPES. Without it, values of all types but one would become labels when a profile is written again. */
#include "carry.h"

#include <string.h>

#include "format/carry.h"
#include "pprof.h"

struct pprof_carrier {
  struct sink sink;
  struct out *out;
  struct mem mem;
};

static bool carry_nothing(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  (void)sink;
  (void)first;
  (void)err;
  return true;
}

/* Writes the types of a graph. */
static bool carry_types(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  const struct pprof_carrier *c = (const struct pprof_carrier *)sink;
  const struct tk_meta *m = trace_meta(t, PPROF_TYPES);
  (void)err;
  if (!m) return true;
  out_write(c->out, trace_raw(t, m->at), (size_t)m->size);
  out_write(c->out, "\n", 1);
  return true;
}

static bool carry_end(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  (void)provenance;
  return carry_nothing(sink, first, err);
}

static bool carry_piece(struct sink *sink, const struct sink_piece *part, struct tk_err *err) {
  (void)part;
  return carry_nothing(sink, NULL, err);
}

static void carry_free(struct sink *sink) {
  struct pprof_carrier *c = (struct pprof_carrier *)sink;
  struct mem mem = c->mem;
  mem_free(&mem, c);
}

struct sink *pprof_carrier(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct pprof_carrier *c = mem_alloc(&mem, sizeof *c);
  (void)opt;
  if (!c) return NULL;
  *c = (struct pprof_carrier){.out = out, .mem = mem};
  c->sink.open = carry_nothing;
  c->sink.write = carry_types;
  c->sink.close = carry_end;
  c->sink.free = carry_free;
  c->sink.leave = sink_leave_nothing; /* lines do not depend on the lines of other graphs */
  c->sink.take = carry_piece;
  return &c->sink;
}

/* Appends the lists of a block to the raw text, joined to one. Returns false if the block is damaged. */
static bool join_lists(struct tk_trace *t, size_t at, size_t n) {
  struct buf *raw = &t->store->raw;
  if (n < 4 || raw->data[at] != '[' || memcmp(raw->data + at + n - 2, "]\n", 2) != 0 || !buf_reserve(raw, n)) return false;
  for (const uint8_t *p = raw->data + at, *end = p + n - 1; p < end; p++) {
    const bool joint = end - p > 2 && memcmp(p, "]\n[", 3) == 0; /* a text in a list contains no line break */
    buf_append(raw, joint ? "," : (const char *)p, 1);
    p += joint ? 2 : 0;
  }
  return true;
}

bool pprof_adopt(struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_metas; i++) {
    struct tk_meta *m = &t->metas[i];
    if (!carry_is_block(t, m) || strcmp(m->origin, PPROF_FORMAT) != 0) continue;
    const size_t at = t->store->raw.len; /* a copy, because a zero must follow JSON */
    if (trace_meta(t, PPROF_TYPES) || !join_lists(t, m->at, (size_t)m->size)) return false;
    *m = (struct tk_meta){.key = trace_text(t, PPROF_TYPES), .at = at, .size = t->store->raw.len - at, .origin = PPROF_FORMAT};
    trace_end_raw(t);
    return true;
  }
  return false;
}
