/* locations.c - locations of raw Gecko frames, which are texts; see gecko_location. */
#include "locations.h"

#include <stdlib.h>
#include <string.h>

#include "values.h"

/* ---- libraries ---- */

static int by_start(const void *a, const void *b) {
  const struct gecko_mapping *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

static bool address_of(const struct json_value *v, uint64_t *address) {
  if (!v->p || v->type != JSON_NUMBER) return false;
  *address = (uint64_t)v->num.mant;
  return v->num.kind == NUM_UINT || (v->num.kind == NUM_INT && v->num.mant >= 0);
}

void gecko_read_libs(struct gecko *g, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value item;
  g->n_mappings = 0;
  if (list->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) {
      struct json_value name, start, end;
      const struct json_place places[] = {{"name", &name}, {"start", &start}, {"end", &end}, {NULL, NULL}};
      struct gecko_mapping m = {.start = 0};
      json_walk_object(&in, &item, places);
      if (!address_of(&start, &m.start) || !address_of(&end, &m.end)) continue;
      m.name = gecko_text(g, &in, &name);
      if (mem_grow(g->mem, (void **)&g->mappings, &g->cap_mappings, (uint64_t)g->n_mappings + 1, sizeof *g->mappings))
        g->mappings[g->n_mappings++] = m;
    }
  json_walk_free(&in);
  if (g->n_mappings) qsort(g->mappings, g->n_mappings, sizeof *g->mappings, by_start);
}

/* Returns the library that was mapped at an address "0x..."; 0 if none was, or if the text is not an address. */
static tk_id library_at(const struct gecko *g, const char *text) {
  char *end;
  uint32_t low = 0, high = g->n_mappings;
  const uint64_t address = strtoull(text, &end, 16);
  if (*end) return 0;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (g->mappings[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  return low && address < g->mappings[low - 1].end ? g->mappings[low - 1].name : 0;
}

/* ---- native functions ---- */

/* Splits "name (in library)" into the name and the library. Returns false if the text has another form. */
static bool split_native(struct gecko *g, const char *text, size_t n, struct tk_frame *f) {
  const char *in = memmem(text, n, " (in ", 5), *end = text + n;
  const char *close = in ? memchr(in + 5, ')', (size_t)(end - in - 5)) : NULL;
  if (!close) return false;
  f->name = trace_string(g->t, text, (size_t)(in - text));
  f->module = trace_string(g->t, in + 5, (size_t)(close - in - 5));
  return true;
}

/* ---- JavaScript functions ---- */

/* Removes ":number" from the end of text[0, *n). Returns false if the text does not end in this way. */
static bool cut_number(const char *text, size_t *n, uint32_t *number) {
  size_t i = *n;
  uint64_t value = 0, power = 1;
  for (; i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9' && *n - i < 10; i--, power *= 10)
    value += power * (uint64_t)(text[i - 1] - '0');
  if (i == *n || i < 2 || text[i - 1] != ':' || value > UINT32_MAX) return false;
  *number = (uint32_t)value;
  *n = i - 1;
  return true;
}

/* Returns the length of the text without the index of a source, such as "[12]", at its end. */
static size_t without_source(const char *text, size_t n) {
  size_t i = n;
  if (n < 3 || text[n - 1] != ']') return n;
  for (i--; i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9';) i--;
  return i > 0 && i < n - 1 && text[i - 1] == '[' ? i - 1 : n;
}

/* Returns the start of the last script in a chain "a -> b -> c", where each script loads the next one. The last script contains the
 * function. */
static const char *last_script(const char *from, const char *end) {
  for (const char *arrow; (arrow = memmem(from, (size_t)(end - from), " -> ", 4)) != NULL;) from = arrow + 4;
  return from;
}

static const char *last_bracket(const char *text, size_t n) {
  while (n > 1 && !(text[n - 1] == '(' && text[n - 2] == ' ')) n--;
  return n > 1 ? text + n - 2 : NULL;
}

static bool split_script(struct gecko *g, const char *text, size_t n, struct tk_frame *f) {
  uint32_t last, first;
  n = without_source(text, n);
  const char *open = n && text[n - 1] == ')' ? last_bracket(text, n) : NULL;
  const char *file = open ? open + 2 : text;
  size_t length = (size_t)(text + n - file) - (open != NULL);
  if (!cut_number(file, &length, &last)) return false;
  const bool two = cut_number(file, &length, &first);
  const char *from = last_script(file, file + length);
  f->file = trace_string(g->t, from, (size_t)(file + length - from));
  f->line = two ? first : last;
  f->column = two ? last : 0;
  if (open) f->name = trace_string(g->t, text, (size_t)(open - text));
  return true;
}

struct tk_frame gecko_location(struct gecko *g, tk_id id) {
  struct tk_frame f = {.name = id};
  size_t n;
  const char *text = tk_string(g->t, id, &n);
  if (!id) return f;
  if (n > 2 && memcmp(text, "0x", 2) == 0) f.module = library_at(g, text);
  else if (!split_native(g, text, n, &f)) split_script(g, text, n, &f);
  return f;
}
