/* cut_sched.c - see cut_sched.h.
 *
 * The columns only state the next thread of a switch; the thread that was running is the next thread of the previous switch on
 * the same CPU. Importers ignore wakings and switches of a CPU until they know an earlier switch on it. So the last switch
 * before the range is written, too, together with the CPU's first item inside the range. Before it comes a switch to the idle
 * thread at the same time, since importers ignore the first switch of a CPU. */
#include "cut_sched.h"

#include <string.h>

#include "format/pb_out.h"
#include "format/perfetto/compact.h"
#include "format/perfetto/fields.h"

/* The items of both kinds in the order of time. */
struct merged_items {
  struct compact c;
  struct compact_item next[COMPACT_KINDS];
  bool has[COMPACT_KINDS];
};

static bool next_item(struct merged_items *m, struct compact_item *item) {
  const bool both = m->has[COMPACT_SWITCHES] && m->has[COMPACT_WAKINGS];
  const bool is_waking = both ? m->next[COMPACT_WAKINGS].time < m->next[COMPACT_SWITCHES].time : m->has[COMPACT_WAKINGS];
  const enum compact_kind kind = is_waking ? COMPACT_WAKINGS : COMPACT_SWITCHES;
  if (!m->has[kind]) return false;
  *item = m->next[kind];
  m->has[kind] = compact_next(&m->c, kind, &m->next[kind]);
  return true;
}

static void begin_items(struct merged_items *m, const struct pb_field *columns) {
  compact_read(&m->c, columns);
  for (int kind = 0; kind < COMPACT_KINDS; kind++) m->has[kind] = compact_next(&m->c, (enum compact_kind)kind, &m->next[kind]);
}

static uint64_t n_names(const struct pb_field *columns) {
  struct pb in = pb_inside(columns);
  struct pb_field f;
  uint64_t n = 0;
  while (pb_next(&in, &f)) n += pb_field_key(&f) == PB_KEY(COMPACT_NAMES, PB_BYTES);
  return n;
}

/* Adds the last switch before the range to the columns, and the thread name in it to `names`, which are written after the
 * bundle's own names. */
static void put_state(struct cut_cpu *cpu, const struct pb_field *columns, struct compact_out *out, struct buf *names) {
  enum { IDLE_PRIORITY = 120 };
  static const char IDLE[] = "swapper";
  struct compact_item item = cpu->last, idle = item;
  struct pb_field name;
  memset(idle.value, 0, sizeof idle.value);
  idle.value[COMPACT_NEXT_PRIO] = IDLE_PRIORITY;
  idle.value[COMPACT_NEXT_NAME] = n_names(columns);
  item.value[COMPACT_NEXT_NAME] = n_names(columns) + 1;
  pb_bytes(names, COMPACT_NAMES, IDLE, sizeof IDLE - 1);
  if (compact_name(&cpu->columns, cpu->last.value[COMPACT_NEXT_NAME], &name)) pb_field(names, &name);
  compact_put(out, &idle);
  compact_put(out, &item);
}

/* Collects in `out` those items that are in the range. */
static void take_items(struct cut_cpu *cpu, struct merged_items *m, const struct cut_range *range, struct cut_counts *counts,
                       struct compact_out *out, struct buf *names) {
  struct compact_item item;
  while (next_item(m, &item)) {
    const enum cut_side side = range->side(range->arg, item.time);
    const bool is_first = side == CUT_INSIDE && cpu->is_before && cpu->clock == range->clock && cpu->last.time <= item.time;
    counts->n++;
    counts->gone += side != CUT_INSIDE;
    if (is_first) put_state(cpu, &m->c.field, out, names);
    if (side == CUT_INSIDE) {
      compact_put(out, &item);
      cpu->is_before = false;
      cpu->is_inside = true;
    }
    if (item.kind == COMPACT_SWITCHES && side == CUT_BEFORE && !cpu->is_inside)
      *cpu = (struct cut_cpu){.columns = m->c.field, .last = item, .clock = range->clock, .is_before = true};
  }
}

/* Appends the columns that were collected, with the names and other fields of the original. */
static void put_columns(const struct pb_field *columns, struct compact_out *out, const struct buf *names, struct buf *to) {
  struct buf content = {.mem = to->mem};
  struct pb in = pb_inside(columns);
  struct pb_field f;
  if (!out->n) return;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p)
    if (f.number == COMPACT_NAMES || f.number >= COMPACT_COLUMNS) buf_append(&content, from, (size_t)(in.p - from));
  buf_append(&content, names->data, names->len);
  compact_append(out, &content);
  pb_message(to, FTRACE_COMPACT, &content);
  buf_free(&content);
}

void cut_sched_append(struct cut_cpu *cpu, const struct pb_field *columns, const struct cut_range *range, struct cut_counts *counts,
                      struct buf *to) {
  struct merged_items m;
  struct compact_out out;
  struct cut_counts own = {.n = 0};
  struct buf names = {.mem = to->mem};
  begin_items(&m, columns);
  compact_begin(&out, to->mem);
  take_items(cpu, &m, range, &own, &out, &names);
  const bool is_same = m.c.is_odd ? own.gone < own.n || !own.n : out.n == own.n && !own.gone;
  if (is_same) pb_field(to, columns);
  else put_columns(columns, &out, &names, to);
  compact_end(&out);
  buf_free(&names);
  counts->n += own.n;
  counts->gone += is_same ? 0 : own.gone;
  counts->is_changed = counts->is_changed || !is_same;
}
