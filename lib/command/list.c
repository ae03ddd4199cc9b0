/* list.c - implements tk_list: lists the inputs. Most columns need only the beginning of each file. With `deep`, all files are read
 * completely, one at a time, to find out how much of damaged files can be recovered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/diagnostics.h"
#include "base/options.h"
#include "source/identity.h"
#include "source/sources.h"

static const char *keep_text(struct tk_list_report *r, const char *text) {
  return diagnostics_text(r->notes, text);
}

/* Returns the text of the last repair note (the damage to the input), followed by the text of the first note (the effect on the
 * trace); NULL if there were no repairs. */
static const char *repairs_of(struct tk_list_report *r, const struct tk_trace *t) {
  const char *first = NULL, *last = NULL;
  char text[512];
  for (tk_id i = 1; i <= t->n_notes; i++) {
    if (t->notes[i].kind != TK_NOTE_REPAIR) continue;
    last = tk_string(t, t->notes[i].text, NULL);
    if (!first) first = last;
  }
  if (!first) return NULL;
  snprintf(text, sizeof text, "%s%s%s", last, last == first ? "" : "; ", last == first ? "" : first);
  return keep_text(r, text);
}

static enum tk_health health_of(const struct tk_trace *t, bool repaired) {
  if (t->damaged) return TK_HEALTH_CORRUPT;
  if (t->truncated) return TK_HEALTH_TRUNCATED;
  if (t->n_events == 0) return TK_HEALTH_EMPTY;
  if (repaired) return TK_HEALTH_REPAIRED;
  return t->capped ? TK_HEALTH_CAPPED : TK_HEALTH_OK;
}

/* Returns the absolute time of the first event; NULL if the clock of the trace is not real time. */
static const char *start_of(struct tk_list_report *r, const struct tk_listed *f) {
  char text[64];
  if (f->clock != TK_CLOCK_REALTIME) return NULL;
  tk_print_absolute(f->origin_ns, f->start, text);
  return keep_text(r, text);
}

static bool fill_listed(struct tk_list_report *r, struct tk_listed *f, struct tk_trace *t, struct tk_err *err) {
  struct identity id = identity_of(t);
  struct tk_summary sum;
  char ranks[1024];
  if (!tk_summarise(t, &sum, err)) return false;
  const bool is_known = tk_print_origins(t, ranks, sizeof ranks, NULL, 0);
  f->deep = true;
  f->events = t->n_events;
  f->bytes = t->counts.bytes;
  f->start = sum.start;
  f->end = sum.end;
  f->origin_ns = t->origin_ns;
  f->clock = t->clock;
  if (t->n_events) f->start_time = start_of(r, f);
  f->input.format = keep_text(r, t->format);
  f->input.rank = id.rank;
  f->ranks = is_known && *ranks ? keep_text(r, ranks) : NULL;
  if (*id.host) f->input.host = keep_text(r, id.host);
  f->input.why = repairs_of(r, t);
  f->input.health = health_of(t, f->input.why != NULL);
  return true;
}

/* Records why nothing can be read from the file. Returns false if the user interrupted. */
static bool tell_failure(struct tk_list_report *r, struct tk_listed *f, struct tk_err *err) {
  if (err->code == TK_EINTERRUPTED) return false;
  const bool unread = err->code == TK_ELIMIT || err->code == TK_EREAD || err->code == TK_EOPEN;
  f->input.health = err->code == TK_EFORMAT ? TK_HEALTH_NO_TRACE : unread ? TK_HEALTH_UNKNOWN : TK_HEALTH_CORRUPT;
  size_t n = strlen(f->input.name);
  bool prefixed = strncmp(err->msg, f->input.name, n) == 0 && strncmp(err->msg + n, ": ", 2) == 0;
  f->input.why = keep_text(r, err->msg + (prefixed ? n + 2 : 0));
  err_clear(err);
  return true;
}

static bool read_one(struct tk_list_report *r, size_t i, const struct tk_list_options *opt, struct tk_err *err) {
  struct tk_listed *f = &r->files[i];
  struct tk_trace *t;
  if (f->input.health != TK_HEALTH_UNKNOWN) return true;
  t = tk_sources_load(r->sources, i, &opt->load, err);
  if (!t) return tell_failure(r, f, err);
  bool ok = fill_listed(r, f, t, err);
  tk_free(t);
  return ok;
}

static bool list_all(struct tk_list_report *r, const char *const *names, size_t n, const struct tk_list_options *opt,
                     struct tk_err *err) {
  r->sources = tk_sources_open(names, n, &opt->source, err);
  if (!r->sources) return false;
  r->notes = diagnostics_new();
  r->n = r->sources->n;
  r->files = calloc(r->n + 1, sizeof *r->files);
  if (!r->notes || !r->files) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < r->n; i++) {
    r->files[i].input = r->sources->inputs[i];
    r->files[i].ranks = sources_ranks(r->sources, i);
  }
  sources_remarks(r->sources, r->notes);
  for (size_t i = 0; opt->deep && i < r->n; i++)
    if (!read_one(r, i, opt, err)) return false;
  return diagnostics_check(r->notes, err);
}

bool tk_list(const char *const *names, size_t n, const struct tk_list_options *opt, struct tk_list_report **report,
             struct tk_err *err) {
  struct tk_list_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  options.source.by_rank = true;
  options.load.with |= TK_WITH_NEXT_RANKS;
  return list_all(*report, names, n, &options, err);
}

void tk_list_report_free(struct tk_list_report *report) {
  if (!report) return;
  tk_sources_close(report->sources);
  tk_diagnostics_free(report->notes);
  free(report->files);
  free(report);
}
