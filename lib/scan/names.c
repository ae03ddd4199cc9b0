/* names.c - collects names and steps for a scan, to find the names and steps in which a slow rank spends more time than
 * another.
 *
 * The names belong to the spans on threads and streams with the most self time (analysis/self.h). Durations are stored as a
 * histogram; each class is at most a quarter wider than the one before. Two histograms can be added class by class, and the
 * error of a quantile is at most an eighth. */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "analysis/self.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "scan.h"

enum { CLASSES = 252 };

/* ---- histograms ---- */

static uint32_t names_class_of(uint64_t ns) {
  if (ns < 4) return (uint32_t)ns;
  const uint32_t e = 63 - (uint32_t)__builtin_clzll(ns);
  return 4 * (e - 1) + (uint32_t)(ns >> (e - 2) & 3);
}

static uint64_t middle_of(uint32_t class) {
  if (class < 4) return class;
  const uint32_t e = class / 4 + 1;
  const uint64_t width = (uint64_t)1 << (e - 2);
  return (4 + class % 4) * width + width / 2;
}

/* Reads a varint at *p, but not beyond `end`, because the file is not trusted. */
static uint64_t read_number(const uint8_t **p, const uint8_t *end) {
  uint64_t v = 0;
  for (int shift = 0; *p < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*p)++;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) break;
  }
  return v;
}

uint64_t scan_quantile(const struct scan_name *name, double q) {
  const uint8_t *p = name->sketch, *end = p + name->n_sketch;
  const uint64_t at = (uint64_t)(q * (double)name->count);
  uint64_t class = 0, seen = 0;
  while (p < end && seen <= at && class < CLASSES) {
    class += read_number(&p, end);
    seen += read_number(&p, end);
  }
  const uint64_t ns = middle_of(class < CLASSES ? (uint32_t)class : CLASSES - 1);
  return ns < name->min_ns ? name->min_ns : ns > name->max_ns ? name->max_ns : ns;
}

/* ---- names ---- */

struct row {
  tk_id name;
  uint64_t count, min_ns, max_ns;
  i128 total, self; /* ps */
};

struct taker {
  const struct tk_trace *t;
  struct mem *mem;
  uint32_t *row_of; /* by string id: 1 + row */
  struct row *v;
  uint32_t n, cap;
};

static struct row *names_row_of(struct taker *k, tk_id event) {
  const tk_id name = k->t->classes[k->t->events[event].cls].name;
  if (k->row_of[name]) return &k->v[k->row_of[name] - 1];
  if (!mem_grow(k->mem, (void **)&k->v, &k->cap, (uint64_t)k->n + 1, sizeof *k->v)) return NULL;
  k->v[k->n] = (struct row){.name = name, .min_ns = UINT64_MAX};
  k->row_of[name] = ++k->n;
  return &k->v[k->n - 1];
}

static void add_self(void *arg, tk_id event, tk_time self) {
  struct taker *k = arg;
  struct row *r = names_row_of(k, event);
  const uint64_t ns = (uint64_t)k->t->events[event].dur / 1000;
  if (!r) return;
  r->count++;
  r->total += k->t->events[event].dur;
  r->self += self;
  if (ns < r->min_ns) r->min_ns = ns;
  if (ns > r->max_ns) r->max_ns = ns;
}

static bool count_names(struct taker *k) {
  bool ok = true;
  for (tk_id i = 1; ok && i <= k->t->n_tracks; i++) {
    struct selves s = {.mem = k->mem, .scope = SCOPE_ALL, .done = add_self, .arg = k};
    if (k->t->tracks[i].kind == TK_TRACK_THREAD) ok = self_of_track(&s, k->t, i);
    self_free(&s);
  }
  return ok && !k->mem->failed;
}

static int by_self(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->self != y->self) return x->self > y->self ? -1 : 1;
  return x->name < y->name ? -1 : x->name > y->name;
}

static uint64_t whole_ns(i128 ps) { return ps < 0 ? 0 : (uint64_t)(ps / 1000); }

/* Returns how many bytes of the name to store: all, or the longest valid UTF-8 prefix of at most SCAN_NAME bytes. */
static size_t length_of(const char *name, size_t n) {
  if (n <= SCAN_NAME) return n;
  for (n = SCAN_NAME; n && !utf8_valid((const uint8_t *)name, n);) n--;
  return n;
}

static void put_varint(struct buf *b, uint64_t v) {
  uint8_t *p = buf_reserve(b, 10);
  if (p) b->len = (size_t)(varint_put(p, v) - b->data);
}

static void put_histogram(struct scan_name *to, const uint32_t *classes, struct arena *keep) {
  struct buf b = {.mem = keep->mem};
  for (uint32_t i = 0, last = 0; i < CLASSES; i++) {
    if (!classes[i]) continue;
    put_varint(&b, i - last);
    put_varint(&b, classes[i]);
    last = i;
  }
  uint8_t *copy = arena_alloc(keep, b.len + 1);
  if (copy && b.len) memcpy(copy, b.data, b.len);
  to->sketch = copy;
  to->n_sketch = copy ? (uint32_t)b.len : 0;
  buf_free(&b);
}

/* Returns the number of spans of each of the first n rows in each class of durations; NULL when memory runs out. */
static uint32_t *spread(struct taker *k, uint32_t n) {
  uint32_t *classes = mem_array(k->mem, (uint64_t)n * CLASSES + 1, sizeof *classes);
  if (!classes) return NULL;
  memset(classes, 0, (size_t)n * CLASSES * sizeof *classes);
  memset(k->row_of, 0, ((size_t)k->t->store->strings.n + 1) * sizeof *k->row_of);
  for (uint32_t i = 0; i < n; i++) k->row_of[k->v[i].name] = i + 1;
  for (tk_id i = 1; i <= k->t->n_events; i++) {
    const struct tk_event *e = &k->t->events[i];
    const uint32_t row = e->kind == TK_EVENT_SPAN && is_timed(e) ? k->row_of[k->t->classes[e->cls].name] : 0;
    if (row && k->t->tracks[e->track].kind == TK_TRACK_THREAD)
      classes[(size_t)(row - 1) * CLASSES + names_class_of((uint64_t)e->dur / 1000)]++;
  }
  return classes;
}

static bool keep_names(struct taker *k, struct scan *s, struct arena *keep) {
  const uint32_t n = k->n < SCAN_NAMES ? k->n : SCAN_NAMES;
  if (k->n) qsort(k->v, k->n, sizeof *k->v, by_self);
  uint32_t *classes = spread(k, n);
  s->names = arena_alloc(keep, (n + 1) * sizeof *s->names);
  for (uint32_t i = 0; classes && s->names && i < n; i++) {
    const struct row *r = &k->v[i];
    size_t len;
    const char *name = tk_string(k->t, r->name, &len);
    s->names[i] = (struct scan_name){.name = name, .count = r->count, .total_ns = whole_ns(r->total), .self_ns = whole_ns(r->self),
                                     .min_ns = r->min_ns, .max_ns = r->max_ns};
    s->names[i].n_name = (uint32_t)length_of(name, len);
    put_histogram(&s->names[i], classes + (size_t)i * CLASSES, keep);
    s->n_names++;
  }
  mem_free(k->mem, classes);
  return !k->mem->failed;
}

bool scan_take_names(struct scan *s, const struct tk_trace *t, struct arena *keep) {
  struct taker k = {.t = t, .mem = keep->mem, .row_of = mem_array(keep->mem, (uint64_t)t->store->strings.n + 1, sizeof *k.row_of)};
  if (k.row_of) memset(k.row_of, 0, ((size_t)t->store->strings.n + 1) * sizeof *k.row_of);
  const bool ok = k.row_of && count_names(&k) && keep_names(&k, s, keep);
  mem_free(k.mem, k.row_of);
  mem_free(k.mem, k.v);
  return ok;
}

/* ---- steps ---- */

static int by_number(const void *a, const void *b) {
  const struct scan_step *x = a, *y = b;
  return x->number < y->number ? -1 : x->number > y->number;
}

static struct scan_step scan_step_of(const struct tk_trace *t, const struct step *v) {
  return (struct scan_step){v->number, trace_ns(t, 0, v->start), trace_ns_up(t, 0, v->end)};
}

/* Joins steps with the same number, and keeps only the first SCAN_STEPS of the resulting steps. */
static void join_steps(struct scan *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct scan_step *last = s->n_steps ? &s->steps[s->n_steps - 1] : NULL;
    if (!last || last->number != s->steps[i].number) {
      s->steps[s->n_steps++] = s->steps[i];
      continue;
    }
    if (s->steps[i].start_ns < last->start_ns) last->start_ns = s->steps[i].start_ns;
    if (s->steps[i].end_ns > last->end_ns) last->end_ns = s->steps[i].end_ns;
  }
  if (s->n_steps > SCAN_STEPS) s->n_steps = SCAN_STEPS, s->more_steps = true;
}

bool scan_take_steps(struct scan *s, const struct tk_trace *t, struct arena *keep) {
  struct steps steps;
  const bool found = steps_init(&steps, t, keep->mem);
  const uint32_t n = found ? steps.n + steps.n_inner : 0;
  s->steps = found ? arena_alloc(keep, ((size_t)n + 1) * sizeof *s->steps) : NULL;
  for (uint32_t i = 0; s->steps && i < n; i++)
    s->steps[i] = scan_step_of(t, i < steps.n ? &steps.v[i] : &steps.inner[i - steps.n]);
  if (s->steps && n) qsort(s->steps, n, sizeof *s->steps, by_number);
  if (s->steps) join_steps(s, n);
  steps_free(&steps);
  return s->steps != NULL;
}

bool scan_steps_range(const struct scan *s, int64_t first, int64_t last, int64_t *start_ns, int64_t *end_ns) {
  bool any = false;
  for (uint32_t i = 0; i < s->n_steps; i++) {
    const struct scan_step *v = &s->steps[i];
    if (v->number < first || v->number > last) continue;
    if (!any || v->start_ns < *start_ns) *start_ns = v->start_ns;
    if (!any || v->end_ns > *end_ns) *end_ns = v->end_ns;
    any = true;
  }
  return any;
}
