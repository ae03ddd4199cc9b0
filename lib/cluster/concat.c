/* concat.c - implements tk_concat: joins the parts of all ranks to the merged trace.
 *
 *     plan, end of each part -> check that every rank is present once -> head -> for each rank: its bytes unchanged -> end
 *
 * The same sink as in a merge writes the head and the end. Each part contains the state that the sink would have if it had
 * written the rank itself. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "base/progress.h"
#include "merge/share.h"
#include "merge/shares.h"
#include "merge/gone.h"
#include "part.h"
#include "load/save.h"
#include "merge/merge.h"
#include "merge/rank.h"

struct concat {
  const struct tk_concat_options *opt;
  struct mem mem;
  struct tasks tasks;
  struct tk_merge_options merge;
  struct saver saver;
  struct merge_output output;
  struct merger m;
  const char *const *parts;
  size_t n;
  const char **of; /* by rank: path of its part; NULL = missing */
  struct tk_merge_report *report;
  struct tk_err *err;
};

/* ---- finding the parts ---- */

static bool is_same(struct concat *c, const Plan__Part *a, const char *other) {
  struct part b;
  struct tk_err unused = {0};
  if (!part_open(&b, other, &c->mem, &unused)) return false;
  const bool same = a->bytes == b.is->bytes && a->crc == b.is->crc && a->raw_crc == b.is->raw_crc;
  part_close(&b);
  return same;
}

static bool concat_is_whole(struct concat *c, const char *path) {
  struct part p;
  struct tk_err unused = {0};
  if (!part_open(&p, path, &c->mem, &unused)) return false;
  const bool whole = part_verify(&p, &unused);
  part_close(&p);
  return whole;
}

static bool leave_out(struct concat *c, const char *path, const char *whole) {
  char text[512];
  snprintf(text, sizeof text, "is damaged and was left out; its intact copy %.300s is used", whole);
  diagnostics_say(c->report->notes, path, TK_NOTE_INFO, text);
  return true;
}

/* Assigns the part to its rank. If a task ran twice, there are two identical parts, and the second is ignored. If one of the two is
 * damaged, it is left out, whether it comes first or second. */
static bool take_name(struct concat *c, const char *path, const Plan__Part *p) {
  char text[512];
  if (p->plan != c->tasks.id) return err_set(c->err, TK_EUSAGE, "%s: was written for a different plan", path);
  if (p->input >= c->tasks.sources.n || c->tasks.plan->rank[p->input]->skipped)
    return err_set(c->err, TK_EFORMAT, "%s: its rank is not in the plan", path);
  const char **of = &c->of[p->input];
  if (!*of) {
    *of = path;
    return true;
  }
  if (!concat_is_whole(c, path) && concat_is_whole(c, *of)) return leave_out(c, path, *of);
  if (!concat_is_whole(c, *of) && concat_is_whole(c, path)) {
    leave_out(c, *of, path);
    *of = path;
    return true;
  }
  if (!is_same(c, p, *of)) return err_set(c->err, TK_EUSAGE, "%s: has the same rank as %s but different contents", path, *of);
  snprintf(text, sizeof text, "is a duplicate of %.300s and was ignored", *of);
  diagnostics_say(c->report->notes, path, TK_NOTE_INFO, text);
  return true;
}

static struct tk_merge_rank *concat_rank_of(struct concat *c, size_t i) { return &c->report->ranks[i]; }

static bool open_whole(struct concat *c, struct part *p, const char *path) {
  if (!part_open(p, path, &c->mem, c->err)) return false;
  if (!c->opt->keep_going || part_verify(p, c->err)) return true; /* with keep_going the bytes are checked here, otherwise when
                                                                   * they are copied */
  part_close(p);
  return err_prefix(c->err, "%s", path);
}

/* Returns the message of c->err, which says why a part cannot be used, without the part's path. */
static const char *why_unusable(struct concat *c, const char *path) {
  const size_t n = strlen(path);
  const char *why = c->err->msg;
  return merger_text(&c->m, strncmp(why, path, n) == 0 && why[n] == ':' ? why + n + 2 : why);
}

static bool has_all(const struct concat *c) {
  for (size_t i = 0; i < c->tasks.sources.n; i++)
    if (!c->of[i] && !c->tasks.plan->rank[i]->skipped) return false;
  return true;
}

/* Opens all parts, and assigns them to their ranks. If a part is unreadable, stores the reason in why[i], and the first such error in
 * *first, but continues, because another copy of the part may be readable. */
static bool find_each(struct concat *c, const char **why, struct tk_err *first) {
  for (size_t i = 0; i < c->n; i++) {
    struct part p;
    if (open_whole(c, &p, c->parts[i])) {
      const bool ok = take_name(c, c->parts[i], p.is);
      part_close(&p);
      if (!ok) return false;
      continue;
    }
    const bool skipped = c->opt->keep_going && c->err->code != TK_EINTERRUPTED && c->err->code != TK_ELIMIT;
    if (!skipped && !err_is_damage(c->err)) return false;
    why[i] = why_unusable(c, c->parts[i]);
    if (first->code == TK_OK) *first = *c->err;
    err_clear(c->err);
  }
  return true;
}

static bool find_parts(struct concat *c) {
  struct tk_err first = {0};
  const char **why = calloc(c->n + 1, sizeof *why);
  bool ok = why ? find_each(c, why, &first) : err_set(c->err, TK_ELIMIT, "out of memory");
  if (ok && first.code != TK_OK && !c->opt->keep_going && !has_all(c)) *c->err = first, ok = false;
  for (size_t i = 0; ok && i < c->n; i++)
    if (why[i]) diagnostics_say(c->report->notes, c->parts[i], TK_NOTE_INFO, why[i]);
  free(why);
  return ok;
}

/* Returns false with err if ranks are missing; the message names the first one and states whether there are more. */
static bool check_all(struct concat *c) {
  size_t missing = 0, first = 0;
  for (size_t i = 0; i < c->tasks.sources.n; i++) {
    struct tk_merge_rank *r = concat_rank_of(c, i);
    r->input = merger_text(&c->m, c->tasks.inputs[i].name);
    r->host = r->rank_from = "";
    r->rank = -1;
    r->skipped = c->tasks.plan->rank[i]->skipped;
    c->report->n_skipped += r->skipped;
    if (r->skipped || c->of[i]) continue;
    r->failed = "missing part";
    if (!missing++) first = i;
  }
  if (!missing || (c->opt->keep_going && missing < c->tasks.n_wanted)) return true;
  const char *also = missing == c->tasks.n_wanted ? ", as for all other ranks" : missing > 1 ? ", as for some other ranks" : "";
  const enum tk_option option = missing < c->tasks.n_wanted ? TK_OPTION_KEEP_GOING : TK_OPTION_NONE;
  return err_for(c->err, option, TK_EFORMAT, "%s: missing part%s", c->tasks.inputs[first].name, also);
}

/* ---- the output ---- */

/* Adds a meta. Its origin is stored in the report rather than in the trace, because copies of the meta in other traces point to the
 * same text. */
static void add_meta(struct concat *c, struct tk_trace *t, const Plan__Meta *m) {
  struct buf *raw = &t->store->raw;
  char origin[64];
  struct tk_meta meta = {.key = trace_string(t, (const char *)m->key.data, m->key.len), .at = raw->len, .size = m->text.len,
                         .after = m->after};
  size_t n = m->origin.len < sizeof origin - 1 ? m->origin.len : sizeof origin - 1;
  if (n) memcpy(origin, m->origin.data, n);
  origin[n] = 0;
  if (n) meta.origin = merger_text(&c->m, origin);
  buf_append(raw, m->text.data, m->text.len);
  trace_end_raw(t);
  *trace_add_meta(t) = meta;
}

/* Opens the output. Its head contains the top-level keys of the first rank, or none if the part of this rank is missing. */
static bool open_output(struct concat *c, const Plan__First *first) {
  struct tk_trace *t = trace_new(0);
  char format[64] = "";
  if (!t) return err_set(c->err, TK_ELIMIT, "out of memory");
  t->edits = TK_EDIT_RENAMED;
  for (size_t i = 0; first && i < first->n_meta; i++) add_meta(c, t, first->meta[i]);
  if (first) {
    t->edits = (uint8_t)first->edits;
    t->has_zero = first->has_zero;
    if (first->format.len && first->format.len < sizeof format) memcpy(format, first->format.data, first->format.len);
  }
  const struct format *row = format_by_name(format);
  if (row) t->format = row->info.name;
  bool ok = mem_check(&t->store->mem, c->err) && merge_open(&c->m, t);
  tk_free(t);
  return ok;
}

static const char *concat_text_of(struct concat *c, ProtobufCBinaryData text) {
  return diagnostics_bytes(c->report->notes, text.data, text.len);
}

static void tell_rank(struct concat *c, const Plan__Part *p) {
  struct tk_merge_rank *r = concat_rank_of(c, p->input);
  r->host = concat_text_of(c, p->host);
  r->rank_from = concat_text_of(c, p->rank_from);
  r->rank = p->number;
  r->read = p->read;
  r->events = p->events;
  r->flow_points = p->flow_points;
  r->bytes = p->size;
  r->processes = p->processes;
  r->hidden_processes = p->hidden;
  r->shift_ns = p->shift_ns;
  r->merged = p->merged;
}

static void count_saved(struct concat *c, const Plan__Part *p) {
  struct tk_saved *saved = &c->saver.sink->saved;
  saved->records += p->saved_records;
  saved->events += p->saved_events;
  saved->flow_points += p->saved_points;
  saved->rounded += p->saved_rounded;
  c->saver.derived += p->saved_derived;
  for (size_t i = 0; i < p->n_lost && i < TK_LOSSES; i++) saved->lost[i] += p->lost[i];
}

static bool take_gone(struct concat *c, const Plan__Part *p) {
  for (size_t i = 0; i < p->n_gone; i++) {
    const Plan__Gone *g = p->gone[i];
    const i128 total = (i128)((u128)g->total_high << 64 | g->total_ps);
    if (g->kind > TK_TRACK_ASYNCS) return err_set(c->err, TK_EFORMAT, "this part of a merge is damaged");
    if (!merge_gone_add(&c->m.gone, g->kind, (const char *)g->name.data, g->name.len, g->count, total))
      return mem_check(&c->m.mem, c->err);
  }
  return true;
}

static bool join_part(struct concat *c, struct part *p, uint32_t ordinal) {
  struct merger *m = &c->m;
  struct sink *sink = c->saver.sink;
  if (!m->opened && !open_output(c, ordinal == 0 ? p->is->first : NULL)) return false;
  sink->ordinal = ordinal;
  if (!save_take(&c->saver, p->is->raw_bytes, p->is->left.data, p->is->left.len, c->err)) return false;
  if (!part_copy(p, &c->saver.out, c->err) || !take_gone(c, p->is)) return false;
  if (m->blocks.len && p->is->block.len) buf_text(&m->blocks, ",\n");
  buf_append(&m->blocks, p->is->block.data, p->is->block.len);
  tell_rank(c, p->is);
  count_saved(c, p->is);
  m->n_merged++;
  m->n_events += p->is->kept_events;
  return mem_check(&m->mem, c->err);
}

static bool join_parts(struct concat *c) {
  uint32_t ordinal = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < c->tasks.sources.n; i++) {
    struct part p;
    if (c->tasks.plan->rank[i]->skipped) continue;
    if (c->of[i]) {
      progress_phase(&c->opt->save.progress, (struct tk_phase){"joining", c->of[i], i + 1, c->tasks.sources.n, false});
      ok = part_open(&p, c->of[i], &c->mem, c->err);
      if (!ok) return false;
      ok = join_part(c, &p, ordinal) || err_prefix(c->err, "%s", c->of[i]);
      part_close(&p);
    }
    ordinal++;
  }
  return ok;
}

/* Opens the output, which must not replace the plan or a part. */
static bool open_saver(struct concat *c, const char *plan, const char *path) {
  const char **inputs = calloc(c->n + 2, sizeof *inputs);
  struct tk_save_options *save = &c->merge.save;
  const struct tk_path asked = tk_path_of(path);
  if (!inputs) return err_set(c->err, TK_ELIMIT, "out of memory");
  inputs[0] = plan;
  for (size_t i = 0; i < c->n; i++) inputs[i + 1] = c->parts[i];
  save->force = c->opt->save.force;
  save->no_loss = c->opt->save.no_loss;
  save->progress = c->opt->save.progress;
  c->saver.joins = c->saver.several = true;
  if (!c->of[0] || c->tasks.plan->rank[0]->skipped) c->saver.starts = &c->tasks.starts;
  bool ok = save_open(&c->saver, path, save, NULL, inputs, c->err);
  free(inputs);
  if (ok && asked.format && asked.format != &c->saver.format->info)
    ok = err_set(c->err, TK_EUSAGE, "the plan was made for %s output; give the output an extension of that "
                                    "format", c->saver.format->info.title);
  c->output = (struct merge_output){.sink = c->saver.sink, .saver = &c->saver, .needs_start = true};
  return ok || err_prefix(c->err, "%s", path);
}

static bool concat(struct concat *c, const char *plan, const char *output) {
  if (!merge_report_init(c->report, 0, c->err) || !tasks_read(&c->tasks, plan, &c->mem, c->err)) return false;
  const size_t n = c->tasks.sources.n;
  if (!merge_report_ranks(c->report, n, c->err)) return false;
  c->of = calloc(n + 1, sizeof *c->of);
  if (!c->of) return err_set(c->err, TK_ELIMIT, "out of memory");
  c->merge = c->tasks.opt;
  c->m = (struct merger){.opt = &c->merge, .output = &c->output, .report = c->report};
  c->report->align.json = merger_text(&c->m, c->tasks.align);
  if (!tasks_begin(&c->m, &c->tasks, c->err) || !find_parts(c) || !check_all(c)) return false;
  if (!open_saver(c, plan, output)) return false;
  if (!join_parts(c) || !merge_close(&c->m)) return false;
  bool ok = save_finish(&c->saver, &c->report->saved, c->err) && merge_fits(&c->merge, c->report->saved.bytes, c->err);
  return (ok && save_commit(&c->saver, &c->report->saved, c->err)) || err_prefix(c->err, "%s", output);
}

bool tk_concat(const char *plan, const char *const *parts, const char *output, const struct tk_concat_options *opt,
               struct tk_merge_report **report, struct tk_err *err) {
  struct tk_concat_options options;
  struct tk_merge_report *unused = NULL;
  struct tk_err own;
  struct concat c = {.opt = &options, .parts = parts, .err = err ? err : &own};
  while (parts[c.n]) c.n++;
  err_clear(c.err);
  if (!report) report = &unused;
  if (!NEW_REPORT(report, c.err) || !TAKE_OPTIONS(&options, opt, c.err)) return merge_report_drop(unused);
  c.report = *report;
  c.mem.limit = os_memory_limit(c.opt->max_memory);
  bool ok = concat(&c, plan, output);
  merge_end(&c.m);
  save_close(&c.saver);
  tasks_free(&c.tasks);
  free(c.of);
  tk_merge_report_free(unused);
  return ok;
}
