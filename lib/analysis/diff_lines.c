/* diff_lines.c - see diff_lines.h.
 *
 * Rows with the same name apart from lines, below the same row, form a group. If a run has two rows of a group, such as the methods
 * `forward` of two classes in one file, lines are needed to tell them apart, and the group is left as it is.
 *
 * Graphs of TorchInductor have hashes instead. If a run has several graphs below the same row, graphs that all runs have are left as
 * they are. The first of the others in one run is the first of the others in each; they are one row if the runs have different numbers
 * of them. */
#include "diff_lines.h"

#include <string.h>

#include "fold.h"

struct line_group {
  uint32_t first;  /* 1 + its first row */
  bool several, is_split; /* has several rows; a run has two of them, with different names */
  bool differs;           /* the names of its rows are not all equal; equal names below joined rows are one row */
  bool hashes;            /* the names differ in hashes */
  uint32_t runs, most;    /* if hashes: runs with rows that not all runs have; largest number of such rows in a run */
  bool uneven;            /* if hashes: a run has fewer of these rows than another */
};

struct joiner {
  struct diff_set *set;
  struct line_group *groups; /* [0] is not used */
  uint32_t n_groups, cap_groups;
  uint32_t *group_of, *into; /* by row: its group; the row that it becomes */
  uint32_t *order, *at;      /* rows by depth; by depth: its first place in `order` */
  uint32_t *sides, *from;    /* runs that have the rows, by row; by row: its first place in `sides` */
};

/* Returns the text id of a name without the parts that `fold` replaces; the name itself if it has none. */
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

/* Lists the runs that have each row, or a row below it, each once. */
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

/* Assigns a row to the group of its name and the row above. */
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

/* Notes that a run has two rows of the row's group, if their names differ. `rows`: group and run -> 1 + row. */
static bool see_sides(struct joiner *j, uint32_t row, struct map *rows) {
  struct line_group *group = &j->groups[j->group_of[row]];
  for (uint32_t i = j->from[row]; group->differs && i < j->from[row + 1]; i++) {
    uint32_t *seen = map_put(rows, (uint64_t)j->group_of[row] << 32 | j->sides[i], row + 1);
    if (!seen) return false;
    if (*seen != row + 1) group->is_split = true;
  }
  return true;
}

/* Lets a row become another row of its group. */
static void join_rows(struct joiner *j, uint32_t row, uint32_t into) {
  const struct diff_path *from = &j->set->rows[row];
  struct diff_path *to = &j->set->rows[into];
  j->into[row] = into;
  to->kernels |= from->kernels;
  to->marks |= from->marks;
  to->others |= from->others;
}

/* Lets a row become the first row of its group. */
static void join_row(struct joiner *j, uint32_t row) {
  const struct line_group *group = &j->groups[j->group_of[row]];
  if (!group->several || group->is_split || group->first - 1 == row) return;
  join_rows(j, row, group->first - 1);
  j->set->rows[group->first - 1].name = diff_lines_bare(j->set, j->set->rows[group->first - 1].name);
}

/* ---- hashes ---- */

/* True for a graph that some runs lack and that has to be told apart from others of a run. */
static bool is_other_graph(const struct joiner *j, uint32_t row) {
  const struct line_group *group = &j->groups[j->group_of[row]];
  return group->hashes && group->is_split && j->from[row + 1] - j->from[row] < j->set->n_sides;
}

/* Counts a graph in each run that has it. `counts`: group and run -> number of graphs. */
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

/* Joins the nth graph of a run with the nth of the other runs, or all graphs if the runs have different numbers of them. `seen`: group
 * and run -> graphs before this one; `nth_of`: group and nth graph -> 1 + its row. */
static bool join_graph(struct joiner *j, uint32_t row, struct map *seen, struct map *nth_of) {
  const uint32_t id = j->group_of[row];
  uint32_t nth = 0;
  if (j->groups[id].runs < j->set->n_sides) return true; /* a run has no graph to compare these with */
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

/* Joins graphs of TorchInductor by their order if a run has several of them. */
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
  /* From the top, because rows below joined rows may have become equal. */
  for (uint32_t depth = 0; ok && depth < depths; depth++) ok = join_depth(&j, depth);
  for (uint32_t k = 0; ok && k < set->n_sides; k++) move_cells(&j, &set->sides[k]);
  for (uint32_t i = 0; ok && i < set->n_rows; i++)
    if (set->rows[i].parent) set->rows[i].parent = j.into[set->rows[i].parent - 1] + 1;
  void *const blocks[] = {j.groups, j.group_of, j.into, j.order, j.at, j.sides, j.from};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(mem, blocks[i]);
  return ok;
}
