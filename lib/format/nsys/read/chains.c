/* chains.c - reads call chains. A row is a frame of a chain. Rows of a chain are usually together and in order of their depth,
 * but no schema guarantees this. */
#include "chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/json_put.h"
#include "texts.h"

/* ---- rows ---- */

struct chains {
  struct nsys *r;
  struct buf rows; /* array of struct chain_row */
  bool unsorted;
};

static int by_id_and_depth(const void *pa, const void *pb) {
  const struct chain_row *a = pa, *b = pb;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->depth > b->depth) - (a->depth < b->depth);
}

enum chain_column { C_ID, C_SYMBOL, C_MODULE, C_DEPTH };

static void take_row(const struct sqlite_scan *row, void *arg) {
  struct chains *c = arg;
  const struct cell *depth = &row->v[C_DEPTH];
  struct chain_row f = {.id = row->v[C_ID].i};
  if (row->v[C_ID].type != CELL_INT || depth->type != CELL_INT || depth->i < 0 || depth->i > UINT32_MAX) {
    trace_note(c->r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "frames of call chains without an id or a depth: skipped");
    return;
  }
  f.depth = (uint32_t)depth->i;
  f.symbol = texts_of(c->r, &row->v[C_SYMBOL]);
  f.module = texts_of(c->r, &row->v[C_MODULE]);
  const struct chain_row *v = (const struct chain_row *)(const void *)c->rows.data;
  const size_t n = c->rows.len / sizeof *v;
  c->unsorted = c->unsorted || (n && by_id_and_depth(&v[n - 1], &f) > 0);
  buf_append(&c->rows, &f, sizeof f);
}

bool chains_each(struct nsys *r, const char *table, chains_take *take, void *arg) {
  static const char *const COLUMNS[] = {"id", "symbol", "module", "stackDepth", NULL};
  struct chains c = {r, {.mem = &r->d.t->store->mem}, false};
  const bool ok = database_each(&r->d, table, COLUMNS, take_row, &c);
  struct chain_row *v = (struct chain_row *)(void *)c.rows.data;
  const size_t n = c.rows.len / sizeof *v;
  if (c.unsorted) qsort(v, n, sizeof *v, by_id_and_depth);
  for (size_t from = 0, to; ok && from < n; from = to) {
    for (to = from; to < n && v[to].id == v[from].id;) to++;
    if (to - from > CHAIN_MOST)
      trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "stack of more than 4,096 frames: the outer ones are left out");
    take(r, &v[from], (uint32_t)(to - from < CHAIN_MOST ? to - from : CHAIN_MOST), arg);
  }
  buf_free(&c.rows);
  return ok;
}

/* ---- texts ---- */

/* Tables of events with chains, and the tables of these chains. */
static const struct chain_table {
  const char *events, *chains;
} TABLES[] = {{"OSRT_API", "OSRT_CALLCHAINS"}, {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_CALLCHAINS"}};

static uint64_t key_of(const char *table, int64_t id) { return hash_pair(hash_text(table, strlen(table)), (uint64_t)id); }

/* A damaged file may repeat a long name in each of many chains, so a frame, a chain and all chains together have a limited length. */
enum { FRAME_BYTES_MOST = 1 << 10, CHAIN_BYTES_MOST = 1 << 14, CHAINS_BYTES_MOST = 1 << 28 };

static void cut_frame(struct buf *text) {
  if (text->len <= FRAME_BYTES_MOST) return;
  text->len = FRAME_BYTES_MOST;
  while (text->len && (text->data[text->len] & 0xc0) == 0x80) text->len--; /* not inside a character of UTF-8 */
  buf_text(text, "...");
}

/* Appends "symbol (file of the module)". */
static void put_frame(struct nsys *r, struct buf *json, const struct chain_row *f) {
  const char *module = tk_string(r->d.t, f->module, NULL), *slash = strrchr(module, '/');
  r->text.len = 0;
  buf_text(&r->text, tk_string(r->d.t, f->symbol, NULL));
  if (*module) buf_text(&r->text, " (");
  buf_text(&r->text, slash ? slash + 1 : module);
  if (*module) buf_text(&r->text, ")");
  cut_frame(&r->text);
  if (buf_append(&r->text, "", 1)) json_put_text(json, json->len ? "," : "[", (const char *)r->text.data);
}

static void take_text(struct nsys *r, const struct chain_row *v, uint32_t n, void *arg) {
  const struct chain_table *table = arg;
  const uint32_t n_strings = r->d.t->store->strings.n;
  if (r->chain_bytes > CHAINS_BYTES_MOST) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "call chains after the first 256 MB of text: left out");
    return;
  }
  struct buf json = {.mem = &r->d.t->store->mem};
  for (uint32_t i = 0; i < n && json.len < CHAIN_BYTES_MOST; i++) put_frame(r, &json, &v[i]);
  if (buf_append(&json, "]", 1)) map_put(&r->chains, key_of(table->events, v->id), trace_string(r->d.t, json.data, json.len));
  if (r->d.t->store->strings.n > n_strings) r->chain_bytes += json.len; /* equal chains share one string */
  buf_free(&json);
}

bool chains_read_texts(struct nsys *r) {
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    struct chain_table table = TABLES[i];
    if (!chains_each(r, table.chains, take_text, &table)) return false;
  }
  return true;
}

tk_id chains_text(const struct nsys *r, const char *table, int64_t id) {
  const uint32_t *known = map_get(&r->chains, key_of(table, id));
  return known ? *known : 0;
}
