/* names.c - events by name: a counting sort, 10 ns an event once, for which SQLite's sorter takes 450 to 690.
 *
 * GROUP BY name wants equal names side by side, and, where ORDER BY says the same, in their order: SQLite does not tell which (3.40).
 * A name that is asked for is a list to walk. */
#include <stdlib.h>
#include <string.h>

#include "sql.h"

enum { SORTED_MOST = 100000 }; /* names; of more SQLite sorts the rows, if they are to be in order */

struct named {
  const struct intern_str *text;
  tk_id name;
};

/* As SQLite compares them. */
static int by_bytes(const void *a, const void *b) {
  const struct intern_str *x = ((const struct named *)a)->text, *y = ((const struct named *)b)->text;
  const int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);
  return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Names get their numbers in their order.  What has no name comes first, which is right unless it shows a text. */
static void sort_names(struct tk_sql *s, struct map *numbers) {
  const struct tk_trace *t = s->t;
  struct by_name *b = &s->names;
  struct named *all = b->n <= SORTED_MOST ? mem_array(&s->mem, b->n, sizeof *all) : NULL;
  if (!all) return;
  for (uint32_t i = 1; i < b->n; i++) all[i] = (struct named){trace_str(t, b->name[i]), b->name[i]};
  if (b->n > 2) qsort(all + 1, b->n - 1, sizeof *all, by_bytes);
  for (uint32_t i = 1; i < b->n; i++) {
    uint32_t *number = map_get(numbers, all[i].name);
    b->name[i] = all[i].name;
    if (number) *number = i;
  }
  for (tk_id c = 1; c <= t->n_classes; c++) {
    const uint32_t *number = b->of_class[c] ? map_get(numbers, t->classes[c].name) : NULL;
    b->of_class[c] = number ? *number : 0;
  }
  b->sorted = true;
  mem_free(&s->mem, all);
}

/* Numbers by string of the trace: strings are many, names few.  What has no name and what is called so are one. */
static bool number_classes(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  struct by_name *b = &s->names;
  struct map seen;
  map_init(&seen, &s->mem);
  const tk_id none = s->times.exact ? 0 : intern_id(&t->store->strings, NO_NAME, sizeof NO_NAME - 1);
  b->n = 1;
  b->name[0] = 0;
  b->of_class[0] = 0;
  for (tk_id c = 1; c <= t->n_classes; c++) {
    const tk_id name = t->classes[c].name == none ? 0 : t->classes[c].name;
    uint32_t *number = map_put(&seen, name, name ? b->n : 0);
    if (!number) break;
    if (*number == b->n) b->name[b->n++] = name;
    b->of_class[c] = *number;
  }
  if (!s->mem.failed) sort_names(s, &seen);
  map_free(&seen);
  return !s->mem.failed;
}

bool sql_names(struct tk_sql *s) {
  struct by_name *b = &s->names;
  if (b->n) return true;
  const uint64_t n = (uint64_t)s->t->n_classes + 2;
  b->of_class = mem_array(&s->mem, n, sizeof *b->of_class);
  b->name = mem_array(&s->mem, n, sizeof *b->name);
  return b->of_class && b->name && number_classes(s);
}

/* Of each name those come first that are on the global track, which stand among those of their processes: so a name's events come track
 * after track. */
static void list_events(const struct tk_sql *s, uint32_t *first, tk_id *events) {
  const struct tk_trace *t = s->t;
  for (tk_id k = 1; k <= t->n_tracks; k++)
    for (uint32_t i = 0; s->tracks[k].globals && i < t->tracks[k].count; i++) {
      const tk_id id = t->tracks[k].first + i;
      if (sql_track_of(s, &t->events[id]) == GLOBAL_TRACK) events[first[s->names.of_class[t->events[id].cls] + 1]++] = id;
    }
  const bool mixed = s->n_globals > 0;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (!mixed || sql_track_of(s, &t->events[i]) != GLOBAL_TRACK) events[first[s->names.of_class[t->events[i].cls] + 1]++] = i;
}

bool sql_name_passes(const struct tk_sql *s, uint32_t number, enum name_test test, const char *text) {
  const char *name = number ? tk_string(s->t, s->names.name[number], NULL) : s->times.exact ? NULL : NO_NAME;
  if (!name || test == NAME_THERE) return name != NULL;
  if (test == NAME_LIKE) return like_matches(text, name, 0);
  return test == NAME_GLOB ? glob_text_matches(text, name) : strcmp(text, name) == 0;
}

bool sql_names_counts(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  struct by_name *b = &s->names;
  if (b->counts) return true;
  b->counts = mem_array(&s->mem, b->n, sizeof *b->counts);
  if (!b->counts) return false;
  memset(b->counts, 0, b->n * sizeof *b->counts);
  for (tk_id i = 1; i <= t->n_events; i++) b->counts[b->of_class[t->events[i].cls]]++;
  return true;
}

bool sql_names_events(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  struct by_name *b = &s->names;
  if (b->first) return true;
  if (!sql_names_counts(s)) return false;
  uint32_t *first = mem_array(&s->mem, (uint64_t)b->n + 2, sizeof *first);
  tk_id *events = mem_array(&s->mem, (uint64_t)t->n_events + 1, sizeof *events);
  if (!first || !events) {
    mem_free(&s->mem, first);
    mem_free(&s->mem, events);
    return false;
  }
  first[0] = first[1] = 0;
  for (uint32_t k = 0; k < b->n; k++) first[k + 2] = first[k + 1] + b->counts[k];
  list_events(s, first, events);
  b->first = first;
  b->events = events;
  return true;
}
