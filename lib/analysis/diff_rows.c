/* diff_rows.c - see diff_rows.h. */
#include "diff_rows.h"

#include <string.h>

#include "base/os.h"

uint32_t diff_rows_add(struct diff_set *set, uint32_t name, uint32_t parent) {
  uint32_t *slot = map_put(&set->row_of, (uint64_t)parent << 32 | name, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&set->mem, (void **)&set->rows, &set->cap_rows, (uint64_t)set->n_rows + 1, sizeof *set->rows)) return 0;
  set->rows[set->n_rows] = (struct diff_path){.name = name, .parent = parent, .depth = parent ? set->rows[parent - 1].depth + 1 : 0};
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

/* ---- names of work ---- */

int diff_rows_order(const char *a, size_t n, const char *b, size_t m) {
  if (!a || !b) return (a == NULL) - (b == NULL);
  const int order = memcmp(a, b, n < m ? n : m);
  return order ? order : (n > m) - (n < m);
}

void diff_rows_add_work(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t name, tk_time time) {
  uint32_t *slot = map_put(&s->work_of, (uint64_t)row << 32 | name, 0);
  if (!slot) return;
  if (!*slot) {
    if (!mem_grow(&set->mem, (void **)&s->works, &s->cap_works, (uint64_t)s->n_works + 1, sizeof *s->works)) return;
    s->works[s->n_works] = (struct diff_work){.row = row - 1, .name = name};
    *slot = ++s->n_works;
  }
  s->works[*slot - 1].total += time;
}

/* Orders work by row; within a row, by time, longest first. */
static int by_row_and_time(const void *p, const void *q, void *texts) {
  const struct diff_work *a = p, *b = q;
  const struct intern_str *v = texts, *x = &v[a->name], *y = &v[b->name];
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  return diff_rows_order((const char *)x->bytes, x->len, (const char *)y->bytes, y->len);
}

static int by_row_and_name(const void *p, const void *q, void *unused) {
  const struct diff_work *a = p, *b = q;
  (void)unused;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

/* Merges work with the same name in the same row. Needed after rows were joined. */
static void join_works(struct diff_side *s) {
  uint32_t n = 0;
  os_sort(s->works, s->n_works, sizeof *s->works, by_row_and_name, NULL);
  for (uint32_t i = 0; i < s->n_works; i++) {
    if (n && by_row_and_name(&s->works[n - 1], &s->works[i], NULL) == 0) s->works[n - 1].total += s->works[i].total;
    else s->works[n++] = s->works[i];
  }
  s->n_works = n;
}

void diff_rows_place_works(struct diff_set *set, struct diff_side *s) {
  uint32_t n = 0;
  join_works(s);
  os_sort(s->works, s->n_works, sizeof *s->works, by_row_and_time, set->texts.strs);
  for (uint32_t i = 0; i < s->n_works; i++) {
    if (!n || s->works[n - 1].row != s->works[i].row) s->works[n++] = s->works[i];
    s->works[n - 1].names++;
  }
  s->n_works = n;
}

const struct diff_work *diff_rows_work(const struct diff_side *s, uint32_t row) {
  uint32_t low = 0, high = s->n_works;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (s->works[middle].row < row) low = middle + 1;
    else high = middle;
  }
  return low < s->n_works && s->works[low].row == row ? &s->works[low] : NULL;
}
