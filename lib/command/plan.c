/* plan.c - the first steps of a merge on many machines: tk_scan where a rank lies, tk_plan where all scans are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/report.h"
#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "format/json.h"
#include "io/out.h"
#include "merge_align.h"
#include "source/sources.h"

/* ---- tk_scan ---- */

struct scanner {
  const struct tk_scan_options *opt;
  struct tk_scan_report *report;
  struct tk_err *err;
  struct mem mem;
  struct regexp *anchor;
  struct align_anchors anchors;
  struct buf text; /* of one rank */
  struct out out;
};

static bool put(struct scanner *s) {
  out_write(&s->out, s->text.data, s->text.len);
  s->text.len = 0;
  return mem_check(&s->mem, s->err);
}

static bool print_rank(struct scanner *s, const struct scan *scan, tk_id first_note) {
  const struct tk_trace *notes = s->report->notes;
  const size_t n = notes->n_notes - first_note;
  const char **said = mem_array(&s->mem, n + 1, sizeof *said);
  for (size_t i = 0; said && i < n; i++) said[i] = tk_string(notes, notes->notes[first_note + 1 + i].text, NULL);
  if (said) scan_print(&s->text, scan, &s->anchors, said, n);
  mem_free(&s->mem, said);
  s->report->ranks++;
  s->report->anchors += s->anchors.n;
  s->report->events += scan->events;
  return put(s);
}

static bool scan_trace(struct scanner *s, struct tk_trace *t) {
  const struct scan_options o = {.anchor = s->anchor};
  const tk_id first = s->report->notes->n_notes;
  struct scan scan;
  if (t->truncated && !s->opt->keep_truncated)
    return err_set(s->err, TK_ECORRUPT, "%s: truncated: its last events are missing", t->source);
  align_anchors_free(&s->anchors);
  align_anchors_init(&s->anchors, &s->mem);
  s->anchors.described = true;
  if (!scan_take(&scan, &s->anchors, t, &o, s->report->notes)) return mem_refuse(&s->mem, s->err);
  return print_rank(s, &scan, first);
}

static bool scan_sources(struct scanner *s, struct tk_sources *sources) {
  bool ok = true;
  for (size_t i = 0; ok && i < sources->n; i++) {
    struct tk_trace *t = tk_sources_load(sources, i, &s->opt->load, s->err);
    if (t) trace_copy_notes(s->report->notes, t, t->source);
    ok = t && scan_trace(s, t);
    tk_free(t);
  }
  return ok;
}

/* Scans joined by cat are one; they are read, so that no file which is none goes into another. */
static bool join_scan(struct scanner *s, const char *path) {
  struct scan_list list = {.mem = &s->mem, .arena = {.mem = &s->mem}};
  struct align_anchors all;
  align_anchors_init(&all, &s->mem);
  bool ok = scan_read(&list, &all, path, s->report->notes, s->err);
  for (uint32_t i = 0, at = 0; ok && i < list.n; i++) {
    uint32_t from = at;
    while (at < all.n && all.v[at].input == i) at++;
    s->anchors = (struct align_anchors){.mem = &s->mem, .v = all.v + from, .n = at - from, .texts = all.texts};
    ok = print_rank(s, &list.v[i], s->report->notes->n_notes);
  }
  s->anchors = (struct align_anchors){.mem = &s->mem};
  align_anchors_free(&all);
  scan_list_free(&list);
  return ok;
}

static bool scan_all(struct scanner *s, const char *const *names, size_t n) {
  struct tk_source_options options = sources_options(&s->opt->load);
  bool ok = true;
  char why[256];
  scan_print_head(&s->text);
  if (!put(s)) return false;
  for (size_t i = 0; s->opt->join && ok && i < n; i++) ok = join_scan(s, names[i]);
  if (s->opt->join) return ok;
  if (s->opt->anchor && !(s->anchor = regexp_new(s->opt->anchor, &s->mem, why, sizeof why)))
    return mem_check(&s->mem, s->err) && err_set(s->err, TK_EUSAGE, "anchor '%s': %s", s->opt->anchor, why);
  struct tk_sources *sources = tk_sources_open(names, n, &options, s->err);
  ok = sources && scan_sources(s, sources) && regexp_check(s->anchor, s->err);
  regexp_free(s->anchor);
  tk_sources_close(sources);
  return ok;
}

bool tk_scan(const char *const *names, size_t n, const char *output, const struct tk_scan_options *opt,
             struct tk_scan_report *report, struct tk_err *err) {
  struct tk_scan_options options;
  struct tk_scan_report own = {0};
  struct tk_err unused;
  struct scanner s = {.opt = &options, .report = report ? report : &own, .err = err ? err : &unused};
  err_clear(s.err);
  *s.report = (struct tk_scan_report){0};
  if (!TAKE_OPTIONS(&options, opt, s.err)) return false;
  const char **inputs = calloc(n + 1, sizeof *inputs);
  s.report->notes = trace_new(0);
  s.mem.limit = os_memory_limit(s.opt->load.max_memory);
  s.text.mem = &s.mem;
  for (size_t i = 0; inputs && i < n; i++) inputs[i] = names[i];
  const struct out_options o = {.binary = true, .force = s.opt->save.force, .inputs = inputs};
  bool ok = (inputs && s.report->notes) || err_set(s.err, TK_ELIMIT, "out of memory");
  ok = ok && (out_open(&s.out, output, &o, &s.mem, s.err) || err_prefix(s.err, "%s", output)) && scan_all(&s, names, n);
  ok = ok && (out_commit(&s.out, s.err) || err_prefix(s.err, "%s", output));
  if (ok) s.report->bytes = out_file_bytes(&s.out);
  out_close(&s.out);
  align_anchors_free(&s.anchors);
  buf_free(&s.text);
  free(inputs);
  if (!report) tk_free(own.notes);
  return ok;
}

/* ---- tk_plan ---- */

struct planner {
  const struct tk_merge_options *opt;
  struct tk_merge_report *report;
  struct tk_err *err;
  struct mem mem;
  struct scan_list list;
  struct align_anchors anchors;
  struct tk_sources sources; /* as a merge has them, of names alone */
  struct merge_alignment alignment;
  struct out out, table;
};

static bool read_scans(struct planner *p, const char *const *scans, size_t n) {
  uint32_t ranks = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = scan_count(scans[i], &p->mem, &ranks, p->err);
  p->list.most = merge_most_anchors(ranks);
  for (size_t i = 0; ok && i < n; i++) ok = scan_read(&p->list, &p->anchors, scans[i], p->report->notes, p->err);
  if (ok && p->list.n == 0) return err_set(p->err, TK_EUSAGE, "no rank is in the scans");
  p->sources.inputs = ok ? mem_array(&p->mem, p->list.n, sizeof *p->sources.inputs) : NULL;
  if (!p->sources.inputs) return ok && mem_check(&p->mem, p->err);
  memset(p->sources.inputs, 0, p->list.n * sizeof *p->sources.inputs);
  p->sources.n = p->list.n;
  for (uint32_t i = 0; i < p->list.n; i++) {
    p->sources.inputs[i].name = p->list.v[i].input;
    p->sources.inputs[i].host = p->sources.inputs[i].run = p->sources.inputs[i].step = "";
  }
  return true;
}

static void put_text(struct buf *b, const char *key, const char *text) {
  buf_text(b, key);
  json_quote(b, text, strlen(text));
}

static void put_number(struct buf *b, const char *key, int64_t v) {
  char text[24];
  buf_text(b, key);
  buf_append(b, text, num_put_i64(text, v));
}

/* Times since 1970 do not fit into the doubles of many readers of JSON. */
static void put_ns(struct buf *b, const char *key, int64_t v) {
  put_number(b, key, v);
  buf_text(b, "\"");
}

static void put_rank(struct buf *b, const struct planner *p, uint32_t i) {
  const struct scan *s = &p->list.v[i];
  const struct align_map *map = merge_map(&p->alignment, i);
  const struct merge_base own = {s->zero_ns, s->clock};
  int64_t start = s->start_ns + merge_later(&p->alignment.base, &own, p->opt->align);
  put_text(b, i ? ",\n{\"input\":" : "\n{\"input\":", s->input);
  put_text(b, ",\"host\":", s->host);
  put_number(b, ",\"rank\":", s->rank >= 0 ? s->rank : (int64_t)i);
  buf_text(b, s->rank >= 0 ? ",\"stated\":true" : ",\"stated\":false");
  put_number(b, ",\"events\":", (int64_t)s->events);
  put_number(b, ",\"bytes\":", (int64_t)s->size);
  put_ns(b, ",\"start_ns\":\"", map ? start - align_offset(map, start) : start);
  put_ns(b, ",\"moved_ns\":\"", map ? -align_offset(map, start) : 0);
  buf_text(b, "}");
}

static void put_plan(struct buf *b, const struct planner *p) {
  static const char *const clocks[] = {"unknown", "realtime", "boottime", "monotonic"};
  const struct tk_collectives *c = &p->report->collectives;
  put_text(b, "{\"version\":", TK_VERSION);
  put_text(b, ",\n\"clock\":", clocks[p->alignment.base.clock]);
  put_ns(b, ",\n\"zero_ns\":\"", p->alignment.base.zero_ns);
  put_ns(b, ",\n\"start_ns\":\"", p->alignment.start_ns);
  put_ns(b, ",\n\"end_ns\":\"", p->alignment.end_ns);
  buf_text(b, ",\n\"align\":");
  buf_text(b, p->report->align.json);
  if (c->n) {
    put_number(b, ",\n\"collectives\":{\"collectives\":", (int64_t)c->n);
    put_number(b, ",\"rank\":", c->rank);
    put_number(b, ",\"last\":", (int64_t)c->last);
    buf_text(b, ",\"lost_us\":");
    buf_text(b, num_fixed(c->lost_us, 3).s);
    put_number(b, ",\"steps\":", (int64_t)c->steps);
    buf_text(b, "}");
  }
  buf_text(b, ",\n\"ranks\":[");
  for (uint32_t i = 0; i < p->list.n; i++) put_rank(b, p, i);
  buf_text(b, "\n]}\n");
}

static bool open_plan(struct planner *p, const char *output, const char *const *inputs) {
  const struct out_options o = {.force = p->opt->save.force, .inputs = inputs};
  const char *table = p->opt->collectives;
  if (!out_open(&p->out, output, &o, &p->mem, p->err)) return err_prefix(p->err, "%s", output);
  if (!table) return true;
  if (merge_table_kind(table) == MERGE_TABLE_NONE)
    return err_set(p->err, TK_EUSAGE, "%s: a table of collectives is .csv or .json", table);
  if (strcmp(table, output) == 0) return err_set(p->err, TK_EUSAGE, "%s: is the plan", table);
  return out_open(&p->table, table, &o, &p->mem, p->err) || err_prefix(p->err, "%s", table);
}

static void tell_ranks(struct planner *p) {
  for (uint32_t i = 0; i < p->list.n; i++) {
    const struct scan *s = &p->list.v[i];
    struct tk_merge_rank *r = &p->report->ranks[i];
    const struct align_map *map = merge_map(&p->alignment, i);
    r->input = tk_string(p->report->notes, trace_text(p->report->notes, s->input), NULL);
    r->host = tk_string(p->report->notes, trace_text(p->report->notes, s->host), NULL);
    r->rank = s->rank >= 0 ? s->rank : (int64_t)i;
    r->rank_from = "";
    r->read = s->records;
    r->events = s->events;
    r->flow_points = s->flow_points;
    r->bytes = s->size;
    r->shift_ns = s->zero_ns - p->alignment.base.zero_ns - (map ? align_offset(map, map->pivot_ns) : 0);
  }
}

static bool write_plan(struct planner *p) {
  struct buf text = {.mem = &p->mem};
  const struct merge_table table = {.who = p->alignment.who, .zero_ns = p->alignment.base.zero_ns, .out = &p->table,
                                    .kind = p->opt->collectives ? merge_table_kind(p->opt->collectives) : MERGE_TABLE_NONE};
  if (p->opt->collectives && !merge_collectives_write(&p->alignment.collectives, &table, p->err)) return false;
  put_plan(&text, p);
  out_write(&p->out, text.data, text.len);
  buf_free(&text);
  if (!mem_check(&p->mem, p->err)) return false;
  if (p->opt->collectives && !out_commit(&p->table, p->err)) return err_prefix(p->err, "%s", p->opt->collectives);
  return out_commit(&p->out, p->err);
}

static bool plan(struct planner *p, const char *const *scans, size_t n, const char *output) {
  struct merge_scans all = {&p->list, &p->anchors};
  struct merge_inputs in = {.sources = &p->sources, .scans = &all};
  const char **inputs = calloc(n + 1, sizeof *inputs);
  for (size_t i = 0; inputs && i < n; i++) inputs[i] = scans[i];
  bool ok = inputs ? open_plan(p, output, inputs) : err_set(p->err, TK_ELIMIT, "out of memory");
  ok = ok && merge_report_init(p->report, 0, p->err) && read_scans(p, scans, n);
  free(inputs);
  if (!ok) return false;
  free(p->report->ranks);
  p->report->ranks = calloc((size_t)p->list.n + 1, sizeof *p->report->ranks);
  p->report->n_ranks = in.n = p->list.n;
  if (!p->report->ranks) return err_set(p->err, TK_ELIMIT, "out of memory");
  if (!merge_align(&p->alignment, &in, p->opt, true, p->report, p->err)) return false;
  tell_ranks(p);
  return write_plan(p) && mem_check(&p->report->notes->store->mem, p->err);
}

bool tk_plan(const char *const *scans, size_t n, const char *output, const struct tk_merge_options *opt,
             struct tk_merge_report *report, struct tk_err *err) {
  struct tk_merge_options options;
  struct tk_merge_report unused = {0};
  struct tk_err own;
  struct planner p = {.opt = &options, .report = report ? report : &unused, .err = err ? err : &own};
  err_clear(p.err);
  *p.report = (struct tk_merge_report){0};
  if (!TAKE_OPTIONS(&options, opt, p.err)) return false;
  p.mem.limit = os_memory_limit(p.opt->load.max_memory);
  p.list.mem = p.list.arena.mem = &p.mem;
  align_anchors_init(&p.anchors, &p.mem);
  p.anchors.described = true;
  bool ok = plan(&p, scans, n, output);
  merge_alignment_free(&p.alignment);
  align_anchors_free(&p.anchors);
  scan_list_free(&p.list);
  mem_free(&p.mem, p.sources.inputs);
  out_close(&p.table);
  out_close(&p.out);
  if (!report) tk_merge_report_free(&unused);
  return ok;
}
