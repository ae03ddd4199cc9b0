/* marks.c - see marks.h. */
#include "marks.h"

#include <string.h>

#include "atrace_text.h"
#include "base/hash.h"
#include "base/map.h"
#include "fields.h"

/* ---- texts of programs ---- */

/* Returns the key of an event. For spans of a thread it is the number of the thread; for other spans it is the name or track,
 * and their other identifiers. */
static uint64_t key_of_text(const struct packet_head *h, const struct atrace_text *text, uint64_t tid) {
  const bool on_track = text->track.p != NULL, is_counter = text->phase == 'C';
  const struct atrace_part name = on_track ? text->track : text->name;
  if (text->phase == 'B' || text->phase == 'E') return hash_pair(h->machine, tid);
  const uint64_t process = hash_pair(h->machine, (uint64_t)text->pid << 2 | (uint64_t)is_counter << 1 | on_track);
  return hash_pair(hash_pair(hash_bytes(name.p, name.n), is_counter ? 0 : (uint64_t)text->value), process);
}

static bool mark_of_text(const struct packet_head *h, const struct atrace_text *text, uint64_t tid, struct mark *mark) {
  if (text->phase == 'I' || text->phase == 'N') return false;
  mark->key = key_of_text(h, text, tid);
  mark->kind = text->phase == 'C' ? MARK_SAMPLE
               : text->phase == 'S' ? MARK_BEGIN_ONCE
               : strchr("BG", text->phase) ? MARK_BEGIN : MARK_END;
  return true;
}

/* Reads an atrace mark: the text that a program wrote to trace_marker (an ftrace print event), or an event of a driver. */
static bool atrace_of(const struct pb_field *content, struct atrace_text *text) {
  struct pb c = pb_inside(content);
  struct pb_field f;
  if (content->number != FTRACE_PRINT) return atrace_mark(text, content);
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(PRINT_TEXT, PB_BYTES) && atrace_text(text, f.p, (size_t)f.value)) return true;
  return false;
}

/* ---- events of ftrace ---- */

struct mark_event mark_event(const struct pb_field *event, uint64_t cpu) {
  struct mark_event e = {.at = event->p, .cpu = cpu};
  struct pb c = pb_inside(event);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT_TID, PB_VARINT)) e.tid = f.value;
    else if (f.wire == PB_BYTES) e.content = f;
  }
  return e;
}

static struct mark mark_of_pair(uint32_t machine, const struct pair *pair, const uint8_t *at) {
  static const enum mark_kind KIND[] = {[PAIR_BEGIN] = MARK_BEGIN, [PAIR_LATEST] = MARK_SAMPLE, [PAIR_END] = MARK_END};
  return (struct mark){.key = hash_pair(machine, pair->key), .at = at, .kind = (uint8_t)KIND[pair->role]};
}

bool mark_of_event(const struct packet_head *h, const struct mark_event *event, struct mark *mark) {
  struct atrace_text text;
  struct pair pair;
  *mark = (struct mark){.at = event->at};
  if (pair_lasting(event->content.number) == LASTING_TEXT)
    return atrace_of(&event->content, &text) && mark_of_text(h, &text, event->tid, mark);
  if (!pair_of_ftrace(&event->content, event->tid, event->cpu, &pair)) return false;
  *mark = mark_of_pair(h->machine, &pair, event->at);
  return true;
}

struct mark mark_of_switch(const struct packet_head *h, const uint8_t *at, uint64_t cpu) {
  return (struct mark){.key = hash_pair(hash_pair(h->machine, FTRACE_SWITCH), cpu), .at = at, .kind = MARK_SAMPLE};
}

/* ---- other packets ---- */

/* Returns the key of a packet with samples. Packets whose samples have the same fields, or the same counter ids of one description,
 * have the same key. */
static uint64_t key_of_samples(const struct packet_head *h) {
  struct pb c = pb_inside(&h->content);
  uint64_t key = hash_pair((uint64_t)h->machine << 32 | (uint32_t)h->sequence, h->content.number);
  const bool is_memory = h->content.number == PACKET_GPU_MEMORY, is_counter = h->content.number == PACKET_GPU_COUNTER;
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (is_memory && f.number == GPU_MEMORY_SIZE) continue;
    key = hash_pair(key, f.number);
    if (f.wire == PB_BYTES) key = hash_pair(key, head_number(&f, GPU_SAMPLE_ID, 0));
    else if (is_memory || (is_counter && f.number == GPU_COUNTER_IID)) key = hash_pair(key, f.value);
  }
  return key;
}

uint32_t marks_of_packet(const struct packet_head *h, struct mark marks[PACKET_MARKS]) {
  struct pair pairs[PAIR_KEYS];
  const bool is_pair = pair_is_packet(h->content.number);
  uint32_t n = is_pair ? pairs_of_packet(&h->content, pairs) : 0;
  for (uint32_t i = 0; i < n; i++) marks[i] = mark_of_pair(h->machine, &pairs[i], h->content.p);
  if (!head_has_samples(h->content.number)) return n;
  marks[n++] = (struct mark){.key = key_of_samples(h), .at = h->content.p, .kind = MARK_SAMPLE};
  return n;
}

/* ---- pairing ---- */

void marks_add(struct marks *m, struct mark mark, int64_t ns) {
  if (!mem_grow(m->mem, (void **)&m->of, &m->cap, (uint64_t)m->n + 1, sizeof *m->of) ||
      !mem_grow(m->mem, (void **)&m->times, &m->cap_times, (uint64_t)m->n + 1, sizeof *m->times)) return;
  m->times[m->n] = (struct keyed){ns, m->n};
  m->of[m->n++] = mark;
}

/* Applies mark `at` to the open spans of its key. `top`: 1 + index of the innermost one; 0 = none. */
static void apply(struct marks *m, uint32_t at, uint32_t *top) {
  struct mark *mark = &m->of[at];
  if ((mark->kind == MARK_BEGIN_ONCE && *top) || (mark->kind == MARK_END && !*top)) return;
  if (mark->kind != MARK_END) {
    mark->other = mark->kind == MARK_BEGIN ? *top : 0;
    *top = at + 1;
    return;
  }
  struct mark *begin = &m->of[*top - 1];
  mark->other = *top;
  *top = begin->other;
  begin->other = at + 1;
}

bool marks_pair(struct marks *m) {
  struct map tops;
  if (!m->n) return true;
  m->spare = mem_array(m->mem, m->n, sizeof *m->spare);
  if (!m->spare) return false;
  m->sorted = keyed_sort(m->times, m->spare, m->n);
  map_init(&tops, m->mem);
  for (uint32_t i = 0; i < m->n; i++) {
    uint32_t *top = map_put(&tops, m->of[m->sorted[i].index].key, 0);
    if (top) apply(m, m->sorted[i].index, top);
  }
  for (uint32_t i = 0; i < m->n; i++) {
    uint32_t *top = map_get(&tops, m->of[i].key);
    for (; top && *top; *top = m->of[*top - 1].other) m->of[*top - 1].is_open = true;
  }
  map_free(&tops);
  return !m->mem->failed;
}

void marks_free(struct marks *m) {
  mem_free(m->mem, m->of);
  mem_free(m->mem, m->times);
  mem_free(m->mem, m->spare);
  *m = (struct marks){.mem = m->mem};
}
