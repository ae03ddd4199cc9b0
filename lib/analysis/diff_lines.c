/* diff_lines.c - see diff_lines.h.
 *
 * Rows with the same name apart from lines, below the same row, form a group. If a run has two rows of a group, such as the methods
 * `forward` of two classes in one file, lines are needed to tell them apart, and the group is left as it is. */
#include "diff_lines.h"

#include "fold.h"

struct line_group {
  uint32_t first;  /* 1 + its first row */
  bool several, is_split; /* has several rows; a run has two of them */
};

struct joiner {
  struct diff_set *set;
  struct line_group *groups; /* [0] is not used */
  uint32_t n_groups, cap_groups;
  uint32_t *group_of, *into; /* by row: its group, 0 = none; the row that it becomes */
};

/* Returns the text id of the name without lines; the name itself if it has none. */
static uint32_t bare_name(struct diff_set *set, uint32_t name) {
  const char *p = (const char *)set->texts.strs[name].bytes;
  size_t n = set->texts.strs[name].len;
  if (!name || !fold_lines(&set->text, &p, &n)) return name;
  return p == (const char *)set->texts.strs[name].bytes ? name : intern(&set->texts, p, n);
}

/* Assigns the rows of a depth to groups, by name and the row above. */
static bool group_rows(struct joiner *j, uint32_t depth) {
  struct map groups;
  bool ok = true;
  map_init(&groups, &j->set->mem);
  for (uint32_t i = 0; ok && i < j->set->n_rows; i++) {
    const struct diff_path *row = &j->set->rows[i];
    if (row->depth != depth) continue;
    const uint32_t parent = row->parent ? j->into[row->parent - 1] + 1 : 0;
    uint32_t *slot = map_put(&groups, (uint64_t)parent << 32 | bare_name(j->set, row->name), 0);
    ok = slot && mem_grow(&j->set->mem, (void **)&j->groups, &j->cap_groups, (uint64_t)j->n_groups + 2, sizeof *j->groups);
    if (!ok) break;
    if (!*slot) j->groups[*slot = ++j->n_groups] = (struct line_group){.first = i + 1};
    else j->groups[*slot].several = true;
    j->group_of[i] = *slot;
  }
  map_free(&groups);
  return ok;
}

/* Finds the groups of a depth of which a run has two rows. */
static bool find_split(struct joiner *j, const struct diff_side *s, uint32_t depth) {
  struct map rows;
  bool ok = true;
  map_init(&rows, &j->set->mem);
  for (uint32_t i = 0; ok && i < s->n_cells; i++) {
    const uint32_t row = s->cells[i].row, group = j->group_of[row];
    if (j->set->rows[row].depth != depth || !j->groups[group].several) continue;
    uint32_t *seen = map_put(&rows, group, row);
    ok = seen != NULL;
    if (ok && *seen != row) j->groups[group].is_split = true;
  }
  map_free(&rows);
  return ok;
}

/* Lets the rows of a depth become the first rows of their groups. */
static void join_rows(struct joiner *j, uint32_t depth) {
  struct diff_set *set = j->set;
  for (uint32_t i = 0; i < set->n_rows; i++) {
    const struct line_group *group = &j->groups[j->group_of[i]];
    if (set->rows[i].depth != depth || !group->several || group->is_split || group->first == i + 1) continue;
    struct diff_path *to = &set->rows[group->first - 1];
    j->into[i] = group->first - 1;
    to->name = bare_name(set, to->name);
    to->kernels |= set->rows[i].kernels;
    to->marks |= set->rows[i].marks;
    to->others |= set->rows[i].others;
  }
}

/* Joins rows from the top down, because rows below joined rows may have become equal. */
static bool join_depths(struct joiner *j) {
  uint32_t deepest = 0;
  bool ok = true;
  for (uint32_t i = 0; i < j->set->n_rows; i++)
    if (j->set->rows[i].depth > deepest) deepest = j->set->rows[i].depth;
  for (uint32_t depth = 0; ok && depth <= deepest; depth++) {
    ok = group_rows(j, depth);
    for (uint32_t k = 0; ok && k < j->set->n_sides; k++) ok = find_split(j, &j->set->sides[k], depth);
    if (ok) join_rows(j, depth);
  }
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
  bool ok = j.group_of && j.into;
  for (uint32_t i = 0; ok && i < set->n_rows; i++) j.into[i] = i;
  ok = ok && join_depths(&j);
  for (uint32_t k = 0; ok && k < set->n_sides; k++) move_cells(&j, &set->sides[k]);
  for (uint32_t i = 0; ok && i < set->n_rows; i++)
    if (set->rows[i].parent) set->rows[i].parent = j.into[set->rows[i].parent - 1] + 1;
  mem_free(mem, j.groups);
  mem_free(mem, j.group_of);
  mem_free(mem, j.into);
  return ok;
}
