/* load.c - implements tk_load: open the source, detect the format, read, seal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/os.h"
#include "format/format.h"
#include "graph/seal.h"
#include "graph/step_names.h"
#include "io/in.h"
#include "load.h"
#include "part.h"
#include "recordings.h"
#include "source/identity_pids.h"
#include "source/merged.h"
#include "source/shrunk.h"
#include "source/sources.h"
#include "source/sources_beside.h"
#include "source/sources_kept.h"
#include "source/sources_notes.h"
#include "source/sources_parts.h"

/* Turns repairs made by the input layer into notes of the trace. */
static void keep_input_notes(struct tk_trace *t, const struct in *in) {
  const struct in_note *notes;
  size_t n = in_notes(in, &notes);
  t->damaged = in_is_damaged(in);
  for (size_t i = 0; i < n; i++)
    trace_note(t, notes[i].repair ? TK_NOTE_REPAIR : TK_NOTE_INFO, notes[i].offset, notes[i].text);
}

static bool refuse_repair(const struct tk_trace *t, const struct tk_note *note, struct tk_err *err) {
  err_for(err, TK_OPTION_STRICT, TK_ECORRUPT, "needs a repair: %s", tk_string(t, note->text, NULL));
  if (err->option == TK_OPTION_STRICT) err->offset = note->offset;
  return false;
}

static bool refuse_repairs(const struct tk_trace *t, struct tk_err *err) {
  for (tk_id i = 1; i <= t->n_notes; i++)
    if (t->notes[i].kind == TK_NOTE_REPAIR)
      return refuse_repair(t, &t->notes[i], err);
  return true;
}

/* Returns false with err if no event could be recovered from a damaged input, because an empty trace would be misleading. */
static bool refuse_nothing(const struct tk_trace *t, struct tk_err *err) {
  if (t->counts.dropped == 0 || t->n_events || t->n_flow_points || t->store->left_points || t->n_records) return true;
  for (tk_id i = 1; i <= t->n_notes; i++)
    if (t->notes[i].kind == TK_NOTE_REPAIR)
      return err_at(err, TK_ECORRUPT, t->notes[i].offset, "no event could be read: %s", tk_string(t, t->notes[i].text, NULL));
  return true;
}

static const struct format *choose_format(struct in *in, const struct tk_trace *t, const char *likely,
                                          const struct tk_load_options *opt, struct tk_err *err) {
  const struct format *f;
  if (!opt->format) return format_detect(in, t->source, likely ? format_by_name(likely) : NULL, err);
  f = format_by_name(opt->format);
  if (!f) err_set(err, TK_EUSAGE, "unknown format '%s'", opt->format);
  return f;
}

static bool read_input(struct in *in, struct tk_trace *t, const char *likely, const struct tk_load_options *opt,
                       struct tk_err *err) {
  const struct format *f = choose_format(in, t, likely, opt, err);
  if (!f) return false;
  t->format = f->info.name;
  if (t->store->early.format && strcmp(t->store->early.format, t->format) != 0) t->store->early.asked = false;
  if (!format_read(f, in, t, opt, err)) return false;
  keep_input_notes(t, in);
  merged_part_flows(t);
  if (!seal(t, os_threads(opt->threads), err)) return false;
  format_adopt(t);
  identity_renew_pids(t);
  shrunk_note(t);
  if (!mem_check(&t->store->mem, err)) return false;
  if (opt->check && !tk_check(t, err)) return false;
  return refuse_nothing(t, err) && (!opt->strict || refuse_repairs(t, err));
}

static const char *copy_text(struct tk_trace *t, const char *text) {
  size_t n = strlen(text) + 1;
  char *p = arena_bytes(&t->store->strings.arena, n);
  return p ? memcpy(p, text, n) : "";
}

struct tk_trace *load_input(struct in *in, const char *source, const char *likely, const struct tk_load_options *opt,
                            struct tk_trace *t, struct tk_err *err) {
  size_t n = strlen(source) + 1;
  bool ok;
  t->store->source = malloc(n);
  if (t->store->source) memcpy(t->store->source, source, n);
  else t->store->mem.failed = true;
  t->source = t->store->source ? t->store->source : "";
  ok = in && read_input(in, t, likely, opt, err);
  if (in) in_close(in);
  if (ok) return t;
  mem_refuse(&t->store->mem, err);
  err_prefix(err, "%s", strcmp(source, "-") == 0 ? "standard input" : source);
  tk_free(t);
  return NULL;
}

void load_files(struct tk_trace *t, const char *const *paths, size_t n) {
  const char **files = arena_alloc(&t->store->strings.arena, (n + 1) * sizeof *files);
  if (!files) return;
  for (size_t i = 0; i < n; i++) files[i] = copy_text(t, paths[i]);
  files[n] = NULL;
  t->files = files;
}

void load_limit(struct tk_trace *t, const struct tk_load_options *opt) {
  struct mem *mem = &t->store->mem;
  mem->limit = mem->whole = os_memory_limit(opt->max_memory);
  mem->process = (opt->with & TK_WITH_PROCESS_LIMIT) != 0;
}

bool load_take(struct tk_load_options *opt, struct tk_err *err) {
  return settings_load(opt, err) && (!opt->step_name || step_names_check(opt->step_name, err));
}

bool tk_load_check(const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_load_options options = opt ? *opt : (struct tk_load_options){0};
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (options.format && !format_by_name(options.format)) return err_set(err, TK_EUSAGE, "unknown format '%s'", options.format);
  return load_take(&options, err);
}

void load_configure(struct tk_trace *t, const struct tk_load_options *opt) {
  load_limit(t, opt);
  t->store->without = opt->without;
  if (opt->step_name) t->store->step_name = copy_text(t, opt->step_name);
}

/* Records the path of the input, and of the files that continue it. */
static void name_files(struct tk_trace *t, const struct tk_sources *s, size_t i) {
  size_t n = 0;
  while (sources_piece(s, i, n)) n++;
  const char **paths = calloc(n + 1, sizeof *paths);
  if (!paths) t->store->mem.failed = true;
  for (size_t k = 0; paths && k < n; k++) paths[k] = sources_piece(s, i, k);
  if (paths) load_files(t, paths, n);
  free(paths);
}

/* An input that is being loaded, and the ranks of its file that are loaded with it. */
struct loading {
  struct tk_sources *sources;
  size_t input;
  const struct load_ranks *ranks;
  tk_id n_decisions; /* number of notes that the trace had before it was read */
};

/* Stores in the trace the rank that was found outside of its file. */
static void name_rank(struct tk_trace *t, const struct source_view *v) {
  t->store->rank = v->rank;
  t->store->rank_from = v->rank_from;
  t->store->rank_note = v->rank_note ? copy_text(t, v->rank_note) : NULL;
}

/* Removes the first n notes of a copied trace, because they are about the input of the original. */
static void drop_decisions(struct tk_trace *t, tk_id n) {
  memmove(t->notes + 1, t->notes + 1 + n, (t->n_notes - n) * sizeof *t->notes);
  t->n_notes -= n;
}

/* Copies the next ranks of the file from `t`, which contains the whole file. A copy needs no more memory than `t`. */
static void take_ranks(const struct loading *l, struct tk_trace *t) {
  uint64_t room = l->ranks->room;
  struct source_view v;
  struct tk_err err = {.offset = UINT64_MAX};
  for (size_t k = 0; k < l->ranks->n && t->store->mem.used <= room; k++) {
    if (!sources_view(l->sources, l->input + 1 + k, 0, &v)) return;
    struct tk_trace *rank = load_part_copy(t, v.parts, v.part, &err);
    if (!rank) return;
    drop_decisions(rank, l->n_decisions);
    name_rank(rank, &v);
    sources_decisions(l->sources, l->input + 1 + k, rank);
    room -= rank->store->mem.used;
    l->ranks->v[k] = rank;
  }
}

/* Reads a file. If the file contains several ranks, the trace contains all of them. */
static struct tk_trace *read_view(struct loading *l, const struct source_view *v, const char *instead,
                                  const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_trace *t = trace_new(os_memory_limit(opt->max_memory));
  bool ahead = os_threads(opt->threads) > 1;
  if (!t) {
    err_set(err, TK_ELIMIT, "%s: out of memory", v->name);
    return NULL;
  }
  load_configure(t, opt);
  t->store->early = sources_cut(l->sources);
  t->host = copy_text(t, v->host);
  t->run = copy_text(t, v->run);
  name_rank(t, v);
  name_files(t, l->sources, l->input);
  sources_decisions(l->sources, l->input, t);
  if (instead) trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, instead);
  l->n_decisions = t->n_notes;
  return load_input(sources_open_view(l->sources, v, ahead, &t->store->mem, err), v->name, v->format, opt, t, err);
}

static struct tk_trace *load_view(struct loading *l, const struct source_view *v, const char *instead,
                                  const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_trace *t = read_view(l, v, instead, opt, err);
  if (t && v->within) load_ranks_within(t, v->within);
  if (!t || !v->parts) return t;
  if (l->ranks) take_ranks(l, t);
  if (load_part(t, v->parts, v->part, err)) return t;
  err_prefix(err, "%s", v->name);
  tk_free(t);
  return NULL;
}

/* Reads the other recordings of the rank, and joins each with the trace. Frees the trace and returns NULL on failure. */
static struct tk_trace *add_recordings(struct tk_sources *s, size_t i, struct tk_trace *t, const struct tk_load_options *opt,
                                       struct tk_err *err) {
  struct loading l = {.sources = s, .input = i};
  struct source_view v;
  struct tk_load_options options = *opt;
  const uint64_t limit = os_memory_limit(opt->max_memory);
  for (size_t nth = 0; t && sources_recording(s, i, nth, &v); nth++) {
    if (limit) options.max_memory = t->store->mem.used < limit ? limit - t->store->mem.used : 1;
    struct tk_trace *other = load_view(&l, &v, NULL, &options, err);
    if (other && recordings_join(t, other, sources_align(s), err)) {
      tk_free(other);
      continue;
    }
    if (other) err_prefix(err, "%s", v.name);
    tk_free(other);
    tk_free(t);
    return NULL;
  }
  if (t && opt->check && !tk_check(t, err)) {
    tk_free(t);
    return NULL;
  }
  return t;
}

/* If the best of the files that show the input's session is damaged beyond repair, reads the next best file and adds a note. */
struct tk_trace *load_ranks(struct tk_sources *s, size_t i, const struct load_ranks *ranks, const struct tk_load_options *opt,
                            struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct loading l = {.sources = s, .input = i, .ranks = ranks};
  struct source_view view;
  struct tk_err own;
  struct tk_trace *t = NULL;
  char instead[sizeof own.msg + 64];
  if (!err) err = &own;
  err_clear(err);
  if (sources_failed(s, i, err)) return NULL;
  struct tk_load_options options = opt ? *opt : defaults;
  if (!load_take(&options, err)) return NULL;
  opt = &options;
  for (unsigned nth = 0; !t && sources_view(s, i, nth, &view); nth++) {
    if (nth && (opt->strict || !err_is_damage(err))) break;
    if (nth) snprintf(instead, sizeof instead, "%s; reading this file instead", err->msg);
    err_clear(err);
    t = load_view(&l, &view, nth ? instead : NULL, opt, err);
  }
  if (!t) sources_suggest(s, i, err);
  return t ? add_recordings(s, i, t, opt, err) : NULL;
}

/* Returns the number of inputs after i that are ranks of the same file and are not kept yet. */
static size_t count_next(struct tk_sources *s, size_t i) {
  const size_t most = sources_ranks_from(s, i);
  struct tk_trace **kept = most > 1 ? sources_kept(s) : NULL;
  size_t n = 1;
  while (kept && n < most && !kept[i + n]) n++;
  return n - 1;
}

/* Returns the trace that an earlier call kept for this input. If there is none, loads the input, and also loads and keeps the next
 * ranks of its file. Kept traces count as used memory. */
static struct tk_trace *load_in_order(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err) {
  const uint64_t limit = os_memory_limit(opt->max_memory), most = limit / LOAD_KEPT_SHARE;
  struct tk_load_options less = *opt;
  struct tk_trace *ready = sources_kept_take(s, i);
  const uint64_t used = sources_kept_bytes(s);
  if (limit) less.max_memory = limit > used ? limit - used : 1;
  if (ready) load_limit(ready, &less);
  if (ready) return ready;
  const size_t n = count_next(s, i);
  const struct load_ranks next = {.v = n ? sources_kept(s) + i + 1 : NULL, .n = n, .room = most > used ? most - used : 0};
  return load_ranks(s, i, n ? &next : NULL, &less, err);
}

struct tk_trace *tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err) {
  const bool in_order = opt && (opt->with & TK_WITH_NEXT_RANKS);
  return in_order ? load_in_order(s, i, opt, err) : load_ranks(s, i, NULL, opt, err);
}

/* Returns false with an error such as "3 traces (host-0, host-1, host-2)", which contains names that distinguish the traces. */
static bool several(const struct tk_sources *s, const char *source, struct tk_err *err) {
  char names[400] = "";
  for (size_t i = 0; i < s->n; i++) {
    size_t n = strlen(names);
    if (n > sizeof names / 2) {
      snprintf(names + n, sizeof names - n, ", ...");
      break;
    }
    snprintf(names + n, sizeof names - n, "%s%.150s", i ? ", " : "", s->inputs[i].name);
  }
  return err_set(err, TK_EUSAGE, "%s: contains %zu traces; choose one of them (%s)", source, s->n, names);
}

struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_source_options options = sources_options(opt ? opt : &defaults);
  struct tk_sources *s = tk_sources_open(&source, 1, &options, err);
  struct tk_trace *t = NULL;
  if (s && s->n > 1) several(s, source, err);
  else if (s) t = s->n ? tk_sources_load(s, 0, opt, err) : NULL;
  if (s && s->n == 0) err_set(err, TK_EFORMAT, "%s: no file matches", source);
  tk_sources_close(s);
  return t;
}
