/* diff_rows.c - see diff_rows.h. */
#include "diff_rows.h"

uint32_t diff_rows_add(struct diff_set *set, uint32_t name, uint32_t parent) {
  uint32_t *slot = map_put(&set->row_of, (uint64_t)parent << 32 | name, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&set->mem, (void **)&set->rows, &set->cap_rows, (uint64_t)set->n_rows + 1, sizeof *set->rows)) return 0;
  set->rows[set->n_rows] = (struct diff_path){name, parent, parent ? set->rows[parent - 1].depth + 1 : 0};
  return *slot = ++set->n_rows;
}

uint32_t diff_rows_cell(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t sample, uint32_t unit) {
  const uint64_t key = (uint64_t)row << 32 | sample;
  uint32_t *slot = map_put(&s->cell_of, unit ? hash_pair(key, unit) : key, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&set->mem, (void **)&s->cells, &s->cap_cells, (uint64_t)s->n_cells + 1, sizeof *s->cells)) return 0;
  s->cells[s->n_cells] = (struct diff_cell){.row = row - 1, .sample = sample - 1, .unit = unit};
  return *slot = ++s->n_cells;
}

uint32_t diff_rows_unit(struct diff_set *set, const struct tk_trace *t, const struct tk_event *e) {
  const tk_id unit = t->classes[e->cls].unit;
  int exp;
  if (stack_unit_is_time(t, unit, &exp)) set->times = true;
  else return intern(&set->texts, trace_str(t, unit)->bytes, trace_str(t, unit)->len);
  return 0;
}
