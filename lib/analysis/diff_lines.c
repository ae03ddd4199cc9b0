/* diff_lines.c - see diff_lines.h.
 *
 * Rows with the same name apart from lines, below the same row, form a group. If a run has two rows of a group, such as the methods
 * `forward` of two classes in one file, lines are needed to tell them apart, and the group is left as it is. */
#include "diff_lines.h"

#include <string.h>

#include "fold.h"

struct line_group {
  uint32_t first;  /* 1 + its first row */
  bool several, is_split; /* has several rows; a run has two of them */
};

struct joiner {
  struct diff_set *set;
  struct line_group *groups; /* [0] is not used */
  uint32_t n_groups, cap_groups;
  uint32_t *group_of, *into; /* by row: its group; the row that it becomes */
  uint32_t *order, *at;      /* rows by depth; by depth: its first place in `order` */
  uint32_t *sides, *from;    /* runs that have the rows, by row; by row: its first place in `sides` */
};

/* Returns the text id of the name without lines; the name itself if it has none. */
static uint32_t bare_name(struct diff_set *set, uint32_t name) {
  const char *p = (const char *)set->texts.strs[name].bytes;
  size_t n = set->texts.strs[name].len;
  if (!name || !fold_lines(&set->text, &p, &n)) return name;
  return p == (const char *)set->texts.strs[name].bytes ? name : intern(&set->texts, p, n);
}

/* ---- order ---- */

/* Sorts rows by depth. Returns the number of depths; 0 if memory runs out. */
static uint32_t sort_rows(struct joiner *j) {
  const struct diff_set *set = j->set;
  uint32_t depths = 1, sum = 0;
  for (uint32_t i = 0; i < set->n_rows; i++)
    if (set->rows[i].depth >= depths) depths = set->rows[i].depth + 1;
  j->at = mem_zeros(&j->set->mem, (uint64_t)depths + 2, sizeof *j->at);
  j->order = mem_array(&j->set->mem, (uint64_t)set->n_rows + 1, sizeof *j->order);
  if (!j->at || !j->order) return 0;
  for (uint32_t i = 0; i < set->n_rows; i++) j->at[set->rows[i].depth + 2]++;
  for (uint32_t d = 0; d < depths + 2; d++) sum = j->at[d] += sum;
  for (uint32_t i = 0; i < set->n_rows; i++) j->order[j->at[set->rows[i].depth + 1]++] = i;
  return depths;
}

/* Lists the runs that have each row, each once. */
static bool list_sides(struct joiner *j) {
  const struct diff_set *set = j->set;
  const uint64_t n = (uint64_t)set->n_rows + 2;
  uint32_t *last = mem_zeros(&j->set->mem, n, sizeof *last), sum = 0;
  j->from = mem_zeros(&j->set->mem, n + 1, sizeof *j->from);
  for (int fills = 0; fills < 2 && last && j->from; fills++) {
    if (fills) memset(last, 0, n * sizeof *last);
    for (uint32_t k = 0; k < set->n_sides; k++)
      for (uint32_t i = 0; i < set->sides[k].n_cells; i++) {
        const uint32_t row = set->sides[k].cells[i].row;
        if (last[row] == k + 1) continue;
        last[row] = k + 1;
        if (fills) j->sides[j->from[row + 1]++] = k;
        else j->from[row + 2]++;
      }
    for (uint64_t i = 0; !fills && i < n + 1; i++) sum = j->from[i] += sum;
    if (!fills) j->sides = mem_array(&j->set->mem, (uint64_t)sum + 1, sizeof *j->sides);
    if (!j->sides) break;
  }
  mem_free(&j->set->mem, last);
  return j->sides != NULL;
}

/* ---- groups ---- */

/* Assigns a row to the group of its name and the row above. */
static bool group_row(struct joiner *j, uint32_t row, struct map *groups) {
  const uint32_t above = j->set->rows[row].parent, parent = above ? j->into[above - 1] + 1 : 0;
  uint32_t *slot = map_put(groups, (uint64_t)parent << 32 | bare_name(j->set, j->set->rows[row].name), 0);
  if (!slot || !mem_grow(&j->set->mem, (void **)&j->groups, &j->cap_groups, (uint64_t)j->n_groups + 2, sizeof *j->groups)) return false;
  if (!*slot) j->groups[*slot = ++j->n_groups] = (struct line_group){.first = row + 1};
  else j->groups[*slot].several = true;
  j->group_of[row] = *slot;
  return true;
}

/* Notes that a run has two rows of the row's group. `rows`: group and run -> 1 + row. */
static bool see_sides(struct joiner *j, uint32_t row, struct map *rows) {
  struct line_group *group = &j->groups[j->group_of[row]];
  for (uint32_t i = j->from[row]; group->several && i < j->from[row + 1]; i++) {
    uint32_t *seen = map_put(rows, (uint64_t)j->group_of[row] << 32 | j->sides[i], row + 1);
    if (!seen) return false;
    if (*seen != row + 1) group->is_split = true;
  }
  return true;
}

/* Lets a row become the first row of its group. */
static void join_row(struct joiner *j, uint32_t row) {
  const struct line_group *group = &j->groups[j->group_of[row]];
  struct diff_path *from = &j->set->rows[row], *to = &j->set->rows[group->first - 1];
  if (!group->several || group->is_split || to == from) return;
  j->into[row] = group->first - 1;
  to->name = bare_name(j->set, to->name);
  to->kernels |= from->kernels;
  to->marks |= from->marks;
  to->others |= from->others;
}

/* Joins the rows of a depth. */
static bool join_depth(struct joiner *j, uint32_t depth) {
  const uint32_t *const begin = &j->order[j->at[depth]], *const end = &j->order[j->at[depth + 1]];
  struct map groups, rows;
  bool ok = true;
  map_init(&groups, &j->set->mem);
  map_init(&rows, &j->set->mem);
  for (const uint32_t *p = begin; ok && p < end; p++) ok = group_row(j, *p, &groups);
  for (const uint32_t *p = begin; ok && p < end; p++) ok = see_sides(j, *p, &rows);
  for (const uint32_t *p = begin; ok && p < end; p++) join_row(j, *p);
  map_free(&groups);
  map_free(&rows);
  return ok;
}

static void move_cells(const struct joiner *j, struct diff_side *s) {
  for (uint32_t i = 0; i < s->n_cells; i++) s->cells[i].row = j->into[s->cells[i].row];
  for (uint32_t i = 0; i < s->n_works; i++) s->works[i].row = j->into[s->works[i].row];
}

static bool any_lines(struct diff_set *set) {
  for (uint32_t i = 0; i < set->n_rows; i++)
    if (bare_name(set, set->rows[i].name) != set->rows[i].name) return true;
  return false;
}

bool diff_lines_join(struct diff_set *set) {
  struct mem *mem = &set->mem;
  struct joiner j = {.set = set};
  if (!any_lines(set)) return !mem->failed;
  j.group_of = mem_zeros(mem, (uint64_t)set->n_rows + 1, sizeof *j.group_of);
  j.into = mem_array(mem, (uint64_t)set->n_rows + 1, sizeof *j.into);
  bool ok = j.group_of && j.into && list_sides(&j);
  const uint32_t depths = ok ? sort_rows(&j) : 0;
  ok = depths > 0;
  for (uint32_t i = 0; ok && i < set->n_rows; i++) j.into[i] = i;
  /* From the top, because rows below joined rows may have become equal. */
  for (uint32_t depth = 0; ok && depth < depths; depth++) ok = join_depth(&j, depth);
  for (uint32_t k = 0; ok && k < set->n_sides; k++) move_cells(&j, &set->sides[k]);
  for (uint32_t i = 0; ok && i < set->n_rows; i++)
    if (set->rows[i].parent) set->rows[i].parent = j.into[set->rows[i].parent - 1] + 1;
  void *const blocks[] = {j.groups, j.group_of, j.into, j.order, j.at, j.sides, j.from};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(mem, blocks[i]);
  return ok;
}
