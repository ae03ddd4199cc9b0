/* ranks.c - see ranks.h.
 *
 *     each name  -> its numbers, each with the word before it: "run_7/gpu-3.json" -> run 7, gpu 3
 *     columns    -> the n-th number of all names, if the word before it is the same in all of them
 *     choice     -> the best column whose numbers are all different, otherwise the only column if several profilers wrote a file for
 *                   each of its numbers, otherwise several columns that form a grid
 *
 * Equal names count once: the user gave the same name twice. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/order.h"
#include "rundir.h"

enum { SURE = 6, COLUMNS = 16, STAMP_DIGITS = 9, DATE_PARTS = 5 };
enum { FEW = 4096, MOST = 65536 }; /* numbers below FEW count as ranks even if they are not consecutive */

/* Words before a number, and their meaning. `weight`: if a name has several numbers, the one with the highest weight is the
 * rank; a word with a negative weight never precedes a rank. `outer`: in a grid, the number with the highest `outer` changes
 * slowest. */
static const struct word {
  const char *word;
  int weight, outer;
} WORDS[] = {
    {"rank", 9, 1},   {"worker", 8, 1},
    /* sglang python/sglang/srt/managers/scheduler_profiler_mixin.py: TIME-TP-0[-DP-0][-PP-0][-EP-0]; the order of the words,
     * fastest first, is that of sglang and of Megatron-LM megatron/core/parallel_state.py (tp-cp-ep-dp-pp) */
    {"tp", 7, 1},     {"cp", 1, 2},     {"ep", 1, 3},     {"dp", 2, 8},     {"pp", 2, 9},
    {"gpu", 6, 1},    {"device", 6, 1}, {"dev", 6, 1},    {"npu", 6, 1},    {"xpu", 6, 1},    {"hpu", 6, 1},
    {"cuda", 6, 1},   {"card", 6, 1},   {"proc", 6, 1},   {"process", 6, 1}, {"r", 6, 1},     {"replica", 4, 8},
    {"task", 4, 5},   {"shard", 4, 5},  {"host", 3, 8},   {"node", 3, 8},   {"pod", 3, 8},    {"machine", 3, 8},
    {"server", 3, 8}, {"slice", 3, 9},
    /* words before numbers that are not ranks */
    {"step", -1, 0},  {"steps", -1, 0}, {"iter", -1, 0},  {"iteration", -1, 0}, {"epoch", -1, 0}, {"pid", -1, 0},
    {"tid", -1, 0},   {"port", -1, 0},  {"ts", -1, 0},    {"time", -1, 0},  {"timestamp", -1, 0}, {"job", -1, 0},
    {"jobid", -1, 0}, {"seed", -1, 0},  {"version", -1, 0}, {"of", -1, 0},  {"world", -1, 0}, {"size", -1, 0},
    {"attempt", -1, 0}, {"bs", -1, 0},
    {"activities", -1, 0}, /* libkineto_activities_<pid>.json, the default of libkineto/src/Config.cpp */
};

static const struct word OTHER = {"", 1, 5};

struct number {
  const char *word;
  size_t n_word;
  int64_t value;
  bool stamp; /* true for a part of a time or a date */
};

struct numbers {
  struct number v[COLUMNS];
  unsigned n;
};

/* ---- a name ---- */

static bool separator(char c) { return c && strchr("_-./=:[( ", c) != NULL; }

/* Finds the letters in front of the number at p. */
static void find_word(struct number *to, const char *name, const char *p) {
  while (p > name && separator(p[-1])) p--;
  const char *end = p;
  while (p > name && ascii_letter(p[-1])) p--;
  to->word = p;
  to->n_word = (size_t)(end - p);
}

/* Marks the parts of a date, such as 2026_11_20_10_21_49, after its year. */
static void mark_date(struct numbers *s, const char *const *at, const size_t *digits) {
  for (unsigned i = 0; i + 2 < s->n; i++) {
    if (digits[i] != 4 || s->v[i].value < 1970 || s->v[i].value > 2100) continue;
    unsigned k = i + 1;
    while (k < s->n && k <= i + DATE_PARTS && digits[k] == 2 && at[k] == at[k - 1] + digits[k - 1] + 1) k++;
    if (k < i + 3) continue;
    while (i < k) s->v[i++].stamp = true;
    i--;
  }
}

static void find_numbers(struct numbers *s, const char *name) {
  const char *at[COLUMNS];
  size_t digits[COLUMNS];
  s->n = 0;
  for (const char *p = name; *p && s->n < COLUMNS;) {
    if (!ascii_digit(*p)) {
      p++;
      continue;
    }
    struct number *to = &s->v[s->n];
    const size_t n = strspn(p, "0123456789");
    *to = (struct number){.stamp = n >= STAMP_DIGITS};
    find_word(to, name, p);
    for (size_t i = 0; i < n && !to->stamp; i++) to->value = to->value * 10 + (p[i] - '0');
    /* the digits after the decimal point of a time */
    if (s->n && p[-1] == '.' && digits[s->n - 1] >= STAMP_DIGITS && at[s->n - 1] + digits[s->n - 1] + 1 == p) to->stamp = true;
    at[s->n] = p;
    digits[s->n++] = n;
    p += n;
  }
  mark_date(s, at, digits);
}

/* ---- columns ---- */

struct column {
  unsigned at; /* index of the column's number in each name */
  const struct word *means;
  struct number first;
  int64_t least, most;
  int64_t *sorted; /* distinct values of the column */
  size_t n;
};

struct table {
  const char *const *names;
  size_t n, n_distinct; /* number of names, and of distinct names */
  struct numbers *rows;
  struct column columns[COLUMNS]; /* columns in which the names differ */
  unsigned n_columns;
  bool refused; /* true if the names differ in a column that cannot be a rank */
};

static const struct word *meaning(const struct number *v) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (strlen(WORDS[i].word) == v->n_word && ascii_equal(v->word, WORDS[i].word, v->n_word)) return &WORDS[i];
  return &OTHER;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* True if the k-th number of each name is preceded by the same word. */
static bool is_column(const struct table *t, unsigned k) {
  const struct number *first = &t->rows[0].v[k];
  for (size_t i = 0; i < t->n; i++) {
    const struct number *v = &t->rows[i].v[k];
    if (t->rows[i].n <= k || v->n_word != first->n_word || memcmp(v->word, first->word, v->n_word) != 0) return false;
  }
  return true;
}

static bool is_small(const struct table *t, const struct column *c) {
  return c->most < MOST && (c->most < FEW || c->most - c->least < (int64_t)(8 * t->n + 64));
}

/* Adds the column of the k-th numbers if the numbers differ and may be ranks. Returns false when memory runs out. */
static bool add_column(struct table *t, unsigned k) {
  struct column c = {.at = k, .first = t->rows[0].v[k], .means = meaning(&t->rows[0].v[k])};
  bool stamp = false;
  c.sorted = calloc(t->n, sizeof *c.sorted);
  if (!c.sorted) return false;
  for (size_t i = 0; i < t->n; i++) c.sorted[i] = t->rows[i].v[k].value, stamp |= t->rows[i].v[k].stamp;
  qsort(c.sorted, t->n, sizeof *c.sorted, order_int64);
  for (size_t i = 0; i < t->n; i++)
    if (i == 0 || c.sorted[i] != c.sorted[c.n - 1]) c.sorted[c.n++] = c.sorted[i];
  c.least = c.sorted[0];
  c.most = c.sorted[c.n - 1];
  const bool wanted = !stamp && c.n > 1 && c.means->weight > 0 && is_small(t, &c);
  if (stamp || c.n > 1) t->refused |= !wanted;
  if (wanted) t->columns[t->n_columns++] = c;
  else free(c.sorted);
  return true;
}

static bool count_names(struct table *t) {
  const char **sorted = calloc(t->n, sizeof *sorted);
  if (!sorted) return false;
  for (size_t i = 0; i < t->n; i++) sorted[i] = t->names[i];
  qsort(sorted, t->n, sizeof *sorted, by_text);
  for (size_t i = 0; i < t->n; i++) t->n_distinct += i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0;
  free(sorted);
  return true;
}

static bool fill_table(struct table *t) {
  t->rows = calloc(t->n, sizeof *t->rows);
  if (!t->rows || !count_names(t)) return false;
  for (size_t i = 0; i < t->n; i++) find_numbers(&t->rows[i], t->names[i]);
  for (unsigned k = 0; k < t->rows[0].n; k++)
    if (is_column(t, k) && !add_column(t, k)) return false;
  return true;
}

static void free_table(struct table *t) {
  for (unsigned i = 0; i < t->n_columns; i++) free(t->columns[i].sorted);
  free(t->rows);
}

/* ---- the choice ---- */

/* True if the numbers are small enough to be the ranks of one job with this number of names. */
static bool is_dense(const struct table *t, const struct column *c) { return c->most < (int64_t)(8 * t->n + 64); }

/* True if column a is a better choice than b, for columns whose numbers are all different. A column after a word that can only mean a
 * rank is best, then one with smaller numbers, then one after a better word. */
static bool is_better(const struct table *t, const struct column *a, const struct column *b) {
  const int x = a->means->weight, y = b->means->weight;
  if (x != y && (x >= SURE || y >= SURE)) return x > y;
  if (is_dense(t, a) != is_dense(t, b)) return is_dense(t, a);
  return x != y ? x > y : a->most < b->most;
}

static const struct column *best_column(const struct table *t) {
  const struct column *best = NULL;
  for (unsigned i = 0; i < t->n_columns; i++)
    if (t->columns[i].n == t->n_distinct && (!best || is_better(t, &t->columns[i], best))) best = &t->columns[i];
  return best;
}

static int64_t place_in(const struct column *c, int64_t value) {
  const int64_t *found = bsearch(&value, c->sorted, c->n, sizeof value, order_int64);
  return found ? found - c->sorted : 0;
}

static void append_word(struct ranks *r, const struct column *c) {
  const size_t n = strlen(r->words);
  if (!c->first.n_word) return;
  snprintf(r->words + n, sizeof r->words - n, "%s'%.*s'", n ? " and " : "", (int)c->first.n_word, c->first.word);
}

/* Computes ranks from two columns, the outer one first. Returns false unless each pair of values occurs exactly once. */
static bool try_grid(struct ranks *r, const struct table *t, const struct column *outer, const struct column *inner) {
  if (outer->n * inner->n != t->n_distinct) return false;
  const char **of = calloc(t->n_distinct, sizeof *of);
  bool ok = of != NULL;
  for (size_t i = 0; ok && i < t->n; i++) {
    const int64_t o = place_in(outer, t->rows[i].v[outer->at].value), k = place_in(inner, t->rows[i].v[inner->at].value);
    r->of[i] = o * (int64_t)inner->n + k;
    ok = !of[r->of[i]] || strcmp(of[r->of[i]], t->names[i]) == 0;
    of[r->of[i]] = t->names[i];
  }
  free(of);
  if (!ok) return false;
  append_word(r, outer);
  append_word(r, inner);
  return true;
}

static bool find_grid(struct ranks *r, const struct table *t) {
  for (unsigned i = 0; i < t->n_columns; i++)
    for (unsigned k = i + 1; k < t->n_columns; k++) {
      const struct column *a = &t->columns[i], *b = &t->columns[k];
      const bool swap = b->means->outer > a->means->outer;
      if (try_grid(r, t, swap ? b : a, swap ? a : b)) return true;
    }
  return false;
}

static void take_column(struct ranks *r, const struct table *t, const struct column *c) {
  for (size_t i = 0; i < t->n; i++) r->of[i] = t->rows[i].v[c->at].value;
  append_word(r, c);
}

static int ranks_by_name(const void *a, const void *b) {
  return rundir_compare(**(const char *const *const *)a, **(const char *const *const *)b);
}

/* Uses the position in the natural order of the names as the rank. */
static bool take_order(struct ranks *r, const struct table *t) {
  const char *const **order = calloc(t->n, sizeof *order);
  if (!order) return false;
  for (size_t i = 0; i < t->n; i++) order[i] = &t->names[i];
  qsort(order, t->n, sizeof *order, ranks_by_name);
  for (size_t i = 0; i < t->n; i++) r->of[order[i] - t->names] = (int64_t)i;
  free(order);
  return true;
}

/* Returns the end of the number that follows a word, with its start in *from. */
static const char *number_after(const struct number *v, const char **from) {
  const char *p = v->word + v->n_word;
  while (separator(*p)) p++;
  *from = p;
  return p + strspn(p, "0123456789");
}

/* Returns the number of different names that remain without the number in the column; 0 when memory runs out. */
static size_t count_families(const struct table *t, const struct column *c) {
  char **rest = calloc(t->n, sizeof *rest);
  size_t n = 0;
  bool ok = rest != NULL;
  for (size_t i = 0; ok && i < t->n; i++) {
    const char *from, *to = number_after(&t->rows[i].v[c->at], &from);
    ok = asprintf(&rest[i], "%.*s*%s", (int)(from - t->names[i]), t->names[i], to) >= 0;
    if (!ok) rest[i] = NULL;
  }
  if (ok) qsort(rest, t->n, sizeof *rest, by_text);
  for (size_t i = 0; ok && i < t->n; i++) n += i == 0 || strcmp(rest[i], rest[i - 1]) != 0;
  for (size_t i = 0; rest && i < t->n; i++) free(rest[i]);
  free(rest);
  return n;
}

/* Returns the column of files that several profilers wrote for each rank, such as viz_tp0, viz_tp1, proton_tp0, proton_tp1: the names
 * differ in one number after a word that means a rank, and there is a file of each profiler for each number. NULL = none. Words such as
 * gpu do not count, because alice_gpu0 and bob_gpu0 may be of two hosts. */
static const struct column *find_families(const struct table *t) {
  const struct column *c = &t->columns[0];
  if (t->n_columns != 1 || t->refused || c->means->weight <= SURE) return NULL;
  return count_families(t, c) * c->n == t->n_distinct ? c : NULL;
}

static bool choose(struct ranks *r, const struct table *t) {
  const struct column *best = best_column(t);
  r->from = RANKS_NUMBER;
  if (!best) best = find_families(t);
  if (best) {
    r->may_be_pids = best->means->weight < SURE && !is_dense(t, best);
    take_column(r, t, best);
    return true;
  }
  if (find_grid(r, t)) return true;
  r->from = t->refused && t->n_distinct == t->n ? RANKS_ORDER : RANKS_NONE;
  return r->from == RANKS_NONE || take_order(r, t);
}

bool ranks_by_order(struct ranks *r, const char *const *names, size_t n) {
  struct table t = {.names = names, .n = n};
  if (!count_names(&t)) return false;
  *r->words = 0;
  r->from = t.n_distinct == n ? RANKS_ORDER : RANKS_NONE;
  return r->from == RANKS_NONE || take_order(r, &t);
}

bool ranks_find(struct ranks *r, const char *const *names, size_t n) {
  struct table t = {.names = names, .n = n};
  *r = (struct ranks){.from = RANKS_NONE};
  if (n < 2) return true;
  r->of = calloc(n, sizeof *r->of);
  bool ok = r->of && fill_table(&t);
  ok = ok && (t.n_distinct < 2 || choose(r, &t));
  free_table(&t);
  return ok;
}

void ranks_free(struct ranks *r) {
  free(r->of);
  r->of = NULL;
}

/* ---- files with several ranks ---- */

static int by_number(const void *pa, const void *pb) {
  const struct ranks_file *a = pa, *b = pb;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

static int by_value(const void *pa, const void *pb) {
  const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return (a > b) - (a < b);
}

void ranks_number(struct ranks_file *files, size_t n, int64_t *taken, size_t n_taken, int64_t *of) {
  int64_t rank = 0;
  size_t next = 0;
  if (n) qsort(files, n, sizeof *files, by_number);
  if (n_taken) qsort(taken, n_taken, sizeof *taken, by_value);
  for (size_t k = 0; k < n; k++)
    for (size_t i = files[k].first; i < files[k].first + files[k].n; i++) {
      for (; next < n_taken && taken[next] <= rank; next++) rank += taken[next] == rank;
      of[i] = rank++;
    }
}
