/* share_rank.c - shrinks a rank to its share (share.h).
 *
 * The size of a rank is measured by writing it as a part (cluster/part.h) together with its block. The result is therefore the same
 * whether the rank is shrunk on its own machine or during a full merge. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "block.h"
#include "share.h"
#include "gone.h"
#include "load/save.h"
#include "shrink/shrink.h"
#include "format/json_put.h"

struct weighing {
  struct merger *m;
  size_t input;
  const struct merge_place_of *of;
  const struct merge_pid *was;
  const struct saver *like; /* saver of the actual output, whose options the measurement uses */
  uint64_t share, events;
  i128 total; /* sum of the original durations of dropped events, ps */
};

/* ---- weighing ---- */

/* Writes everything that the rank adds to the output besides its part: its block and, for the first rank, top-level keys at the
 * beginning and end of the output. */
static void put_beside(struct weighing *w, const struct tk_trace *t, const char *account, struct out *to) {
  struct merger *m = w->m;
  struct buf b = {.mem = &m->mem};
  const struct merge_block block = {.rank = &m->report->ranks[w->input], .trace = t, .was = w->was, .first = m->n_merged == 0,
                                    .nameless = m->opt->redact != NULL, .account = account};
  merge_block_print(&b, &block);
  for (tk_id i = 1; m->n_merged == 0 && i <= t->n_metas; i++) buf_append(&b, trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
  if (b.data) out_write(to, b.data, b.len);
  buf_free(&b);
}

static bool write_part(struct weighing *w, struct saver *s, const struct tk_trace *t, struct tk_err *err) {
  struct merger *m = w->m;
  struct sink *sink = s->sink;
  sink->graphs = (uint32_t)m->n_inputs;
  sink->ordinal = (uint32_t)m->n_merged;
  sink->first_row = w->of->first_row;
  sink->rows = w->of->rows;
  out_mute(&s->out, true);
  const bool ok = sink->open(sink, m->first_trace, err);
  out_mute(&s->out, false);
  return ok && sink->write(sink, t, err);
}

static bool weigh(void *arg, const struct tk_trace *t, const char *account, uint64_t *weight, struct tk_err *err) {
  struct weighing *w = arg;
  struct merger *m = w->m;
  struct tk_save_options save = m->opt->save;
  struct buf left = {.mem = &m->mem};
  struct saver s = {.part = true, .several = true, .starts = m->n_merged ? &m->alignment.starts : NULL};
  char word[64];
  snprintf(word, sizeof word, "%s%s", w->like->format->info.name, m->packed ? ".gz" : "");
  save.format = word;
  save.dry_run = save.force = true;
  save.no_loss = false;
  save.threads = 1;
  save.progress = (struct tk_progress){.phase = NULL};
  bool ok = save_open(&s, "-", &save, NULL, NULL, err) && write_part(w, &s, t, err);
  if (ok) {
    save_leave(&s, &left);
    put_beside(w, t, account, &s.out);
    out_break(&s.out);
    *weight = out_file_bytes(&s.out) + left.len;
  }
  ok = ok && mem_check(&s.mem, err) && mem_check(&m->mem, err);
  buf_free(&left);
  save_close(&s);
  return ok;
}

/* ---- the account ---- */

static bool any_gone(const struct shrunk *gone) {
  for (int r = 0; r < RUNGS; r++)
    if (gone->rungs[r].events || gone->rungs[r].args) return true;
  return false;
}

static const char *print_account(void *arg, struct buf *b, const struct shrunk *gone) {
  const struct weighing *w = arg;
  uint64_t count = 0, args = 0;
  i128 total = 0;
  if (!any_gone(gone)) return buf_append(b, "", 1) ? (const char *)b->data : NULL;
  for (uint32_t i = 1; i <= gone->n_gone; i++) count += gone->gone[i].count, total += gone->gone[i].total;
  for (int r = 0; r < RUNGS; r++) args += gone->rungs[r].args;
  json_put_uint(b, ",\"shrink\":{\"share\":", w->share);
  json_put_uint(b, ",\"events\":", w->events);
  json_put_us(b, ",\"total_us\":", w->total);
  json_put_uint(b, ",\"dropped\":", count);
  json_put_us(b, ",\"dropped_us\":", total);
  json_put_uint(b, ",\"coalesced\":", gone->coalesced);
  json_put_uint(b, ",\"args\":", args);
  buf_text(b, "}");
  return buf_append(b, "", 1) ? (const char *)b->data : NULL;
}

static bool add_rows(struct merger *m, const struct tk_trace *t, const struct shrunk *gone) {
  for (uint32_t i = 1; i <= gone->n_gone; i++) {
    const struct gone *g = &gone->gone[i];
    size_t n;
    const char *name = tk_string(t, g->name, &n);
    if (!merge_gone_add(&m->gone, g->kind, name, n, g->count, g->total)) return mem_refuse(&m->mem, m->err);
  }
  return true;
}

bool merge_share_take(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, const struct merge_pid *was,
                      struct buf *account) {
  struct weighing w = {.m = m, .input = input, .of = of, .was = was, .like = m->output->saver, .events = t->n_events};
  const struct shrink_scale scale = {weigh, print_account, &w};
  struct shrunk gone;
  if (!m->shares.of || !m->shares.of[input]) return true;
  w.share = m->shares.of[input];
  for (tk_id i = 1; i <= t->n_events; i++) w.total += t->events[i].dur;
  const struct tk_shrink_options opt = {.save = m->opt->save, .bytes = w.share, .hard = true};
  if (!shrink_to_fit(t, &scale, &opt, &gone, m->err)) return err_prefix(m->err, "%s", t->source);
  bool ok = print_account(&w, account, &gone) && add_rows(m, t, &gone);
  shrink_account_free(&gone);
  return ok || mem_refuse(&m->mem, m->err);
}
