/* gone.c - counts the dropped events of all ranks by name. The end of the output lists them, so that the kept events and this
 * table add up to the original totals (share.h). */
#include <stdlib.h>
#include <string.h>

#include "gone.h"
#include "format/json.h"
#include "format/json_put.h"
#include "share.h"
#include "shares.h"

static const char *const KINDS[] = {"", "process", "thread", "counter", "async"};

bool merge_gone_add(struct merge_gone *g, uint32_t kind, const char *name, size_t n, uint64_t count, i128 total_ps) {
  const uint32_t id = intern(&g->names, name, n);
  uint32_t *at = id ? map_put(&g->index, (uint64_t)id << 3 | kind, UINT32_MAX) : NULL;
  if (!at) return false;
  if (*at == UINT32_MAX) {
    if (!mem_grow(g->mem, (void **)&g->v, &g->cap, (uint64_t)g->n + 1, sizeof *g->v)) return false;
    g->v[*at = g->n++] = (struct merge_gone_row){.kind = kind, .name = id};
  }
  g->v[*at].count += count;
  g->v[*at].total_ps = (i128)((u128)g->v[*at].total_ps + (u128)total_ps);
  return true;
}

void merge_gone_free(struct merge_gone *g) {
  if (!g->mem) return;
  mem_free(g->mem, g->v);
  map_free(&g->index);
  intern_free(&g->names);
}

/* ---- printing ---- */

static int by_total(const void *a, const void *b) {
  const struct merge_gone_row *x = a, *y = b;
  if (x->total_ps != y->total_ps) return x->total_ps > y->total_ps ? -1 : 1;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  const int order = memcmp(x->text->bytes, y->text->bytes, x->text->len < y->text->len ? x->text->len : y->text->len);
  if (order || x->text->len != y->text->len) return order ? order : x->text->len < y->text->len ? -1 : 1;
  return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void sort_rows(struct merge_gone *g) {
  for (uint32_t i = 0; i < g->n; i++) g->v[i].text = &g->names.strs[g->v[i].name];
  if (g->n) qsort(g->v, g->n, sizeof *g->v, by_total);
}

static void put_sums(struct buf *b, uint64_t count, i128 total_ps) {
  char text[48];
  json_put_uint(b, "", count);
  buf_text(b, ",");
  buf_append(b, text, num_put_us(text, total_ps));
}

static void put_row(struct buf *b, const struct merge_gone_row *row) {
  buf_text(b, "[\"");
  buf_text(b, KINDS[row->kind]);
  buf_text(b, "\",");
  json_quote(b, row->text->bytes, row->text->len);
  buf_text(b, ",");
  put_sums(b, row->count, row->total_ps);
  buf_text(b, "]");
}

void merge_gone_print(struct merger *m, struct buf *b) {
  struct merge_gone *g = &m->gone;
  const uint64_t room = merge_gone_room(m->opt->to) * (m->packed ? 2 : 1);
  const size_t from = b->len;
  uint64_t count = 0;
  i128 total = 0;
  uint32_t i = 0;
  sort_rows(g);
  buf_text(b, ",\n\"shrink\":{\"target\":");
  json_put_uint(b, "", m->opt->to);
  buf_text(b, ",\"columns\":[\"kind\",\"name\",\"count\",\"total_us\"],\"dropped\":[");
  for (; i < g->n; i++) {
    const size_t before = b->len;
    buf_text(b, i ? ",\n" : "\n");
    put_row(b, &g->v[i]);
    if (b->len - from + 128 <= room) continue;
    b->len = before;
    break;
  }
  buf_text(b, "]");
  for (uint32_t k = i; k < g->n; k++) count += g->v[k].count, total = (i128)((u128)total + (u128)g->v[k].total_ps);
  if (i < g->n) {
    buf_text(b, ",\"others\":[");
    json_put_uint(b, "", g->n - i);
    buf_text(b, ",");
    put_sums(b, count, total);
    buf_text(b, "]");
  }
  buf_text(b, "}");
}
