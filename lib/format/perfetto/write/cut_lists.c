/* cut_lists.c - see cut_lists.h.
 *
 * Item n has time n. Lists of numbers may be packed: one field then contains several of them. An item without a time has the time
 * of the packet. An item whose time cannot be converted to the trace clock stays. */
#include "cut_lists.h"

#include "format/pb_out.h"

/* Reads the numbers of a list, each packed or in a field of its own. */
struct numbers {
  struct pb message, packed;
  uint32_t field;
};

static struct numbers numbers_in(const struct pb_field *content, uint32_t field) {
  return (struct numbers){.message = pb_inside(content), .packed = pb_over(NULL, 0), .field = field};
}

static bool next_number(struct numbers *n, uint64_t *value) {
  struct pb_field f;
  while (n->packed.p >= n->packed.end || !pb_varint(&n->packed, value)) {
    do {
      if (!pb_next(&n->message, &f)) return false;
    } while (f.number != n->field);
    *value = f.value;
    if (f.wire == PB_VARINT) return true;
    n->packed = pb_inside(&f);
  }
  return true;
}

/* Converts a time in the list to the trace clock. */
static bool list_time(const struct cut *c, const struct cut_sequence *q, const struct packet_head *h, uint64_t time, int64_t *ns) {
  if (h->kind->clock) return cut_to_trace(c, h->machine, h->kind->clock, time, ns);
  if (!cut_packet_time(c, q, h, ns)) return false;
  *ns = (int64_t)((uint64_t)*ns + time);
  return true;
}

bool cut_lists_is(const struct packet_head *h) {
  return h->kind && h->kind->rule == KIND_LISTS && head_has(&h->content, h->kind->time);
}

void cut_lists_times(const struct cut *c, const struct cut_sequence *q, const struct packet_head *h,
                     void (*found)(void *arg, int64_t ns), void *arg) {
  struct numbers times = numbers_in(&h->content, h->kind->time);
  uint64_t time;
  int64_t ns;
  while (next_number(&times, &time))
    if (list_time(c, q, h, time, &ns)) found(arg, ns);
}

static uint64_t n_items(const struct packet_head *h) {
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  uint64_t n = 0;
  while (!h->kind->packed && pb_next(&in, &f)) n += f.number == h->kind->items;
  return n;
}

static void add_judgement(struct buf *stays, bool stay) {
  const char byte = stay;
  buf_append(stays, &byte, 1);
}

/* Appends a byte for each item to `stays`: 1 if it stays. */
static void judge_items(struct cut *c, const struct cut_sequence *q, const struct packet_head *h, struct buf *stays) {
  struct numbers times = numbers_in(&h->content, h->kind->time);
  const uint64_t n = n_items(h);
  uint64_t time;
  int64_t ns;
  while (next_number(&times, &time)) add_judgement(stays, !list_time(c, q, h, time, &ns) || cut_side_of(c, ns, 0) == INSIDE);
  const bool is_inside = !cut_packet_time(c, q, h, &ns) || cut_side_of(c, ns, 0) == INSIDE;
  while (stays->len < n && !c->mem->failed) add_judgement(stays, is_inside);
}

/* Copies the numbers of a packed field that stay. `at`: index of the next number. */
static void put_packed(struct cut *c, const struct pb_field *f, const struct buf *stays, size_t *at) {
  struct pb in = pb_inside(f);
  uint64_t value;
  c->item.len = 0;
  for (const uint8_t *from = in.p; in.p < in.end && pb_varint(&in, &value); from = in.p, (*at)++)
    if (*at >= stays->len || stays->data[*at]) buf_append(&c->item, from, (size_t)(in.p - from));
  if (c->item.len) pb_message(&c->content, f->number, &c->item);
}

static void put_lists(struct cut *c, const struct packet_head *h, const struct buf *stays) {
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  size_t items = 0, times = 0;
  c->content.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_item = f.number == h->kind->items, is_time = f.number == h->kind->time;
    size_t *at = is_time ? &times : &items;
    if ((is_item || is_time) && f.wire == PB_BYTES && (is_time || h->kind->packed)) {
      put_packed(c, &f, stays, at);
      continue;
    }
    const bool goes = (is_item || is_time) && *at < stays->len && !stays->data[*at];
    *at += is_item || is_time;
    if (!goes) buf_append(&c->content, from, (size_t)(in.p - from));
  }
}

enum verdict cut_lists(struct cut *c, const struct cut_sequence *q, const struct packet_head *h) {
  struct buf stays = {.mem = c->mem};
  size_t n = 0;
  judge_items(c, q, h, &stays);
  for (size_t i = 0; i < stays.len; i++) n += stays.data[i] != 0;
  const enum verdict verdict = n == stays.len ? STAYS : n ? PART : GOES;
  if (verdict == PART) put_lists(c, h, &stays);
  buf_free(&stays);
  return verdict;
}
