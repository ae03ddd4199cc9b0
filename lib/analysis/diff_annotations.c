/* diff_annotations.c - see diff_annotations.h. */
#include "diff_annotations.h"

#include <stdio.h>

#include "diff_lines.h"
#include "graph/diagnostics.h"

void diff_annotations_see(struct diff_set *set, uint32_t side, uint32_t row) {
  if (!row || set->mem.failed) return;
  const uint32_t name = diff_lines_bare(set, set->rows[row - 1].name);
  uint32_t *seen = map_put(&set->annotated_by, (uint64_t)name << 32 | side, 0);
  uint32_t *runs = seen && !*seen ? map_put(&set->annotated, name, 0) : NULL;
  set->rows[row - 1].annotates = true;
  if (!runs) return;
  *seen = 1;
  ++*runs;
}

/* True if the row is an annotation that is missing in one of the runs. */
static bool is_partial(struct diff_set *set, const struct diff_path *row) {
  const uint32_t *runs = row->annotates ? map_get(&set->annotated, diff_lines_bare(set, row->name)) : NULL;
  return runs && *runs < set->n_sides;
}

struct splicer {
  struct diff_set *set;
  uint32_t *into;    /* by row: the row into which it is merged */
  uint32_t *up;      /* by row: 1 + the row that becomes the parent of rows below it; 0 = none */
  struct map row_of; /* name and parent -> 1 + row */
  struct map names;  /* names of the annotations that are left out */
};

static bool count_name(struct splicer *s, uint32_t name) {
  struct diff_set *set = s->set;
  uint32_t *seen = map_put(&s->names, name, 0);
  const uint32_t most = sizeof set->left_out / sizeof *set->left_out;
  if (!seen) return false;
  if (*seen) return true;
  *seen = 1;
  if (set->n_left_out < most) set->left_out[set->n_left_out] = name;
  set->n_left_out++;
  return true;
}

/* Moves a row. The rows above it must have been moved before. */
static bool move_row(struct splicer *s, uint32_t row) {
  struct diff_path *r = &s->set->rows[row];
  const bool partial = is_partial(s->set, r), has_parent = r->parent;
  const uint32_t parent = !has_parent ? 0 : r->launched ? s->into[r->parent - 1] + 1 : s->up[r->parent - 1];
  uint32_t *slot = map_put(&s->row_of, (uint64_t)parent << 32 | r->name, row + 1);
  if (!slot || (partial && !count_name(s, r->name))) return false;
  struct diff_path *to = &s->set->rows[*slot - 1];
  s->into[row] = *slot - 1;
  s->up[row] = partial ? parent : *slot;
  r->parent = parent;
  r->depth = parent ? s->set->rows[parent - 1].depth + 1 : 0;
  to->kernels |= r->kernels;
  to->marks |= r->marks;
  to->others |= r->others;
  return true;
}

bool diff_annotations_splice(struct diff_set *set) {
  struct splicer s = {.set = set, .into = mem_array(&set->mem, (uint64_t)set->n_rows + 1, sizeof *s.into),
                      .up = mem_array(&set->mem, (uint64_t)set->n_rows + 1, sizeof *s.up)};
  bool ok = s.into && s.up, any = false;
  for (uint32_t i = 0; i < set->n_rows && !any; i++) any = is_partial(set, &set->rows[i]);
  map_init(&s.row_of, &set->mem);
  map_init(&s.names, &set->mem);
  for (uint32_t i = 0; ok && any && i < set->n_rows; i++) ok = move_row(&s, i);
  for (uint32_t k = 0; ok && any && k < set->n_sides; k++) {
    struct diff_side *side = &set->sides[k];
    for (uint32_t i = 0; i < side->n_cells; i++) side->cells[i].row = s.into[side->cells[i].row];
    for (uint32_t i = 0; i < side->n_works; i++) side->works[i].row = s.into[side->works[i].row];
  }
  map_free(&s.row_of);
  map_free(&s.names);
  mem_free(&set->mem, s.into);
  mem_free(&set->mem, s.up);
  return ok;
}

void diff_annotations_say(const struct diff_set *set, struct tk_diagnostics *notes) {
  const uint32_t most = sizeof set->left_out / sizeof *set->left_out;
  char text[400];
  if (!set->n_left_out) return;
  int n = snprintf(text, sizeof text, "annotations left out of paths, because not all runs have them (%u)", (unsigned)set->n_left_out);
  for (uint32_t i = 0; i < set->n_left_out && i < most; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s %.90s", i ? "," : ":", (const char *)set->texts.strs[set->left_out[i]].bytes);
  if (set->n_left_out > most) snprintf(text + n, sizeof text - (size_t)n, ", ...");
  diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
}
