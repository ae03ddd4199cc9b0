/* tasks.c - reads and writes the protobuf message in a plan (tasks.h).
 *
 * The plan is JSON. Its member "tasks" contains the message in base64; the other members are for people and other programs. The
 * report on the clocks is stored only once, in the same form as in the output; a CRC shows whether it still belongs to the
 * plan. */
#include "tasks.h"

#include <string.h>

#include "base/base64.h"
#include "base/err.h"
#include "format/json.h"
#include "format/pb_out.h"
#include "format/pb_unpack.h"
#include "io/flate.h"
#include "io/in.h"
#include "io/packing.h"
#include "merge/select.h"
#include "plan.pb-c.h"
#include "merge/merge.h"
#include "merge/plan.h"

/* ---- writing ---- */

static void tasks_put_text(struct buf *b, uint32_t field, const char *text) {
  if (text && *text) pb_bytes(b, field, text, strlen(text));
}

static void put_sint(struct buf *b, uint32_t field, int64_t v) { pb_u64(b, field, zigzag(v)); }

static void put_flag(struct buf *b, uint32_t field, bool flag) {
  if (flag) pb_u64(b, field, 1);
}

static void put_starts(struct buf *to, const struct format_starts *starts, struct buf *one) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++) {
    if (!starts->of[i].known) continue;
    one->len = 0;
    tasks_put_text(one, 1, f->info.name);
    put_sint(one, 2, starts->of[i].of_first);
    pb_message(to, 19, one);
  }
}

static bool is_same_map(const struct align_map *a, const struct align_map *b) {
  const size_t n = a->curve.n * sizeof *a->curve.x;
  return a->pivot_ns == b->pivot_ns && a->offset_ns == b->offset_ns && a->curve.n == b->curve.n &&
         memcmp(a->curve.x, b->curve.x, n) == 0 && memcmp(a->curve.y, b->curve.y, n) == 0;
}

static void put_map(struct buf *to, const struct align_map *m, struct buf *one) {
  one->len = 0;
  put_sint(one, 1, m->pivot_ns);
  put_sint(one, 2, m->offset_ns);
  for (uint32_t i = 0; i < m->curve.n; i++) pb_double(one, 3, m->curve.x[i]);
  for (uint32_t i = 0; i < m->curve.n; i++) pb_double(one, 4, m->curve.y[i]);
  pb_message(to, 21, one);
}

static void put_pids(struct buf *b, struct merger *m, const struct scan_pids *pids) {
  struct pid_change *changes = merge_pids(m, pids->v, pids->n);
  for (uint32_t i = 0; changes && i < pids->n; i++) put_sint(b, 6, changes[i].was), put_sint(b, 6, changes[i].now);
  mem_free(&m->mem, changes);
}

/* Writes a rank. `map`: 1 + index of the rank's clock map; 0 = none. */
static void put_rank(struct buf *to, struct merger *m, const struct scan *s, uint32_t i, uint32_t map, struct buf *one) {
  const bool skipped = m->alignment.skipped && m->alignment.skipped[i];
  int64_t claimed;
  uint32_t other;
  one->len = 0;
  tasks_put_text(one, 1, s->input);
  tasks_put_text(one, 2, s->run);
  tasks_put_text(one, 3, s->step);
  put_flag(one, 8, skipped);
  pb_fixed64(one, 13, s->mark);
  if (s->part) pb_u64(one, 14, s->part);
  if (!skipped) {
    put_sint(one, 4, merge_slot(m, i, s->rank, &claimed, &other));
    put_sint(one, 11, claimed);
    put_flag(one, 15, s->rank < 0);
    if (m->places) pb_u64(one, 5, m->places[i]);
    put_pids(one, m, &s->pids);
    pb_u64(one, 7, map);
    pb_u64(one, 9, m->next_row);
    pb_u64(one, 10, s->pids.processes);
    if (m->shares.of) pb_u64(one, 12, m->shares.of[i]);
    m->next_row += s->pids.processes;
  }
  pb_message(to, 22, one);
}

/* Writes the ranks and their clock maps. Most ranks of the same host are adjacent and share a map. */
static void put_ranks(struct buf *to, struct merger *m, const struct scan_list *list, struct buf *one) {
  const struct align_map *last = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const struct align_map *map = merge_map(&m->alignment, i);
    if (map && !(last && is_same_map(map, last))) put_map(to, map, one), n++;
    if (map) last = map;
    put_rank(to, m, &list->v[i], i, map ? n : 0, one);
  }
}

static void put_options(struct buf *to, struct merger *m, const char *word) {
  const struct tk_merge_options *opt = m->opt;
  tasks_put_text(to, 3, word);
  pb_i64(to, 4, opt->save.level);
  put_flag(to, 5, opt->save.overlaps);
  put_flag(to, 6, opt->save.no_passthrough);
  put_flag(to, 7, !opt->save.command);
  put_flag(to, 8, opt->to_zero);
  put_flag(to, 9, opt->derive);
  pb_u64(to, 10, opt->group_by);
  pb_u64(to, 11, opt->align);
  tasks_put_text(to, 12, opt->label);
  pb_u64(to, 13, m->folders);
  tasks_put_text(to, 14, opt->time);
  put_flag(to, 23, opt->keep_truncated);
  if (opt->to) pb_u64(to, 24, opt->to);
  tasks_put_text(to, 25, opt->steps);
}

static uint32_t first_wanted(const struct merger *m) {
  uint32_t i = 0;
  while (m->alignment.skipped && i + 1 < m->n_inputs && m->alignment.skipped[i]) i++;
  return i;
}

void tasks_print(struct buf *to, struct merger *m, const struct scan_list *list, const char *word) {
  const char *align = m->report->align.json;
  struct buf one = {.mem = to->mem};
  pb_u64(to, 1, TASKS_SCHEMA);
  tasks_put_text(to, 2, TK_VERSION);
  put_options(to, m, word);
  put_sint(to, 15, m->alignment.base.zero_ns);
  pb_u64(to, 16, m->alignment.base.clock);
  put_sint(to, 17, m->alignment.start_ns);
  put_sint(to, 18, m->alignment.end_ns);
  put_starts(to, &list->v[first_wanted(m)].starts, &one);
  pb_fixed32(to, 20, flate_crc(0, align, strlen(align)));
  put_ranks(to, m, list, &one);
  buf_free(&one);
}

/* ---- reading ---- */

static bool read_file(struct buf *text, const char *path, struct tk_err *err) {
  if (!in_read_all(path, text, err)) return false;
  size_t len = text->len;
  buf_append(text, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  if (!mem_check(text->mem, err)) return false;
  text->len = len;
  return true;
}

enum member { ALIGN, RANKS, TASKS, MEMBERS };

/* Finds all top-level members in a single pass, because the report on the clocks is the largest part of a plan with many ranks.
 * Missing members become NULL. */
static void find_members(const struct buf *text, struct json_value found[MEMBERS]) {
  static const char *const keys[MEMBERS] = {"align", "ranks", "tasks"};
  struct json j = {.p = text->data, .end = text->data + text->len, .last = true, .scratch = {.mem = text->mem}};
  struct json_string name;
  struct json_value v;
  unsigned missing = MEMBERS;
  for (unsigned i = 0; i < MEMBERS; i++) found[i] = (struct json_value){.p = NULL};
  bool more = json_blank(&j) && *j.p++ == '{';
  while (more && missing && json_blank(&j) && *j.p == '"' && json_key(&j, &name) && json_value(&j, &v)) {
    for (unsigned i = 0; i < MEMBERS; i++)
      if (!found[i].p && json_is(&j, &name, keys[i])) found[i] = v, missing--;
    more = json_blank(&j) && *j.p++ == ',';
  }
  buf_free(&j.scratch);
}

static const char *tasks_text_of(struct tasks *t, ProtobufCBinaryData text) {
  const char *copy = arena_text(&t->arena, text.data, text.len);
  return copy ? copy : "";
}

static bool take_message(struct tasks *t, const struct json_value *v, struct tk_err *err) {
  static const uint64_t LONG = 32;
  buf_append(&t->bytes, v->str.p, v->str.n);
  size_t n = base64_decode(t->bytes.data, t->bytes.len);
  if (n == SIZE_MAX) return err_set(err, TK_EFORMAT, "is damaged: its encoded task list cannot be decoded");
  t->bytes.len = n;
  t->id = (uint64_t)n << LONG | flate_crc(0, t->bytes.data, n);
  t->plan = pb_unpack(&plan__plan__descriptor, pb_over(t->bytes.data, n), t->mem);
  if (!t->plan) return mem_check(t->mem, err) && err_set(err, TK_EFORMAT, "is damaged: invalid task list");
  if (t->plan->schema != TASKS_SCHEMA || t->plan->version.len != strlen(TK_VERSION) ||
      memcmp(t->plan->version.data, TK_VERSION, t->plan->version.len) != 0)
    return err_set(err, TK_EFORMAT, "was made by another version of tracekit whose output differs; make a new plan");
  return true;
}

static bool are_maps(const Plan__Plan *p) {
  for (size_t i = 0; i < p->n_map; i++)
    if (p->map[i]->n_x != p->map[i]->n_y || p->map[i]->n_x > CURVE_KNOTS) return false;
  for (size_t i = 0; i < p->n_rank; i++)
    if (p->rank[i]->map > p->n_map || p->rank[i]->n_pid % 2) return false;
  return p->clock <= TK_CLOCK_MONOTONIC && p->group_by <= TK_GROUP_KIND && p->align <= TK_ALIGN_NONE && p->n_rank > 1;
}

static void take_starts(struct tasks *t) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    for (size_t k = 0; k < t->plan->n_start; k++)
      if (strcmp(tasks_text_of(t, t->plan->start[k]->format), f->info.name) == 0)
        t->starts.of[i] = (struct sink_start){t->plan->start[k]->of_first, true};
}

static bool take_inputs(struct tasks *t, struct tk_err *err) {
  const Plan__Plan *p = t->plan;
  t->inputs = arena_zeros(&t->arena, p->n_rank, sizeof *t->inputs);
  if (!t->inputs) return mem_refuse(t->mem, err);
  for (size_t i = 0; i < p->n_rank; i++) {
    t->inputs[i].name = tasks_text_of(t, p->rank[i]->input);
    t->inputs[i].run = tasks_text_of(t, p->rank[i]->run);
    t->inputs[i].step = tasks_text_of(t, p->rank[i]->step);
    t->inputs[i].host = "";
    t->n_wanted += !p->rank[i]->skipped;
  }
  t->sources = (struct tk_sources){.inputs = t->inputs, .n = p->n_rank};
  return mem_check(t->mem, err);
}

static void take_options(struct tasks *t) {
  const Plan__Plan *p = t->plan;
  t->opt = (struct tk_merge_options){
      .save = {.format = tasks_text_of(t, p->format), .level = p->level, .overlaps = p->overlaps,
               .no_passthrough = p->no_passthrough,
               .command = p->no_provenance ? NULL : "tracekit merge"},
      .align = (enum tk_align)p->align, .group_by = (enum tk_group_by)p->group_by, .to_zero = p->to_zero, .derive = p->derive,
      .label = p->label.len ? tasks_text_of(t, p->label) : NULL, .time = p->time.len ? tasks_text_of(t, p->time) : NULL,
      .keep_truncated = p->keep_truncated, .to = p->to, .steps = p->steps.len ? tasks_text_of(t, p->steps) : NULL};
}

static bool take_align(struct tasks *t, const struct json_value *v, struct tk_err *err) {
  if (!v->p) return err_set(err, TK_EFORMAT, "is damaged: the alignment report is missing");
  const size_t n = (size_t)(v->end - v->p);
  if (flate_crc(0, v->p, n) != t->plan->align_crc)
    return err_set(err, TK_EFORMAT, "was modified: the checksum of its clock report does not match");
  t->align = arena_text(&t->arena, v->p, n);
  return mem_check(t->mem, err);
}

static bool tasks_take(struct tasks *t, const char *path, struct tk_err *err) {
  struct json_value v[MEMBERS];
  if (!read_file(&t->text, path, err)) return false;
  find_members(&t->text, v);
  if (!v[RANKS].p) return err_set(err, TK_EFORMAT, "not a plan; tracekit plan writes plans");
  if (!v[TASKS].p || v[TASKS].type != JSON_STRING)
    return err_set(err, TK_EFORMAT, "contains no tasks: with a single rank there is nothing to join");
  if (!take_message(t, &v[TASKS], err)) return false;
  if (!are_maps(t->plan)) return err_set(err, TK_EFORMAT, "is damaged: inconsistent ranks");
  take_options(t);
  take_starts(t);
  return take_inputs(t, err) && take_align(t, &v[ALIGN], err) && (!t->opt.label || label_check(t->opt.label, err)) &&
         merge_select_check(&t->opt, err);
}

bool tasks_read(struct tasks *t, const char *path, struct mem *mem, struct tk_err *err) {
  *t = (struct tasks){.mem = mem, .text = {.mem = mem}, .bytes = {.mem = mem}, .arena = {.mem = mem}};
  return tasks_take(t, path, err) || err_prefix(err, "%s", path);
}

void tasks_free(struct tasks *t) {
  pb_unpack_free(t->plan, t->mem);
  buf_free(&t->text);
  buf_free(&t->bytes);
  arena_free(&t->arena);
}

/* ---- a planned merge ---- */

/* Copies each rank's place among the ranks, and its share of the requested size, from the plan. */
static bool take_ranks(struct merger *m, const Plan__Plan *p, struct tk_err *err) {
  const bool placed = p->group_by == TK_GROUP_HOST;
  if (placed) m->places = mem_array(&m->mem, p->n_rank, sizeof *m->places);
  if (p->to) m->shares.of = mem_array(&m->mem, p->n_rank, sizeof *m->shares.of);
  if ((placed && !m->places) || (p->to && !m->shares.of)) return mem_refuse(&m->mem, err);
  for (size_t i = 0; placed && i < p->n_rank; i++) m->places[i] = p->rank[i]->place;
  for (size_t i = 0; p->to && i < p->n_rank; i++) m->shares.of[i] = p->rank[i]->share;
  return true;
}

bool tasks_begin(struct merger *m, const struct tasks *t, struct tk_err *err) {
  const Plan__Plan *p = t->plan;
  const size_t n = p->n_rank;
  struct merge_alignment *a = &m->alignment;
  if (!merge_begin(m, &(struct merge_inputs){.sources = (struct tk_sources *)&t->sources, .n = n}, err)) return false;
  *a = (struct merge_alignment){.n = n, .base = {p->zero_ns, (enum tk_clock)p->clock}, .start_ns = p->start_ns, .end_ns = p->end_ns};
  m->ids.graphs = (uint32_t)n;
  m->folders = p->folders;
  a->who = mem_array(&a->mem, n, sizeof *a->who);
  a->maps = mem_array(&a->mem, n, sizeof *a->maps);
  a->mapped = mem_zeros(&a->mem, n, sizeof *a->mapped);
  for (size_t i = 0; a->who && i < n; i++) a->who[i] = (struct merge_who){"", INT64_MAX, false};
  a->starts = t->starts;
  if (!take_ranks(m, p, err)) return false;
  const size_t word = strlen(m->opt->save.format);
  m->packed = packing_of_path(m->opt->save.format, word) != NULL;
  return mem_check(&a->mem, err);
}

bool tasks_rank(struct merger *m, const struct tasks *t, uint32_t rank, struct merge_place_of *place, uint32_t *ordinal) {
  const Plan__Rank *r = t->plan->rank[rank];
  const Plan__Map *map = r->map ? t->plan->map[r->map - 1] : NULL;
  struct pid_change *pids = mem_array(&m->mem, r->n_pid / 2 + 1, sizeof *pids);
  *place = (struct merge_place_of){.slot = r->slot, .pids = pids, .n_pids = (uint32_t)(r->n_pid / 2), .first_row = r->first_row,
                                   .rows = r->rows};
  *ordinal = 0;
  for (uint32_t i = 0; i < rank; i++) *ordinal += !t->plan->rank[i]->skipped;
  for (size_t i = 0; pids && i < place->n_pids; i++) pids[i] = (struct pid_change){r->pid[2 * i], r->pid[2 * i + 1]};
  m->alignment.mapped[rank] = map != NULL;
  if (map) {
    struct align_map *to = &m->alignment.maps[rank];
    *to = (struct align_map){.pivot_ns = map->pivot_ns, .offset_ns = map->offset_ns, .curve = {.n = (uint32_t)map->n_x}};
    for (size_t i = 0; i < map->n_x; i++) to->curve.x[i] = map->x[i], to->curve.y[i] = map->y[i];
  }
  return pids || mem_refuse(&m->mem, m->err);
}
