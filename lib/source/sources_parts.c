/* sources_parts.c - splits inputs that contain several ranks: a node's report becomes one input for each process with a GPU.
 *
 * The format finds the processes in a few columns (struct format, `ranks`), and loading such an input keeps the tracks of one of
 * them (load/part.c). All later code therefore handles ranks, not files.
 *
 *     node0.sqlite  4 processes     ranks 0 to 3: the file contains no ranks, so they are numbered in the order of the files
 *     node1.sqlite  4 processes     ranks 4 to 7
 *     gpu.sqlite    1 process       stays as it is */
#include "sources_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "format/format.h"
#include "ranks.h"
#include "sources_impl.h"

/* ---- finding parts ---- */

static const struct format *format_with_ranks(const struct source_entry *e) {
  const struct format *f = e->format ? format_by_name(e->format) : NULL;
  return f && f->ranks ? f : NULL;
}

/* True if it is worth inspecting the input. The beginning of an address is only fetched if the format that its name implies can contain
 * several ranks. */
static bool may_have_parts(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  if (c->entry == UINT32_MAX || !s->inputs[i].best || c->parts) return false;
  const struct source_entry *e = &s->impl->source.entries[c->entry];
  const struct format *promised = e->remote ? format_by_path(e->path) : NULL;
  return e->piece == UINT32_MAX && (!e->remote || (promised && promised->ranks));
}

/* Copies the parts to memory that lives as long as the sources; returns NULL when memory runs out. */
static struct parts *keep(struct tk_sources *s, const struct parts *found) {
  struct arena *arena = &s->impl->source.rundir.text;
  struct parts *kept = arena_alloc(arena, sizeof *kept);
  struct parts_item *v = arena_alloc(arena, found->n * sizeof *v);
  if (!kept || !v) return NULL;
  memcpy(v, found->v, found->n * sizeof *v);
  *kept = *found;
  kept->v = v;
  return kept;
}

/* Inspects the beginning of an input without reporting progress: no phase has begun. */
static bool look(struct source *src, uint32_t entry, struct tk_err *err) {
  const struct tk_progress progress = src->progress;
  src->progress = (struct tk_progress){.tick = NULL};
  const bool ok = source_look(src, entry, err);
  src->progress = progress;
  return ok;
}

const char *sources_format(struct tk_sources *s, size_t i) {
  const uint32_t entry = s->impl->chosen[i].entry;
  struct tk_err unused = {.code = TK_OK};
  return entry != UINT32_MAX && look(&s->impl->source, entry, &unused) ? s->impl->source.entries[entry].format : NULL;
}

/* Stores the rank and the host that an undivided input states. */
static void take_stated(struct tk_sources *s, size_t i, const struct parts *found) {
  struct source *src = &s->impl->source;
  struct chosen *c = &s->impl->chosen[i];
  if (!*s->inputs[i].host) s->inputs[i].host = source_text(src, found->host);
  if (found->rank < 0) return;
  s->inputs[i].rank = src->entries[c->entry].rank = found->rank;
  c->rank_from = found->rank_from;
  c->rank_note = NULL;
}

/* Sets *parts if the input contains several ranks. Otherwise sets the input's rank and host, if the input states them. */
static bool find_parts(struct tk_sources *s, size_t i, struct parts **parts, struct tk_err *err) {
  struct source *src = &s->impl->source;
  const uint32_t entry = s->impl->chosen[i].entry;
  struct mem mem = {.limit = src->mem.limit};
  struct parts found = {.mem = &mem, .rank = -1};
  struct tk_err why = {.offset = UINT64_MAX};
  *parts = NULL;
  if (!may_have_parts(s, i)) return true;
  if (!look(src, entry, err)) return false;
  const struct format *f = format_with_ranks(&src->entries[entry]);
  s->inputs[i].format = src->entries[entry].format;
  if (!f) return true;
  if (!source_keep(src, entry, err)) return false;
  struct in *in = source_open(src, entry, false, &mem, &why);
  bool ok = true;
  const bool known = in && f->ranks(in, &found, &why);
  if (known && found.n > 1) ok = (*parts = keep(s, &found)) != NULL;
  if (known && found.n < 2) take_stated(s, i, &found);
  in_close(in);
  parts_free(&found);
  return (ok || err_set(err, TK_ELIMIT, "out of memory")) && source_progress(src, err);
}

/* ---- inputs ---- */

/* Returns the host of the parts: the host that the input names, or the input's name without folders and extension. */
static const char *host_of(struct tk_sources *s, const struct tk_input *in, const struct parts *parts) {
  const char *name = path_leaf(in->name), *colon = strrchr(name, ':');
  char stem[256];
  if (*in->host) return in->host;
  if (*parts->host) return source_text(&s->impl->source, parts->host);
  if (colon) name = path_leaf(colon + 1);
  snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "."), name);
  return source_text(&s->impl->source, stem);
}

/* Stores input i, or one input for each of its parts, in the arrays. */
static void put_parts(struct tk_sources *s, size_t i, struct parts *parts, struct tk_input *inputs, struct chosen *chosen) {
  const char *host = parts ? host_of(s, &s->inputs[i], parts) : NULL;
  inputs[0] = s->inputs[i];
  chosen[0] = s->impl->chosen[i];
  for (uint32_t k = 0; parts && k < parts->n; k++) {
    inputs[k] = inputs[0];
    chosen[k] = chosen[0];
    if (k) chosen[k].n_notes = 0; /* the notes are about the file, so only its first rank keeps them */
    inputs[k].host = host;
    inputs[k].rank = parts->v[k].rank;
    chosen[k].parts = parts;
    chosen[k].part = k;
    chosen[k].rank_from = parts->rank_from;
    chosen[k].rank_note = NULL;
  }
}

static bool put_all(struct tk_sources *s, struct parts **parts, size_t n, struct tk_err *err) {
  struct tk_sources_impl *m = s->impl;
  struct mem *mem = &m->source.mem;
  uint32_t cap_inputs = 0, cap_chosen = 0;
  struct tk_input *inputs = NULL;
  struct chosen *chosen = NULL;
  if (!mem_grow(mem, (void **)&inputs, &cap_inputs, n + 1, sizeof *inputs) ||
      !mem_grow(mem, (void **)&chosen, &cap_chosen, n + 1, sizeof *chosen)) {
    mem_free(mem, inputs);
    return err_set(err, TK_ELIMIT, "out of memory");
  }
  for (size_t i = 0, to = 0; i < s->n; to += parts[i] ? parts[i]->n : 1, i++) put_parts(s, i, parts[i], inputs + to, chosen + to);
  mem_free(mem, s->inputs);
  mem_free(mem, m->chosen);
  s->inputs = inputs;
  m->chosen = chosen;
  m->cap_inputs = cap_inputs;
  m->cap_chosen = cap_chosen;
  s->n = m->n = (uint32_t)n;
  return true;
}

/* ---- numbers ---- */

static bool is_same_file(const struct tk_sources *s, size_t a, size_t b) {
  return s->impl->chosen[a].entry == s->impl->chosen[b].entry && s->impl->chosen[a].parts && s->impl->chosen[b].parts;
}

/* True if the content of the input gives its rank. */
static bool states_rank(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  if (c->entry == UINT32_MAX) return false;
  return c->parts ? c->parts->v[c->part].rank >= 0 : s->impl->source.entries[c->entry].rank >= 0;
}

/* The inputs that are numbered together. */
struct group {
  struct ranks_file *files; /* files that do not give their ranks */
  int64_t *taken;           /* ranks that other files give */
  size_t n, n_taken;
  bool split;               /* some of the files contain several ranks */
  int64_t *ranks;           /* by input */
};

/* Collects the inputs of a run, or all inputs. numbers[i]: the rank that the file of input i had before it was split; negative =
 * unknown. */
static void collect_files(const struct tk_sources *s, size_t first, bool all, const int64_t *numbers, struct group *g) {
  bool named = true;
  g->n = g->n_taken = 0;
  g->split = false;
  for (size_t i = first; i < s->n; i++) {
    const bool split = s->impl->chosen[i].parts != NULL;
    if (s->impl->chosen[i].entry == UINT32_MAX || !s->inputs[i].best) continue;
    if (!all && s->inputs[i].run_id != s->inputs[first].run_id) continue;
    if (states_rank(s, i)) {
      g->taken[g->n_taken++] = s->inputs[i].rank;
      continue;
    }
    g->split = g->split || split;
    if (g->n && is_same_file(s, g->files[g->n - 1].first, i)) g->files[g->n - 1].n++;
    else g->files[g->n++] = (struct ranks_file){i, 1, numbers[i]};
    named = named && numbers[i] >= 0;
  }
  for (size_t k = 0; !named && k < g->n; k++) g->files[k].number = (int64_t)k;
}

static void number_input(struct tk_sources *s, size_t i, int64_t rank, bool alone) {
  s->inputs[i].rank = rank;
  s->impl->chosen[i].rank_from = "order of the processes";
  s->impl->chosen[i].rank_note = alone ? "states no ranks; its processes are numbered in the order of the devices"
                                       : "states no ranks; its processes are numbered in the order of the files and devices";
}

/* Assigns the lowest free ranks. A file that is not split keeps the number in its name if other inputs give their ranks, or if
 * the inputs are to be joined, because it may then be a recording of a rank of another file. */
static void number_files(struct tk_sources *s, struct group *g) {
  const bool keep = g->n_taken || s->impl->opt.join, alone = g->n == 1 && !g->n_taken;
  size_t n = 0;
  for (size_t k = 0; k < g->n; k++)
    if (!keep || s->impl->chosen[g->files[k].first].parts) g->files[n++] = g->files[k];
  ranks_number(g->files, n, g->taken, g->n_taken, g->ranks);
  for (size_t k = 0; k < n; k++)
    for (size_t i = g->files[k].first; i < g->files[k].first + g->files[k].n; i++) number_input(s, i, g->ranks[i], alone);
}

/* True if each name on the command line is one file, so that all of them belong together. */
static bool is_file_each(const struct tk_sources *s) {
  for (size_t i = 1; i < s->n; i++)
    if (s->impl->chosen[i].origin == s->impl->chosen[i - 1].origin && !is_same_file(s, i - 1, i)) return false;
  return true;
}

/* Numbers the ranks of files that do not give them: across the files of a run, in the order of their names. */
static bool number_all(struct tk_sources *s, const int64_t *numbers, struct tk_err *err) {
  const size_t n = s->n + 1;
  struct group g = {.files = calloc(n, sizeof *g.files), .taken = calloc(n, sizeof *g.taken), .ranks = calloc(n, sizeof *g.ranks)};
  uint8_t *done = calloc((size_t)s->impl->source.rundir.n_runs + 1, 1);
  const bool all = is_file_each(s), ok = (g.files && g.taken && g.ranks && done) || err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; ok && i < s->n; i++) {
    if (s->impl->chosen[i].entry == UINT32_MAX || done[s->inputs[i].run_id] || (all && i)) continue;
    done[s->inputs[i].run_id] = 1;
    collect_files(s, i, all, numbers, &g);
    if (g.split) number_files(s, &g);
  }
  free(g.files);
  free(g.taken);
  free(g.ranks);
  free(done);
  return ok;
}

/* ---- entry points ---- */

/* Splits the inputs; `n`: number of inputs afterwards. */
static bool split(struct tk_sources *s, struct parts **parts, size_t n, struct tk_err *err) {
  int64_t *numbers = calloc(n + 1, sizeof *numbers);
  if (!numbers) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0, to = 0; i < s->n; i++)
    for (uint32_t k = 0; k < (parts[i] ? parts[i]->n : 1); k++) numbers[to++] = s->inputs[i].rank;
  const bool ok = put_all(s, parts, n, err) && number_all(s, numbers, err);
  free(numbers);
  return ok;
}

/* Forgets ranks that were guessed from the names of all inputs, if the content of an input states its rank: the numbers in the names
 * may then mean something else. */
static void drop_guesses(struct tk_sources *s) {
  bool any = false;
  for (size_t i = 0; i < s->n; i++) any = any || states_rank(s, i);
  for (size_t i = 0; any && i < s->n; i++) {
    struct chosen *c = &s->impl->chosen[i];
    if (!c->rank_note) continue;
    s->inputs[i].rank = -1;
    c->rank_from = c->rank_note = NULL;
  }
}

bool sources_split(struct tk_sources *s, struct tk_err *err) {
  struct parts **parts = calloc(s->n + 1, sizeof *parts);
  bool ok = parts || err_set(err, TK_ELIMIT, "out of memory");
  size_t n = s->n;
  for (size_t i = 0; ok && i < s->n; i++) {
    ok = find_parts(s, i, &parts[i], err);
    if (ok && parts[i]) n += parts[i]->n - 1;
  }
  if (ok) drop_guesses(s);
  if (ok && n > UINT32_MAX / 2) ok = err_set(err, TK_ELIMIT, "too many inputs");
  if (ok && n > s->n) ok = split(s, parts, n, err);
  free(parts);
  return ok;
}

bool sources_find_within(struct tk_sources *s, struct tk_err *err) {
  bool ok = true;
  for (size_t i = 0; ok && i < s->n; i++) {
    const struct parts *within;
    ok = find_parts(s, i, &s->impl->chosen[i].within, err);
    within = s->impl->chosen[i].within;
    if (within) s->inputs[i].host = host_of(s, &s->inputs[i], within);
  }
  return ok;
}

uint32_t sources_part(const struct tk_sources *s, size_t i) {
  const struct chosen *c = &s->impl->chosen[i];
  return c->parts ? c->part + 1 : 0;
}

size_t sources_ranks_from(const struct tk_sources *s, size_t i) {
  const struct chosen *c = s->impl->chosen;
  size_t n = 1;
  while (!c[i].beside && i + n < s->n && is_same_file(s, i, i + n) && !c[i + n].beside) n++;
  return n;
}
