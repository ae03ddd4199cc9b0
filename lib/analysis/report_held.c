/* report_held.c - memory over time, and the blocks that were allocated at the peak of each allocator (report.h).
 *
 * Kineto and XLA record the address of each allocation and release, so it is known which blocks were allocated at the peak; each
 * belongs to the operator and module around the call that allocated it. A memory snapshot has a span for each block, named after the
 * code that allocated the block. Of blocks allocated before the recording, only the sum is known. */
#include "report.h"

#include <string.h>

#include "base/hash.h"
#include "base/os.h"
#include "base/text.h"
#include "format/torch_allocators.h"
#include "graph/args.h"
#include "graph/within.h"
#include "op/regions.h"
#include "op/pending.h"

/* Sum of blocks with the same row, operator and module. */
struct held_owner {
  uint32_t row;
  tk_id op, module; /* strings; 0 = unknown */
  uint64_t blocks;
  double bytes;
};

struct held {
  struct reporter *p;
  const struct report_change *v; /* sorted by row, then by time */
  uint32_t n;
  size_t first;            /* first row of this trace */
  struct held_owner *owners;
  uint32_t n_owners, cap_owners;
  struct map owner_of;     /* hash of an owner -> 1 + its index */
  struct map op_of, module_of; /* event that allocated a block of a peak -> event of the operator or module around it */
  struct map peak_of;          /* process of a snapshot -> 1 + index of the change that reached its peak */
};

/* ---- owners ---- */

static uint64_t owner_key(const struct held_owner *o) { return hash_pair(hash_pair(o->row, o->op), o->module); }

static bool is_same(const struct held_owner *a, const struct held_owner *b) {
  return a->row == b->row && a->op == b->op && a->module == b->module;
}

/* Adds a block to the sum of its owner. Different owners with equal hashes get consecutive keys. */
static bool add_block(struct held *h, const struct held_owner *block) {
  for (uint64_t key = owner_key(block);; key++) {
    uint32_t *slot = map_put(&h->owner_of, key, 0);
    if (!slot) return false;
    if (*slot && !is_same(&h->owners[*slot - 1], block)) continue;
    if (*slot) {
      h->owners[*slot - 1].bytes += block->bytes;
      h->owners[*slot - 1].blocks++;
      return true;
    }
    if (!mem_grow(h->p->mem, (void **)&h->owners, &h->cap_owners, (uint64_t)h->n_owners + 1, sizeof *h->owners)) return false;
    h->owners[h->n_owners] = *block;
    h->owners[h->n_owners].blocks = 1;
    *slot = ++h->n_owners;
    return true;
  }
}

static tk_id name_of_span(const struct tk_trace *t, tk_id event) { return event ? t->classes[t->events[event].cls].name : 0; }

/* ---- operators and modules around allocations ---- */

/* True for an operator that only allocates; the operator around it is more informative. */
static bool only_allocates(const char *name) {
  static const char ATEN[] = "aten::";
  return text_begins(name, ATEN) && torch_only_allocates(name + sizeof ATEN - 1, strlen(name) - (sizeof ATEN - 1));
}

static bool is_op(const struct held *h, const struct tk_event *e) {
  const struct tk_trace *t = h->p->t;
  if (e->kind != TK_EVENT_SPAN || (kinds_of(&h->p->match.kinds, e) & (KIND_OP | KIND_DEVICE)) != KIND_OP) return false;
  return !only_allocates(tk_string(t, t->classes[e->cls].name, NULL));
}

static bool is_module(const struct held *h, const struct tk_event *e) {
  const struct tk_trace *t = h->p->t;
  return e->kind == TK_EVENT_SPAN && regions_is_module(t, e->cls);
}

/* For each event of the track that is a key of the map `of`, sets the value to the innermost span around the event for which `is`
 * returns true. */
static bool find_around(struct held *h, const struct tk_track *k, struct map *of,
                        bool (*is)(const struct held *, const struct tk_event *)) {
  const struct tk_trace *t = h->p->t;
  struct within within;
  bool ok = within_init(&within, h->p->mem);
  if (ok) within_begin(&within);
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    const struct within_span around = within_find(&within, &t->events[i]);
    uint32_t *slot = map_get(of, i);
    if (slot) *slot = around.node;
    ok = pending_add(&within, &h->p->match.kinds, i, around, is(h, &t->events[i]) ? i : 0);
  }
  within_free(&within);
  return ok;
}

/* Finds the operators and modules of all events that are keys of op_of and module_of. */
static bool find_regions(struct held *h) {
  const struct tk_trace *t = h->p->t;
  bool ok = true;
  bool *has = mem_array(h->p->mem, (uint64_t)t->n_tracks + 1, sizeof *has);
  if (!has) return false;
  memset(has, 0, (size_t)t->n_tracks + 1);
  for (uint32_t i = 0; i < h->n; i++)
    if (map_get(&h->op_of, h->v[i].event)) has[t->events[h->v[i].event].track] = true;
  for (tk_id k = 1; ok && k <= t->n_tracks; k++)
    if (has[k] && t->tracks[k].kind == TK_TRACK_THREAD)
      ok = find_around(h, &t->tracks[k], &h->op_of, is_op) && find_around(h, &t->tracks[k], &h->module_of, is_module);
  mem_free(h->p->mem, has);
  return ok;
}

/* ---- blocks that are recorded as allocations and releases ---- */

/* Calls `found` for each block of a row that was allocated at the time of the peak. `end`: index of the change after the peak. */
static bool each_block(struct held *h, uint32_t from, uint32_t end, bool (*found)(struct held *, const struct report_change *)) {
  struct map alive; /* address -> 1 + index of the change that allocated the block; 0 = released */
  bool ok = true;
  map_init(&alive, h->p->mem);
  for (uint32_t i = from; ok && i < end; i++) {
    if (!h->v[i].has_address) continue;
    uint32_t *slot = map_put(&alive, h->v[i].address, 0);
    if (slot) *slot = h->v[i].bytes > 0 ? i + 1 : 0;
    ok = slot != NULL;
  }
  for (uint32_t i = from; ok && i < end; i++) {
    const uint32_t *slot = h->v[i].has_address ? map_get(&alive, h->v[i].address) : NULL;
    if (slot && *slot == i + 1) ok = found(h, &h->v[i]);
  }
  map_free(&alive);
  return ok;
}

static bool ask_regions(struct held *h, const struct report_change *c) {
  return map_put(&h->op_of, c->event, 0) && map_put(&h->module_of, c->event, 0);
}

/* Returns the operator in the arg tf_op, which XLA stores for an allocation; 0 if there is none. */
static tk_id stated_op(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_arg arg;
  const bool is_text = tk_args_find(t, e->args, "tf_op", &arg) && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF);
  return is_text ? arg.s : 0;
}

static bool add_change(struct held *h, const struct report_change *c) {
  const struct tk_trace *t = h->p->t;
  const uint32_t *op = map_get(&h->op_of, c->event), *module = map_get(&h->module_of, c->event);
  struct held_owner block = {.row = c->row, .bytes = c->bytes, .op = stated_op(t, &t->events[c->event])};
  if (!block.op && op) block.op = name_of_span(t, *op);
  if (module) block.module = name_of_span(t, *module);
  return add_block(h, &block);
}

/* ---- blocks that are spans of a snapshot ---- */

static bool add_span(struct held *h, const struct tk_event *e, const struct report_change *peak, tk_id key_bytes) {
  const struct tk_trace *t = h->p->t;
  const bool holds = e->kind == TK_EVENT_SPAN && e->ts <= peak->ts && (e->ts + e->dur > peak->ts || e->flags & TK_FLAG_UNFINISHED);
  struct held_owner block = {.row = peak->row, .op = t->classes[e->cls].name};
  struct tk_arg arg;
  if (!holds || !report_number_of(t, e, key_bytes, &block.bytes)) return true;
  if (tk_args_find(t, e->args, "before_history", &arg)) return true; /* the code that allocated the block is unknown */
  return add_block(h, &block);
}

/* Returns the change that reached the memory peak of the process to which a track of asynchronous events belongs; NULL if there
 * is none. */
static const struct report_change *peak_around(const struct held *h, const struct tk_track *k) {
  const uint32_t *at = map_get(&h->peak_of, k->parent);
  if (!at && k->parent) at = map_get(&h->peak_of, h->p->t->tracks[k->parent].parent);
  return at ? &h->v[*at - 1] : NULL;
}

static bool add_spans(struct held *h) {
  const struct tk_trace *t = h->p->t;
  const tk_id bytes = report_key_of(t, "bytes");
  for (tk_id i = 1; h->peak_of.n && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    const struct report_change *peak = k->kind == TK_TRACK_ASYNCS ? peak_around(h, k) : NULL;
    for (tk_id e = k->first; peak && e < k->first + k->count; e++)
      if (!add_span(h, &t->events[e], peak, bytes)) return false;
  }
  return true;
}

/* ---- memory over time ---- */

/* Divides the range into equal parts, and stores the highest amount in each. If a part contains no change, stores the last
 * amount before it. */
static bool draw(struct held *h, struct tk_report_memory *row, uint32_t from, uint32_t end) {
  const tk_time start = h->p->start;
  const i128 length = (i128)h->p->end - start;
  double last = -1;
  uint32_t i = from;
  row->over_time = mem_array(&h->p->impl->mem, TK_REPORT_BINS, sizeof *row->over_time);
  if (!row->over_time) return false;
  for (int bin = 0; bin < TK_REPORT_BINS; bin++) {
    const tk_time to = bin + 1 < TK_REPORT_BINS ? start + (tk_time)(length * (bin + 1) / TK_REPORT_BINS) : INT64_MAX;
    double most = last;
    for (; i < end && h->v[i].ts < to; i++) {
      if (h->v[i].allocated < 0) continue;
      last = h->v[i].allocated;
      if (last > most) most = last;
    }
    row->over_time[bin] = most;
  }
  return true;
}

/* ---- rows ---- */

/* Returns the index of the change that reached the peak; `end` if there is none. Stores the amount of reserved memory at that time. */
static uint32_t find_peak(const struct held *h, struct tk_report_memory *row, uint32_t from, uint32_t end) {
  for (uint32_t i = from; i < end; i++) {
    if (h->v[i].reserved >= 0) row->reserved_at_peak = h->v[i].reserved;
    if (h->v[i].allocated >= 0 && h->v[i].allocated == row->peak_allocated) return i;
  }
  row->reserved_at_peak = -1;
  return end;
}

static bool ask_row(struct held *h, uint32_t at, uint32_t from, uint32_t end) {
  struct tk_report_memory *row = &h->p->r->memories[at];
  const uint32_t peak = find_peak(h, row, from, end);
  if (h->p->impl->opt.strips && !draw(h, row, from, end)) return false;
  if (peak == end) return true;
  if (h->v[peak].process) return map_put(&h->peak_of, h->v[peak].process, peak + 1) != NULL;
  return each_block(h, from, peak + 1, ask_regions);
}

static bool add_row_blocks(struct held *h, uint32_t at, uint32_t from, uint32_t end) {
  struct tk_report_memory *row = &h->p->r->memories[at];
  const uint32_t peak = find_peak(h, row, from, end);
  return peak == end || h->v[peak].process || each_block(h, from, peak + 1, add_change);
}

/* Calls `add` for the changes of each row. */
static bool each_row(struct held *h, bool (*add)(struct held *, uint32_t row, uint32_t from, uint32_t end)) {
  for (uint32_t from = 0, end; from < h->n; from = end) {
    for (end = from; end < h->n && h->v[end].row == h->v[from].row;) end++;
    if (!add(h, h->v[from].row, from, end)) return false;
  }
  return true;
}

/* ---- the table ---- */

static bool add_held(struct held *h, const struct tk_report_held *held) {
  struct tk_report *r = h->p->r;
  struct tk_report_impl *impl = h->p->impl;
  if (!mem_grow(&impl->mem, (void **)&r->held, &impl->cap_held, r->n_held + 1, sizeof *r->held)) return false;
  r->held[r->n_held++] = *held;
  return true;
}

/* Adds the owners to the report. The remaining part of each peak, without an owner, was allocated before the recording. */
static bool make_rows(struct held *h) {
  struct tk_report *r = h->p->r;
  const size_t n_rows = r->n_memories - h->first;
  double *rest = mem_array(h->p->mem, n_rows, sizeof *rest);
  bool ok = rest != NULL;
  for (size_t i = 0; ok && i < n_rows; i++) rest[i] = h->n_owners ? r->memories[h->first + i].peak_allocated : -1;
  for (uint32_t i = 0; ok && i < h->n_owners; i++) {
    const struct held_owner *o = &h->owners[i];
    const struct tk_report_memory *row = &r->memories[o->row];
    rest[o->row - h->first] -= o->bytes;
    ok = add_held(h, &(struct tk_report_held){.rank = row->rank, .allocator = row->allocator, .op = report_keep_name(h->p, o->op),
                                              .module = report_keep_name(h->p, o->module), .blocks = o->blocks, .bytes = o->bytes,
                                              .peak = row->peak_allocated, .recorded = true});
  }
  for (size_t i = 0; ok && i < n_rows; i++) {
    const struct tk_report_memory *row = &r->memories[h->first + i];
    if (rest[i] < 1) continue;
    ok = add_held(h, &(struct tk_report_held){.rank = row->rank, .allocator = row->allocator, .op = "", .module = "",
                                              .bytes = rest[i], .peak = row->peak_allocated});
  }
  mem_free(h->p->mem, rest);
  return ok;
}

static int by_row_and_time(const void *x, const void *y, void *arg) {
  const struct report_change *a = x, *b = y;
  (void)arg;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

bool report_held_add(struct reporter *p, struct report_change *changes, uint32_t n, size_t first) {
  struct held h = {.p = p, .v = changes, .n = n, .first = first};
  os_sort(changes, n, sizeof *changes, by_row_and_time, NULL);
  map_init(&h.owner_of, p->mem);
  map_init(&h.op_of, p->mem);
  map_init(&h.module_of, p->mem);
  map_init(&h.peak_of, p->mem);
  const bool ok = each_row(&h, ask_row) && add_spans(&h) && find_regions(&h) && each_row(&h, add_row_blocks) && make_rows(&h);
  map_free(&h.owner_of);
  map_free(&h.op_of);
  map_free(&h.module_of);
  map_free(&h.peak_of);
  mem_free(p->mem, h.owners);
  return ok;
}

static int by_size(const void *x, const void *y, void *arg) {
  const struct tk_report_held *a = x, *b = y;
  (void)arg;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  const int order = strcmp(a->allocator, b->allocator);
  if (order) return order;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  const int ops = strcmp(a->op, b->op);
  return ops ? ops : strcmp(a->module, b->module);
}

void report_held_sort(struct tk_report *r) { os_sort(r->held, r->n_held, sizeof *r->held, by_size, NULL); }
