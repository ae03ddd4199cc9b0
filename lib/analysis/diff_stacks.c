/* diff_stacks.c - see diff_stacks.h. Stack samples are first summed by stack. The stacks of a part (stack samples of one unit in one
 * sample of the comparison) and their parents form a tree. Each tree is visited only once; adding every stack sample to all its frames
 * would take time proportional to samples times depth. */
#include "diff_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "diff_rows.h"
#include "weights.h"

struct stack_entry {
  uint32_t stack, next; /* next: 1 + next entry of the same part; 0 = last */
  uint64_t n;
  i128 amount;
};

struct stack_part {
  uint32_t sample, unit, first; /* first: 1 + first entry */
};

void diff_stacks_init(struct diff_stacks *x, struct diff_set *set, struct diff_side *side, const struct tk_trace *t,
                      struct groups *groups) {
  *x = (struct diff_stacks){.set = set, .side = side, .t = t, .mem = &t->store->mem, .groups = groups};
  map_init(&x->parts, x->mem);
  map_init(&x->entry_of, x->mem);
}

void diff_stacks_free(struct diff_stacks *x) {
  if (!x->mem) return;
  map_free(&x->parts);
  map_free(&x->entry_of);
  mem_free(x->mem, x->entries);
  mem_free(x->mem, x->list);
  mem_free(x->mem, x->row_of);
  mem_free(x->mem, x->is_outer);
}

/* ---- collect ---- */

static struct stack_part *part_of(struct diff_stacks *x, uint32_t sample, uint32_t unit, uint32_t *at) {
  const uint32_t *found = map_put(&x->parts, (uint64_t)sample << 32 | unit, x->n_list);
  if (!found) return NULL;
  *at = *found;
  if (*found < x->n_list) return &x->list[*found];
  if (!mem_grow(x->mem, (void **)&x->list, &x->cap_list, (uint64_t)x->n_list + 1, sizeof *x->list)) return NULL;
  x->list[x->n_list] = (struct stack_part){.sample = sample, .unit = unit};
  return &x->list[x->n_list++];
}

void diff_stacks_add(struct diff_stacks *x, const struct tk_event *e, uint32_t sample) {
  const tk_id stack = x->t->classes[e->cls].stack;
  uint32_t at;
  struct stack_part *part = part_of(x, sample, diff_rows_unit(x->set, x->t, e), &at);
  uint32_t *slot = part ? map_put(&x->entry_of, (uint64_t)at << 32 | stack, 0) : NULL;
  if (!slot) return;
  if (!*slot) {
    if (!mem_grow(x->mem, (void **)&x->entries, &x->cap, (uint64_t)x->n + 1, sizeof *x->entries)) return;
    x->entries[x->n++] = (struct stack_entry){.stack = stack, .next = part->first};
    *slot = part->first = x->n;
  }
  x->entries[*slot - 1].n++;
  x->entries[*slot - 1].amount += stack_amount(x->t, e);
}

/* ---- rows ---- */

static uint32_t text_of_frame(struct diff_stacks *x, tk_id frame) {
  const tk_id name = x->t->frames[frame].name;
  const struct intern_str *s = name ? trace_str(x->t, name) : NULL;
  const struct intern_str *text = s ? groups_text(x->groups, groups_of_name(x->groups, s->bytes, s->len)) : NULL;
  return text ? intern(&x->set->texts, text->bytes, text->len) : 0;
}

/* Finds the row of each stack if rows are paths. Frames deeper than DIFF_DEEPEST are counted in the row at that depth. */
static void find_paths(struct diff_stacks *x, const uint32_t *text_of) {
  for (tk_id i = 1; i <= x->t->n_stacks; i++) {
    const struct tk_stack *v = &x->t->stacks[i];
    const bool deep = v->depth > DIFF_DEEPEST;
    x->row_of[i] = deep ? x->row_of[v->parent] : diff_rows_add(x->set, text_of[v->frame], x->row_of[v->parent]);
    x->is_outer[i] = !deep;
  }
}

static void take_outer(void *arg, tk_id stack, bool is_outer) {
  struct diff_stacks *x = arg;
  x->is_outer[stack] = is_outer;
}

/* Finds the row of each stack, by the name of its innermost frame, if rows are names. */
static bool find_names(struct diff_stacks *x, const uint32_t *text_of) {
  uint32_t *group_of = mem_array(x->mem, (uint64_t)x->t->n_frames + 1, sizeof *group_of);
  if (!group_of) return false;
  for (tk_id i = 1; i <= x->t->n_frames; i++) group_of[i] = diff_rows_add(x->set, text_of[i], 0);
  for (tk_id i = 1; i <= x->t->n_stacks; i++) x->row_of[i] = group_of[x->t->stacks[i].frame];
  const bool ok = weights_outer(x->t, x->mem, group_of, x->set->n_rows, take_outer, x);
  mem_free(x->mem, group_of);
  return ok;
}

static bool find_rows(struct diff_stacks *x) {
  const uint64_t n = (uint64_t)x->t->n_stacks + 1;
  uint32_t *text_of = mem_array(x->mem, (uint64_t)x->t->n_frames + 1, sizeof *text_of);
  x->row_of = mem_array(x->mem, n, sizeof *x->row_of);
  x->is_outer = mem_array(x->mem, n, sizeof *x->is_outer);
  bool ok = text_of && x->row_of && x->is_outer;
  if (ok) {
    x->row_of[0] = 0;
    for (tk_id i = 1; i <= x->t->n_frames; i++) text_of[i] = text_of_frame(x, i);
    if (x->set->opt.by_path) find_paths(x, text_of);
    else ok = find_names(x, text_of);
  }
  mem_free(x->mem, text_of);
  return ok && !x->set->mem.failed && !x->mem->failed;
}

/* ---- sums ---- */

/* State of a pass over the parts. */
struct pass {
  uint32_t *seen;         /* by stack: 1 + the last part that contains it */
  tk_id *stacks;          /* stacks of the current part, and their parents */
  struct stack_sum *sums; /* by stack */
  uint32_t n;
};

static void gather(struct diff_stacks *x, struct pass *p, uint32_t part) {
  p->n = 0;
  for (uint32_t i = x->list[part].first; i; i = x->entries[i - 1].next) {
    const struct stack_entry *e = &x->entries[i - 1];
    for (tk_id at = e->stack; at && p->seen[at] != part + 1; at = x->t->stacks[at].parent) {
      p->seen[at] = part + 1;
      p->sums[at] = (struct stack_sum){0};
      p->stacks[p->n++] = at;
    }
    p->sums[e->stack].self += e->amount;
    p->sums[e->stack].total += e->amount;
    p->sums[e->stack].n_self += e->n;
    p->sums[e->stack].n_total += e->n;
  }
}

static void put_sum(struct diff_stacks *x, const struct stack_part *part, tk_id stack, const struct stack_sum *sum) {
  const uint32_t cell = x->row_of[stack] ? diff_rows_cell(x->set, x->side, x->row_of[stack], part->sample, part->unit) : 0;
  if (!cell) return;
  struct diff_cell *c = &x->side->cells[cell - 1];
  c->self += sum->self;
  c->again -= sum->n_self;
  if (!x->is_outer[stack]) return;
  c->total += sum->total;
  c->count += sum->n_total;
  c->again += sum->n_total;
}

bool diff_stacks_close(struct diff_stacks *x) {
  const uint64_t n = (uint64_t)x->t->n_stacks + 1;
  if (!x->n) return !x->mem->failed;
  struct pass p = {mem_zeros(x->mem, n, sizeof *p.seen), mem_array(x->mem, n, sizeof *p.stacks),
                   mem_array(x->mem, n, sizeof *p.sums), 0};
  const bool ok = p.seen && p.stacks && p.sums && find_rows(x);
  for (uint32_t part = 0; ok && part < x->n_list; part++) {
    gather(x, &p, part);
    if (p.n) qsort(p.stacks, p.n, sizeof *p.stacks, order_uint32);
    for (uint32_t i = p.n; i-- > 0;) { /* parents have smaller ids, so a stack's sum is complete before it is added to its parent */
      const tk_id stack = p.stacks[i], parent = x->t->stacks[stack].parent;
      put_sum(x, &x->list[part], stack, &p.sums[stack]);
      if (!parent) continue;
      p.sums[parent].total += p.sums[stack].total;
      p.sums[parent].n_total += p.sums[stack].n_total;
    }
  }
  mem_free(x->mem, p.seen);
  mem_free(x->mem, p.stacks);
  mem_free(x->mem, p.sums);
  return ok && !x->mem->failed && !x->set->mem.failed;
}
