/* sources_join.c - finds inputs that are pieces of one trace, written one after the other by a producer that rotates its files.
 *
 *     node_trace.1.log node_trace.2.log          one process
 *     trace.part1.json.gz trace.part2.json.gz    one process
 *     rank0-chunk-1.json rank0-chunk-2.json rank1-chunk-1.json rank1-chunk-2.json     two processes
 *
 * The names of pieces differ only in a number that follows a word for pieces. If the contents of pieces state a process, it is the same
 * process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources_join.h"
#include "base/path.h"
#include "base/text.h"
#include "rundir.h"
#include "sources_beside.h"
#include "sources_impl.h"

/* Words before the number of a piece. `whole`: the word must be all that precedes the number in the file name. */
static const struct {
  const char *before;
  bool whole;
} PIECES[] = {
    /* node, options of the environment: trace_event_file_pattern = "node_trace.${rotation}.log" */
    {"node_trace.", true},
    /* https://nodejs.org/api/tracing.html: ${rotation} in a pattern of the user's own */
    {"rotation", false},
    {"rot", false},
    /* names that scripts give to pieces */
    {"part", false},
    {"chunk", false},
    {"piece", false},
    {"segment", false},
    {"seg", false},
    {"fragment", false},
    {"split", false}};

/* The name of a piece: the text before its number, the number, and the text after it. */
struct piece {
  size_t input;
  const char *name;
  size_t before, digits;
  int64_t number;
};

static bool is_number_of_piece(const char *leaf, const char *p) {
  const char *end = p;
  for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++)
    if (PIECES[i].whole && strlen(PIECES[i].before) == (size_t)(p - leaf) && ascii_equal(leaf, PIECES[i].before, (size_t)(p - leaf)))
      return true;
  while (end > leaf && strchr("_-.=", end[-1])) end--;
  const char *from = end;
  while (from > leaf && ascii_letter(from[-1])) from--;
  for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++)
    if (strlen(PIECES[i].before) == (size_t)(end - from) && ascii_equal(from, PIECES[i].before, (size_t)(end - from))) return true;
  return false;
}

/* Parses the file name of one piece of a split trace: finds the piece's index, such as 3 in trace_part3.json. Returns false if the
 * name contains none. */
static bool find_piece(struct piece *to, const char *name) {
  const char *leaf = path_leaf(name), *colon = strrchr(leaf, ':');
  if (colon) leaf = colon + 1;
  for (const char *p = leaf; *p; p++) {
    if (!ascii_digit(*p) || (p > leaf && ascii_digit(p[-1])) || !is_number_of_piece(leaf, p)) continue;
    to->name = name;
    to->before = (size_t)(p - name);
    to->digits = strspn(p, "0123456789");
    to->number = 0;
    for (size_t i = 0; i < to->digits && i < 18; i++) to->number = to->number * 10 + (p[i] - '0');
    return true;
  }
  return false;
}

static int sources_by_name(const void *pa, const void *pb) {
  const struct piece *a = pa, *b = pb;
  const size_t n = a->before < b->before ? a->before : b->before;
  int order = memcmp(a->name, b->name, n);
  if (!order) order = (a->before > b->before) - (a->before < b->before);
  if (!order) order = strcmp(a->name + a->before + a->digits, b->name + b->before + b->digits);
  if (!order) order = (a->number > b->number) - (a->number < b->number);
  return order ? order : (a->input > b->input) - (a->input < b->input);
}

static bool is_next(const struct piece *a, const struct piece *b) {
  return a->before == b->before && memcmp(a->name, b->name, a->before) == 0 &&
         strcmp(a->name + a->before + a->digits, b->name + b->before + b->digits) == 0 && a->number < b->number;
}

static bool may_be_piece(const struct tk_sources *s, size_t i) {
  const uint32_t entry = s->impl->chosen[i].entry;
  return entry != UINT32_MAX && s->inputs[i].best && !s->impl->source.entries[entry].once;
}

/* True if the contents of both pieces state the same process, or one of them states none. *ok becomes false if inspecting them
 * fails. */
static bool is_one_process(struct tk_sources *s, const struct piece *a, const struct piece *b, bool *ok, struct tk_err *err) {
  struct source *src = &s->impl->source;
  const uint32_t x = s->impl->chosen[a->input].entry, y = s->impl->chosen[b->input].entry;
  *ok = source_look(src, x, err) && source_look(src, y, err);
  const struct source_entry *p = &src->entries[x], *q = &src->entries[y];
  if (!*ok || p->look != LOOK_TRACE || q->look != LOOK_TRACE || p->format != q->format) return false;
  return p->pid == q->pid || p->pid < 0 || q->pid < 0;
}

/* Makes the second input the continuation of the first; the second is no longer an input itself. */
static void join(struct tk_sources *s, const struct piece *a, const struct piece *b) {
  struct tk_sources_impl *m = s->impl;
  m->chosen[b->input].joined = true;
  if (m->opt.all_files) m->chosen[a->input].joined = true; /* a listing still shows the pieces */
  else m->source.entries[m->chosen[a->input].entry].piece = m->chosen[b->input].entry;
}

/* ---- all inputs ---- */

static int by_natural_order(const void *pa, const void *pb) {
  const struct piece *a = pa, *b = pb;
  const int order = rundir_compare(a->name, b->name);
  return order ? order : (a->input > b->input) - (a->input < b->input);
}

/* Joins all inputs, in the natural order of their names. Inputs of several formats are not pieces, but recordings, which are
 * joined when their ranks are known (sources_beside.h). */
static bool join_all(struct tk_sources *s, struct piece *pieces, size_t n, struct tk_err *err) {
  bool several;
  qsort(pieces, n, sizeof *pieces, by_natural_order);
  if (!sources_have_formats(s, &several, err)) return false;
  for (size_t i = 1; !several && i < n; i++) join(s, &pieces[i - 1], &pieces[i]);
  return true;
}

static bool join_evident(struct tk_sources *s, struct piece *pieces, size_t n, struct tk_err *err) {
  bool ok = true;
  qsort(pieces, n, sizeof *pieces, sources_by_name);
  for (size_t i = 1; ok && i < n; i++)
    if (is_next(&pieces[i - 1], &pieces[i]) && is_one_process(s, &pieces[i - 1], &pieces[i], &ok, err))
      join(s, &pieces[i - 1], &pieces[i]);
  return ok;
}

bool sources_join(struct tk_sources *s, struct tk_err *err) {
  const struct tk_source_options *opt = &s->impl->opt;
  struct piece *pieces = calloc(s->n + 1, sizeof *pieces);
  size_t n = 0;
  if (!pieces) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < s->n; i++) {
    struct piece p = {.input = i, .name = s->inputs[i].name};
    if (may_be_piece(s, i) && (opt->join || find_piece(&p, p.name))) pieces[n++] = p;
  }
  const bool ok = opt->apart || n < 2 || (opt->join ? join_all : join_evident)(s, pieces, n, err);
  free(pieces);
  if (ok && !opt->all_files) sources_drop_joined(s);
  return ok;
}
