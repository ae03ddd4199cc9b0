/* diff_lines.c - see diff_lines.h.
 *
 * Rows below the same row whose names differ only in line numbers form a group. If one run has two rows of a group, such as the methods
 * `forward` of two classes in one file, line numbers are needed to distinguish these, so the group is not joined.
 *
 * Names of TorchInductor graphs differ in hashes instead. If a run has several graphs below the same row, graphs that occur in all runs
 * are not changed. The other graphs are matched by order: the first of them in one run with the first of them in each other run, and so
 * on. If the runs have different numbers of them, all of them become one row. */
#include "diff_lines.h"

#include <string.h>

#include "fold.h"

struct line_group {
  uint32_t first;  /* 1 + its first row */
  bool several, is_split; /* several: the group has several rows; is_split: one run has two of them, with different names */
  bool differs;           /* true if the names of its rows are not all equal; names can be equal because rows above were joined */
  bool hashes;            /* the names differ in hashes */
  uint32_t runs, most;    /* if hashes, for rows that are not in all runs: number of runs with such rows; maximum number of them in a
                           * run */
  bool uneven;            /* if hashes: true if the runs have different numbers of such rows */
};

struct joiner {
  struct diff_set *set;
  struct line_group *groups; /* [0] is not used */
  uint32_t n_groups, cap_groups;
  uint32_t *group_of, *into; /* by row: its group; the row with which it is joined */
  uint32_t *order, *at;      /* order: rows sorted by depth; at: by depth, its first index in `order` */
  uint32_t *sides, *from;    /* sides: runs in which the rows occur, by row; from: by row, its first index in `sides` */
};

/* Returns the text id of the name after `fold` replaced parts of it; the same id if there is nothing to replace. */
static uint32_t name_without(struct diff_set *set, uint32_t name, bool (*fold)(struct buf *out, const char **p, size_t *n)) {
  const char *p = (const char *)set->texts.strs[name].bytes;
  size_t n = set->texts.strs[name].len;
  if (!name || !fold(&set->text, &p, &n)) return name;
  return p == (const char *)set->texts.strs[name].bytes ? name : intern(&set->texts, p, n);
}

uint32_t diff_lines_bare(struct diff_set *set, uint32_t name) {
  return name_without(set, name_without(set, name, fold_lines), fold_hashes);
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

/* Lists, for each row, the runs with events in this row or in rows below it; each run once. */
static bool list_sides(struct joiner *j) {
  const struct diff_set *set = j->set;
  const uint64_t n = (uint64_t)set->n_rows + 2;
  uint32_t *last = mem_zeros(&j->set->mem, n, sizeof *last), sum = 0;
  j->from = mem_zeros(&j->set->mem, n + 1, sizeof *j->from);
  for (int fills = 0; fills < 2 && last && j->from; fills++) {
    if (fills) memset(last, 0, n * sizeof *last);
    for (uint32_t k = 0; k < set->n_sides; k++)
      for (uint32_t i = 0; i < set->sides[k].n_cells; i++)
        for (uint32_t row = set->sides[k].cells[i].row + 1; row && last[row - 1] != k + 1; row = set->rows[row - 1].parent) {
          last[row - 1] = k + 1;
          if (fills) j->sides[j->from[row]++] = k;
          else j->from[row + 1]++;
        }
    for (uint64_t i = 0; !fills && i < n + 1; i++) sum = j->from[i] += sum;
    if (!fills) j->sides = mem_array(&j->set->mem, (uint64_t)sum + 1, sizeof *j->sides);
    if (!j->sides) break;
  }
  mem_free(&j->set->mem, last);
  return j->sides != NULL;
}

/* ---- groups ---- */

/* Assigns the row to the group with the same name (without lines or hashes) below the same row. */
static bool group_row(struct joiner *j, uint32_t row, struct map *groups) {
  const uint32_t above = j->set->rows[row].parent, parent = above ? j->into[above - 1] + 1 : 0;
  uint32_t *slot = map_put(groups, (uint64_t)parent << 32 | diff_lines_bare(j->set, j->set->rows[row].name), 0);
  if (!slot || !mem_grow(&j->set->mem, (void **)&j->groups, &j->cap_groups, (uint64_t)j->n_groups + 2, sizeof *j->groups)) return false;
  const bool hashes = name_without(j->set, j->set->rows[row].name, fold_hashes) != j->set->rows[row].name;
  if (!*slot) j->groups[*slot = ++j->n_groups] = (struct line_group){.first = row + 1, .hashes = hashes};
  else j->groups[*slot].several = true;
  if (j->set->rows[row].name != j->set->rows[j->groups[*slot].first - 1].name) j->groups[*slot].differs = true;
  j->group_of[row] = *slot;
  return true;
}

/* Sets is_split if a run of this row has another row of the same group, with a different name. `rows`: group and run -> 1 + row. */
static bool see_sides(struct joiner *j, uint32_t row, struct map *rows) {
  struct line_group *group = &j->groups[j->group_of[row]];
  for (uint32_t i = j->from[row]; group->differs && i < j->from[row + 1]; i++) {
    uint32_t *seen = map_put(rows, (uint64_t)j->group_of[row] << 32 | j->sides[i], row + 1);
    if (!seen) return false;
    if (*seen != row + 1) group->is_split = true;
  }
  return true;
}

/* Joins a row with another row of its group, `into`. */
static void join_rows(struct joiner *j, uint32_t row, uint32_t into) {
  const struct diff_path *from = &j->set->rows[row];
  struct diff_path *to = &j->set->rows[into];
  j->into[row] = into;
  to->kernels |= from->kernels;
  to->marks |= from->marks;
  to->others |= from->others;
}

/* Joins a row with the first row of its group, if the group may be joined. */
static void join_row(struct joiner *j, uint32_t row) {
  const struct line_group *group = &j->groups[j->group_of[row]];
  if (!group->several || group->is_split || group->first - 1 == row) return;
  join_rows(j, row, group->first - 1);
  j->set->rows[group->first - 1].name = diff_lines_bare(j->set, j->set->rows[group->first - 1].name);
}

/* ---- hashes ---- */

/* True for a graph that is not in all runs, in a group of which one run has several graphs. */
static bool is_other_graph(const struct joiner *j, uint32_t row) {
  const struct line_group *group = &j->groups[j->group_of[row]];
  return group->hashes && group->is_split && j->from[row + 1] - j->from[row] < j->set->n_sides;
}

/* Counts a graph in each run in which it occurs. `counts`: group and run -> number of graphs. */
static bool count_graph(struct joiner *j, uint32_t row, struct map *counts) {
  struct line_group *group = &j->groups[j->group_of[row]];
  for (uint32_t i = j->from[row]; i < j->from[row + 1]; i++) {
    uint32_t *n = map_put(counts, (uint64_t)j->group_of[row] << 32 | j->sides[i], 0);
    if (!n) return false;
    group->runs += *n == 0;
    if (++*n > group->most) group->most = *n;
  }
  return true;
}

static void compare_counts(struct joiner *j, uint32_t row, const struct map *counts) {
  struct line_group *group = &j->groups[j->group_of[row]];
  for (uint32_t i = j->from[row]; i < j->from[row + 1]; i++) {
    const uint32_t *n = map_get(counts, (uint64_t)j->group_of[row] << 32 | j->sides[i]);
    if (!n || *n != group->most) group->uneven = true;
  }
}

/* Returns the text id of the name of the nth graph: "## Call CompiledFxGraph * ## (2)"; without a number if nth is 0. */
static uint32_t name_of_graph(struct diff_set *set, uint32_t name, uint32_t nth) {
  char digits[24];
  const uint32_t id = diff_lines_bare(set, name);
  if (!nth) return id;
  const struct intern_str *bare = &set->texts.strs[id];
  set->text.len = 0;
  buf_append(&set->text, bare->bytes, bare->len);
  buf_text(&set->text, " (");
  buf_append(&set->text, digits, num_put_u64(digits, nth));
  buf_text(&set->text, ")");
  return intern(&set->texts, set->text.data, set->text.len);
}

/* Joins the nth graph of a run with the nth graphs of the other runs, or joins all graphs of the group if runs have different numbers
 * of them. `seen`: group and run -> number of graphs so far; `nth_of`: group and n -> 1 + row of the nth graph. */
static bool join_graph(struct joiner *j, uint32_t row, struct map *seen, struct map *nth_of) {
  const uint32_t id = j->group_of[row];
  uint32_t nth = 0;
  if (j->groups[id].runs < j->set->n_sides) return true; /* one run has no graphs to match with */
  for (uint32_t i = j->from[row]; i < j->from[row + 1]; i++) {
    uint32_t *n = map_put(seen, (uint64_t)id << 32 | j->sides[i], 0);
    if (!n) return false;
    ++*n;
    nth = nth ? nth : *n;
  }
  if (j->groups[id].uneven) nth = 0;
  const uint32_t *first = map_put(nth_of, (uint64_t)id << 32 | nth, row + 1);
  if (!first) return false;
  if (*first == row + 1) j->set->rows[row].name = name_of_graph(j->set, j->set->rows[row].name, nth);
  else join_rows(j, row, *first - 1);
  return true;
}

/* Joins TorchInductor graphs by order, in groups of which one run has several graphs. */
static bool join_graphs(struct joiner *j, const uint32_t *begin, const uint32_t *end) {
  struct map counts, seen, nth_of;
  bool ok = true;
  map_init(&counts, &j->set->mem);
  map_init(&seen, &j->set->mem);
  map_init(&nth_of, &j->set->mem);
  for (const uint32_t *p = begin; ok && p < end; p++) ok = !is_other_graph(j, *p) || count_graph(j, *p, &counts);
  for (const uint32_t *p = begin; ok && p < end; p++)
    if (is_other_graph(j, *p)) compare_counts(j, *p, &counts);
  for (const uint32_t *p = begin; ok && p < end; p++) ok = !is_other_graph(j, *p) || join_graph(j, *p, &seen, &nth_of);
  map_free(&counts);
  map_free(&seen);
  map_free(&nth_of);
  return ok;
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
  ok = ok && join_graphs(j, begin, end);
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
    if (diff_lines_bare(set, set->rows[i].name) != set->rows[i].name) return true;
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
  /* Top-down, because rows below joined rows can become equal. */
  for (uint32_t depth = 0; ok && depth < depths; depth++) ok = join_depth(&j, depth);
  for (uint32_t k = 0; ok && k < set->n_sides; k++) move_cells(&j, &set->sides[k]);
  for (uint32_t i = 0; ok && i < set->n_rows; i++)
    if (set->rows[i].parent) set->rows[i].parent = j.into[set->rows[i].parent - 1] + 1;
  void *const blocks[] = {j.groups, j.group_of, j.into, j.order, j.at, j.sides, j.from};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(mem, blocks[i]);
  return ok;
}
