/* plan.c - implements tk_plan: makes the decisions of a merge that precede writing (merge/plan.c), from scans, and stores them
 * in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/report.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/num.h"
#include "base/options.h"
#include "base/os.h"
#include "base/path.h"
#include "format/json.h"
#include "format/json_put.h"
#include "graph/diagnostics.h"
#include "io/out.h"
#include "io/packing.h"
#include "merge/order.h"
#include "merge/select.h"
#include "merge/share.h"
#include "source/ranks.h"
#include "merge/stragglers.h"
#include "tasks.h"
#include "merge/alignment.h"
#include "merge/merge.h"
#include "merge/plan.h"
#include "scan/file.h"

struct planner {
  const struct tk_merge_options *opt;
  struct tk_merge_report *report;
  struct tk_err *err;
  struct mem mem;
  struct scan_list list;
  struct align_anchors anchors;
  struct tk_sources sources; /* the inputs, as in a merge, but only with their names */
  const struct format *format; /* output format */
  char word[64];               /* output format as in the option -f */
  struct out out, table;
};

/* ---- scans ---- */

static int by_input(const void *a, const void *b) {
  const struct align_anchor *x = a, *y = b;
  return x->input < y->input ? -1 : x->input > y->input;
}

/* Sorts the scans by rank. Viewers that ignore sort indices show processes in the order in which they are written. */
static bool sort_scans(struct planner *p) {
  const uint32_t n = p->list.n;
  struct merge_who *who = mem_array(&p->mem, n, sizeof *who);
  uint32_t *places = mem_array(&p->mem, n, sizeof *places);
  struct scan *sorted = mem_array(&p->mem, n, sizeof *sorted);
  bool ok = who && places && sorted;
  for (uint32_t i = 0; ok && i < n; i++) {
    const struct scan *s = &p->list.v[i];
    who[i] = (struct merge_who){s->host, s->rank, s->merged};
  }
  if (ok) merge_give_ranks(who, n);
  ok = ok && merge_order(who, n, false, places);
  for (uint32_t i = 0; ok && i < n; i++) sorted[places[i]] = p->list.v[i];
  for (uint32_t i = 0; ok && i < p->anchors.n; i++) p->anchors.v[i].input = places[p->anchors.v[i].input];
  if (ok) memcpy(p->list.v, sorted, n * sizeof *sorted);
  if (ok && p->anchors.n) qsort(p->anchors.v, p->anchors.n, sizeof *p->anchors.v, by_input);
  mem_free(&p->mem, who);
  mem_free(&p->mem, places);
  mem_free(&p->mem, sorted);
  return ok || err_set(p->err, TK_ELIMIT, "out of memory");
}

/* True if the scan states its rank, or if the input's name contains the name of its host. */
static bool states_identity(const struct scan *s) {
  return s->rank >= 0 || (*s->host && strstr(s->input, path_leaf(s->host)) != NULL);
}

/* If no input states its rank or host, finds the ranks by comparing the names of all inputs, as a merge does. */
static bool compare_names(struct planner *p) {
  const char **names = calloc((size_t)p->list.n + 1, sizeof *names);
  struct ranks r = {.from = RANKS_NONE};
  bool none = names != NULL, ordered = true;
  for (uint32_t i = 0; none && i < p->list.n; i++) none = !states_identity(&p->list.v[i]), names[i] = p->list.v[i].input;
  const bool ok = names && (!none || ranks_find(&r, names, p->list.n));
  for (uint32_t i = 0; r.of && i < p->list.n; i++) ordered = ordered && r.of[i] == (int64_t)i;
  for (uint32_t i = 0; ok && i < p->list.n && (r.from == RANKS_NUMBER || (r.from == RANKS_ORDER && !ordered)); i++)
    p->list.v[i].rank = r.of[i];
  ranks_free(&r);
  free(names);
  return ok || err_set(p->err, TK_ELIMIT, "out of memory");
}

/* Removes duplicate ranks: the user gave a scan twice, or both separately and as part of a file with several scans. */
static bool drop_copies(struct planner *p) {
  struct map seen;
  uint32_t n = 0, anchors = 0, at = 0;
  bool ok = true;
  map_init(&seen, &p->mem);
  for (uint32_t i = 0; ok && i < p->list.n; i++) {
    const struct scan *s = &p->list.v[i];
    uint32_t from = at, *before;
    while (at < p->anchors.n && p->anchors.v[at].input == i) at++;
    const uint64_t key = hash_mix(hash_mix(s->mark, s->part), hash_bytes(s->input, strlen(s->input)));
    ok = (before = map_put(&seen, key, UINT32_MAX)) != NULL;
    if (ok && s->mark && *before != UINT32_MAX) {
      diagnostics_say(p->report->notes, s->input, TK_NOTE_INFO, "is there twice in the scans, and counts once");
      continue;
    }
    if (ok) *before = n;
    for (uint32_t k = from; k < at; k++) p->anchors.v[anchors] = p->anchors.v[k], p->anchors.v[anchors++].input = n;
    p->list.v[n++] = *s;
  }
  map_free(&seen);
  p->list.n = n;
  p->anchors.n = anchors;
  return ok || mem_refuse(&p->mem, p->err);
}

/* True if scan i continues the file of scan i - 1: it is the next rank of the same file. */
static bool continues_file(const struct scan_list *l, uint32_t i) {
  return i > 0 && l->v[i].part > 1 && l->v[i].part == l->v[i - 1].part + 1 && strcmp(l->v[i].input, l->v[i - 1].input) == 0;
}

/* The scans, grouped by file. */
struct file_list {
  struct ranks_file *files; /* files that do not state their ranks */
  const char **names;       /* names of these files */
  int64_t *taken, *of;      /* taken: ranks that other files state; of: by scan, the new rank */
  size_t n, n_taken;
  bool split;               /* some of the files contain several ranks */
};

static void list_files(const struct planner *p, struct file_list *f) {
  for (uint32_t i = 0; i < p->list.n; i++) {
    const struct scan *s = &p->list.v[i];
    f->split = f->split || (s->part && s->rank < 0);
    if (s->rank >= 0) {
      f->taken[f->n_taken++] = s->rank;
    } else if (f->n && continues_file(&p->list, i)) {
      f->files[f->n - 1].n++;
    } else {
      f->names[f->n] = s->input;
      f->files[f->n] = (struct ranks_file){i, 1, (int64_t)f->n};
      f->n++;
    }
  }
}

/* Orders the files by their names, as a merge does, and numbers their ranks. A single rank keeps the number in its file name if
 * other inputs state their ranks. */
static bool number_files(struct planner *p, struct file_list *f) {
  struct ranks r = {.from = RANKS_NONE};
  size_t n = 0;
  if (!ranks_find(&r, f->names, f->n)) return false;
  for (size_t k = 0; k < f->n; k++) {
    struct ranks_file *file = &f->files[k];
    if (r.from != RANKS_NONE) file->number = r.of[k];
    if (!f->n_taken || p->list.v[file->first].part) f->files[n++] = *file;
  }
  ranks_free(&r);
  ranks_number(f->files, n, f->taken, f->n_taken, f->of);
  for (size_t k = 0; k < n; k++)
    for (size_t i = f->files[k].first; i < f->files[k].first + f->files[k].n; i++) {
      p->list.v[i].rank = f->of[i];
      p->list.v[i].compared = true;
    }
  return true;
}

/* Numbers the ranks of files that contain several and do not state them. */
static bool number_parts(struct planner *p) {
  const size_t n = (size_t)p->list.n + 1;
  struct file_list f = {.files = calloc(n, sizeof *f.files), .names = calloc(n, sizeof *f.names), .taken = calloc(n, sizeof *f.taken),
                        .of = calloc(n, sizeof *f.of)};
  bool ok = f.files && f.names && f.taken && f.of;
  if (ok) list_files(p, &f);
  if (ok && f.split) ok = number_files(p, &f);
  free(f.files);
  free(f.names);
  free(f.taken);
  free(f.of);
  return ok || err_set(p->err, TK_ELIMIT, "out of memory");
}

/* True if both inputs contain a process with the same pid and overlap in time. Small pids are ignored, because they may be
 * numbers of devices. */
static bool share_process(const struct scan *a, const struct scan *b) {
  enum { DEVICES = 256 };
  if (a->start_ns > b->end_ns || b->start_ns > a->end_ns || (*a->host && *b->host && strcmp(a->host, b->host) != 0)) return false;
  for (uint32_t i = 0; i < a->pids.n; i++)
    for (uint32_t k = 0; k < b->pids.n && a->pids.v[i] >= DEVICES; k++)
      if (a->pids.v[i] == b->pids.v[k]) return true;
  return false;
}

/* Refuses two recordings of the same rank, which a merge would join, because each part is written from a single input. */
static bool refuse_recordings(struct planner *p) {
  struct map first;
  bool ok = true;
  map_init(&first, &p->mem);
  for (uint32_t i = 0; ok && i < p->list.n; i++) {
    const struct scan *s = &p->list.v[i];
    if (s->rank < 0 || s->compared) continue;
    const uint32_t *at = map_put(&first, (uint64_t)s->rank, i);
    ok = at || mem_refuse(&p->mem, p->err);
    const struct scan *other = at ? &p->list.v[*at] : s;
    if (other == s || !s->format || !other->format || strcmp(s->format, other->format) == 0 || !share_process(other, s)) continue;
    ok = err_set(p->err, TK_EUSAGE, "%s: records rank %lld, as does %s; a plan cannot join recordings of one rank: merge "
                                    "these two files first, then scan the result", s->input, (long long)s->rank, other->input);
  }
  map_free(&first);
  return ok;
}

static bool read_scans(struct planner *p, const char *const *scans, size_t n) {
  uint32_t ranks = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = scan_count(scans[i], &p->mem, &ranks, p->err);
  p->list.most = merge_most_anchors(ranks);
  for (size_t i = 0; ok && i < n; i++) ok = scan_read(&p->list, &p->anchors, scans[i], p->report->notes, p->err);
  if (ok && p->list.n == 0) return err_set(p->err, TK_EUSAGE, "the scans contain no ranks");
  ok = ok && drop_copies(p) && number_parts(p) && compare_names(p) && refuse_recordings(p);
  if (ok && p->format->own_order) ok = sort_scans(p);
  p->sources.inputs = ok ? mem_array(&p->mem, p->list.n, sizeof *p->sources.inputs) : NULL;
  if (!p->sources.inputs) return ok && mem_check(&p->mem, p->err);
  memset(p->sources.inputs, 0, p->list.n * sizeof *p->sources.inputs);
  p->sources.n = p->list.n;
  for (uint32_t i = 0; i < p->list.n; i++) {
    p->sources.inputs[i].name = p->list.v[i].input;
    p->sources.inputs[i].run = p->list.v[i].run;
    p->sources.inputs[i].step = p->list.v[i].step;
    p->sources.inputs[i].host = "";
  }
  return true;
}

/* ---- the file ---- */

/* Writes a time as a string: times since 1970 exceed the precision of doubles, which many JSON readers use. */
static void put_ns(struct buf *b, const char *key, int64_t v) {
  json_put_int(b, key, v);
  buf_text(b, "\"");
}

static void put_rank(struct buf *b, const struct planner *p, const struct merger *m, uint32_t i) {
  const struct scan *s = &p->list.v[i];
  const struct align_map *map = merge_map(&m->alignment, i);
  const struct merge_base own = {s->zero_ns, s->clock};
  int64_t start = s->start_ns + merge_later(&m->alignment.base, &own, p->opt->align);
  json_put_text(b, i ? ",\n{\"input\":" : "\n{\"input\":", s->input);
  json_put_text(b, ",\"host\":", s->host);
  json_put_int(b, ",\"rank\":", s->rank >= 0 ? s->rank : merge_given_rank(m, i));
  buf_text(b, s->rank >= 0 && !s->compared ? ",\"stated\":true" : ",\"stated\":false");
  if (s->part) json_put_int(b, ",\"part\":", s->part - 1);
  if (m->alignment.skipped && m->alignment.skipped[i]) buf_text(b, ",\"left_out\":true");
  json_put_int(b, ",\"events\":", (int64_t)s->events);
  json_put_int(b, ",\"bytes\":", (int64_t)s->size);
  if (m->shares.of) json_put_int(b, ",\"share\":", (int64_t)m->shares.of[i]);
  if (m->shares.of && m->shares.roles[i]) json_put_text(b, ",\"whole\":", merge_role_names[m->shares.roles[i]]);
  put_ns(b, ",\"start_ns\":\"", map ? start - align_offset(map, start) : start);
  put_ns(b, ",\"moved_ns\":\"", map ? -align_offset(map, start) : 0);
  buf_text(b, "}");
}

/* Writes the data that only apply and concat need. */
static void put_tasks(struct buf *b, const struct planner *p, struct merger *m) {
  struct buf tasks = {.mem = b->mem};
  tasks_print(&tasks, m, &p->list, p->word);
  buf_text(b, ",\n\"tasks\":\"");
  base64_append(b, tasks.data, tasks.len);
  buf_text(b, "\"");
  buf_free(&tasks);
}

static void put_plan(struct buf *b, const struct planner *p, struct merger *m) {
  static const char *const clocks[] = {"unknown", "realtime", "boottime", "monotonic"};
  const struct tk_collectives *c = &p->report->collectives;
  json_put_text(b, "{\"version\":", TK_VERSION);
  json_put_text(b, ",\n\"format\":", p->word);
  if (p->opt->to) json_put_int(b, ",\n\"to\":", (int64_t)p->opt->to);
  json_put_text(b, ",\n\"clock\":", clocks[m->alignment.base.clock]);
  put_ns(b, ",\n\"zero_ns\":\"", m->alignment.base.zero_ns);
  put_ns(b, ",\n\"start_ns\":\"", m->alignment.start_ns);
  put_ns(b, ",\n\"end_ns\":\"", m->alignment.end_ns);
  buf_text(b, ",\n\"align\":");
  buf_text(b, p->report->align.json);
  if (c->n) {
    json_put_int(b, ",\n\"collectives\":{\"collectives\":", (int64_t)c->n);
    json_put_int(b, ",\"rank\":", c->rank);
    json_put_int(b, ",\"last\":", (int64_t)c->last);
    buf_text(b, ",\"lost_us\":");
    buf_text(b, num_fixed(c->lost_us, 3).s);
    json_put_int(b, ",\"steps\":", (int64_t)c->steps);
    buf_text(b, "}");
  }
  if (p->report->stragglers) buf_text(b, ",\n\"stragglers\":"), stragglers_print(b, p->report->stragglers);
  buf_text(b, ",\n\"ranks\":[");
  for (uint32_t i = 0; i < p->list.n; i++) put_rank(b, p, m, i);
  buf_text(b, "\n]");
  if (p->list.n > 1) put_tasks(b, p, m);
  buf_text(b, "}\n");
}

static bool open_plan(struct planner *p, const char *output, const char *const *inputs) {
  const struct out_options o = {.force = p->opt->save.force, .inputs = inputs};
  const char *table = p->opt->collectives;
  if (!out_open(&p->out, output, &o, &p->mem, p->err)) return err_prefix(p->err, "%s", output);
  if (!table) return true;
  if (merge_table_kind(table) == MERGE_TABLE_NONE)
    return err_set(p->err, TK_EUSAGE, "%s: unsupported extension; use .csv or .json for a table of collectives", table);
  if (strcmp(table, output) == 0) return err_set(p->err, TK_EUSAGE, "%s: is also the output file of the plan; choose another "
                                                                    "name", table);
  return out_open(&p->table, table, &o, &p->mem, p->err) || err_prefix(p->err, "%s", table);
}

static void tell_ranks(struct planner *p, const struct merger *m) {
  for (uint32_t i = 0; i < p->list.n; i++) {
    const struct scan *s = &p->list.v[i];
    struct tk_merge_rank *r = &p->report->ranks[i];
    const struct align_map *map = merge_map(&m->alignment, i);
    r->input = diagnostics_text(p->report->notes, s->input);
    r->host = diagnostics_text(p->report->notes, s->host);
    r->rank = s->rank >= 0 ? s->rank : merge_given_rank(m, i);
    r->rank_from = "";
    r->read = s->records;
    r->events = s->events;
    r->flow_points = s->flow_points;
    r->bytes = s->size;
    r->shift_ns = num_sub(num_sub(s->zero_ns, m->alignment.base.zero_ns), map ? align_offset(map, map->pivot_ns) : 0);
  }
}

static bool write_plan(struct planner *p, struct merger *m) {
  struct buf text = {.mem = &p->mem};
  const struct merge_table table = {.who = m->alignment.who, .zero_ns = m->alignment.base.zero_ns, .out = &p->table,
                                    .kind = p->opt->collectives ? merge_table_kind(p->opt->collectives) : MERGE_TABLE_NONE};
  if (p->opt->collectives && !merge_collectives_write(&m->alignment.collectives, &table, p->err)) return false;
  put_plan(&text, p, m);
  out_write(&p->out, text.data, text.len);
  buf_free(&text);
  if (!mem_check(&p->mem, p->err) || !mem_check(&m->mem, p->err) || !diagnostics_check(p->report->notes, p->err)) return false;
  if (p->opt->collectives && !out_commit(&p->table, p->err)) return err_prefix(p->err, "%s", p->opt->collectives);
  return out_commit(&p->out, p->err);
}

/* Finds the output format. Parts may be plain or gzip; pretty-printed output cannot be joined from parts. */
static bool find_format(struct planner *p) {
  const struct tk_save_options *save = &p->opt->save;
  const struct packing *packing = save->format ? packing_of_path(save->format, strlen(save->format)) : NULL;
  p->format = save->format ? format_by_word(save->format) : format_default();
  if (!p->format) return err_for(p->err, TK_OPTION_FORMAT, TK_EUSAGE, "unknown format '%s'", save->format);
  if (!p->format->in_parts || (packing && packing != packing_row(PACKING_GZIP)))
    return err_set(p->err, TK_EUSAGE, "format '%s' cannot be joined from parts; use json, pftrace or xplane, with or without .gz",
                   save->format);
  snprintf(p->word, sizeof p->word, "%s%s", p->format->info.name, packing ? ".gz" : "");
  if (p->opt->link_collectives || p->opt->manifest || p->opt->redact || save->pretty || save->settings)
    return err_set(p->err, TK_EUSAGE, "a plan cannot be combined with links, a manifest, redaction or pretty-printing");
  return (!p->opt->label || label_check(p->opt->label, p->err)) && merge_select_check(p->opt, p->err);
}

static bool plan(struct planner *p, const char *const *scans, size_t n, const char *output) {
  struct merge_scans all = {&p->list, &p->anchors};
  struct merge_inputs in = {.sources = &p->sources, .scans = &all};
  const char **inputs = calloc(n + 1, sizeof *inputs);
  for (size_t i = 0; inputs && i < n; i++) inputs[i] = scans[i];
  bool ok = inputs ? find_format(p) && open_plan(p, output, inputs) : err_set(p->err, TK_ELIMIT, "out of memory");
  ok = ok && merge_report_init(p->report, 0, p->err) && read_scans(p, scans, n);
  free(inputs);
  if (!ok) return false;
  if (!merge_report_ranks(p->report, p->list.n, p->err)) return false;
  in.n = p->list.n;
  if (p->opt->to) in.weighed = p->format, in.packed = strlen(p->word) > strlen(p->format->info.name);
  struct merge_output out = {.needs_start = true};
  struct merger m = {.opt = p->opt, .output = &out, .report = p->report};
  ok = merge_begin(&m, &in, p->err) && merge_plan(&m);
  if (ok && p->opt->steps && m.alignment.start_ns == INT64_MAX)
    ok = err_set(p->err, TK_ENOTHING, "nothing matched: no rank has any of the selected steps");
  if (ok) tell_ranks(p, &m);
  ok = ok && stragglers_report(&m, &p->list);
  ok = ok && write_plan(p, &m);
  merge_end(&m);
  return ok;
}

bool tk_plan(const char *const *scans, size_t n, const char *output, const struct tk_merge_options *opt,
             struct tk_merge_report **report, struct tk_err *err) {
  struct tk_merge_options options;
  struct tk_merge_report *unused = NULL;
  struct tk_err own;
  struct planner p = {.opt = &options, .err = err ? err : &own};
  err_clear(p.err);
  if (!report) report = &unused;
  if (!NEW_REPORT(report, p.err) || !TAKE_OPTIONS(&options, opt, p.err)) return merge_report_drop(unused);
  p.report = *report;
  if (options.to) options.save.no_passthrough = true; /* the same as in a merge */
  p.mem.limit = os_memory_limit(p.opt->load.max_memory);
  p.list.mem = p.list.arena.mem = &p.mem;
  align_anchors_init(&p.anchors, &p.mem);
  p.anchors.described = true;
  bool ok = plan(&p, scans, n, output);
  align_anchors_free(&p.anchors);
  scan_list_free(&p.list);
  mem_free(&p.mem, p.sources.inputs);
  out_close(&p.table);
  out_close(&p.out);
  tk_merge_report_free(unused);
  return ok;
}
