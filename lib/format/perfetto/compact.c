/* compact.c - see compact.h.
 *
 * All times are packed deltas, and the first one is relative to 0. If an item is left out, its delta must be added to the delta of
 * the next item. */
#include "compact.h"

#include "fields.h"
#include "format/pb_out.h"

enum { COLUMNS_MOST = 6 };

/* Columns of each kind; the first one is the time. */
static const uint8_t NUMBERS[COMPACT_KINDS][COLUMNS_MOST] = {
    {COMPACT_SWITCH_TIME, COMPACT_PREV_STATE, COMPACT_NEXT_TID, COMPACT_NEXT_PRIO, COMPACT_NEXT_NAME},
    {COMPACT_WAKING_TIME, COMPACT_WOKEN_TID, COMPACT_WOKEN_CPU, COMPACT_WOKEN_PRIO, COMPACT_WOKEN_NAME, COMPACT_WOKEN_FLAGS},
};

void compact_read(struct compact *c, const struct pb_field *field) {
  struct pb in = pb_inside(field);
  struct pb_field f;
  *c = (struct compact){.field = *field};
  while (pb_next(&in, &f)) {
    if (f.number >= COMPACT_COLUMNS || f.number == COMPACT_NAMES) continue;
    c->is_odd = c->is_odd || f.wire != PB_BYTES || c->column[f.number].p;
    if (f.wire == PB_BYTES) c->column[f.number] = pb_inside(&f);
  }
}

bool compact_next(struct compact *c, enum compact_kind kind, struct compact_item *item) {
  const uint8_t *numbers = NUMBERS[kind];
  *item = (struct compact_item){.kind = kind};
  for (unsigned i = 0; i < COLUMNS_MOST && numbers[i]; i++) {
    struct pb *in = &c->column[numbers[i]];
    item->has[numbers[i]] = in->p < in->end && pb_varint(in, &item->value[numbers[i]]);
  }
  item->time = c->time[kind] += item->value[numbers[0]];
  return item->has[numbers[0]];
}

bool compact_name(const struct pb_field *field, uint64_t index, struct pb_field *name) {
  struct pb in = pb_inside(field);
  while (pb_next(&in, name))
    if (pb_field_key(name) == PB_KEY(COMPACT_NAMES, PB_BYTES) && index-- == 0) return true;
  return false;
}

void compact_begin(struct compact_out *out, struct mem *mem) {
  *out = (struct compact_out){.n = 0};
  for (unsigned i = 0; i < COMPACT_COLUMNS; i++) out->column[i].mem = mem;
}

static void append_varint(struct buf *b, uint64_t v) {
  uint8_t *p = buf_reserve(b, 16);
  if (p) b->len = (size_t)(varint_put(p, v) - b->data);
}

void compact_put(struct compact_out *out, const struct compact_item *item) {
  const uint8_t *numbers = NUMBERS[item->kind];
  append_varint(&out->column[numbers[0]], item->time - out->time[item->kind]);
  out->time[item->kind] = item->time;
  out->n++;
  for (unsigned i = 1; i < COLUMNS_MOST && numbers[i]; i++)
    if (item->has[numbers[i]]) append_varint(&out->column[numbers[i]], item->value[numbers[i]]);
}

void compact_append(struct compact_out *out, struct buf *to) {
  for (unsigned i = 0; i < COMPACT_COLUMNS; i++)
    if (out->column[i].len) pb_message(to, i, &out->column[i]);
}

void compact_end(struct compact_out *out) {
  for (unsigned i = 0; i < COMPACT_COLUMNS; i++) buf_free(&out->column[i]);
}
