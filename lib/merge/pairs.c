/* pairs.c - see pairs.h.
 *
 * Both sides of a message record the group and the rank of the peer, but no number that is equal on both. NCCL delivers the messages
 * from one rank to another in order, so the n-th send belongs to the n-th receive if both sides recorded the same messages. That is
 * certain within a numbered step if both sides have equally many messages in it. Without steps, one side may have missed the first
 * messages and the other side the last ones. The messages are then matched only if every send overlaps its receive, and if this is not
 * also true when one side is shifted by one message. No message is received before it was sent; a list that contradicts this is left
 * out. */
#include "pairs.h"

#include <stdlib.h>

struct message {
  uint64_t label;
  int64_t step, start_ns, end_ns;
  uint32_t anchor;
  bool stepped, sends;
};

static int by_place(const void *pa, const void *pb) {
  const struct message *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  if (a->stepped != b->stepped) return a->stepped - b->stepped;
  if (a->stepped && a->step != b->step) return a->step < b->step ? -1 : 1;
  if (a->sends != b->sends) return b->sends - a->sends;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->anchor > b->anchor) - (a->anchor < b->anchor);
}

static bool is_beside(const struct message *a, const struct message *b) {
  return a->label == b->label && a->stepped == b->stepped && (!a->stepped || a->step == b->step);
}

/* Lists the messages of inputs whose clocks can be compared. Returns their number. */
static uint32_t list_messages(const struct align_anchors *anchors, const struct members_clocks *clocks, struct message *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < anchors->n; i++) {
    const struct align_anchor *a = &anchors->v[i];
    if (!(a->says & ALIGN_MESSAGE) || !clocks->usable[a->input]) continue;
    out[n++] = (struct message){.label = a->label, .step = a->step, .stepped = a->stepped, .sends = a->says & ALIGN_SENDS, .anchor = i,
                                .start_ns = members_placed(clocks, a->input, a->start),
                                .end_ns = members_placed(clocks, a->input, a->end)};
  }
  if (n) qsort(out, n, sizeof *out, by_place);
  return n;
}

static bool all_in_order(const struct message *sent, const struct message *came, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (came[i].end_ns < sent[i].start_ns) return false;
  return true;
}

static bool all_overlap(const struct message *sent, const struct message *came, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (came[i].end_ns < sent[i].start_ns || sent[i].end_ns < came[i].start_ns) return false;
  return true;
}

/* True if the n sends certainly belong to the n receives that follow them. */
static bool is_certain(const struct message *sent, uint32_t n) {
  const struct message *came = sent + n;
  if (sent->stepped) return all_in_order(sent, came, n);
  if (!all_overlap(sent, came, n)) return false;
  return n == 1 || (!all_overlap(sent + 1, came, n - 1) && !all_overlap(sent, came + 1, n - 1));
}

static struct merge_end end_of(const struct align_anchors *anchors, const struct message *m) {
  const struct align_anchor *a = &anchors->v[m->anchor];
  return (struct merge_end){.input = a->input, .name = a->name, .bytes = a->bytes, .start_ns = m->start_ns, .end_ns = m->end_ns};
}

static void pair_up(struct merge_collectives *c, const struct align_anchors *anchors, const struct message *sent, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    c->pairs[c->n_pairs++] = (struct merge_pair){end_of(anchors, &sent[i]), end_of(anchors, &sent[n + i])};
}

bool pairs_take(struct merge_collectives *c, const struct align_anchors *anchors, const struct members_clocks *clocks) {
  struct message *v = mem_array(anchors->mem, (uint64_t)anchors->n + 1, sizeof *v);
  c->pairs = mem_array(anchors->mem, (uint64_t)anchors->n / 2 + 1, sizeof *c->pairs);
  const bool ok = v && c->pairs;
  const uint32_t n = ok ? list_messages(anchors, clocks, v) : 0;
  for (uint32_t i = 0, k, sends; i < n; i = k) {
    sends = 0;
    for (k = i; k < n && is_beside(&v[i], &v[k]); k++) sends += v[k].sends;
    if (sends && 2 * sends == k - i && is_certain(v + i, sends)) pair_up(c, anchors, v + i, sends);
  }
  mem_free(anchors->mem, v);
  return ok;
}
