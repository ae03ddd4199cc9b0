/* sources.c - turns names into inputs: names.c lists entries, their first bytes show which are traces, and the best view of
 * each session in the chosen run becomes an input.
 *
 * The content decides whether a file is a trace, not the name. A folder of traces may contain anything, so other files are left
 * out with a note. But a file with the name of a trace that is empty or damaged remains as an input that fails to load, so that
 * no rank is lost silently. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sources_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/options.h"
#include "base/os.h"
#include "base/text.h"
#include "format/format.h"
#include "graph/diagnostics.h"
#include "look.h"
#include "sources_rank.h"
#include "sources_beside.h"
#include "sources_join.h"
#include "sources_kept.h"
#include "sources_parts.h"
#include "sources_timed.h"
#include "sources_notes.h"

enum { NONE = -1, NAMED = 5 };

/* ---- inputs ---- */

/* Returns a placeholder input for an origin that could not be listed, or only in part. */
static struct tk_input failed_input(const struct source_origin *o) {
  return (struct tk_input){.name = o->name, .run = "", .step = "", .host = "", .rank = NONE, .size = UINT64_MAX, .best = true,
                           .run_id = UINT32_MAX, .health = TK_HEALTH_CORRUPT, .why = o->failed.msg};
}

static struct tk_input input_of(const struct source *s, uint32_t entry) {
  const struct source_entry *e = &s->entries[entry];
  const struct rundir_file *f = &s->places[entry];
  const struct rundir_run *run = &s->rundir.runs[f->run];
  return (struct tk_input){.name = e->name, .run = run->name, .step = run->step, .host = f->host, .size = e->size,
                           .rank = e->rank >= 0 ? e->rank : f->rank, .run_ns = run->time_ns, .run_id = f->run,
                           .format = e->format, .health = look_health(e), .why = e->why,
                           .best = f->best && e->look != LOOK_NO_TRACE};
}

/* Adds an entry of an origin as an input. `entry` is UINT32_MAX if the origin could not be read: the input then contains the error.
 * Returns NULL if memory runs out. */
static struct chosen *add_input(struct tk_sources *s, uint32_t origin, uint32_t entry) {
  struct tk_sources_impl *m = s->impl;
  const struct source *src = &m->source;
  struct mem *mem = &m->source.mem;
  if (!mem_grow(mem, (void **)&s->inputs, &m->cap_inputs, (uint64_t)m->n + 1, sizeof *s->inputs)) return NULL;
  if (!mem_grow(mem, (void **)&m->chosen, &m->cap_chosen, (uint64_t)m->n + 1, sizeof *m->chosen)) return NULL;
  const bool failed = entry == UINT32_MAX;
  struct chosen *c = &m->chosen[m->n];
  s->inputs[m->n] = failed ? failed_input(&src->origins[origin]) : input_of(src, entry);
  *c = (struct chosen){.entry = entry, .origin = origin,
                       .rank_from = !failed && src->places[entry].rank_beside ? "profiler_info" : NULL};
  s->n = ++m->n;
  return c;
}

static void add_failed(struct tk_sources *s, uint32_t origin, enum tk_code code, const char *text) {
  struct source_origin *o = &s->impl->source.origins[origin];
  err_set(&o->failed, code, "%s", text);
  add_input(s, origin, UINT32_MAX);
}

/* ---- selecting runs ---- */

/* Runs of one origin, newest first, with lists of their files. */
struct runs {
  uint32_t *order, *first, *next; /* order: runs; first[run - base]: first file; next[entry - first entry]: next file */
  uint32_t origin, base, n;
};

static int newest_first(const void *pa, const void *pb, void *runs) {
  const struct rundir_run *a = (const struct rundir_run *)runs + *(const uint32_t *)pa;
  const struct rundir_run *b = (const struct rundir_run *)runs + *(const uint32_t *)pb;
  if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? 1 : -1;
  int order = rundir_compare(b->step, a->step);
  return order ? order : rundir_compare(b->name, a->name);
}

static void runs_free(struct runs *r) {
  free(r->order);
  free(r->first);
  free(r->next);
}

static bool runs_of(const struct source *s, uint32_t origin, struct runs *r) {
  const struct source_origin *o = &s->origins[origin];
  uint32_t last = 0;
  *r = (struct runs){.origin = origin, .base = UINT32_MAX};
  for (uint32_t i = o->first; i < o->first + o->n; i++) {
    if (s->places[i].run < r->base) r->base = s->places[i].run;
    if (s->places[i].run > last) last = s->places[i].run;
  }
  r->n = o->n ? last - r->base + 1 : 0;
  r->order = calloc((size_t)r->n + 1, sizeof *r->order);
  r->first = calloc((size_t)r->n + 1, sizeof *r->first);
  r->next = calloc((size_t)o->n + 1, sizeof *r->next);
  if (!r->order || !r->first || !r->next) return false;
  for (uint32_t i = 0; i < r->n; i++) {
    r->order[i] = r->base + i;
    r->first[i] = UINT32_MAX;
  }
  for (uint32_t i = o->n; i-- > 0;) {
    uint32_t *first = &r->first[s->places[o->first + i].run - r->base];
    r->next[i] = *first;
    *first = o->first + i;
  }
  os_sort(r->order, r->n, sizeof *r->order, newest_first, s->rundir.runs);
  return true;
}

static bool run_is_wanted(const struct tk_source_options *opt, const struct rundir_run *run) {
  if (opt->step && strcmp(opt->step, run->step) != 0) return false;
  return !opt->run || text_begins(run->name, opt->run) || (run->last && text_begins(run->last, opt->run));
}

/* ---- selecting files of a run ---- */

static bool sources_is_wanted(const struct tk_sources_impl *m, uint32_t entry) {
  const struct rundir_file *f = &m->source.places[entry];
  int64_t rank = m->source.entries[entry].rank >= 0 ? m->source.entries[entry].rank : f->rank;
  const char *host = m->opt.host;
  if (host && !glob_matches(host, f->host) && !glob_matches(host, f->stem)) return false;
  return m->rank == NONE || m->rank == rank || (rank < 0 && !*f->host); /* the rank may become known when all names are compared */
}

/* True if the file's name implies a trace. */
static bool is_named_so(const struct source *s, uint32_t entry) {
  return s->places[entry].profiler || format_by_path(s->places[entry].rel) != NULL;
}

/* Files that were left out, for a note such as "3 files are not traces: README.txt, x.png, ...". */
struct passed {
  char names[256];
  uint32_t n;
};

static void pass_over(struct passed *p, const char *name) {
  size_t n = strlen(p->names);
  p->n++;
  if (p->n <= NAMED) snprintf(p->names + n, sizeof p->names - n, "%s%s", p->n > 1 ? ", " : "", name);
  else if (p->n == NAMED + 1) snprintf(p->names + n, sizeof p->names - n, ", ...");
}

/* Sets *found to the best view that is a trace, among `head` and the views that follow it. If there is none, sets *found to `head` if
 * its name implies a trace, otherwise to UINT32_MAX. */
static bool best_view(struct tk_sources *s, uint32_t head, uint32_t *found, struct tk_err *err) {
  struct source *src = &s->impl->source;
  *found = UINT32_MAX;
  for (uint32_t i = head; i != UINT32_MAX; i = src->places[i].next) {
    if (!source_look(src, i, err)) return false;
    if (look_may_be_trace(src, i)) {
      *found = i;
      return true;
    }
  }
  bool promised = src->places[head].profiler || (src->entries[head].look != LOOK_NO_TRACE && is_named_so(src, head));
  if (promised) *found = head;
  return true;
}

/* Adds the files of a run as inputs. */
static bool add_run(struct tk_sources *s, const struct runs *r, uint32_t run, struct passed *passed, struct tk_err *err) {
  struct source *src = &s->impl->source;
  uint32_t base = src->origins[r->origin].first, view;
  char text[512];
  for (uint32_t i = r->first[run - r->base]; i != UINT32_MAX; i = r->next[i - base]) {
    if (!src->places[i].best) continue;
    if (!best_view(s, i, &view, err)) return false;
    if (view == UINT32_MAX) {
      pass_over(passed, src->places[i].rel);
      continue;
    }
    if (!sources_is_wanted(s->impl, view)) continue;
    struct chosen *c = add_input(s, r->origin, view);
    if (!c) return false;
    s->inputs[s->n - 1].best = true;
    if (view == i) continue;
    snprintf(text, sizeof text, "%s is not usable (%s); reading this file instead", src->places[i].rel, src->entries[i].why);
    sources_note(s, c, true, text);
  }
  return true;
}

/* ---- one origin: a folder, an archive or a file that the user named ---- */

static void why_nothing(struct tk_sources *s, uint32_t origin, const struct passed *passed) {
  const struct tk_source_options *opt = &s->impl->opt;
  const bool named = opt->run || opt->step || opt->host || s->impl->rank != NONE;
  char text[512], rank[32] = "";
  if (s->impl->rank != NONE) snprintf(rank, sizeof rank, " rank %lld", (long long)s->impl->rank);
  if (named)
    snprintf(text, sizeof text, "contains nothing for%s%s%s%s%s%s%s", opt->run ? " run " : "",
             opt->run ? opt->run : "", opt->step ? " step " : "", opt->step ? opt->step : "", opt->host ? " host " : "",
             opt->host ? opt->host : "", rank);
  else
    snprintf(text, sizeof text, "contains no trace%s%s", passed->n ? ", but " : "", passed->names);
  add_failed(s, origin, TK_EFORMAT, text);
  s->impl->source.origins[origin].failed.option = named ? TK_OPTION_RUN : TK_OPTION_NONE;
}

static void note_names(struct tk_sources *s, size_t first, uint32_t origin) {
  const struct source *src = &s->impl->source;
  char text[256];
  for (size_t i = first + 1; i < s->n && src->origins[origin].kind == ORIGIN_ARCHIVE; i++) {
    if (strcmp(s->inputs[i].name, s->inputs[i - 1].name) != 0) continue;
    snprintf(text, sizeof text, "another member of the archive has the same name; both are read");
    sources_note(s, &s->impl->chosen[i], false, text);
  }
}

/* Returns the run of a chosen file; NULL if there is none. */
static const struct rundir_run *run_of(const struct tk_sources *s, const struct chosen *c) {
  const struct source *src = &s->impl->source;
  return c->entry == UINT32_MAX ? NULL : &src->rundir.runs[src->places[c->entry].run];
}

/* Attaches notes about an origin to its first input. */
static void note_origin(struct tk_sources *s, size_t first, uint32_t origin, const struct passed *passed, uint32_t n_runs) {
  const struct source_origin *o = &s->impl->source.origins[origin];
  struct chosen *c = &s->impl->chosen[first];
  char text[512];
  if (n_runs > 1) {
    snprintf(text, sizeof text, "reading the newest of %u runs, %s", n_runs, s->inputs[first].run);
    sources_note(s, c, false, text);
  }
  const struct rundir_run *run = run_of(s, c);
  if (run && run->last) {
    snprintf(text, sizeof text, "the folders %s to %s are read as one run: their names are seconds apart, and their hosts differ",
             run->name, run->last);
    sources_note(s, c, false, text);
  }
  if (o->remark) sources_note(s, c, false, o->remark);
  if (o->damage) sources_note(s, c, true, o->damage);
  if (passed->n) {
    const char *what = passed->n == 1 ? "file is not a trace" : "files are not traces";
    snprintf(text, sizeof text, "%u other %s: %s", passed->n, what, passed->names);
    sources_note(s, c, false, text);
  }
  note_names(s, first, origin);
}

static void note_passed_over(struct tk_sources *s, size_t first, uint32_t n) {
  char text[512];
  snprintf(text, sizeof text, "%u newer %s no complete trace; %s is the newest that does", n, n == 1 ? "run contains" : "runs contain",
           s->inputs[first].run);
  if (n) sources_note(s, &s->impl->chosen[first], false, text);
}

/* True if any file of the run has the name of a trace. Other folders do not count as runs that were left out. */
static bool is_run(const struct source *src, const struct runs *r, uint32_t run) {
  uint32_t base = src->origins[r->origin].first;
  for (uint32_t i = r->first[run - r->base]; i != UINT32_MAX; i = r->next[i - base])
    if (src->places[i].best && is_named_so(src, i)) return true;
  return false;
}

static bool any_trace(const struct tk_sources *s, size_t first) {
  for (size_t i = first; i < s->n; i++) {
    const uint32_t entry = s->impl->chosen[i].entry;
    if (entry != UINT32_MAX && look_may_be_trace(&s->impl->source, entry)) return true;
  }
  return false;
}

static bool any_cut(const struct source *src, uint32_t origin) {
  const struct source_origin *o = &src->origins[origin];
  for (uint32_t i = o->first; i < o->first + o->n; i++)
    if (src->entries[i].look == LOOK_CUT) return true;
  return false;
}

/* Sets *name to the newest run that contains a trace, among the runs from index n on; NULL if there is none. */
static bool find_sound_run(struct tk_sources *s, const struct runs *r, uint32_t n, const char **name, struct tk_err *err) {
  struct source *src = &s->impl->source;
  uint32_t base = src->origins[r->origin].first, view;
  for (*name = NULL; n < r->n; n++) {
    const struct rundir_run *run = &src->rundir.runs[r->order[n]];
    if (!run_is_wanted(&s->impl->opt, run)) continue;
    for (uint32_t i = r->first[r->order[n] - r->base]; i != UINT32_MAX; i = r->next[i - base]) {
      if (!src->places[i].best) continue;
      if (!best_view(s, i, &view, err)) return false;
      if (view != UINT32_MAX && look_may_be_trace(src, view)) {
        *name = run->name;
        return true;
      }
    }
  }
  return true;
}

/* Runs of an origin that were not read, and the files of the chosen run that are not traces. */
struct left_out {
  uint32_t n_runs, n_without; /* all; newer ones without a usable trace */
  struct passed files;
};

static bool choose_runs(struct tk_sources *s, const struct runs *r, struct left_out *left, struct tk_err *err) {
  struct tk_sources_impl *m = s->impl;
  const struct tk_source_options *opt = &m->opt;
  const size_t first = s->n;
  *left = (struct left_out){.n_runs = 0};
  for (uint32_t i = 0; i < r->n; i++) {
    const bool any = s->n > first;
    left->n_runs += any && is_run(&m->source, r, r->order[i]);
    if (!run_is_wanted(opt, &m->source.rundir.runs[r->order[i]]) || (any && !opt->all_runs)) continue;
    struct passed these = {.n = 0};
    if (!add_run(s, r, r->order[i], &these, err)) return false;
    if (any) continue;
    if (opt->latest_good && !any_trace(s, first)) {
      left->n_without += s->n > first;
      s->n = m->n = (uint32_t)first;
      continue;
    }
    left->files = these;
    if (s->n == first || any_trace(s, first)) continue;
    if (!find_sound_run(s, r, i + 1, &m->chosen[first].sound_run, err)) return false;
    for (size_t k = first; k < s->n; k++) m->chosen[k].sound_run = m->chosen[first].sound_run;
  }
  return true;
}

/* Repeats the choice, but accepts files that end early. Called if there is no complete trace. */
static bool choose_cut_runs(struct tk_sources *s, const struct runs *r, struct left_out *left, struct tk_err *err) {
  struct source *src = &s->impl->source;
  const size_t first = s->n;
  src->complete_only = false;
  const bool ok = choose_runs(s, r, left, err);
  src->complete_only = true;
  if (ok && s->n > first) sources_note(s, &s->impl->chosen[first], true, "no run has a complete trace");
  return ok;
}

static bool add_best(struct tk_sources *s, const struct runs *r, struct tk_err *err) {
  struct tk_sources_impl *m = s->impl;
  const struct tk_source_options *opt = &m->opt;
  struct left_out left;
  size_t first = s->n;
  if (!choose_runs(s, r, &left, err)) return false;
  if (s->n == first && any_cut(&m->source, r->origin) && !choose_cut_runs(s, r, &left, err)) return false;
  if (s->n == first) {
    why_nothing(s, r->origin, &left.files);
    return true;
  }
  sources_timed_keep(s, first);
  bool chose = !opt->all_runs && !opt->run && !opt->step && m->source.origins[r->origin].kind != ORIGIN_FILE;
  note_origin(s, first, r->origin, &left.files, chose && !left.n_without ? left.n_runs + 1 : 1);
  note_passed_over(s, first, left.n_without);
  return true;
}

static int hosts_in_order(const void *pa, const void *pb, void *places) {
  const struct rundir_file *a = (const struct rundir_file *)places + *(const uint32_t *)pa;
  const struct rundir_file *b = (const struct rundir_file *)places + *(const uint32_t *)pb;
  int order = (a->view == VIEW_PERFETTO_JSON) - (b->view == VIEW_PERFETTO_JSON); /* a view that belongs to no host comes last */
  if (!order) order = rundir_compare(a->stem, b->stem);
  if (!order) order = a->view != b->view ? (int)a->view - (int)b->view : a->packed - b->packed;
  return order ? order : (a > b) - (a < b);
}

static bool add_all_of(struct tk_sources *s, uint32_t origin, const uint32_t *files, uint32_t n, struct tk_err *err) {
  struct source *src = &s->impl->source;
  for (uint32_t i = 0; i < n; i++) {
    if (!source_look(src, files[i], err)) return false;
    if (!look_may_be_trace(src, files[i]) && !is_named_so(src, files[i])) src->entries[files[i]].look = LOOK_NO_TRACE;
    if (sources_is_wanted(s->impl, files[i]) && !add_input(s, origin, files[i])) return false;
  }
  return true;
}

/* Adds all files, for a listing: the newest run first, and the best view of each host first. */
static bool add_all(struct tk_sources *s, const struct runs *r, struct tk_err *err) {
  struct source *src = &s->impl->source;
  uint32_t base = src->origins[r->origin].first, n, *files = calloc((size_t)src->origins[r->origin].n + 1, sizeof *files);
  bool ok = files || err_set(err, TK_ELIMIT, "out of memory");
  for (uint32_t i = 0; ok && i < r->n; i++) {
    if (!run_is_wanted(&s->impl->opt, &src->rundir.runs[r->order[i]])) continue;
    n = 0;
    for (uint32_t k = r->first[r->order[i] - r->base]; k != UINT32_MAX; k = r->next[k - base]) files[n++] = k;
    os_sort(files, n, sizeof *files, hosts_in_order, src->places);
    ok = add_all_of(s, r->origin, files, n, err);
  }
  free(files);
  return ok;
}

static bool add_origin(struct tk_sources *s, uint32_t origin, struct tk_err *err) {
  struct source *src = &s->impl->source;
  struct source_origin *o = &src->origins[origin];
  struct runs r;
  bool ok, partly = o->failed.code != TK_OK; /* true if the origin could not be listed completely */
  if (partly && o->n == 0) return add_input(s, origin, UINT32_MAX) != NULL;
  if (o->kind == ORIGIN_FILE && !s->impl->opt.all_files) return add_input(s, origin, o->first) != NULL;
  ok = runs_of(src, origin, &r) || err_set(err, TK_ELIMIT, "out of memory");
  ok = ok && (s->impl->opt.all_files ? add_all : add_best)(s, &r, err);
  runs_free(&r);
  if (ok && partly) ok = add_input(s, origin, UINT32_MAX) != NULL;
  return ok;
}

/* ---- ranks ---- */

static bool is_of_other_rank(const struct tk_sources *s, size_t i) {
  const struct tk_sources_impl *m = s->impl;
  const bool named = m->source.origins[m->chosen[i].origin].kind == ORIGIN_FILE && !m->chosen[i].parts;
  return m->rank != NONE && !named && m->chosen[i].entry != UINT32_MAX && s->inputs[i].rank != m->rank;
}

/* Moves the notes about an origin from a dropped input to the next input of the origin. */
static void pass_notes(struct chosen *from, struct chosen *to) {
  if (from->origin != to->origin || to->n_notes) return;
  memcpy(to->note, from->note, sizeof to->note);
  to->n_notes = from->n_notes;
}

/* Drops the inputs whose rank is not the requested one or is still unknown, now that all names have been compared. Files that the
 * user named are kept, unless they were split by rank. */
static bool drop_unwanted(struct tk_sources *s, struct tk_err *err) {
  struct tk_sources_impl *m = s->impl;
  const struct passed none = {.n = 0};
  uint8_t *left = calloc((size_t)m->source.n_origins + 1, 1); /* by origin: 1 = has inputs, 2 = had inputs */
  size_t n = 0;
  if (!left) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < s->n; i++) {
    left[m->chosen[i].origin] |= 2;
    if (is_of_other_rank(s, i)) {
      if (i + 1 < s->n) pass_notes(&m->chosen[i], &m->chosen[i + 1]);
      continue;
    }
    left[m->chosen[i].origin] |= 1;
    s->inputs[n] = s->inputs[i];
    m->chosen[n++] = m->chosen[i];
  }
  s->n = m->n = (uint32_t)n;
  for (uint32_t i = 0; i < m->source.n_origins; i++)
    if (left[i] == 2) why_nothing(s, i, &none);
  free(left);
  return true;
}

/* ---- the interface ---- */

struct tk_source_options sources_options(const struct tk_load_options *opt) {
  return (struct tk_source_options){.max_memory = opt->max_memory, .max_size = opt->max_size, .progress = opt->progress};
}

struct tk_source_options sources_chosen(const struct tk_source_options *choice, const struct tk_load_options *opt) {
  struct tk_source_options options = choice ? *choice : (struct tk_source_options){0};
  options.max_memory = opt->max_memory;
  options.max_size = opt->max_size;
  options.progress = opt->progress;
  return options;
}

static bool take_rank(struct tk_sources_impl *m, struct tk_err *err) {
  m->rank = m->opt.rank ? *m->opt.rank : NONE;
  return !m->opt.rank || m->rank >= 0 || err_set(err, TK_EUSAGE, "invalid rank %lld; ranks count from 0", (long long)m->rank);
}

static bool open_all(struct tk_sources *s, const char *const *names, size_t n, struct tk_err *err) {
  struct source *src = &s->impl->source;
  bool ok = take_rank(s->impl, err);
  for (size_t i = 0; ok && i < n; i++) ok = source_add(src, names[i], err);
  for (uint32_t i = 0; ok && i < src->n_origins; i++) ok = add_origin(s, i, err);
  look_take_cut(src);
  ok = ok && sources_join(s, err) && sources_find_ranks(s, err);
  if (s->impl->opt.by_rank || s->impl->opt.rank) ok = ok && sources_split(s, err);
  else if (s->n == 1) ok = ok && sources_find_within(s, err);
  if (s->impl->opt.join) ok = ok && sources_join_recordings(s, err);
  ok = ok && drop_unwanted(s, err);
  return mem_check(&src->mem, err) && ok;
}

struct tk_sources *tk_sources_open(const char *const *names, size_t n, const struct tk_source_options *opt, struct tk_err *err) {
  static const struct tk_source_options defaults = {0};
  struct tk_sources *s = calloc(1, sizeof *s);
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (opt && !RESERVED(opt, err)) {
    free(s);
    return NULL;
  }
  if (s) s->impl = calloc(1, sizeof *s->impl);
  if (!s || !s->impl) {
    free(s);
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  s->impl->opt = opt ? *opt : defaults;
  struct source *src = &s->impl->source;
  source_init(src);
  src->mem.limit = src->held.limit = os_memory_limit(s->impl->opt.max_memory);
  src->max_size = s->impl->opt.max_size;
  src->fetch = s->impl->opt.fetch, src->progress = s->impl->opt.progress;
  src->complete_only = s->impl->opt.latest_good;
  src->look = look_at_beginning;
  if (open_all(s, names, n, err)) {
    src->progress = (struct tk_progress){.tick = NULL};
    return s;
  }
  if (err->code == TK_OK) err_set(err, TK_ELIMIT, "out of memory");
  tk_sources_close(s);
  return NULL;
}

void tk_sources_close(struct tk_sources *s) {
  if (!s) return;
  sources_kept_free(s);
  struct mem *mem = &s->impl->source.mem;
  mem_free(mem, s->inputs);
  mem_free(mem, s->impl->chosen);
  source_free(&s->impl->source);
  free(s->impl);
  free(s);
}

size_t sources_operand(const struct tk_sources *s, size_t i) {
  return s->impl->source.origins[s->impl->chosen[i].origin].operand;
}

bool sources_arrange(struct tk_sources *s, size_t first, size_t n, const uint32_t *places) {
  struct tk_input *inputs = calloc(n + 1, sizeof *inputs);
  struct chosen *chosen = calloc(n + 1, sizeof *chosen);
  bool ok = inputs && chosen;
  sources_kept_free(s);
  for (size_t i = 0; ok && i < n; i++) {
    inputs[places[i]] = s->inputs[first + i];
    chosen[places[i]] = s->impl->chosen[first + i];
  }
  if (ok && n) {
    memcpy(s->inputs + first, inputs, n * sizeof *inputs);
    memcpy(s->impl->chosen + first, chosen, n * sizeof *chosen);
  }
  free(inputs);
  free(chosen);
  return ok;
}
