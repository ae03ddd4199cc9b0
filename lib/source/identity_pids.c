/* identity_pids.c - updates the pids in the metadata of a merged trace (identity_pids.h). */
#include "identity_pids.h"

#include <string.h>

#include "format/json.h"

/* Processes by machine: the first one of each, and the next one on the same machine. */
struct by_machine {
  struct map first;
  tk_id *next;
};

static void index_machines(struct by_machine *b, const struct tk_trace *t) {
  for (tk_id i = t->n_tracks; i; i--) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || !k->machine || k->pid.kind == TK_IDENT_NONE) continue;
    uint32_t *first = map_put(&b->first, k->machine, 0);
    if (!first) return;
    b->next[i] = *first;
    *first = i;
  }
}

static void put_pids(struct buf *to, const struct tk_trace *t, const struct by_machine *b, tk_id first) {
  const char *comma = "";
  for (tk_id i = first; i; i = b->next[i], comma = ",") {
    const struct tk_ident pid = t->tracks[i].pid;
    char number[24];
    size_t n;
    const char *text = pid.kind == TK_IDENT_STR ? tk_string(t, pid.str, &n) : number;
    if (pid.kind != TK_IDENT_STR) n = num_put_i64(number, pid.num);
    buf_text(to, comma);
    json_quote(to, text, n);
    buf_text(to, ":");
    if (pid.kind == TK_IDENT_INT) buf_append(to, text, n);
    else json_quote(to, text, n);
  }
}

static tk_id first_on(const struct tk_trace *t, const struct by_machine *b, const struct json_value *name) {
  struct json j = {.scratch = {.mem = &t->store->mem}};
  size_t n;
  const uint8_t *text = name->type == JSON_STRING ? json_string_text(&j, &name->str, &n) : NULL;
  const tk_id machine = text ? intern_id(&t->store->strings, text, n) : 0;
  const uint32_t *first = machine ? map_get(&b->first, machine) : NULL;
  buf_free(&j.scratch);
  return first ? *first : 0;
}

/* Appends the block of a rank, with new pids if it has a machine. */
static void put_block(struct buf *to, const struct tk_trace *t, const struct by_machine *b, const struct json_value *block) {
  const char *text = (const char *)block->p;
  const size_t n = (size_t)(block->end - block->p);
  struct json_value machine, pids;
  const bool has = json_member(text, n, "machine", &machine) && json_member(text, n, "pids", &pids) && pids.type == JSON_OBJECT;
  const tk_id first = has ? first_on(t, b, &machine) : 0;
  if (!first) {
    buf_append(to, block->p, n);
    return;
  }
  buf_append(to, block->p, (size_t)(pids.p - block->p));
  buf_text(to, "{");
  put_pids(to, t, b, first);
  buf_text(to, "}");
  buf_append(to, pids.end, (size_t)(block->end - pids.end));
}

/* Appends the text of the metadata with new blocks; the blocks are copied up to the first that is not valid. */
static void put_ranks(struct buf *to, const struct tk_trace *t, const struct by_machine *b, const struct json_value *ranks) {
  struct json j = {.p = ranks->p + 1, .end = ranks->end, .last = true};
  struct json_value block;
  for (const uint8_t *from = ranks->p; json_blank(&j) && *j.p == '{'; from = j.p) {
    buf_append(to, from, (size_t)(j.p - from));
    if (!json_value(&j, &block)) return;
    put_block(to, t, b, &block);
    if (!json_blank(&j) || *j.p != ',') break;
    j.p++;
    buf_text(to, ",");
    if (!json_blank(&j)) return;
  }
  buf_append(to, j.p, (size_t)(ranks->end - j.p));
}

static void renew(struct tk_trace *t, struct tk_meta *m, const struct json_value *ranks, struct by_machine *b) {
  const char *text = trace_raw(t, m->at);
  struct buf to = {.mem = &t->store->mem};
  index_machines(b, t);
  buf_append(&to, text, (size_t)((const char *)ranks->p - text));
  put_ranks(&to, t, b, ranks);
  buf_append(&to, ranks->end, (size_t)(text + m->size - (const char *)ranks->end));
  m->at = t->store->raw.len;
  m->size = to.len;
  buf_append(&t->store->raw, to.data, to.len);
  trace_end_raw(t);
  buf_free(&to);
}

static bool has_machines(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS && t->tracks[i].machine) return true;
  return false;
}

void identity_renew_pids(struct tk_trace *t) {
  struct tk_meta *m = (struct tk_meta *)trace_meta(t, "tracekit");
  struct json_value ranks;
  if (!m || !has_machines(t) || !json_member(trace_raw(t, m->at), m->size, "ranks", &ranks) || ranks.type != JSON_ARRAY) return;
  struct by_machine b = {.next = mem_array(&t->store->mem, (uint64_t)t->n_tracks + 1, sizeof *b.next)};
  map_init(&b.first, &t->store->mem);
  if (b.next) renew(t, m, &ranks, &b);
  map_free(&b.first);
  mem_free(&t->store->mem, b.next);
}
