/* inspect.c - counts the packets of a Trace by content, its sequences and its clocks.
 *
 * Packets are counted while the file is read, and the result is stored in a meta, because the graph contains neither packets
 * nor sequences. A packet with several kinds of content counts as the first of them in kind_of; for example, sequence state in
 * the packet of an event counts as part of the event. */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "format/perfetto/kinds.h"
#include "format/perfetto/perfetto.h"
#include "reader.h"

/* ---- counting ---- */

static uint32_t kind_of(const struct packet *k) {
  if (k->event.p) return PACKET_TRACK_EVENT;
  if (k->other) return k->other;
  if (k->compressed.p) return k->compressed.number == PACKET_ZSTD ? PACKET_ZSTD : PACKET_COMPRESSED;
  if (k->descriptor.p) return PACKET_TRACK_DESCRIPTOR;
  if (k->process.p) return PACKET_PROCESS_DESCRIPTOR;
  if (k->thread.p) return PACKET_THREAD_DESCRIPTOR;
  if (k->snapshot.p) return PACKET_CLOCK_SNAPSHOT;
  if (k->extension.p) return PACKET_EXTENSION_DESCRIPTOR;
  if (k->attributes.p) return PACKET_TRACE_ATTRIBUTES;
  if (k->private_fields.p) return PACKET_TRACEKIT;
  return k->interned.p ? PACKET_INTERNED_DATA : k->defaults.p ? PACKET_DEFAULTS : 0;
}

/* Returns the index in r->kinds of the kind whose content is in this field. Kinds beyond PACKET_KINDS share the last index. */
static uint32_t kind_index(struct perfetto *r, uint32_t field) {
  uint32_t i = 0;
  while (i < r->n_kinds && r->kinds[i].field != field) i++;
  if (i == PACKET_KINDS) return PACKET_KINDS - 1;
  if (i == r->n_kinds) r->kinds[r->n_kinds++].field = field;
  return i;
}

void perfetto_count(struct perfetto *r, const struct packet *k, size_t n) {
  uint32_t field = kind_of(k);
  if (r->n_kinds == 0 || r->kinds[r->last_kind].field != field) r->last_kind = kind_index(r, field);
  r->kinds[r->last_kind].count++;
  r->kinds[r->last_kind].bytes += n;
}

void perfetto_add_counts(struct perfetto *r) {
  struct perfetto_counts head = {.n_kinds = r->n_kinds, .n_clocks = r->n_clocks, .n_sequences = r->n_sequences};
  struct buf *all = &r->copy;
  all->len = 0;
  buf_append(all, &head, sizeof head);
  buf_append(all, r->kinds, r->n_kinds * sizeof *r->kinds);
  for (uint32_t i = 1; i <= r->n_clocks; i++) {
    const struct clock *c = &r->clocks[i];
    struct perfetto_clock clock = {.id = c->id, .readings = c->n_readings, .of_sequence = c->of_sequence};
    if (!c->of_sequence) clock.machine = c->machine;
    buf_append(all, &clock, sizeof clock);
  }
  perfetto_add_passthrough(r, PASSTHROUGH_COUNTS, all->data, all->len);
}

/* ---- reporting ---- */

static const char *clock_name(uint32_t id) {
  static const char *const names[] = {"",          "REALTIME", "REALTIME_COARSE", "MONOTONIC",     "MONOTONIC_COARSE", "MONOTONIC_RAW",
                                      "BOOTTIME", "",         "",                "TSC", "PERF"};
  return id < sizeof names / sizeof *names ? names[id] : "";
}

static int largest_first(const void *a, const void *b) {
  const struct tk_share *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static const char *part_name(uint32_t field, struct arena *keep) {
  const struct kind_of_packet *kind = kind_find(field);
  const char *name = !field ? "sequence state only" : kind ? kind->name : NULL;
  char *text;
  if (name || (text = arena_bytes(keep, 24)) == NULL) return name ? name : "";
  memcpy(text, "field ", 6);
  text[6 + num_put_u64(text + 6, field)] = 0;
  return text;
}

void perfetto_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep) {
  const struct tk_meta *m = passthrough_find(t, PASSTHROUGH_COUNTS);
  const char *at = m ? trace_raw(t, m->at) : NULL;
  struct perfetto_counts head;
  if (!m || m->size < sizeof head) return;
  memcpy(&head, at, sizeof head);
  p->parts = arena_alloc(keep, head.n_kinds * sizeof *p->parts + 1);
  p->clocks = arena_alloc(keep, head.n_clocks * sizeof *p->clocks + 1);
  if (!p->parts || !p->clocks) return;
  p->n_sequences = head.n_sequences;
  at += sizeof head;
  for (; p->n_parts < head.n_kinds; p->n_parts++, at += sizeof(struct packet_kind)) {
    struct packet_kind k;
    memcpy(&k, at, sizeof k);
    p->parts[p->n_parts] = (struct tk_share){part_name(k.field, keep), k.count, k.bytes};
  }
  for (; p->n_clocks < head.n_clocks; p->n_clocks++, at += sizeof(struct perfetto_clock)) {
    struct perfetto_clock c;
    memcpy(&c, at, sizeof c);
    p->clocks[p->n_clocks] = (struct tk_perfetto_clock){c.id, c.machine, clock_name(c.id), c.of_sequence, c.readings};
  }
  qsort(p->parts, p->n_parts, sizeof *p->parts, largest_first);
}
