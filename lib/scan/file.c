/* file.c - reads and writes scans (scan.h), as columns of small numbers: most are differences from the previous number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "base/err.h"
#include "format/pb_out.h"
#include "format/pb_unpack.h"
#include "io/flate.h"
#include "io/in.h"
#include "scan.h"
#include "scan.pb-c.h"

enum { HAS_RUN = 1, STEPPED = 2 };
enum { GPU_LEAST = 1, GPU_MOST = 2 };
enum { ALWAYS = 3 }; /* the column `label` is always written, because it confirms the number of anchors */

/* ---- writing ---- */

struct printer {
  struct buf column, anchors, rank;
  struct intern keys, texts;
  struct align_anchors *from;
};

static void put_varint(struct buf *b, uint64_t v) {
  uint8_t *p = buf_reserve(b, 10);
  if (p) b->len = (size_t)(varint_put(p, v) - b->data);
}

static uint64_t key_index(struct printer *p, uint64_t key) { return key ? intern(&p->keys, &key, sizeof key) : 0; }

static uint64_t text_index(struct printer *p, uint32_t text) {
  const struct intern_str *s = &p->from->texts.strs[text];
  return text ? intern(&p->texts, s->bytes, s->len) : 0;
}

/* Returns the value of anchor i in a column; 0 if the anchor has none. */
static uint64_t value_of(struct printer *p, uint32_t field, uint32_t i) {
  const struct align_anchor *v = &p->from->v[i], *before = i ? v - 1 : NULL;
  switch (field) {
  case 3: return key_index(p, v->label);
  case 4: return key_index(p, v->module);
  case 6: return zigzag((int64_t)((uint64_t)v->end - (before ? (uint64_t)before->end : 0)));
  case 7: return zigzag((int64_t)((uint64_t)v->end - (uint64_t)v->start));
  case 8: return zigzag(v->run);
  case 9: return zigzag((int64_t)((uint64_t)v->step - (before ? (uint64_t)before->step : 0)));
  case 10: return v->device;
  case 11: return v->execution;
  case 13: return text_index(p, v->name);
  case 14: return text_index(p, v->group);
  case 15: return zigzag((int64_t)((uint64_t)v->seq - (before ? (uint64_t)before->seq : UINT64_MAX)));
  case 16: return zigzag(v->bytes + 1);
  case 17: return v->says;
  default: return (v->has_run ? HAS_RUN : 0) | (v->stepped ? STEPPED : 0);
  }
}

static void put_column(struct printer *p, uint32_t field) {
  uint64_t any = 0;
  p->column.len = 0;
  for (uint32_t i = 0; i < p->from->n; i++) {
    const uint64_t v = value_of(p, field, i);
    any |= v;
    put_varint(&p->column, v);
  }
  if (any || field == ALWAYS) pb_message(&p->anchors, field, &p->column);
}

static void put_fixed(struct buf *b, uint64_t v) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(v >> 8 * i);
  buf_append(b, bytes, sizeof bytes);
}

static void put_exact(struct printer *p) {
  uint64_t any = 0;
  p->column.len = 0;
  for (uint32_t i = 0; i < p->from->n; i++) {
    any |= p->from->v[i].exact;
    put_fixed(&p->column, p->from->v[i].exact);
  }
  if (any) pb_message(&p->anchors, 5, &p->column);
}

static void put_anchors(struct printer *p, struct mem *mem) {
  static const uint8_t COLUMNS[] = {3, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18};
  intern_init(&p->keys, mem);
  intern_init(&p->texts, mem);
  p->anchors.len = 0;
  pb_u64(&p->anchors, 1, p->from->n);
  for (size_t i = 0; i < sizeof COLUMNS; i++) put_column(p, COLUMNS[i]);
  put_exact(p);
  p->column.len = 0;
  for (uint32_t i = 1; i <= p->keys.n; i++) {
    uint64_t key;
    memcpy(&key, p->keys.strs[i].bytes, sizeof key);
    put_fixed(&p->column, key);
  }
  if (p->keys.n) pb_message(&p->anchors, 2, &p->column);
  for (uint32_t i = 1; i <= p->texts.n; i++) pb_bytes(&p->anchors, 12, p->texts.strs[i].bytes, p->texts.strs[i].len);
  intern_free(&p->keys);
  intern_free(&p->texts);
}

static void file_put_text(struct buf *b, uint32_t field, const char *text) {
  if (*text) pb_bytes(b, field, text, strlen(text));
}

static void put_starts(struct buf *b, const struct format_starts *starts) {
  struct buf one = {.mem = b->mem};
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++) {
    if (!starts->of[i].known) continue;
    one.len = 0;
    file_put_text(&one, 1, f->info.name);
    pb_u64(&one, 2, zigzag(starts->of[i].of_first));
    pb_message(b, 22, &one);
  }
  buf_free(&one);
}

static void put_sizes(struct buf *b, const struct scan_size *sizes) {
  struct buf one = {.mem = b->mem};
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++) {
    if (!sizes[i].bytes[SCAN_PLAIN]) continue;
    one.len = 0;
    file_put_text(&one, 1, f->info.name);
    pb_u64(&one, 2, sizes[i].bytes[SCAN_PLAIN]);
    pb_u64(&one, 3, sizes[i].bytes[SCAN_PACKED]);
    pb_u64(&one, 4, sizes[i].bare[SCAN_PLAIN]);
    pb_u64(&one, 5, sizes[i].bare[SCAN_PACKED]);
    pb_message(b, 23, &one);
  }
  buf_free(&one);
}

static void put_steps(struct buf *b, const struct scan *s) {
  struct scan_step last = {0, s->start_ns, 0};
  for (uint32_t i = 0; i < s->n_steps; i++) {
    const struct scan_step *v = &s->steps[i];
    pb_u64(b, 24, zigzag((int64_t)((uint64_t)v->number - (uint64_t)last.number)));
    pb_u64(b, 25, zigzag((int64_t)((uint64_t)v->start_ns - (uint64_t)last.start_ns)));
    pb_u64(b, 26, zigzag((int64_t)((uint64_t)v->end_ns - (uint64_t)v->start_ns)));
    last = *v;
  }
  if (s->more_steps) pb_u64(b, 27, 1);
}

static void put_gpu(struct buf *b, const struct align_gpu *g) {
  const unsigned known = (isfinite(g->low) ? GPU_LEAST : 0u) | (isfinite(g->high) ? GPU_MOST : 0u);
  if (known) pb_u64(b, 29, known);
  if (known & GPU_LEAST) pb_u64(b, 30, zigzag((int64_t)g->low));
  if (known & GPU_MOST) pb_u64(b, 31, zigzag((int64_t)g->high));
}

static void put_rank(struct buf *b, const struct scan *s) {
  file_put_text(b, 1, s->input);
  file_put_text(b, 2, s->host);
  if (s->rank >= 0) pb_u64(b, 3, zigzag(s->rank)), pb_u64(b, 4, 1);
  if (s->merged) pb_u64(b, 5, 1);
  if (s->part) pb_u64(b, 33, s->part);
  pb_i64(b, 6, s->world);
  pb_u64(b, 7, zigzag(s->zero_ns));
  pb_u64(b, 8, s->clock);
  pb_u64(b, 9, zigzag(s->start_ns));
  pb_u64(b, 10, zigzag(s->end_ns));
  pb_u64(b, 11, s->records);
  pb_u64(b, 12, s->events);
  pb_u64(b, 13, s->flow_points);
  pb_u64(b, 14, s->size);
  file_put_text(b, 15, s->format);
  file_put_text(b, 18, s->run);
  file_put_text(b, 19, s->step);
  for (uint32_t i = 0; i < s->pids.n; i++) pb_u64(b, 20, zigzag(s->pids.v[i]));
  pb_u64(b, 21, s->pids.processes);
  put_starts(b, &s->starts);
  put_sizes(b, s->sizes);
  put_steps(b, s);
  put_gpu(b, &s->gpu);
  pb_fixed64(b, 32, s->mark);
}

/* Writes as many names as fit into `room` bytes, after the data that is needed to compare clocks. */
static void put_names(struct buf *b, const struct scan *s, size_t room) {
  struct buf one = {.mem = b->mem};
  const size_t most = b->len + (room < SCAN_NAMES_MOST ? room : SCAN_NAMES_MOST);
  for (uint32_t i = 0; i < s->n_names; i++) {
    const struct scan_name *n = &s->names[i];
    one.len = 0;
    pb_bytes(&one, 1, n->name, n->n_name);
    pb_u64(&one, 2, n->count);
    pb_u64(&one, 3, n->total_ns);
    pb_u64(&one, 4, n->self_ns);
    pb_u64(&one, 5, n->min_ns);
    pb_u64(&one, 6, n->max_ns);
    pb_bytes(&one, 7, n->sketch, n->n_sketch);
    if (b->len + one.len + 8 > most) break;
    pb_message(b, 28, &one);
  }
  buf_free(&one);
}

void scan_print_head(struct buf *to) { pb_u64(to, 1, SCAN_SCHEMA); }

void scan_print(struct buf *to, const struct scan *s, struct align_anchors *anchors, const char *const *notes, size_t n_notes) {
  struct mem *mem = to->mem;
  struct printer p = {.column = {.mem = mem}, .anchors = {.mem = mem}, .rank = {.mem = mem}, .from = anchors};
  put_rank(&p.rank, s);
  for (size_t i = 0; i < n_notes; i++) file_put_text(&p.rank, 17, notes[i]);
  put_anchors(&p, mem);
  for (uint32_t most = anchors->n / 2; !mem->failed && most && p.rank.len + p.anchors.len > SCAN_MOST; most /= 2) {
    align_thin_out(anchors, 0, most);
    if (anchors->n > most) anchors->n = most; /* equal keys cannot be thinned out, so only the first anchors are kept */
    put_anchors(&p, mem);
  }
  const size_t used = p.rank.len + p.anchors.len + 16;
  pb_message(&p.rank, 16, &p.anchors);
  put_names(&p.rank, s, used < SCAN_MOST ? SCAN_MOST - used : 0);
  pb_message(to, 2, &p.rank);
  pb_fixed32(to, 3, flate_crc(0, to->data, to->len));
  buf_free(&p.column);
  buf_free(&p.anchors);
  buf_free(&p.rank);
}

/* ---- reading ---- */

struct reader {
  struct scan_list *list;
  struct align_anchors *anchors;
  struct tk_diagnostics *notes;
};

/* Copies a string of the file, which is not NUL-terminated. */
static const char *file_text_of(struct reader *r, ProtobufCBinaryData text) {
  char *copy = arena_alloc(&r->list->arena, text.len + 1);
  if (!copy) return "";
  if (text.len) memcpy(copy, text.data, text.len);
  copy[text.len] = 0;
  return copy;
}

/* True if a column is complete or absent. */
static bool is_column(size_t n, const Scan__Anchors *a) { return n == 0 || n == a->count; }

static bool file_is_whole(const Scan__Anchors *a) {
  return a->n_label == a->count && is_column(a->n_module, a) && is_column(a->n_exact, a) && is_column(a->n_end, a) &&
         is_column(a->n_lasted, a) && is_column(a->n_run, a) && is_column(a->n_step, a) && is_column(a->n_device, a) &&
         is_column(a->n_execution, a) && is_column(a->n_name, a) && is_column(a->n_group, a) && is_column(a->n_seq, a) &&
         is_column(a->n_bytes, a) && is_column(a->n_says, a) && is_column(a->n_flags, a);
}

static bool are_indices(const uint32_t *v, size_t n, size_t most) {
  for (size_t i = 0; i < n; i++)
    if (v[i] > most) return false;
  return true;
}

static uint64_t file_key_of(const Scan__Anchors *a, const uint32_t *index, size_t n, uint32_t i) {
  return n && index[i] ? a->key[index[i] - 1] : 0;
}

static int64_t since(int64_t before, const int64_t *column, size_t n, uint32_t i) {
  return n ? (int64_t)((uint64_t)before + (uint64_t)column[i]) : before;
}

/* Returns the i-th anchor. Some of its numbers are stored as differences from the anchor before it. `texts`: ids of the texts,
 * from 1. */
static struct align_anchor anchor_of(const Scan__Anchors *a, uint32_t i, const uint32_t *texts, const struct align_anchor *last) {
  const int64_t end = since(last->end, a->end, a->n_end, i);
  return (struct align_anchor){
      .label = file_key_of(a, a->label, a->n_label, i),
      .module = file_key_of(a, a->module, a->n_module, i),
      .exact = a->n_exact ? a->exact[i] : 0,
      .end = end,
      .start = a->n_lasted ? (int64_t)((uint64_t)end - (uint64_t)a->lasted[i]) : end,
      .run = a->n_run ? a->run[i] : 0,
      .step = since(last->step, a->step, a->n_step, i),
      .seq = since(last->seq, a->seq, a->n_seq, i),
      .bytes = a->n_bytes ? (int64_t)((uint64_t)a->bytes[i] - 1) : -1,
      .device = a->n_device ? a->device[i] : 0,
      .execution = a->n_execution ? a->execution[i] : 0,
      .name = a->n_name ? texts[a->name[i]] : 0,
      .group = a->n_group ? texts[a->group[i]] : 0,
      .says = a->n_says ? (uint8_t)a->says[i] : 0,
      .has_run = a->n_flags && a->flags[i] & HAS_RUN,
      .stepped = a->n_flags && a->flags[i] & STEPPED,
  };
}

static bool add_anchors(struct reader *r, const Scan__Anchors *a) {
  struct align_anchors *to = r->anchors;
  uint32_t *texts = arena_alloc(&r->list->arena, (a->n_text + 1) * sizeof *texts);
  if (!texts || !mem_grow(to->mem, (void **)&to->v, &to->cap, (uint64_t)to->n + a->count, sizeof *to->v)) return false;
  const uint32_t first = to->n;
  texts[0] = 0;
  for (size_t i = 0; i < a->n_text; i++) texts[i + 1] = intern(&to->texts, a->text[i].data, a->text[i].len);
  struct align_anchor last = {.seq = -1};
  for (uint32_t i = 0; i < a->count; i++) {
    last = anchor_of(a, i, texts, &last);
    last.input = r->list->n;
    to->v[to->n++] = last;
  }
  if (r->list->most) align_thin_out(to, first, r->list->most);
  return true;
}

static struct format_starts starts_of(struct reader *r, const Scan__Rank *rank) {
  struct format_starts starts = {0};
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    for (size_t k = 0; k < rank->n_start; k++)
      if (strcmp(file_text_of(r, rank->start[k]->format), f->info.name) == 0)
        starts.of[i] = (struct sink_start){rank->start[k]->of_first, true};
  return starts;
}

static void take_sizes(struct reader *r, const Scan__Rank *rank, struct scan_size *to) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    for (size_t k = 0; k < rank->n_size_of; k++) {
      const Scan__Size *s = rank->size_of[k];
      if (strcmp(file_text_of(r, s->format), f->info.name) == 0)
        to[i] = (struct scan_size){{s->bytes, s->packed}, {s->bare, s->bare_packed}};
    }
}

static bool take_steps(struct reader *r, const Scan__Rank *rank, struct scan *s) {
  struct scan_step last = {0, s->start_ns, 0};
  if (rank->n_step_number != rank->n_step_start || rank->n_step_number != rank->n_step_lasts) return false;
  s->steps = arena_alloc(&r->list->arena, (rank->n_step_number + 1) * sizeof *s->steps);
  s->more_steps = rank->more_steps;
  for (size_t i = 0; s->steps && i < rank->n_step_number; i++) {
    last.number = (int64_t)((uint64_t)last.number + (uint64_t)rank->step_number[i]);
    last.start_ns = (int64_t)((uint64_t)last.start_ns + (uint64_t)rank->step_start[i]);
    last.end_ns = (int64_t)((uint64_t)last.start_ns + (uint64_t)rank->step_lasts[i]);
    s->steps[s->n_steps++] = last;
  }
  return true;
}

static void take_names(struct reader *r, const Scan__Rank *rank, struct scan *s) {
  s->names = arena_alloc(&r->list->arena, (rank->n_name + 1) * sizeof *s->names);
  for (size_t i = 0; s->names && i < rank->n_name; i++) {
    const Scan__Name *n = rank->name[i];
    s->names[s->n_names++] = (struct scan_name){
        .name = file_text_of(r, n->name), .sketch = (const uint8_t *)file_text_of(r, n->sketch),
          .n_name = (uint32_t)n->name.len,
        .n_sketch = (uint32_t)n->sketch.len, .count = n->count, .total_ns = n->total, .self_ns = n->self, .min_ns = n->min,
        .max_ns = n->max};
  }
}

static struct align_gpu gpu_of(const Scan__Rank *rank) {
  return (struct align_gpu){rank->gpu_known & GPU_LEAST ? (double)rank->gpu_least : -INFINITY,
                            rank->gpu_known & GPU_MOST ? (double)rank->gpu_most : INFINITY};
}

static struct scan_pids pids_of_rank(struct reader *r, const Scan__Rank *rank) {
  struct scan_pids pids = {.v = arena_alloc(&r->list->arena, (rank->n_pid + 1) * sizeof *pids.v), .processes = rank->processes};
  if (!pids.v) return pids;
  for (size_t i = 0; i < rank->n_pid; i++) pids.v[pids.n++] = rank->pid[i];
  return pids;
}

static bool are_sound(const Scan__Anchors *a) {
  return file_is_whole(a) && are_indices(a->label, a->n_label, a->n_key) && are_indices(a->module, a->n_module, a->n_key) &&
         are_indices(a->name, a->n_name, a->n_text) && are_indices(a->group, a->n_group, a->n_text);
}

static struct scan scan_of(struct reader *r, const Scan__Rank *rank) {
  return (struct scan){
      .input = file_text_of(r, rank->input), .host = file_text_of(r, rank->host), .rank = rank->stated ? rank->number : -1,
      .part = rank->part, .merged = rank->merged, .world = rank->world,
      .zero_ns = rank->zero_ns, .start_ns = rank->start_ns, .end_ns = rank->end_ns,
      .clock = (enum tk_clock)rank->clock, .records = rank->records, .events = rank->events, .flow_points = rank->flow_points,
      .size = rank->size, .format = file_text_of(r, rank->format), .run = file_text_of(r, rank->run),
      .step = file_text_of(r, rank->step),
      .pids = pids_of_rank(r, rank), .starts = starts_of(r, rank), .gpu = gpu_of(rank), .mark = rank->mark};
}

static bool add_rank(struct reader *r, const Scan__Rank *rank, struct tk_err *err) {
  const Scan__Anchors *a = rank->anchors;
  struct scan_list *list = r->list;
  if ((a && !are_sound(a)) || rank->clock > TK_CLOCK_MONOTONIC)
    return err_set(err, TK_EFORMAT, "is damaged: inconsistent collectives of a rank");
  if (a && !add_anchors(r, a)) return mem_refuse(list->mem, err);
  if (!mem_grow(list->mem, (void **)&list->v, &list->cap, (uint64_t)list->n + 1, sizeof *list->v)) return mem_refuse(list->mem, err);
  struct scan *s = &list->v[list->n++];
  *s = scan_of(r, rank);
  take_sizes(r, rank, s->sizes);
  take_names(r, rank, s);
  if (!take_steps(r, rank, s)) return err_set(err, TK_EFORMAT, "is damaged: inconsistent steps of a rank");
  for (size_t i = 0; i < rank->n_note; i++) diagnostics_say(r->notes, s->input, TK_NOTE_INFO, file_text_of(r, rank->note[i]));
  return mem_check(list->mem, err);
}

/* Checks the CRCs before anything else is read. A wrong bit in a time would not make the file invalid, but would move a host.
 * Each CRC covers all bytes since the previous one. */
static bool check_crcs(struct pb file, struct tk_err *err) {
  enum { FIELD = 5 }; /* bytes of the field of a CRC */
  const uint8_t *from = file.p;
  struct pb_field f;
  bool any = false;
  while (pb_next(&file, &f)) {
    any = any || f.number == 1;
    if (!any) return err_set(err, TK_EFORMAT, "not a scan");
    if (f.number == 1 && f.value != SCAN_SCHEMA)
      return err_set(err, TK_EFORMAT, "is damaged, or was written by another version of tracekit");
    if (f.number != 3 || f.wire != PB_FIXED32) continue;
    if (f.value != flate_crc(0, from, (size_t)(file.p - from) - FIELD)) return err_set(err, TK_ECORRUPT, "is damaged: CRC mismatch");
    from = file.p;
  }
  if (file.fault) return err_set(err, TK_EFORMAT, "is damaged: %s", file.fault);
  return from == file.end || err_set(err, TK_ECORRUPT, "is damaged: its end is missing");
}

static bool add_ranks(struct reader *r, struct pb file, struct tk_err *err) {
  struct pb_field f;
  bool any = false, ok = check_crcs(file, err);
  while (ok && pb_next(&file, &f)) {
    any = any || f.number == 1;
    if (f.number != 2) continue;
    Scan__Rank *rank = pb_unpack(&scan__rank__descriptor, pb_inside(&f), r->list->mem);
    ok = rank && add_rank(r, rank, err);
    if (!rank && mem_check(r->list->mem, err)) err_set(err, TK_EFORMAT, "is damaged: invalid data of a rank");
    pb_unpack_free(rank, r->list->mem);
  }
  if (ok && file.fault) return err_set(err, TK_EFORMAT, "is damaged: %s", file.fault);
  return ok && (any || err_set(err, TK_EFORMAT, "not a scan: empty file"));
}

bool scan_count(const char *path, struct mem *mem, uint32_t *n, struct tk_err *err) {
  struct buf text = {.mem = mem};
  bool ok = in_read_all(path, &text, err);
  struct pb file = pb_over(text.data, text.len);
  struct pb_field f;
  while (ok && pb_next(&file, &f)) *n += f.number == 2;
  buf_free(&text);
  return ok || err_prefix(err, "%s", path);
}

bool scan_read(struct scan_list *list, struct align_anchors *anchors, const char *path, struct tk_diagnostics *notes,
               struct tk_err *err) {
  struct reader r = {list, anchors, notes};
  struct buf text = {.mem = list->mem};
  bool ok = in_read_all(path, &text, err) && add_ranks(&r, pb_over(text.data ? text.data : (uint8_t *)"", text.len), err);
  buf_free(&text);
  return ok || err_prefix(err, "%s", path);
}

void scan_list_free(struct scan_list *list) {
  mem_free(list->mem, list->v);
  arena_free(&list->arena);
  *list = (struct scan_list){.mem = list->mem};
}
