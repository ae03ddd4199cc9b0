/* redact_list.c - see redact_list.h. */
#include "redact_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

enum { KEPT, CHANGED, REMOVED };
static const char *const ACTIONS[] = {"kept", "changed", "removed"};
static const char *const KINDS[] = {
    [REDACT_NAME] = "name",   [REDACT_TRACK] = "track",         [REDACT_SERIES] = "series", [REDACT_CATEGORY] = "category",
    [REDACT_ID] = "id",       [REDACT_HOST] = "host",           [REDACT_FIELD] = "field",   [REDACT_ARG] = "arg",
    [REDACT_ARG_TEXT] = "arg text", [REDACT_TOP_LEVEL] = "top-level", [REDACT_LABEL] = "label", [REDACT_RECORD] = "record",
    [REDACT_BLOCK] = "block", [REDACT_INPUT] = "input",         [REDACT_GROUP] = "group"};

void redact_list_note(struct tk_redact_list *l, enum redact_kind kind, struct redact_bytes text, const struct redact_bytes *becomes,
                      uint64_t count) {
  if (!l || !count) return;
  const uint32_t before = intern(&l->texts, text.p, text.n), after = becomes ? intern(&l->texts, becomes->p, becomes->n) : 0;
  const uint8_t action = !becomes ? REMOVED : before == after ? KEPT : CHANGED;
  const uint64_t key = hash_pair((uint64_t)action << 40 | (uint64_t)kind << 32 | before, after);
  uint32_t *at = map_put(&l->rows_by_key, key, l->n + 1);
  if (!at || !mem_grow(&l->mem, (void **)&l->rows, &l->cap, (uint64_t)l->n + 1, sizeof *l->rows)) return;
  if (*at == l->n + 1) l->rows[l->n++] = (struct redact_row){action, (uint8_t)kind, before, action == CHANGED ? after : 0, 0};
  l->rows[*at - 1].count += count;
}

/* Compares by action, kind and count. Rows with equal counts are in the order of string ids, which is the order of first appearance. */
static int by_weight(const void *a, const void *b) {
  const struct redact_row *x = a, *y = b;
  if (x->action != y->action) return x->action < y->action ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return x->text < y->text ? -1 : x->text > y->text;
}

static void put(struct out *o, const char *text) { out_write(o, text, strlen(text)); }

/* Escapes bytes that would end a column or confuse a terminal, and bytes that are not UTF-8. */
static void redact_put_text(struct out *o, const struct intern_str *s) {
  static const char HEX[] = "0123456789abcdef";
  const bool valid = utf8_valid(s->bytes, s->len);
  for (uint32_t i = 0; i < s->len; i++) {
    const uint8_t c = s->bytes[i];
    const char escape[4] = {'\\', 'x', HEX[c >> 4], HEX[c & 15]};
    if (c == '\t') put(o, "\\t");
    else if (c == '\n') put(o, "\\n");
    else if (c == '\\') put(o, "\\\\");
    else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !valid)) out_write(o, escape, sizeof escape);
    else out_write(o, &s->bytes[i], 1);
  }
}

bool redact_list_write(struct tk_redact_list *l, struct out *to) {
  if (l->n) qsort(l->rows, l->n, sizeof *l->rows, by_weight);
  map_free(&l->rows_by_key); /* the indices in the map are no longer valid after sorting */
  map_init(&l->rows_by_key, &l->mem);
  put(to, "action\tkind\tcount\ttext\tbecomes\n");
  for (uint32_t i = 0; i < l->n; i++) {
    const struct redact_row *row = &l->rows[i];
    char count[24];
    put(to, ACTIONS[row->action]), put(to, "\t"), put(to, KINDS[row->kind]), put(to, "\t");
    out_write(to, count, num_put_i64(count, (int64_t)row->count));
    put(to, "\t"), redact_put_text(to, &l->texts.strs[row->text]), put(to, "\t");
    if (row->becomes) redact_put_text(to, &l->texts.strs[row->becomes]);
    put(to, "\n");
  }
  return !l->mem.failed;
}
