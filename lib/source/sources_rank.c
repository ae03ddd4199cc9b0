/* sources_rank.c - finds ranks of inputs whose names do not state a rank, by the numbers in which the names differ (ranks.h).
 *
 * The inputs of one run are compared; if every name on the command line yields one input, all inputs are compared. No
 * comparison is made for a run in which an input states its rank or host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources_rank.h"
#include "ranks.h"
#include "sources_impl.h"

struct group {
  size_t *inputs; /* indices of the inputs */
  const char **names;
  size_t n;
};

static bool is_candidate(const struct tk_sources *s, size_t i) {
  return s->impl->chosen[i].entry != UINT32_MAX && s->inputs[i].best && !s->impl->chosen[i].joined;
}

static void note_rank(struct tk_sources *s, size_t i, const struct ranks *r) {
  char text[192];
  if (r->from == RANKS_ORDER) snprintf(text, sizeof text, "contains no rank; its rank is its position among the sorted names");
  else if (!*r->words) snprintf(text, sizeof text, "its rank is taken from the number in its name");
  else snprintf(text, sizeof text, "its rank is taken from the number after %s in its name", r->words);
  s->impl->chosen[i].rank_note = source_text(&s->impl->source, text);
}

/* True if the positions are those on the command line, so that comparing names adds nothing. */
static bool is_given_order(const struct ranks *r, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (r->of[i] != (int64_t)i) return false;
  return true;
}

static bool is_known(const struct ranks *r, size_t n) {
  return r->from == RANKS_NUMBER || (r->from == RANKS_ORDER && !is_given_order(r, n));
}

/* Sets *states if the content of some input states its rank; the numbers in the names may then mean something else. Returns
 * false on an interrupt. */
static bool any_states_rank(struct tk_sources *s, const struct group *g, bool *states, struct tk_err *err) {
  struct source *src = &s->impl->source;
  *states = false;
  for (size_t k = 0; k < g->n; k++) {
    const uint32_t entry = s->impl->chosen[g->inputs[k]].entry;
    if (src->entries[entry].once) continue;
    if (!source_look(src, entry, err)) return false;
    if (src->entries[entry].rank < 0) continue;
    s->inputs[g->inputs[k]].rank = src->entries[entry].rank;
    *states = true;
  }
  return true;
}

/* True if the number in each name is the process of the input's events, as in libkineto_trace_<pid>.json of dynolog. */
static bool are_pids(const struct tk_sources *s, const struct group *g, const struct ranks *r) {
  for (size_t k = 0; k < g->n; k++)
    if (s->impl->source.entries[s->impl->chosen[g->inputs[k]].entry].pid != r->of[k]) return false;
  return r->from == RANKS_NUMBER && r->may_be_pids;
}

static bool number_group(struct tk_sources *s, const struct group *g, struct tk_err *err) {
  struct ranks r;
  if (!ranks_find(&r, g->names, g->n)) {
    ranks_free(&r);
    return err_set(err, TK_ELIMIT, "out of memory");
  }
  bool states = false;
  if (is_known(&r, g->n) && !any_states_rank(s, g, &states, err)) {
    ranks_free(&r);
    return false;
  }
  if (!states && are_pids(s, g, &r) && !ranks_by_order(&r, g->names, g->n)) {
    ranks_free(&r);
    return err_set(err, TK_ELIMIT, "out of memory");
  }
  const bool known = is_known(&r, g->n) && !states;
  for (size_t k = 0; known && k < g->n; k++) {
    const size_t i = g->inputs[k];
    s->inputs[i].rank = r.of[k];
    s->impl->chosen[i].rank_from = r.from == RANKS_ORDER ? "order of the names" : "file name";
    note_rank(s, i, &r);
  }
  ranks_free(&r);
  return true;
}

/* Collects the inputs from `first` on that belong to the same run as `first`; with `all`, all of them. Leaves the group empty
 * if one of them states its rank or host. */
static void collect(const struct tk_sources *s, size_t first, bool all, struct group *g) {
  g->n = 0;
  for (size_t i = first; i < s->n; i++) {
    if (!is_candidate(s, i) || (!all && s->inputs[i].run_id != s->inputs[first].run_id)) continue;
    if (s->inputs[i].rank >= 0 || *s->inputs[i].host) {
      g->n = 0;
      return;
    }
    g->inputs[g->n] = i;
    g->names[g->n++] = s->inputs[i].name;
  }
}

/* True if each name on the command line yielded one input. */
static bool is_one_each(const struct tk_sources *s) {
  uint32_t last = UINT32_MAX;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_candidate(s, i)) continue;
    if (s->impl->chosen[i].origin == last) return false;
    last = s->impl->chosen[i].origin;
  }
  return true;
}

static bool number_runs(struct tk_sources *s, struct group *g, struct tk_err *err) {
  uint8_t *done = calloc((size_t)s->impl->source.rundir.n_runs + 1, 1);
  bool ok = done || err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; ok && i < s->n; i++) {
    if (!is_candidate(s, i) || done[s->inputs[i].run_id]++) continue;
    collect(s, i, false, g);
    ok = g->n < 2 || number_group(s, g, err);
    done[s->inputs[i].run_id] = 1;
  }
  free(done);
  return ok;
}

bool sources_find_ranks(struct tk_sources *s, struct tk_err *err) {
  struct group g = {.inputs = calloc(s->n + 1, sizeof *g.inputs), .names = calloc(s->n + 1, sizeof *g.names)};
  bool ok = (g.inputs && g.names) || err_set(err, TK_ELIMIT, "out of memory");
  if (ok && is_one_each(s)) {
    collect(s, 0, true, &g);
    ok = g.n < 2 || number_group(s, &g, err);
  } else if (ok) {
    ok = number_runs(s, &g, err);
  }
  free(g.inputs);
  free(g.names);
  return ok;
}
